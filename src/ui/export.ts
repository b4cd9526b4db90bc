import { isAbsolute } from 'node:path';
import { ForgeError } from '../core/error.js';
import { pageFile } from '../core/templates.js';
import { oneLine, plural } from '../core/text.js';
import { ROUTES, type Source } from './api.js';
import type { Answers } from './schemas.js';
import { exportedPage } from './shell.js';

/** Features, sessions and pieces of knowledge that are exported with their details. */
const MAX_DETAILS = 200;

/** Answers of the API by their addresses. */
type Copy = Record<string, object>;

/** The route of an address, with the last word as its id. */
async function read(source: Source, path: string): Promise<object> {
  const words = path.split('/');
  const route =
    ROUTES.find((one) => one.path === path) ??
    ROUTES.find((one) => one.path === [...words.slice(0, -1), ':id'].join('/'));
  if (!route) throw new TypeError(`there is no route ${path}`);
  return route.run(source, {
    id: decodeURIComponent(words.at(-1) ?? ''),
    limit: path === '/api/log' ? '500' : undefined,
  });
}

/** Damage in one part must not keep the rest from being shown; the page then shows why. */
async function tryRead(source: Source, copy: Copy, path: string): Promise<void> {
  try {
    copy[path] = await read(source, path);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
  }
}

const PARTS = [
  'overview',
  'tree',
  'features',
  'kfr',
  'sessions',
  'knowledge',
  'ledger',
  'log',
  'checkpoints',
  'skills',
  'issues',
  'artifacts',
  'charts',
];

/** What the page shows, without the folder's place on this machine. */
async function readCopy(source: Source, details: boolean): Promise<Copy> {
  const copy: Copy = {};
  for (const part of PARTS) await tryRead(source, copy, `/api/${part}`);
  const overview = copy['/api/overview'] as Answers['overview'] | undefined;
  if (overview) copy['/api/overview'] = withoutPlace(overview, overview.project.root);
  if (!details) return copy;
  const ids = (part: string, list: string, key: string): string[] =>
    ((copy[`/api/${part}`] as Record<string, Record<string, string>[]> | undefined)?.[list] ?? [])
      .slice(0, MAX_DETAILS)
      .map((entry) => `/api/${part}/${encodeURIComponent(entry[key] ?? '')}`);
  const active = (copy['/api/sessions'] as Answers['sessions'] | undefined)?.active;
  const paths = [
    ...ids('features', 'features', 'id'),
    ...ids('sessions', 'sessions', 'id'),
    ...ids('knowledge', 'known', 'knowledge_id'),
  ];
  for (const path of active ? [...paths, `/api/sessions/${active.id}`] : paths)
    await tryRead(source, copy, path);
  return copy;
}

function withoutPlace<T>(value: T, root: string): T {
  const text = JSON.stringify(value);
  const place = JSON.stringify(root).slice(1, -1);
  return isAbsolute(root) && root.length > 1 ? (JSON.parse(text.replaceAll(place, '.')) as T) : value;
}

/** The page as one file. */
export async function exportHtml(source: Source): Promise<string> {
  const data = await readCopy(source, true);
  const { project } = data['/api/overview'] as Answers['overview'];
  return exportedPage({
    title: `${project.name} · forge`,
    script: pageFile('page.js'),
    style: pageFile('page.css'),
    data,
  });
}

/** The same answers as one JSON object, by the names of their routes. */
export async function exportJson(source: Source, at: Date): Promise<Record<string, unknown>> {
  const copy = await readCopy(source, false);
  const parts = Object.entries(copy).map(([path, value]) => [path.slice('/api/'.length), value]);
  return { schema_version: '1.0', exported_at: at.toISOString(), ...Object.fromEntries(parts) };
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
const list = (lines: readonly string[], none: string): string =>
  lines.length === 0 ? none : lines.map((line) => `- ${line}`).join('\n');
const command = (line: string): string => `\`${line.replaceAll('`', "'")}\``;

/** A handoff: what is worked on, what is proved, what was learned, and what waits for a person. */
export async function exportMarkdown(source: Source): Promise<string> {
  const copy = await readCopy(source, false);
  const part = <K extends keyof Answers>(name: K): Answers[K] | undefined =>
    copy[`/api/${name}`] as Answers[K] | undefined;
  const overview = part('overview') as Answers['overview'];
  const sections: [title: string, text: string][] = [
    ['Now', nowOf(overview)],
    [
      'Waits for a person',
      list(
        overview.decisions.map(
          ({ what, why, commands }) => `**${md(what)}**: ${md(why)} (${commands.map(command).join(', ')})`,
        ),
        'Nothing.',
      ),
    ],
    ['Health', healthOf(overview)],
    ['Features', featuresOf(part('features')?.features ?? [])],
    [
      'Working memory',
      list(
        (part('kfr')?.entries ?? []).map(
          ({ id, kind, text, requires_resolution }) =>
            `${id}, ${kind}${requires_resolution ? ', **open**' : ''}: ${md(text)}`,
        ),
        'Empty.',
      ),
    ],
    [
      'Known',
      list(
        (part('knowledge')?.known ?? []).map(
          ({ pattern, status, tested, reported }) =>
            `${md(pattern)} (${status}, tested in ${plural(tested, 'cycle')}, reported ${plural(reported, 'time')})`,
        ),
        'Nothing is proven yet.',
      ),
    ],
    [
      'Last sessions',
      list(
        (part('sessions')?.sessions ?? [])
          .slice(0, 10)
          .map(({ id, status, next }) => `${id}, ${status}${next ? `: next: ${md(next)}` : ''}`),
        'None.',
      ),
    ],
    [
      'Memory',
      `${overview.memory.status}: ${plural(overview.memory.records, 'record')}, ${overview.memory.bytes} bytes.`,
    ],
  ];
  return `# Handoff: ${md(overview.project.name)}\n\n${sections.map(([title, text]) => `## ${title}\n\n${text}\n`).join('\n')}`;
}

function nowOf({ session, focus, next_step, next_task, project }: Answers['overview']): string {
  const facts: [string, string | null | undefined][] = [
    ['Task', session?.task ?? focus.task],
    ['Session', session && `${session.id}, since ${session.started_at}`],
    ['Branch', project.branch],
    ['Next step', next_step],
    ['Next task', next_task && `${next_task.id} ${next_task.title} (${next_task.reason})`],
  ];
  return list(
    facts.flatMap(([name, value]) => (value ? [`${name}: ${md(value)}`] : [])),
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
  const rows = features.map(({ id, name, status, verified_at, verified_commit, override }) => {
    const why = override
      ? `by hand: ${override.reason}`
      : verified_at
        ? `tests passed ${verified_at}${verified_commit ? ` at ${verified_commit.slice(0, 12)}` : ''}`
        : '';
    return `| ${md(id)} | ${md(name)} | ${status} | ${md(why)} |`;
  });
  return ['| feature | what | status | evidence |', '| --- | --- | --- | --- |', ...rows].join('\n');
}
