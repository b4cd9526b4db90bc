import { ForgeError } from '../core/error.js';
import { pageFile } from '../core/templates.js';
import { oneLine, plural } from '../core/text.js';
import { describeCommit } from '../feature/rules.js';
import { describeLearning } from '../knowledge/rules.js';
import { type Answers, ROUTES, type Source } from './api.js';
import { exportedPage } from './shell.js';

/** Answers by their addresses below /api/. Damage in one part must not keep the rest from being shown. */
type Copy = Partial<Answers> & Record<string, object>;

/** What is about this moment, or needs a question. */
const LEFT_OUT = ['recall', 'fleet'];
/** Features, sessions and pieces of knowledge that are exported with their details. */
const MAX_DETAILS = 200;

/** What the page shows, without the folder's place on this machine. */
async function readCopy(source: Source, details: boolean): Promise<Copy> {
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
  const root = copy.overview?.project.root ?? '';
  if (root.length < 2) return copy;
  return JSON.parse(JSON.stringify(copy).replaceAll(JSON.stringify(root).slice(1, -1), '.')) as Copy;
}

/** The page as one file. */
export async function exportHtml(source: Source): Promise<string> {
  const data = await readCopy(source, true);
  return exportedPage({
    title: `${data.overview?.project.name} · forge`,
    script: pageFile('page.js'),
    style: pageFile('page.css'),
    data,
  });
}

/** The same answers as one JSON object, by the names of their routes. */
export async function exportJson(source: Source, at: Date): Promise<Record<string, unknown>> {
  return { schema_version: '1.0', exported_at: at.toISOString(), ...(await readCopy(source, false)) };
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
const list = <T>(items: readonly T[], line: (item: T) => string, none: string): string =>
  items.length === 0 ? none : items.map((item) => `- ${line(item)}`).join('\n');
const command = (line: string): string => `\`${line.replaceAll('`', "'")}\``;

/** A handoff: what is worked on, what is proved, what was learned, and what waits for a person. */
export async function exportMarkdown(source: Source): Promise<string> {
  const { features, kfr, knowledge, sessions, ...copy } = await readCopy(source, false);
  const overview = copy.overview as Answers['overview'];
  const { status, records, bytes } = overview.memory;
  const sections = {
    Now: nowOf(overview),
    'Waits for a person': list(
      overview.decisions,
      ({ what, why, commands }) =>
        `**${md(what)}**${why && `: ${md(why)}`} (${commands.map(command).join(', ')})`,
      'Nothing.',
    ),
    Health: healthOf(overview),
    Features: featuresOf(features?.features ?? []),
    'Working memory': list(
      kfr?.entries ?? [],
      ({ id, kind, text, requires_resolution, parked }) =>
        `${id}, ${kind}${parked ? ', parked for a person' : requires_resolution ? ', **open**' : ''}: ${md(text)}`,
      'Empty.',
    ),
    'Done in the last day': list(
      copy.done?.done ?? [],
      ({ what, id, text }) => `${what}${id === null ? '' : ` ${md(id)}`}: ${md(text)}`,
      'Nothing.',
    ),
    'Rules, and whether they are approved on this machine': list(
      knowledge?.rules ?? [],
      ({ text, state }) =>
        `${md(text)} (${state === 'trusted' ? 'approved' : state === 'new' ? 'not approved' : state})`,
      'None.',
    ),
    Known: list(
      knowledge?.known ?? [],
      ({ pattern, status, tested, reported }) =>
        `${md(pattern)} (${status}, tested in ${plural(tested, 'cycle')}, reported ${plural(reported, 'time')})`,
      'Nothing is proven yet.',
    ),
    Learned: list(
      (knowledge?.learnings ?? []).filter(({ kind }) => kind !== 'invariant'),
      (learning) => `${learning.kind}: ${md(describeLearning(learning))}`,
      'Nothing yet.',
    ),
    Notes: list(knowledge?.notes ?? [], ({ text }) => md(text), 'None.'),
    'Last sessions': list(
      (sessions?.sessions ?? []).slice(0, 10),
      ({ id, status, next }) => `${id}, ${status}${next ? `: next: ${md(next)}` : ''}`,
      'None.',
    ),
    Memory: `${status}: ${plural(records, 'record')}, ${bytes} bytes.`,
  };
  const texts = Object.entries(sections).map(([title, text]) => `## ${title}\n\n${text}\n`);
  return `# Handoff: ${md(overview.project.name)}\n\n${texts.join('\n')}`;
}

function nowOf({ session, focus, next_step, next_task, project }: Answers['overview']): string {
  const facts: [name: string, value: string | null | undefined][] = [
    ['Task', session?.task ?? focus.task],
    ['Session', session && `${session.id}, since ${session.started_at}`],
    ['Branch', project.branch],
    ['Next step', next_step],
    ['Next task', next_task && `${next_task.id} ${next_task.title} (${next_task.reason})`],
  ];
  return list(
    facts.filter(([, value]) => value),
    ([name, value]) => `${name}: ${md(value ?? '')}`,
    'No session is running.',
  );
}

const healthOf = ({ health }: Answers['overview']): string =>
  [
    '| component | color | why | what to type |',
    '| --- | --- | --- | --- |',
    ...health.map(
      ({ name, color, reasons, fix }) =>
        `| ${name} | ${color} | ${md(reasons.join('; '))} | ${fix.map((line) => command(line).replaceAll('|', '\\|')).join(' ')} |`,
    ),
  ].join('\n');

function featuresOf(features: Answers['features']['features']): string {
  if (features.length === 0) return 'None yet.';
  const rows = features.map((feature) => {
    const { id, name, status, verified_at, override } = feature;
    const why = override
      ? `by hand: ${override.reason}`
      : verified_at
        ? `passes since ${verified_at} ${describeCommit(feature)}`.trimEnd()
        : '';
    return `| ${md(id)} | ${md(name)} | ${status} | ${md(why)} |`;
  });
  return ['| feature | what | status | evidence |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
