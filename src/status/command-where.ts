import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { ForgeError } from '../core/error.js';
import { escapeControls, oneLine, plural } from '../core/text.js';
import type { Where } from '../index.js';
import { markOf, paintColor } from './command.js';

const NOWHERE: Where = {
  root: null,
  branch: null,
  git: false,
  session: null,
  features: null,
  step: null,
  halted: null,
  paused: null,
  recovering: false,
  health: [],
  problems: [],
  next: ['forge init', 'forge --help'],
};

async function run(call: Call): Promise<Where> {
  try {
    return await call.forge().where();
  } catch (error) {
    // The first thing a newcomer types: no failure.
    if (!(error instanceof ForgeError) || error.code !== 'not_a_forge') throw error;
    const { hint = 'forge init' } = error.details;
    const problems = hint === 'forge init' ? [] : [error.message];
    return { ...NOWHERE, problems, next: [hint, 'forge --help'] };
  }
}

function renderNowhere({ problems, next: [first = ''] }: Where, style: Style): string {
  const [problem = 'There is no .forge/ here yet.'] = problems;
  return `forge keeps a memory that coding agents can trust, in a project's .forge/. ${problem}\nBegin with: ${style.command(first)}   (all commands: forge --help)`;
}

function render(where: Where, style: Style): string {
  if (where.root === null) return renderNowhere(where, style);
  const rows = facts(where, style).map(([name, value]) => [style.strong(name), value]);
  const next = where.next.map((line) => `  ${style.command(line)}`).join('\n');
  return `${columns(rows)}\n\nNext:\n${next}`;
}

/** What is to be told, by what it is about. */
function facts(where: Where, style: Style): [string, string][] {
  const { session, halted, paused, recovering, problems } = where;
  const git = where.git ? (where.branch ?? 'detached HEAD') : 'no git: sessions end without a commit';
  const told: [string, string | null][] = [
    ['Project', `${where.root} (${escapeControls(git)})`],
    ['Session', session ? `${session.id}, ${since(session.started_at, style)}` : 'none is running'],
    ['Task', session?.task ? escapeControls(session.task) : null],
    ['NEXT', where.step === null ? null : oneLine(where.step, 200)],
    ['Open', session && session.open_questions > 0 ? openEntries(session.open_questions) : null],
    ['Features', where.features && features(where.features)],
    ['Memory', halted === null ? null : `${style.bad('halted')}: ${oneLine(halted, 200)}`],
    ['Recovery', recovering ? style.bad('a rollback, or its undoing, waits to be completed') : null],
    ['Paused', paused === null ? null : style.bad(escapeControls(paused))],
    ...problems.map((problem): [string, string] => ['Damaged', style.bad(oneLine(problem, 300))]),
    ['Health', health(where, style)],
  ];
  return told.filter((row): row is [string, string] => row[1] !== null);
}

const since = (at: string, style: Style): string =>
  style.width === null ? `since ${at.slice(11, 16)} UTC` : `started ${style.time(at)}`;

const openEntries = (count: number): string =>
  `${plural(count, 'entry', 'entries')} of working memory to resolve: forge kfr list`;

function features(counts: NonNullable<Where['features']>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  return total === 0
    ? 'none yet'
    : `${plural(total, 'feature')}: ${parts.map(([status, count]) => `${count} ${status}`).join(', ')}`;
}

/** At a terminal all of it in marks; elsewhere in words what is not green. */
function health({ health: components }: Where, style: Style): string {
  if (style.width !== null)
    return components.map(({ name, color }) => `${markOf(color, style)}\u00a0${name}`).join('  ');
  const others = components.filter(({ color }) => color === 'yellow' || color === 'red');
  if (others.length === 0) return style.good('green');
  return `${others.map(({ name, color }) => `${name} ${paintColor(color, color, style)}`).join(', ')}: forge status`;
}

export const group: Group = {
  commands: [
    command<Where>({
      name: 'where',
      summary: 'Show where you stand and what to do next',
      example: 'forge',
      run,
      render,
    }),
  ],
};
