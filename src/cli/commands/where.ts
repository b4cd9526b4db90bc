import { ForgeError } from '../../domain/error.js';
import { escapeControls, oneLine, plural } from '../../domain/text.js';
import type { Where } from '../../index.js';
import { type Call, command, type Group } from '../spec.js';
import type { Style } from '../style.js';

const NOWHERE: Where = {
  root: null,
  branch: null,
  git: false,
  session: null,
  features: null,
  halted: null,
  paused: null,
  recovering: false,
  next: ['forge init', 'forge --help'],
};

async function run(call: Call): Promise<Where> {
  try {
    return await call.forge().where();
  } catch (error) {
    // The first thing a newcomer types: no failure.
    if (error instanceof ForgeError && error.code === 'not_a_forge') return NOWHERE;
    throw error;
  }
}

function render(where: Where, style: Style): string {
  const next = where.next.map((line) => `  ${style.command(line)}`).join('\n');
  if (where.root === null) return `There is no .forge/ here yet.\n\nNext:\n${next}`;
  const git = where.git ? (where.branch ?? 'detached HEAD') : 'no git: sessions end without a commit';
  const session = where.session
    ? `${where.session.id}, since ${where.session.started_at.slice(11, 16)} UTC`
    : 'none is running';
  const lines = [
    `${style.strong('Project')}   ${where.root} (${escapeControls(git)})`,
    `${style.strong('Session')}   ${session}`,
  ];
  if (where.session?.task) lines.push(`${style.strong('Task')}      ${escapeControls(where.session.task)}`);
  if (where.session && where.session.open_questions > 0)
    lines.push(
      `${style.strong('Open')}      ${plural(where.session.open_questions, 'entry', 'entries')} of working memory to resolve: forge kfr list`,
    );
  lines.push(`${style.strong('Features')}  ${features(where)}`);
  if (where.halted !== null)
    lines.push(
      `${style.strong('Memory')}    ${style.bad('halted')}: ${escapeControls(oneLine(where.halted, 200))}`,
    );
  if (where.recovering)
    lines.push(
      `${style.strong('Recovery')}  ${style.bad('a rollback, or its undoing, waits to be completed')}`,
    );
  if (where.paused !== null)
    lines.push(`${style.strong('Paused')}    ${style.bad(escapeControls(where.paused))}`);
  return `${lines.join('\n')}\n\nNext:\n${next}`;
}

function features({ features: counts }: Where): string {
  const parts = Object.entries(counts ?? {}).filter(([, count]) => count > 0);
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  return total === 0
    ? 'none yet'
    : `${plural(total, 'feature')}: ${parts.map(([status, count]) => `${count} ${status}`).join(', ')}`;
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
