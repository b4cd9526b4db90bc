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
import { fixLines } from './rules.js';

async function runCheck(call: Call, file?: string): Promise<CommitCheck> {
  const { range } = call.options as { range?: string };
  return checkCommits(call.cwd, call.world, {
    message: file === undefined ? file : await call.bytes(file),
    file: file === undefined || file === '-' ? undefined : resolve(call.cwd, file),
    range,
  });
}

function renderProblems({ sha, problems }: CheckedCommit, style: Style): string[] {
  const commit = sha === undefined ? '' : `${sha.slice(0, 10)} `;
  return problems.map(({ line, message, fix, rule }) => {
    const text = fixLines(fix).join(' ⏎ ');
    return `${style.bad('✗')} ${commit}line ${line}: ${message} Write: ${text}  ${style.dim(rule)}`;
  });
}

const MAX_SHOWN = 20;

function renderCheck({ ok, commits }: CommitCheck, style: Style): string {
  if (!ok) {
    const bad = commits.filter(({ problems }) => problems.length > 0);
    const more = bad.length - MAX_SHOWN;
    return [
      ...bad.slice(0, MAX_SHOWN).flatMap((commit) => renderProblems(commit, style)),
      ...(more > 0 ? [style.dim(`… ${plural(more, 'more commit')}: --json shows all`)] : []),
      ...(commits.length > 1
        ? [`${bad.length} of ${plural(commits.length, 'commit')} need a new message`]
        : []),
    ].join('\n');
  }
  const exempt = commits.filter((commit) => commit.exempt !== undefined).length;
  const rest = exempt > 0 ? style.dim(`  ${exempt} exempt`) : '';
  const isRange = commits.length === 0 || commits.some(({ sha }) => sha !== undefined);
  const what = isRange ? plural(commits.length, 'commit') : 'message';
  return `${style.good('✓')} ${what}: no problems${rest}`;
}

export const check: CommandSpec<CommitCheck> = {
  name: 'check',
  args: ['[file]'],
  summary: 'Check a message, or the commits of a range A..B, and show what to write instead',
  example: 'forge commit check --range origin/main..HEAD',
  options: [{ flags: '--range <range>', help: 'the commits of A..B; exit 1 with problems, 5 with a secret' }],
  run: runCheck,
  render: renderCheck,
  exit: ({ ok, commits }) => {
    if (ok) return 0;
    return commits.some(({ problems }) => problems.some(({ rule }) => rule === 'secret')) ? 5 : 1;
  },
};

interface Options extends Omit<CommitInput, 'title' | 'done'> {
  message?: string;
}

async function run(call: Call): Promise<MadeCommit> {
  const { message, why, what, learned, issue, all, amend, edit } = call.options as Options;
  const text = async (word?: string) => (word === undefined ? word : call.text(word));
  const texts = async (words?: string[]) => words && Promise.all(words.map((word) => call.text(word)));
  const input = {
    ...{ title: await text(message), what: await texts(what), learned: await texts(learned) },
    ...{ issue, all, amend, edit },
  };
  const reason = (await text(why)) ?? (await askWhy(call, input));
  return call.forge().commit.make({ ...input, why: reason }, { onOutput: call.stream });
}

/** Asks for the reason at a terminal, unless an editor will show it. */
async function askWhy(call: Call, input: CommitInput): Promise<string | undefined> {
  if (!call.interactive || call.flags.dryRun || input.edit || input.amend) return undefined;
  const draft = await call.forge().commit.draft(input);
  const { line } = await import('../cli/prompt.js');
  return (await line('Why?', oneLine(draft.why, 500))).trim() || undefined;
}

const commit: CommandSpec<MadeCommit> = {
  name: 'commit',
  summary: 'Commit what is staged, with a message from focus, log, features and learnings',
  example: 'forge commit -m "Wire the login form" --why "people could not sign in" -a',
  options: [
    {
      flags: '-m, --message <title>',
      help: 'the subject (default: the task in focus); "[ID] title" sets the issue',
    },
    { flags: '--why <text>', help: 'the reason (default: the goal of the session, else the task)' },
    { flags: '--what <text>', help: 'what changed (default: the log and the file names)', many: true },
    { flags: '--learned <text>', help: 'something worth knowing; saved as knowledge too', many: true },
    {
      flags: '--issue <id>',
      help: 'the issue (default: the one in focus)',
      values: { live: ['issue', 'feature'] },
    },
    { flags: '-a, --all', help: 'commit all changed files that git tracks' },
    { flags: '--amend', help: 'replace the last commit; keep the parts of its message that are not given' },
    { flags: '--edit', help: "edit the message in git's editor first" },
  ],
  writes: true,
  run,
  render: ({ commit: made, message }, style) =>
    made
      ? `${style.good('✓')} ${style.strong(made.short)} ${oneLine(made.subject, 100)}`
      : escapeControls(message),
};

const template: CommandSpec<CommitTemplate> = {
  name: 'template',
  summary: 'Print a message, or the text of a pull request, with the known parts filled in',
  example: 'forge commit template --pr',
  options: [{ flags: '--pr', help: 'the text of a pull request, from the commits of this branch' }],
  run: (call) => call.forge().commit.template({ pullRequest: call.options.pr === true }),
  render: ({ text }) => escapeControls(text),
};

export const group: Group = [command(commit), command(check), command(template)];
