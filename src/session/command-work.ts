import { type Call, type CommandSpec, command, fromTop, type Group, type OptionSpec } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { escapeControls, oneLine, oneOf } from '../core/text.js';
import type { Briefing, BriefingInput, Focus, FocusInput, SessionDetail, ShownProgress } from '../index.js';

const FORMATS = ['text', 'markdown', 'json'];

export const BRIEFING_OPTIONS: readonly OptionSpec[] = [
  { flags: '--budget <tokens>', help: 'the most tokens of the briefing', number: [200, 100_000] },
  {
    flags: '--format <format>',
    help: 'text, markdown or json',
    values: { words: FORMATS },
  },
];

/** `--format json` is `--json`. */
export function briefingInput({ options, flags }: Call): BriefingInput {
  const { budget, format } = options as { budget?: number; format?: 'text' | 'markdown' | 'json' };
  if (format !== undefined) oneOf(FORMATS, format, '--format', 'format.unknown');
  if (format !== 'json') return { budget, format };
  flags.json = true;
  return { budget };
}

export const briefingGroup: Group = [
  command<Briefing>({
    name: 'briefing',
    summary: 'Show where the work stands, cut to a token budget; changes nothing',
    example: 'forge briefing --budget 1000 --format markdown',
    options: BRIEFING_OPTIONS,
    run: (call) => call.forge().briefing(briefingInput(call)),
    render: (briefing) => briefing.text,
  }),
];

/** The workflow for an agent that has only a shell. A test types each line. */
const PRIME = `forge keeps the memory of this project in .forge/ (forge init makes it). Never edit .forge/memory yourself.

    forge start                    the task, what the last session left, what is known
    forge start F-1                the same, for that feature
    forge log "TEXT"               after each step
    forge progress next "TEXT"     what comes next, should you be interrupted
    forge kfr patch --goal "TEXT"  what must stay correct for the next few turns; see forge help kfr
    forge kfr patch --add "OpenQuestion:QUESTION"
    forge kfr patch --resolve kfr-2="ANSWER"    an open question keeps the session from its end
    forge learn "TEXT" --as success    also: failure, invariant, note
    forge feature add F-1 "TEXT" --test "COMMAND"   before the work: it runs once and must fail
    forge done F-1                 runs that test; an agent's only way to "passing"
    git add -A && forge commit -m "TEXT" --why "TEXT"
    forge end --next "TEXT"        when the task is done

Add --json for programs. When a command is refused, the line after the arrow shows what to type.`;

export const primeGroup: Group = [
  command<{ lines: string[] }>({
    name: 'prime',
    summary: 'Print the workflow, for an agent with only a shell',
    example: 'forge prime',
    run: async () => ({ lines: PRIME.split('\n') }),
    render: ({ lines }) => lines.join('\n'),
  }),
];

/** The time of a line without a date: local at a terminal, UTC elsewhere. */
const clock = (style: Style, date: string | null, time: string): string =>
  style.stamp(`${date}T${time}:00.000Z`).slice(11);

export const logLines = ({ date, lines }: Pick<SessionDetail['progress'], 'date' | 'lines'>, style: Style) =>
  lines.map(
    ({ time, text }) =>
      `${style.dim(`[${clock(style, date, time)}]`)} ${escapeControls(text).replaceAll('\n', '\n        ')}`,
  );

const showLog = (log: ShownProgress, style: Style): string =>
  [
    style.strong(`Session ${log.session}`),
    ...logLines(log, style),
    ...(log.next === undefined ? [] : ['', `${style.strong('NEXT:')} ${escapeControls(log.next)}`]),
  ].join('\n');

const add: CommandSpec<{ line: string } | ShownProgress> = {
  name: 'add',
  args: ['[text]'],
  summary: "Add a line to the session's log; without a text, show the log",
  example: 'forge log "wired the form"',
  options: [{ flags: '--checkpoint', help: 'mark it as a CHECKPOINT line' }],
  writes: true,
  run: async (call, text?: string) => {
    const { progress } = call.forge();
    if (text === undefined && call.options.checkpoint === true)
      throw usage('log.text', '--checkpoint marks a new line, but no text was given.', {
        hint: 'forge log --checkpoint "TEXT"',
      });
    if (text === undefined) return progress.show();
    return progress.add({ text: await call.text(text), checkpoint: call.options.checkpoint === true });
  },
  render: (value, style) => {
    if ('lines' in value) return showLog(value, style);
    const { line } = value;
    const [, time = '', text = ''] = /^\[(.{5})\](.*)$/s.exec(line) ?? [];
    return escapeControls(`[${clock(style, new Date().toISOString().slice(0, 10), time)}]${text}`);
  },
};

