import { type CommandSpec, command, type Group } from '../cli/spec.js';
import { columns, type Style, withStamps } from '../cli/style.js';
import { usage } from '../core/error.js';
import { escapeControls, firstNames, oneLine, plural } from '../core/text.js';
import { resultLine } from '../feature/command.js';
import type {
  EndedSession,
  Reverified,
  SessionDetail,
  SessionOverview,
  SessionRow,
  SessionStartInput,
  StartedSession,
} from '../index.js';
import { describeCandidate } from '../learning/proven.js';
import { describeObserved } from '../project/project.js';
import { BRIEFING_OPTIONS, briefingInput, logLines } from './command-work.js';
import type { SessionEndInput } from './end.js';

const STATE_WORDS = { started: 'started', running: 'goes on', joined: 'joined' };

const start: CommandSpec<StartedSession> = {
  name: 'start',
  args: ['[id]'],
  values: { id: { live: ['feature', 'issue'] } },
  summary: 'Start a session: choose the task, open the log, print the briefing',
  example: 'forge start --format markdown',
  options: [
    { flags: '--task <text>', help: 'the task in words, instead of the one forge would choose' },
    ...BRIEFING_OPTIONS,
    {
      flags: '--resume <id>',
      help: 'pick up an interrupted session: its id, or latest',
      values: { words: ['latest'] },
    },
    { flags: '--join', help: 'work in the session that another agent holds here' },
    { flags: '--take-over', help: "archive another agent's session as interrupted and start" },
    {
      flags: '--reverify <n>',
      help: 'first rerun the tests of N passing features; 0: none',
      number: [0, 1000],
    },
  ],
  writes: true,
  run: (call, id) => {
    const { resume, join, takeOver, reverify } = call.options as SessionStartInput;
    const { task: goal } = call.options as { task?: string };
    if (id !== undefined && goal !== undefined)
      throw usage('session.task', 'The task is given twice: by its id, and by --task.', {
        hint: 'forge start ID\nforge start --task "TEXT"',
      });
    const input = { ...briefingInput(call), id, goal, resume, join, takeOver, reverify };
    return call.forge().session.start(input, {
      onTest: (id, line, done, total) =>
        call.say(`verifying again, ${done} of ${total} done: ${id}: ${oneLine(line, 200)}`),
      signal: call.signal,
    });
  },
  render: ({ session, focus, briefing, reverified }, style) =>
    [
      `${style.good('✓')} Session ${style.strong(session.id)} ${STATE_WORDS[session.state]}${session.resumed_from ? `, resumes ${session.resumed_from}` : ''}`,
      ...(reverified ? [renderReverified(reverified, style)] : []),
      `\n${briefing.text}`,
      ...(style.width === null ? [] : [nextSteps(focus, briefing, style)]),
    ].join('\n'),
};

/** Only for a person: an agent gets its instructions in the briefing. */
function nextSteps(
  { task, linear_issue }: StartedSession['focus'],
  { sections }: StartedSession['briefing'],
  style: Style,
): string {
  const [id] = /^[\w.-]+(?=: )/.exec(task ?? '') ?? [];
  // A text may begin like an id, and a feature without tests cannot be verified.
  const isTested = sections.some(
    ({ key, items }) => key === 'focus' && items.some((line) => line.startsWith('Tests: ')),
  );
  const steps = [
    'forge log "what you just did"',
    ...(id && id === linear_issue ? [`forge linear done ${id}`] : isTested ? [`forge done ${id}`] : []),
    'forge end --next "what comes next"',
  ];
  return ['Next:', ...steps.map((step) => `  ${style.command(step)}`)].join('\n');
}

function renderReverified({ results, not_run }: Reverified, style: Style): string {
  if (results.length + not_run.length === 0) return '  No feature passes yet that could be verified again.';
  const rows = results.map((result) => `  ${resultLine(result, style)}`);
  const left = not_run.map(({ id, why }) => `  ${style.warn('not run')} ${id} (${oneLine(why, 200)})`);
  return [...rows, ...left].join('\n');
}

