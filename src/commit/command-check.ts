import { resolve } from 'node:path';
import type { Call, CommandSpec } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { oneLine, plural } from '../core/text.js';
import { type CheckedCommit, type CommitCheck, checkCommits } from '../index.js';

async function run(call: Call, file?: string): Promise<CommitCheck> {
  const { range } = call.options as { range?: string };
  return checkCommits(call.cwd, call.world, {
    ...(file === undefined ? {} : { message: await call.bytes(file) }),
    ...(file === undefined || file === '-' ? {} : { file: resolve(call.cwd, file) }),
    ...(range === undefined ? {} : { range }),
  });
}

/** One line a problem: agents and people read the same. */
function renderProblems({ sha, problems }: CheckedCommit, style: Style): string[] {
  const commit = sha === undefined ? '' : `${sha.slice(0, 10)} `;
  return problems.map(
    ({ line, message, fix, rule }) =>
      `${style.bad('✗')} ${commit}line ${line}: ${message} Write: ${fix.trimEnd().split('\n').map(shown).join(' ⏎ ')}  ${style.dim(rule)}`,
  );
}

/** Blanks in front are what some fixes are about. */
const shown = (line: string): string => `${/^ */.exec(line)?.[0] ?? ''}${oneLine(line, 120)}`;

function render({ ok, commits }: CommitCheck, style: Style): string {
  if (!ok) {
    const bad = commits.filter(({ problems }) => problems.length > 0);
    const rows = bad.flatMap((commit) => renderProblems(commit, style));
    const many =
      commits.length > 1
        ? [`${bad.length} of ${plural(commits.length, 'commit')} to be written otherwise`]
        : [];
    return [...rows, ...many].join('\n');
  }
  const exempt = commits.filter((commit) => commit.exempt !== undefined).length;
  const rest = exempt > 0 ? style.dim(`  ${exempt} exempt`) : '';
  return commits.some(({ sha }) => sha !== undefined) || commits.length === 0
    ? `${style.good('✓')} ${plural(commits.length, 'commit')} in the protocol${rest}`
    : `${style.good('✓')} the message is in the protocol${rest}`;
}

const exit = ({ ok, commits }: CommitCheck): number => {
  if (ok) return 0;
  return commits.some(({ problems }) => problems.some(({ rule }) => rule === 'secret')) ? 5 : 1;
};

export const check: CommandSpec<CommitCheck> = {
  name: 'check',
  args: ['[file]'],
  summary: 'Check a message, or the commits of a range, and say what to write instead',
  example: 'forge commit check --range origin/main..HEAD',
  options: [
    { flags: '--range <range>', help: 'the commits of A..B; in CI: exit 1 with problems, 5 with a secret' },
  ],
  run,
  render,
  exit,
};
