import { ForgeError } from '../core/error.js';
import { escapePattern, oneLine, plural } from '../core/text.js';
import { describeCommit } from '../feature/rules.js';
import type { Forge } from '../index.js';
import { describeLearning } from '../knowledge/rules.js';
import { type Answers, ROUTES, Source } from './api.js';
import { exportedPage } from './shell.js';

/** Answers by their addresses below /api/. Damage in one part must not keep the rest from being shown. */
type Copy = Partial<Answers> & Record<string, object>;

/** What is about this moment, or needs a question. */
const LEFT_OUT = ['recall', 'fleet'];
/** Features, sessions and pieces of knowledge that are exported with their details. */
const MAX_DETAILS = 200;

/** What the page shows, without the folder's place on this machine, and without "you", which would be the reader. */
async function readCopy(open: () => Forge, details: boolean): Promise<Copy> {
  const { root } = open();
  const source = new Source(open);
  const copy: Copy = {};
  const read = async (route: keyof Answers, id = ''): Promise<void> => {
    try {
      copy[route.replace(':id', encodeURIComponent(id))] = await ROUTES[route].run(source, {
        id,
        limit: '500',
      });
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    }
  };
  const routes = Object.keys(ROUTES) as (keyof Answers)[];
  for (const route of routes) if (!route.includes(':') && !LEFT_OUT.includes(route)) await read(route);
  if (details) {
    const { features, sessions, knowledge } = copy;
    const first = <T>(list: readonly T[] = []): T[] => list.slice(0, MAX_DETAILS);
    for (const { id } of first(features?.features)) await read('features/:id', id);
    for (const { id } of first(sessions?.sessions)) await read('sessions/:id', id);
    for (const { knowledge_id } of first(knowledge?.known)) await read('knowledge/:id', knowledge_id);
    if (sessions?.active) await read('sessions/:id', sessions.active.id);
  }
  // Not in the names of other folders: `/app` is no part of `src/app`, and `/work/shop` none of `/work/shop-2`.
  const place = new RegExp(`(?<![\\w.~-])${escapePattern(root)}(?![\\w-])`, 'g');
  const clean = (key: string, value: unknown): unknown => {
    if (key === 'holder') return undefined;
    return typeof value === 'string' && root.length > 1 ? value.replace(place, '.') : value;
  };
  return JSON.parse(JSON.stringify(copy, clean)) as Copy;
}

async function exportHtml(open: () => Forge): Promise<string> {
  const data = await readCopy(open, true);
  return exportedPage(`${data.overview?.project.name} · forge`, data);
}

/** Text of memory in Markdown: no markup, no HTML, no mention, one line. */
export const escapeMarkdown = (text: string, max = 300): string =>
  oneLine(text, max)
    .replace(/[\\`*_{}[\]()#+!|~-]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '&#64;')
    .replace(/:\/\//g, '&#58;//');

const md = escapeMarkdown;
const typed = (lines: readonly string[]): string =>
  lines.length === 0 ? '' : ` (${lines.map((line) => `\`${line.replaceAll('`', "'")}\``).join(', ')})`;

/** A handoff: what is worked on, what is proved, what was learned, and what waits for a person. Empty parts are left out. */
async function exportMarkdown(open: () => Forge): Promise<string> {
  const { features, kfr, knowledge, ...copy } = await readCopy(open, false);
  const overview = copy.overview as Answers['overview'];
  const sections: Record<string, string[]> = {
    Now: nowOf(overview),
    'Waits for a person': overview.decisions.map(
      ({ what, why, commands }) => `**${md(what)}**${why && `: ${md(why)}`}${typed(commands)}`,
    ),
    Features: (features?.features ?? []).map(
      (feature) => `${md(feature.id)}: ${md(feature.name)}: ${md(evidenceOf(feature))}`,
    ),
    'Working memory': (kfr?.entries ?? []).map(
      ({ id, kind, text, requires_resolution }) =>
        `${id}, ${kind}${requires_resolution ? ', **open**' : ''}: ${md(text)}`,
    ),
    'Rules, and whether they are approved on this machine': (knowledge?.rules ?? []).map(
      ({ text, state }) =>
        `${md(text)} (${{ trusted: 'approved', missing: 'approved, and missing now' }[state as string] ?? 'not approved'})`,
    ),
    Known: (knowledge?.known ?? []).map(
      ({ pattern, status, tested, reported }) =>
        `${md(pattern)} (${status}, tested in ${plural(tested, 'cycle')}, reported ${plural(reported, 'time')})`,
    ),
    Learned: (knowledge?.learnings ?? [])
      .filter(({ kind }) => kind !== 'invariant')
      .map((learning) => `${learning.kind}: ${md(describeLearning(learning))}`),
    Notes: (knowledge?.notes ?? []).map(({ text }) => md(text)),
  };
  const texts = Object.entries(sections)
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `\n## ${title}\n\n${lines.map((line) => `- ${line}\n`).join('')}`);
  return `# Handoff: ${md(overview.project.name)}\n${texts.join('')}`;
}

function nowOf({ session, focus, next_steps, next_task, project }: Answers['overview']): string[] {
  const facts = {
    Task: session?.task ?? focus.task,
    Session: session && `${session.id}, since ${session.started_at}`,
    Branch: project.branch,
    'Next step': next_steps.join(' / '),
    'Next task': next_task && `${next_task.id} ${next_task.title} (${next_task.reason})`,
  };
  return Object.entries(facts).flatMap(([name, value]) => (value ? [`${name}: ${md(value)}`] : []));
}

function evidenceOf(feature: Answers['features/:id']['feature']): string {
  const { status, override, verified_at } = feature;
  if (override) return `${status} by hand: ${override.reason}`;
  if (!verified_at) return status;
  return `${status}, passes since ${verified_at} ${describeCommit(feature.verified_commit, feature.verified_dirty)}`.trimEnd();
}

/** The formats of `forge export`. JSON has the answers by the names of their routes. */
export const EXPORTS = {
  html: exportHtml,
  markdown: exportMarkdown,
  json: async (open: () => Forge, at: Date): Promise<Record<string, unknown>> => ({
    schema_version: '1.0',
    exported_at: at.toISOString(),
    ...(await readCopy(open, false)),
  }),
};
