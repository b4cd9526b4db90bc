import { resolve } from 'node:path';
import { type Call, type CommandSpec, command, type Group } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { escapeControls, oneLine, plural } from '../core/text.js';
import {
  type CheckedCommit,
  type CommitCheck,
  type CommitInput,
  type CommitTemplate,
  checkCommits,
  type MadeCommit,
} from '../index.js';

async function runCheck(call: Call, file?: string): Promise<CommitCheck> {
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

/** A range may have thousands. */
const MAX_SHOWN = 20;

function renderCheck({ ok, commits }: CommitCheck, style: Style): string {
  if (!ok) {
    const bad = commits.filter(({ problems }) => problems.length > 0);
    const more = bad.length - MAX_SHOWN;
    return [
      ...bad.slice(0, MAX_SHOWN).flatMap((commit) => renderProblems(commit, style)),
      ...(more > 0 ? [style.dim(`… ${plural(more, 'more commit')}: --json has all`)] : []),
      ...(commits.length > 1
        ? [`${bad.length} of ${plural(commits.length, 'commit')} to be written otherwise`]
        : []),
    ].join('\n');
  }
  const exempt = commits.filter((commit) => commit.exempt !== undefined).length;
  const rest = exempt > 0 ? style.dim(`  ${exempt} exempt`) : '';
  const isRange = commits.length === 0 || commits.some(({ sha }) => sha !== undefined);
  const what = isRange ? plural(commits.length, 'commit') : 'the message is';
  return `${style.good('✓')} ${what} in the protocol${rest}`;
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
  run: runCheck,
  render: renderCheck,
  exit,
};

interface Options {
  message?: string;
  why?: string;
  what?: string[];
  learned?: string[];
  issue?: string;
  all?: boolean;
  amend?: boolean;
  edit?: boolean;
}

async function run(call: Call): Promise<MadeCommit> {
  const { message, ...options } = call.options as Options;
  const { why, what, learned, issue, all, amend, edit } = options;
  const given = { title: message, why, what, learned, issue, all, amend, edit };
  const input = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as CommitInput;
  const reason = why === '-' ? await call.text(why) : (why ?? (await askWhy(call, input)));
  return call
    .forge()
    .commit.make({ ...input, ...(reason === undefined ? {} : { why: reason }) }, { onOutput: call.stream });
}

/** What an editor would ask, unless one is opened. */
async function askWhy(call: Call, input: CommitInput): Promise<string | undefined> {
  if (!call.interactive || input.edit || input.amend) return undefined;
  const draft = await call.forge().commit.draft(input);
  const { line } = await import('../cli/prompt.js');
  return (await line('Why?', oneLine(draft.why, 500))).trim() || undefined;
}

const render = ({ commit, message }: MadeCommit, style: Style): string =>
  commit
    ? `${style.good('✓')} ${style.strong(commit.short)} ${oneLine(commit.subject, 100)}`
    : escapeControls(message);

const commit: CommandSpec<MadeCommit> = {
  name: 'commit',
  summary: 'Commit what is staged, with a message from focus, log, features and what was learned',
  example: 'forge commit -m "Wire the login form" --why "people could not sign in" -a',
  options: [
    {
      flags: '-m, --message <title>',
      help: 'the subject, instead of the task in focus; "[ID] title" names the issue',
    },
    { flags: '--why <text>', help: 'the reason, instead of the goal of the session' },
    { flags: '--what <text>', help: 'what changed, instead of the log and the file names', many: true },
    { flags: '--learned <text>', help: 'something worth knowing; kept in knowledge as well', many: true },
    {
      flags: '--issue <id>',
      help: "the issue, instead of the focus's",
      values: { live: ['issue', 'feature'] },
    },
    { flags: '-a, --all', help: 'what git knows and has changed, staged or not' },
    {
      flags: '--amend',
      help: 'replace the last commit; what its message says is kept where nothing is given',
    },
    { flags: '--edit', help: "open git's editor on the message first" },
  ],
  writes: true,
  run,
  render,
};

const template: CommandSpec<CommitTemplate> = {
  name: 'template',
  summary: 'Print a message, or the text of a pull request, with what is known filled in',
  example: 'forge commit template --pr',
  options: [{ flags: '--pr', help: 'the text of a pull request: what the commits of this branch say' }],
  run: (call) => call.forge().commit.template({ pullRequest: call.options.pr === true }),
  render: ({ text }) => escapeControls(text),
};

export const group: Group = { commands: [command(commit), command(check), command(template)] };