const end: CommandSpec<EndedSession> = {
  name: 'end',
  summary: 'End the session: archive it, keep what was learned, commit .forge/ alone',
  example: 'forge end --learned "the form needs a CSRF token" --next "wire the logout button"',
  options: [
    { flags: '--learned <text>', help: 'something that worked and is worth knowing', many: true },
    {
      flags: '--confirm <candidate>',
      help: 'a candidate that was seen again: its id, as the briefing shows it',
      many: true,
    },
    { flags: '--failed <text>', help: 'something that did not work', many: true },
    { flags: '--next <text>', help: 'the next step, for the session after this one' },
    { flags: '--no-commit', help: 'archive only' },
  ],
  writes: true,
  run: async (call) => {
    const { learned, failed, confirm, next, commit } = call.options as SessionEndInput;
    const texts = async (words: string[] = []): Promise<string[]> => {
      const result: string[] = [];
      for (const word of words) result.push(await call.text(word));
      return result;
    };
    return call.forge().session.end({
      learned: await texts(learned),
      confirm,
      failed: await texts(failed),
      next: next === undefined ? next : await call.text(next),
      // Without the flag the setting decides.
      commit: commit === false ? commit : undefined,
    });
  },
  render: renderEnd,
};

function describeVerdict({
  classification,
  regression_flags: lost = [],
}: NonNullable<EndedSession['cycle']>) {
  if (classification === null) return 'without a verdict: nothing was verified';
  if (classification !== 'FAILURE') return classification;
  return `FAILURE: ${lost.length > 0 ? `${firstNames(lost, 3)} no longer ${lost.length === 1 ? 'passes' : 'pass'}` : 'no verified feature passes'}`;
}

function renderEnd(ended: EndedSession, style: Style): string {
  const { session, archive, next, learned, observed, cycle, candidates, expired, commit, uncommitted } =
    ended;
  const row = (label: string, text: string | null | undefined): string[] =>
    text ? [`  ${label.padEnd(8)} ${text}`] : [];
  // A commit now could hold conflict markers.
  const isInProgress = ended.commit_skipped?.endsWith(' is in progress');
  return [
    `${style.good('✓')} Session ${style.strong(session.id)} ended${archive ? '' : '. Nothing was done in it, so nothing of it is kept'}`,
    ...row('archive', archive),
    ...row('next', next && oneLine(next, 100)),
    ...(observed ? [`  ${describeObserved(observed)}`] : []),
    ...learned.flatMap((entry) =>
      entry.kind === 'invariant'
        ? []
        : entry.kind === 'success'
          ? row('learned', oneLine(entry.approach, 100))
          : row('failed', oneLine(entry.issue, 100)),
    ),
    ...row('cycle', cycle && `${cycle.cycle} ${describeVerdict(cycle)}`),
    ...(cycle?.consolidation?.promoted ?? []).map(
      ({ pattern }) => `  ${style.good('promoted')} ${oneLine(pattern, 100)}`,
    ),
    ...expired.flatMap(({ id, kind, text }) => row('expired', `${id} (${kind}) ${oneLine(text, 100)}`)),
    ...row('commit', commit && `${commit.short} ${oneLine(commit.subject, 80)}`),
    ...(commit ? [] : [`  ${style.warn('no commit')}: ${ended.commit_skipped}`]),
    ...ended.linear.flatMap(({ issue, sent }) =>
      row('linear', `${issue}: comment ${sent ? 'sent' : 'waits for: forge linear sync'}`),
    ),
    ...(uncommitted
      ? [
          `  ${style.warn('!')} ${plural(uncommitted, 'file')} outside .forge/ not committed: ${style.command(isInProgress ? 'git status' : 'git add -A && forge commit -m "TEXT" --why "TEXT"')}`,
        ]
      : []),
    ...(candidates.length > 0
      ? ['Possible lessons. If a later session sees one again, end it with --confirm ID:']
      : []),
    ...candidates.map((candidate) => `  ${describeCandidate(candidate)}`),
  ].join('\n');
}

function rows(sessions: readonly SessionRow[], style: Style): string {
  const isShared = new Set(sessions.flatMap(({ by }) => by ?? [])).size > 1;
  return columns(
    sessions.map(({ id, status, resumed_by, started_at, ended_at, by, task, next }) => [
      id,
      resumed_by ? 'resumed' : status,
      style.time(ended_at ?? started_at),
      ...(isShared ? [oneLine(by ?? '', 30)] : []),
      task ? oneLine(task, 60) : '',
      next ? `next: ${oneLine(next, 60)}` : '',
    ]),
  );
}