const next: CommandSpec<{ line: string }> = {
  name: 'next',
  args: ['<text>'],
  summary: 'Set the NEXT line: what the next session starts with',
  example: 'forge progress next "wire the logout button"',
  writes: true,
  run: async (call, text) => call.forge().progress.next({ text: await call.text(text as string) }),
  render: ({ line }) => escapeControls(line),
};

const show: CommandSpec<ShownProgress> = {
  name: 'show',
  summary: "Show the running session's log",
  example: 'forge progress show',
  run: (call) => call.forge().progress.show(),
  render: showLog,
};

export const progressGroup: Group = [command(add), command(next), command(show)];

function renderFocus(focus: Focus & { skill_why?: string[] }, style: Style): string {
  const { task, linear_issue, phase, skill, skill_why, files, blockers, started_at } = focus;
  if (task === null && !linear_issue && files.length === 0) return 'No task is set.';
  const rows: [name: string, value: string | null | undefined][] = [
    ['task', task && style.strong(oneLine(task, 400))],
    ['issue', linear_issue],
    ['phase', phase],
    ['skill', skill && skill_why ? `${skill} (${skill_why.join(', ')})` : skill],
    ['files', files.join(', ')],
    ['blockers', blockers.join('; ')],
    ['since', started_at],
  ];
  return columns(
    rows.flatMap(([name, value]) => (value ? [[name, name === 'task' ? value : oneLine(value, 400)]] : [])),
  );
}

async function change(call: Call, word: string | undefined): Promise<FocusInput> {
  if (word !== undefined && call.options.task !== undefined)
    throw usage('focus.twice', 'The task is given twice.', { hint: 'forge focus set TASK' });
  const { task, file, phase, blocker, issue, skill } = call.options as Record<string, string & string[]>;
  const text = word ?? task;
  return {
    task: text === undefined ? undefined : await call.text(text),
    issue: issue === 'none' ? null : issue,
    files: file?.map((name) => fromTop(call, name)),
    phase,
    blockers: blocker,
    skill: skill === 'none' ? null : skill,
  } as FocusInput;
}

const setFocus: CommandSpec<Focus> = {
  name: 'set',
  args: ['[task]'],
  values: { task: { live: ['feature'] } },
  summary: 'Set what is worked on; another task starts with empty files and blockers',
  example: 'forge focus set --task "F-2: logout" --file src/logout.ts --phase BUILD',
  options: [
    { flags: '--task <text>', help: 'the task: the id of a feature, or a text' },
    {
      flags: '--issue <id>',
      help: 'the issue; "none" clears it',
      values: { words: ['none'], live: ['issue'] },
    },
    { flags: '--file <path>', help: 'a file it is about', many: true },
    {
      flags: '--phase <name>',
      help: 'where in the work (PLAN, BUILD, …)',
      values: { words: ['PLAN', 'BUILD', 'TEST', 'REVIEW'] },
    },
    { flags: '--blocker <text>', help: 'what stands in the way', many: true },
    {
      flags: '--skill <name>',
      help: 'the active skill; "none" clears it',
      values: { words: ['none'] },
    },
  ],
  writes: true,
  run: async (call, task) => call.forge().focus.set(await change(call, task)),
  render: renderFocus,
};

export const focusGroup: Group = [
  command<Focus>({
    name: 'show',
    summary: 'Show the focus',
    example: 'forge focus show',
    run: (call) => call.forge().focus.show(),
    render: renderFocus,
  }),
  command(setFocus),
  command<Focus>({
    name: 'clear',
    summary: 'Clear the focus',
    example: 'forge focus clear',
    writes: true,
    run: (call) => call.forge().focus.clear(),
    render: renderFocus,
  }),
];
