import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { escapeControls, oneLine, plural } from '../core/text.js';
import type { Answers, FormField, Issue, IssueList, StartedIssue, Synced } from '../index.js';

const row = ({ linear_id, state, title }: Issue, isIdle: boolean, style: Style): string[] => [
  style.strong(linear_id),
  state === 'started' ? style.warn(state) : style.dim(state),
  oneLine(title, 100),
  isIdle ? style.warn('no commit yet') : '',
];

function renderIssue(issue: Issue, style: Style): string {
  const { linear_id, title, description, acceptance_criteria, git_refs, labels, priority, url } = issue;
  const rows = [
    ['state', issue.state],
    ['type', issue.type],
    ['labels', labels.join(', ')],
    ['priority', priority === null ? '' : String(priority)],
    ['branch', git_refs.branch ?? ''],
    ['commits', git_refs.commits.map((hash) => hash.slice(0, 12)).join(', ')],
    ['url', url ?? ''],
  ].filter(([, value]) => value !== '');
  return [
    `${style.strong(linear_id)}  ${oneLine(title, 200)}`,
    columns(rows.map(([name = '', value = '']) => [style.dim(name), oneLine(value, 300)])),
    ...(description === '' ? [] : ['', escapeControls(description)]),
    ...(acceptance_criteria.length === 0
      ? []
      : ['', ...acceptance_criteria.map((text) => `- ${oneLine(text, 300)}`)]),
  ].join('\n');
}

/** Asks for the fields of a form that were not given, until each answer keeps the rules. */
async function ask(call: Call, fields: readonly FormField[], given: Answers): Promise<Answers> {
  const { choose, line, several } = await import('../cli/prompt.js');
  const { checkAnswer, prefixOf } = await import('./form.js');
  const answers: Answers = { ...given };
  for (const field of fields) {
    const { name, type, required, options } = field;
    if (answers[name] !== undefined || (type === 'multi_select' && options.length === 0)) continue;
    const label = `${name.replaceAll('_', ' ')}${required || field.min_items ? '' : ' (optional)'}`;
    for (;;) {
      const answer =
        type === 'select'
          ? await choose(label, options, options[0] as string)
          : type === 'multi_select'
            ? await several(label, options)
            : type === 'checklist'
              ? await lines(label, line)
              : await line(label, prefixOf(field));
      const problems = checkAnswer(field, answer);
      if (problems.length === 0) {
        if (answer.length > 0 && answer !== prefixOf(field)) answers[name] = answer;
        break;
      }
      for (const problem of problems) call.say(problem);
    }
  }
  return answers;
}

async function lines(label: string, line: (message: string, initial: string) => Promise<string>) {
  const found: string[] = [];
  for (;;) {
    const text = (await line(`${label}, ${found.length + 1} (empty: no more)`, '')).trim();
    if (text === '') return found;
    found.push(text);
  }
}

async function makeIssue(call: Call, title: string | undefined): Promise<Issue> {
  const {
    template,
    from,
    field = [],
  } = call.options as { template?: string; from?: string; field?: string[] };
  const { parseAnswers, toAnswers } = await import('./form.js');
  const given: Answers = {
    ...(from === undefined ? {} : parseAnswers(await call.file(from))),
    ...toAnswers(field),
    ...(title === undefined ? {} : { title }),
  };
  const { linear } = call.forge();
  const name = template ?? (given['title'] === undefined ? 'feature' : undefined);
  if (name === undefined) return linear.new({ answers: given });
  const answers = call.interactive ? await ask(call, (await linear.form({ name })).fields, given) : given;
  return linear.new({ template: name, answers });
}

function renderSync(
  { pulled, closed, reopened, pushed, queued, failed, conflicts, planned }: Synced,
  style: Style,
): string {
  const sent = planned ? 'would be sent' : `sent${queued > 0 ? `, ${queued} waiting` : ''}`;
  return [
    `${failed.length === 0 ? style.good('✓') : style.warn('!')} ${plural(pulled.length, 'issue')} from Linear, ${pushed.length} ${sent}`,
    ...closed.map((id) => `  ${id} was ended in Linear: forge linear show ${id}`),
    ...reopened.map((id) => `  ${id} was reopened in Linear, and is active again`),
    ...pushed.map((what) => `  ${what}`),
    ...conflicts.map(
      ({ id, field, ours, theirs }) =>
        `${style.warn('!')} ${id}: ${field} was changed here, and forge does not send texts. Kept Linear's: ${JSON.stringify(oneLine(theirs, 80))}. Yours is under "replaced" in the issue's file: ${JSON.stringify(oneLine(ours, 80))}`,
    ),
    ...failed.map(
      ({ issue, message }) => `${style.bad('✗')} ${issue}${issue === '' ? '' : ': '}${oneLine(message, 200)}`,
    ),
  ].join('\n');
}

