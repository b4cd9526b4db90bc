import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style, withStamps } from '../cli/style.js';
import { ForgeError } from '../core/error.js';
import { escapeControls, oneLine, oneOf, plural } from '../core/text.js';
import type { Color, Component, Status, Where } from '../index.js';

const paint = (color: Color, text: string, style: Style): string =>
  ({ neutral: style.dim, green: style.good, yellow: style.warn, red: style.bad })[color](text);

const markOf = (color: Color, style: Style): string =>
  paint(color, { neutral: '·', green: '●', yellow: '◐', red: '○' }[color], style);

/** Marks appear only at a terminal. */
export function renderStatus({ components }: Status, style: Style): string {
  const head = ({ name, color }: Component): string[] => [
    style.width === null ? name : `${markOf(color, style)} ${name}`,
    paint(color, color, style),
  ];
  const rows = components.flatMap((component) =>
    [...component.reasons, ...component.fix.map((line) => `→ ${style.command(line)}`)].map((line, i) => [
      ...(i === 0 ? head(component) : ['', '']),
      line,
    ]),
  );
  return columns(rows);
}

/** One line for a shell prompt, which reads it from a pipe: a mark per component, and the task. */
function renderShort({ components, task }: Status, style: Style): string {
  const marks = components.map(({ color }) => markOf(color, style)).join('');
  return ['forge', marks, ...(task === null ? [] : [task])].join(' ');
}

async function runStatus(call: Call): Promise<Status | undefined> {
  const { exitCode = true, short } = call.options;
  if (exitCode !== true) oneOf(['red', 'yellow'], String(exitCode), '--exit-code', 'status.exit_code');
  try {
    return await call.forge().status();
  } catch (error) {
    // A prompt shows up in every folder.
    if (short && !call.flags.json && error instanceof ForgeError && error.code === 'not_a_forge')
      return undefined;
    throw error;
  }
}

function exit(status: Status | undefined, { exitCode }: Record<string, unknown>): number {
  if (!status || exitCode === undefined) return 0;
  return status.worst === 'red' || status.worst === exitCode ? 1 : 0;
}

export const group: Group = [
  command<Status | undefined>({
    name: 'status',
    summary: 'Show memory health: five components with their colors, reasons and fixes',
    example: 'forge status',
    options: [
      { flags: '--short', help: 'one line for a shell prompt; nothing outside a project' },
      { flags: '--exit-code [color]', help: 'exit 1 if a component is red (default) or yellow' },
    ],
    run: runStatus,
    render: (status, style, { short }) =>
      !status ? '' : short === true ? renderShort(status, style) : renderStatus(status, style),
    exit,
  }),
];

/** Outside a project. */
interface Nowhere {
  root: null;
  problems: string[];
  next: string[];
}

async function runWhere(call: Call): Promise<Where | Nowhere> {
  try {
    return await call.forge().where();
  } catch (error) {
    // A newcomer types `forge` first, so this is not a failure.
    if (!(error instanceof ForgeError) || error.code !== 'not_a_forge') throw error;
    const { hint = 'forge init' } = error.details;
    const problems = hint === 'forge init' ? [] : [error.message];
    return { root: null, problems, next: [hint, 'forge --help'] };
  }
}

function renderWhere(where: Where | Nowhere, style: Style): string {
  const { root, problems, next } = where;
  if (root === null) {
    const [problem = 'There is no .forge/ here yet.'] = problems;
    return `forge keeps a memory that coding agents can trust, in a project's .forge/. ${problem}\nBegin with: ${style.command(next[0] ?? '')}   (all commands: forge --help)`;
  }
  const rows = factsOf(where, root, style).flatMap(([name, value]) =>
    value === null ? [] : [[style.strong(name), value]],
  );
  return `${columns(rows)}\n\nNext:\n${next.map((line) => `  ${style.command(line)}`).join('\n')}`;
}

export function factsOf(where: Where, root: string, style: Style): [label: string, text: string | null][] {
  const { session, halted, paused, loop, waiting, recovering, problems, steps, features } = where;
  const git = where.git ? (where.branch ?? 'detached HEAD') : 'no git: sessions end without a commit';
  const open = session?.open_questions ?? 0;
  const [step, ...more] = steps;
  return [
    ['Project', `${root} (${escapeControls(git)})`],
    ['Session', session ? describeSession(session, style) : 'none is running'],
    ['Task', session?.task ? escapeControls(session.task) : null],
    [
      'NEXT',
      step === undefined
        ? null
        : `${oneLine(step, 200)}${more.length > 0 ? style.dim(`  (${more.length} more: forge briefing)`) : ''}`,
    ],
    [
      'Open',
      open > 0 ? `${plural(open, 'open entry', 'open entries')} in working memory: forge kfr list` : null,
    ],
    ['Features', features && countFeatures(features)],
    ['Memory', halted === null ? null : `${style.bad('halted')}: ${oneLine(halted, 200)}`],
    ['Recovery', recovering ? style.bad('a rollback or an undo was interrupted') : null],
    ['Paused', paused === null ? null : style.bad(escapeControls(paused))],
    ['Loop', loop === null ? null : oneLine(loop, 500)],
    ['For you', waiting.length === 0 ? null : waiting.join('; ')],
    ...problems.map((text): [string, string] => ['Damaged', style.bad(oneLine(text, 300))]),
    ['Health', healthOf(where, style)],
  ];
}

function describeSession(
  { id, started_at, interrupted }: NonNullable<Where['session']>,
  style: Style,
): string {
  const when =
    style.width === null ? `since ${started_at.slice(11, 16)} UTC` : `started ${style.time(started_at)}`;
  return `${id}, ${when}${interrupted === undefined ? '' : `; interrupted: ${withStamps(interrupted, style)}`}`;
}

function countFeatures(counts: NonNullable<Where['features']>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return 'none yet';
  return `${plural(total, 'feature')}: ${parts.map(([status, count]) => `${count} ${status}`).join(', ')}`;
}

/** At a terminal all components as marks; elsewhere the yellow and red ones in words. */
function healthOf({ health }: Where, style: Style): string {
  if (style.width !== null)
    return health.map(({ name, color }) => `${markOf(color, style)}\u00a0${name}`).join('  ');
  const bad = health.filter(({ color }) => color === 'yellow' || color === 'red');
  if (bad.length === 0) return style.good('green');
  return `${bad.map(({ name, color }) => `${name} ${paint(color, color, style)}`).join(', ')}: forge status`;
}

export const whereGroup: Group = [
  command<Where | Nowhere>({
    name: 'where',
    summary: 'Show where you stand and what to do next',
    example: 'forge',
    run: runWhere,
    render: renderWhere,
  }),
];