/** Nobody works in an interrupted one any more. */
const stateOf = ({ status }: SessionRow, style: Style): string =>
  status === 'interrupted' ? style.warn(status) : style.good(status);

function renderList({ active, sessions, more }: SessionOverview, style: Style): string {
  const running = active
    ? `${stateOf(active, style)}  ${active.id}  (holder: ${withStamps(active.holder, style)})${active.task ? `  ${oneLine(active.task, 60)}` : ''}`
    : 'No session is running.';
  const past = sessions.length > 0 ? `\n\n${rows(sessions, style)}` : '';
  return `${running}${past}${more ? '\n… older ones: --limit N' : ''}`;
}

function renderStatus({ active }: SessionOverview, style: Style): string {
  if (!active) return 'No session is running. Start one with: forge start';
  const at = style.time(active.started_at);
  const since = style.width === null ? `since ${at} UTC` : `started ${at}`;
  const next = active.next === null ? '' : `\nNEXT: ${escapeControls(active.next)}`;
  const open =
    active.open_questions === 0
      ? ''
      : `\nopen: ${plural(active.open_questions, 'entry', 'entries')} of working memory to resolve (forge kfr list)`;
  return `${stateOf(active, style)}  ${active.id}  ${since}\nholder: ${withStamps(active.holder, style)}\ntask: ${active.task ?? 'none'}${open}${next}`;
}

function renderDetail({ session, progress, focus, kfr, answers }: SessionDetail, style: Style): string {
  const { id, status, resumed_by: by, started_at, ended_at } = session;
  return [
    `${style.strong(id)}  ${by ? `resumed by ${by}` : status}  ${style.time(started_at)} – ${ended_at ? style.time(ended_at) : '?'}`,
    `task: ${escapeControls(focus.task ?? 'none')}`,
    ...logLines(progress, style).map((line) => `  ${line.replaceAll('\n', '\n  ')}`),
    ...kfr.map(
      ({ id, kind, text, requires_resolution, parked }) =>
        `${id}: ${kind}${parked ? ', parked for a person' : requires_resolution ? ', open' : ''}: ${oneLine(text, 300)}`,
    ),
    ...answers.map((text) => `answered: ${escapeControls(text)}`),
    ...session.learned.map((text) => `learned: ${escapeControls(text)}`),
    ...session.failed.map((text) => `failed: ${escapeControls(text)}`),
    ...(session.next === null ? [] : [`NEXT: ${escapeControls(session.next)}`]),
  ].join('\n');
}

export const group: Group = [
  command(start),
  command(end),
  command<SessionOverview>({
    name: 'status',
    summary: 'Show the running session and who holds it',
    example: 'forge session status',
    run: (call) => call.forge().session.list({ limit: 1 }),
    render: renderStatus,
  }),
  command<SessionOverview>({
    name: 'list',
    summary: 'List past sessions, newest first',
    example: 'forge session list --limit 10',
    options: [{ flags: '--limit <n>', help: 'how many', number: [1, 100_000] }],
    run: (call) => call.forge().session.list(call.options as { limit?: number }),
    render: renderList,
  }),
  command<SessionDetail>({
    name: 'show',
    args: ['<id>'],
    summary: 'Show a past session: its log, what it learned, its NEXT',
    example: 'forge session show 2026-11-20-session-001',
    run: (call, id) => call.forge().session.show({ id: id as string }),
    render: renderDetail,
  }),
  command<{ session: { id: string }; undo: string | null }>({
    name: 'discard',
    args: ['[id]'],
    summary:
      'End the running session without a commit, or stop offering an interrupted one; its archive stays',
    example: 'forge session discard',
    writes: true,
    run: (call, id) => call.forge().session.discard({ id }),
    render: ({ session, undo }, style) =>
      `${style.good('✓')} Session ${session.id} discarded; its archive stays   ${undo ? style.dim(`# back with: ${undo}`) : ''}`,
  }),
];