const syncing = (name: 'pull' | 'push' | 'sync', summary: string) =>
  command<Synced>({
    name,
    summary,
    example: `forge linear ${name}`,
    writes: true,
    run: (call) => call.forge().linear[name](),
    render: renderSync,
    exit: ({ failed }) => (failed.length > 0 ? 6 : 0),
  });

export const group: Group = [
  command<IssueList>({
    name: 'list',
    summary: 'List the active issues',
    example: 'forge linear list',
    run: (call) => call.forge().linear.list(),
    render: ({ issues, without_commits: idle }, style) =>
      issues.length === 0
        ? 'No active issues. Make one with: forge linear new --template feature'
        : columns(issues.map((issue) => row(issue, idle.includes(issue.linear_id), style))),
  }),
  command<Issue>({
    name: 'show',
    args: ['<issue>'],
    summary: 'Show one issue',
    example: 'forge linear show APP-7',
    run: (call, id) => call.forge().linear.show({ id: id as string }),
    render: renderIssue,
  }),
  command<Issue>({
    name: 'new',
    args: ['[title]'],
    summary: 'Make an issue: by a form, from a file, or from a title',
    example:
      'forge linear new --template bug --field title="[BUG] Save fails" --field reproduction_steps="Press save"',
    options: [
      {
        flags: '--template <name>',
        help: 'the form in .forge/linear/templates/: feature, bug, or your own',
      },
      { flags: '--from <file>', help: 'answers as YAML or JSON, - for stdin', values: { paths: 'files' } },
      { flags: '--field <name=value>', help: 'one answer; several for a list', many: true },
    ],
    writes: true,
    run: makeIssue,
    render: ({ linear_id, title }, style) =>
      `${style.good('✓')} ${style.strong(linear_id)}  ${oneLine(title, 200)}\n${style.dim(`Next: forge linear start ${linear_id}`)}`,
  }),
  command<StartedIssue>({
    name: 'start',
    args: ['<issue>'],
    summary: 'Work on an issue: sets focus, branch name and skill. A done one is active again',
    example: 'forge linear start APP-7',
    writes: true,
    run: (call, id) => call.forge().linear.start({ id: id as string }),
    render: ({ issue, reopened, branch, current, skill }, style) =>
      [
        `${style.good('✓')} ${style.strong(issue.linear_id)} ${reopened ? 'was done. It is active again, and started' : 'started'}${skill === null ? '' : `, with skill ${skill}`}`,
        ...(current === branch ? [] : [style.dim(`Next: git switch -c ${branch}`)]),
      ].join('\n'),
  }),
  command<Issue>({
    name: 'done',
    args: ['<issue>'],
    summary: 'Finish an issue: it moves to linear/history/',
    example: 'forge linear done APP-7 --summary "Login works, with a CSRF token"',
    options: [{ flags: '--summary <text>', help: 'the result; also a comment in Linear' }],
    writes: true,
    run: async (call, id) => {
      const { summary } = call.options as { summary?: string };
      const input = { id: id as string };
      return call
        .forge()
        .linear.done(summary === undefined ? input : { ...input, summary: await call.text(summary) });
    },
    render: ({ linear_id }, style) => `${style.good('✓')} ${style.strong(linear_id)} is done`,
  }),
  command<{ templates: string[] }>({
    name: 'template',
    summary: 'List the forms',
    example: 'forge linear template',
    run: (call) => call.forge().linear.templates(),
    render: ({ templates }) => templates.join('\n') || 'No forms in .forge/linear/templates/.',
  }),
  syncing('pull', 'Get the issues that are assigned to you in Linear'),
  syncing('push', 'Send new issues, comments and states to Linear'),
  syncing('sync', 'Pull, then push. Exit 6: something could not be sent, and is kept'),
];
