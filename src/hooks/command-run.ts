import { resolve } from 'node:path';
import type { Io } from '../cli/spec.js';
import { formatArgv } from '../core/argv.js';
import { toForgeError } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import { hookedMessage, hookedPush, preparedMessage, type Scan, systemWorld } from '../index.js';
import { type GitHook, isGitHook, PREPARE, quoted, SHIM_EXITS } from './shim.js';

/** ms. Then the commit goes on unchecked. A push is bounded by its commits instead. */
const DEADLINE = 10_000;

interface Verdict {
  lines: string[];
  refusal: 'problems' | 'secret' | null;
}

const FINE: Verdict = { lines: [], refusal: null };

/** `forge hook HOOK …`: exit 1 refuses, exit 5 is a secret. Any other failure is one line and blocks nobody. */
export async function runGitHook(io: Io, [word = '', ...args]: readonly string[]): Promise<number> {
  if (!isGitHook(word)) return 0;
  const nothing = `nothing was ${word === PREPARE ? 'filled in' : 'checked'}`;
  if (word !== 'pre-push')
    io.deadline?.(DEADLINE, `forge: ${word} took longer than ${DEADLINE / 1000} s; ${nothing}\n`);
  try {
    const { lines, refusal } = await runHook(io, word, args);
    if (lines.length > 0) io.stderr.write(`${lines.join('\n')}\n`);
    if (refusal === null) return 0;
    return io.env.FORGE_SHIM === '1' ? SHIM_EXITS[refusal] : refusal === 'secret' ? 5 : 1;
  } catch (error) {
    const { maskError } = await import('../cli/input-guard.js');
    const { message } = await maskError(toForgeError(error));
    io.stderr.write(`forge: ${nothing}: ${oneLine(message, 300)}\n`);
    return 0;
  }
}

async function runHook(io: Io, hook: GitHook, [file = '']: readonly string[]): Promise<Verdict> {
  if (hook === 'commit-msg') return judgeMessage(io, file);
  if (hook === 'pre-push') return judgePush(io);
  if (hook === PREPARE) await preparedMessage(io.cwd(), worldOf(io), file);
  return FINE;
}

const worldOf = (io: Io) => io.world ?? systemWorld(io.env, false);

async function judgeMessage(io: Io, file: string): Promise<Verdict> {
  const checked = await hookedMessage(io.cwd(), worldOf(io), file);
  if (!checked) return FINE;
  const { problems, secrets, enforce, unread } = checked;
  const isSecret = problems.some(({ rule }) => rule === 'secret');
  const notes = unread === null ? [] : [`forge: only secrets were checked: ${oneLine(unread, 300)}`];
  if (secrets.length > 0)
    return {
      lines: [
        ...notes,
        'forge: what is staged contains a secret; nothing was committed',
        ...shorten(secrets, 'secret', lineOfSecret),
        `    → remove it and stage the file again; for a false alarm: ${formatArgv(['forge', 'guard', 'scan', secrets[0]?.file ?? ''])}`,
      ],
      refusal: 'secret',
    };
  if (problems.length === 0 || (enforce === 'off' && !isSecret)) return { lines: notes, refusal: null };
  const isRefused = isSecret || enforce === 'block';
  const what = isSecret ? 'contains a secret' : 'does not follow the commit protocol';
  const lines = [
    ...notes,
    `forge: the message ${what}${isRefused ? '; nothing was committed' : ''}`,
    ...problems.flatMap(({ line, message, fix }) => [
      `  line ${line}: ${message}`,
      ...fix.split('\n').map((text, i) => `    ${i === 0 ? '→' : ' '} ${oneLine(text, 200)}`),
    ]),
    ...(isRefused ? [describeRetry(io, file)] : []),
  ];
  return { lines, refusal: !isRefused ? null : isSecret ? 'secret' : 'problems' };
}

/** Git runs hooks at the top, but the user may be in a subfolder. `-v` cuts off a diff that is in the file already. */
function describeRetry({ env, cwd }: Io, file: string): string {
  const path = env.GIT_PREFIX ? resolve(cwd(), file) : file;
  const word = /^[\w./-]+$/.test(path) ? path : quoted(path);
  return `  Your text is saved: git commit -v -e -F ${word}   forge commit writes one for you; --no-verify skips all hooks`;
}

const MAX_SHOWN = 10;

const lineOfSecret = ({ file, line, what, commit }: Scan['findings'][number]): string[] => [
  `  ${commit ? `${commit.slice(0, 10)} ` : ''}${oneLine(file, 200)}:${line}: ${what}`,
];

async function judgePush(io: Io): Promise<Verdict> {
  const refs = (await io.stdin.read()).toString('utf8');
  const found = await hookedPush(io.cwd(), worldOf(io), { refs });
  if (!found) return FINE;
  const { commits, secrets, memory, enforce, failed, leftOut } = found;
  const { maskText } = await import('../cli/input-guard.js');
  // An error may quote a secret.
  const lines = await Promise.all(
    failed.map(
      async ({ check, why }) => `forge: ${check} could not be checked: ${oneLine(await maskText(why), 300)}`,
    ),
  );
  if (leftOut > 0)
    lines.push(
      `forge: ${plural(leftOut, 'older commit')} not checked; to look for secrets in all: forge guard scan --range HEAD`,
    );
  const problems = [
    ...shorten(secrets, 'secret', lineOfSecret),
    ...shorten(commits, 'commit', ({ sha, subject, problems: broken }) => [
      `  ${sha?.slice(0, 10) ?? ''} ${oneLine(subject, 80)}`,
      ...broken.slice(0, 3).map(({ line, message }) => `    line ${line}: ${message}`),
    ]),
    ...(commits.length > 0
      ? ['    → the last commit: forge commit --amend; older ones: git rebase -i, reword']
      : []),
    ...(memory === null
      ? []
      : [
          `  memory: ${oneLine(memory, 300)}`,
          '    → forge memory verify   # shows what is wrong and how to fix it',
        ]),
  ];
  if (problems.length === 0) return { lines, refusal: null };
  const isBroken = memory !== null || (commits.length > 0 && enforce === 'block');
  const refusal = secrets.length > 0 ? 'secret' : isBroken ? 'problems' : null;
  const skip = commits.length > 0 ? 'More: forge commit check --range A..B   ' : '';
  return {
    lines: [
      ...lines,
      `forge: ${refusal ? 'nothing was pushed' : 'pushed with problems'}`,
      ...problems,
      ...(refusal ? [`  ${skip}To skip all hooks: --no-verify`] : []),
    ],
    refusal,
  };
}

const shorten = <T>(all: readonly T[], what: string, linesOf: (one: T) => string[]): string[] => [
  ...all.slice(0, MAX_SHOWN).flatMap(linesOf),
  ...(all.length > MAX_SHOWN ? [`  … ${plural(all.length - MAX_SHOWN, `more ${what}`)}`] : []),
];
