import { resolve } from 'node:path';
import type { Io } from '../cli/io.js';
import { toForgeError } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import {
  type CheckedCommit,
  type HookedPush,
  hookedMessage,
  hookedPush,
  preparedMessage,
  systemWorld,
} from '../index.js';
import { type GitHook, isGitHook, PREPARE, quoted, SHIM_EXITS } from './shim.js';

/** ms. After that the commit goes on unchecked, and one line reports it. A push is bounded by its commits instead. */
const DEADLINE = 10_000;

interface Verdict {
  lines: string[];
  refusal: 'problems' | 'secret' | null;
}

const FINE: Verdict = { lines: [], refusal: null };

/**
 * `forge hook HOOK …`: what git's hooks ask forge for. A refusal ends with 1, a secret with 5; whatever else goes wrong is
 * said in one line and holds nobody up. What the shim starts gets its own codes, which nothing else ends with.
 */
export async function runGitHook(io: Io, [word = '', ...args]: readonly string[]): Promise<number> {
  if (!isGitHook(word)) return 0;
  const nothing = `nothing was ${word === PREPARE ? 'filled in' : 'checked'}`;
  if (word !== 'pre-push')
    io.deadline?.(DEADLINE, `forge: ${word} took longer than ${DEADLINE / 1000} s; ${nothing}\n`);
  try {
    const { lines, refusal } = await look(io, word, args);
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

async function look(io: Io, hook: GitHook, args: readonly string[]): Promise<Verdict> {
  if (hook === 'commit-msg') return judgeMessage(io, args[0] ?? '');
  if (hook === 'pre-push') return judgePush(io);
  if (hook === PREPARE) await preparedMessage(io.cwd(), world(io), args[0] ?? '');
  // The shell keeps what follows a commit, a switch or a merge.
  return FINE;
}

const world = (io: Io) => io.world ?? systemWorld(io.env, false);

async function judgeMessage(io: Io, file: string): Promise<Verdict> {
  const checked = await hookedMessage(io.cwd(), world(io), file);
  if (!checked) return FINE;
  const { problems, enforce, unread, isCut } = checked;
  const isSecret = problems.some(({ rule }) => rule === 'secret');
  const said = unread === null ? [] : [`forge: only secrets were looked for: ${oneLine(unread, 300)}`];
  if (problems.length === 0 || (enforce === 'off' && !isSecret)) return { lines: said, refusal: null };
  const refused = isSecret || enforce === 'block';
  const lines = [
    ...said,
    `forge: the message ${isSecret ? 'holds what must not be kept' : 'does not follow the protocol'}${refused ? '; nothing was committed' : ''}`,
    ...problems.flatMap(problemLines),
    ...(refused ? [ways(io, file, isCut)] : []),
  ];
  return { lines, refusal: !refused ? null : isSecret ? 'secret' : 'problems' };
}

const problemLines = ({ line, message, fix }: CheckedCommit['problems'][number]): string[] => [
  `  line ${line}: ${message}`,
  ...fix.split('\n').map((text, i) => `    ${i === 0 ? '→' : ' '} ${oneLine(text, 200)}`),
];

/** Git keeps the text in the file. Without `-v` it would also store the diff below a scissors line. */
function ways({ env, cwd }: Io, file: string, isCut: boolean): string {
  // Git runs its hooks at the top, and the person may be in a folder below.
  const path = env.GIT_PREFIX ? resolve(cwd(), file) : file;
  const word = /^[\w./-]+$/.test(path) ? path : quoted(path);
  return `  Your text is kept: git commit ${isCut ? '-v ' : ''}-e -F ${word}   forge commit writes one for you; --no-verify goes past all hooks`;
}

/** No more of them in the log of a push. */
const MAX_SHOWN = 10;

async function judgePush(io: Io): Promise<Verdict> {
  const refs = (await io.stdin.read()).toString('utf8');
  const found = await hookedPush(io.cwd(), world(io), { refs });
  if (!found) return FINE;
  const { commits, secrets, memory, enforce, failed, leftOut } = found;
  const isWrong = commits.length > 0 && enforce === 'block';
  const refusal = secrets.length > 0 ? 'secret' : isWrong || memory !== null ? 'problems' : null;
  const lines = await Promise.all(failed.map(failedLine));
  if (leftOut > 0)
    lines.push(
      `forge: ${plural(leftOut, 'older commit')} not checked; to look for secrets in all: forge guard scan --range HEAD`,
    );
  const held = [
    ...shortened(secrets, 'secret', ({ file, line, what, commit }) => [
      `  ${commit?.slice(0, 10) ?? ''} ${oneLine(file, 200)}:${line}: ${what}`,
    ]),
    ...shortened(commits, 'commit', commitLines),
  ];
  if (held.length === 0 && memory === null) return { lines, refusal: null };
  const [hasCommits, hasHeld] = [commits.length > 0, held.length > 0];
  lines.push(
    `forge: ${refusal ? 'nothing was pushed' : 'pushed, although'}: ${hasHeld ? 'the commits have to be fixed' : 'memory has to be settled first'}`,
    ...held,
  );
  if (hasCommits)
    lines.push('    → the last commit: forge commit --amend; older ones: git rebase -i, reword');
  if (memory !== null)
    lines.push(
      `  memory: ${oneLine(memory, 300)}`,
      '    → forge memory verify   # shows what is wrong, and what a person types to go on',
    );
  if (refusal)
    lines.push(
      `  ${hasCommits ? 'More: forge commit check --range A..B   Past' : 'Past'} all hooks: --no-verify`,
    );
  return { lines, refusal };
}

/** An error may quote what it failed on. */
async function failedLine({ check, why }: HookedPush['failed'][number]): Promise<string> {
  const { maskText } = await import('../cli/input-guard.js');
  return `forge: ${NOT_CHECKED[check]}: ${oneLine(await maskText(why), 300)}`;
}

const NOT_CHECKED = {
  secrets: 'secrets were not looked for',
  messages: 'messages were not looked at',
  memory: 'memory was not looked at',
} as const;

const shortened = <T>(all: readonly T[], what: string, linesOf: (one: T) => string[]): string[] => [
  ...all.slice(0, MAX_SHOWN).flatMap(linesOf),
  ...(all.length > MAX_SHOWN ? [`  … ${plural(all.length - MAX_SHOWN, `more ${what}`)}`] : []),
];

const commitLines = ({ sha, subject, problems }: CheckedCommit): string[] => [
  `  ${sha?.slice(0, 10) ?? ''} ${oneLine(subject, 80)}`,
  ...problems.slice(0, 3).map(({ line, message }) => `    line ${line}: ${message}`),
];
