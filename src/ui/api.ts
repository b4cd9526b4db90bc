import { basename } from 'node:path';
import { ForgeError, usage } from '../core/error.js';
import { parseWhole } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import type { CheckpointRow, Diagnosis, Forge, LogRow, Selection } from '../index.js';
import { TIERS } from '../index.js';
import type { Answers } from './schemas.js';
import {
  csvLine,
  cycleSeries,
  featureSeries,
  isOfSession,
  listDecisions,
  MEMORY_LIMIT,
  memorySeries,
} from './views.js';

/** What the routes read. It never writes: `forge` is opened with `dryRun`. */
export interface Source {
  /** Opens `.forge/` anew. Throws while it is gone. */
  forge(): Forge;
  /** Every record, oldest first. Kept until a file changes. */
  rows(): Promise<readonly LogRow[]>;
  symptoms(): Promise<Diagnosis>;
}

/** Words of the query and of the path. */
type Given = Readonly<Record<string, string | undefined>>;

export interface Route {
  path: string;
  /** Its name in `ANSWERS`. */
  answer: keyof Answers;
  summary: string;
  query?: Readonly<Record<string, string>>;
  run(source: Source, given: Given): Promise<object>;
}

const route = (
  path: string,
  answer: Route['answer'],
  summary: string,
  run: Route['run'],
  query?: Route['query'],
): Route => ({ path, answer, summary, run, ...(query ? { query } : {}) });

const PAGING = { offset: 'skip so many; default 0', limit: 'at most so many, up to 500; default 100' };

/** VIS-03: every route of the API, GET only. */
export const ROUTES: readonly Route[] = [
  route('/api/overview', 'overview', 'Health, the work now, and what waits for a person', readOverview),
  route('/api/findings', 'findings', 'What forge doctor finds, worst first', (source) => source.symptoms()),
  route('/api/tree', 'tree', 'Names and sizes in .forge/, with the kinds of RFC-9060 §8.2', ({ forge }) =>
    forge().tree(),
  ),
  route('/api/features', 'features', 'All features with their evidence', readFeatures),
  route('/api/features/:id', 'feature', 'One feature, its records and its checkpoints', readFeature),
  route('/api/kfr', 'kfr', 'Working memory as the agent sees it', readKfr),
  route(
    '/api/sessions',
    'sessions',
    'The running session and the last ones, newest first',
    ({ forge }, { limit }) => forge().session.list({ limit: whole('limit', limit, 1, 1000, 50) }),
    { limit: 'up to 1,000; default 50' },
  ),
  route('/api/sessions/:id', 'session', 'One session: progress, commits, records', readSession),
  route(
    '/api/knowledge',
    'knowledge',
    'What is known, what may become known, and what was learned',
    readKnowledge,
  ),
  route(
    '/api/knowledge/:id',
    'chain',
    'Why something is known: cycles, records, commits',
    ({ forge }, { id = '' }) => forge().memory.chain({ id }),
  ),
  route('/api/ledger', 'ledger', 'Verifies all of memory, signatures included', ({ forge }) =>
    forge().memory.verify({ signatures: true }),
  ),
  route('/api/log', 'log', 'Records, newest first', readLog, {
    ...PAGING,
    tier: TIERS.join(', '),
    session: 'of this session',
    text: 'with this text',
  }),
  route(
    '/api/records/:id',
    'record',
    'One record in full, by the first 6 or more digits of its id',
    ({ forge }, { id = '' }) => forge().memory.show({ id }),
  ),
  route('/api/checkpoints', 'checkpoints', 'All checkpoints, newest first', ({ forge }) =>
    forge().checkpoint.list(),
  ),
  route(
    '/api/checkpoints/:id',
    'checkpoint',
    'The manifest of one checkpoint, ISSUE-vN',
    ({ forge }, { id = '' }) => forge().checkpoint.show({ tag: id }),
  ),
  route('/api/skills', 'skills', 'Skills, and whether they are approved here', ({ forge }) =>
    forge().skill.list(),
  ),
  route('/api/issues', 'issues', 'Active issues, and the ids of those that are done', ({ forge }) =>
    forge().linear.list(),
  ),
  route('/api/artifacts', 'artifacts', 'Outputs of the work, with their hashes', ({ forge }) =>
    forge().artifact.list(),
  ),
  route(
    '/api/recall',
    'recall',
    'Searches memory',
    ({ forge }, { q = '', limit }) => forge().recall({ query: q, limit: whole('limit', limit, 1, 100, 20) }),
    { q: 'the question', limit: 'up to 100; default 20' },
  ),
  route('/api/charts', 'charts', 'Numbers over time', readCharts),
  route('/api/fleet', 'fleet', 'Who works on what (EVT-03)', ({ forge }) => forge().fleet()),
];

function whole(name: string, given: string | undefined, min: number, max: number, otherwise: number): number {
  return given === undefined ? otherwise : parseWhole(given, name, min, max);
}

/** Reads a part of a view. Damage is reported, and the rest is still shown. */
async function attempt<T, F>(problems: string[], read: () => Promise<T>, otherwise: F): Promise<T | F> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    if (!problems.includes(error.message)) problems.push(error.message);
    return otherwise;
  }
}

const taskOf = ({ task }: Selection): Answers['overview']['next_task'] =>
  task && { id: task.id, title: task.title, reason: task.reason };

const NO_FOCUS: Answers['overview']['focus'] = {
  task: null,
  linear_issue: null,
  files: [],
  phase: null,
  blockers: [],
  started_at: null,
};

async function readOverview({ forge: open }: Source): Promise<Answers['overview']> {
  const forge = open();
  const problems: string[] = [];
  const [status, where, sessions, focus, next, learned, kfr, list, trust, stats] = await Promise.all([
    forge.status(),
    forge.where(),
    attempt(problems, () => forge.session.list({ limit: 1 }), null),
    attempt(problems, () => forge.focus.show(), NO_FOCUS),
    attempt(problems, () => forge.next(), null),
    attempt(problems, () => forge.memory.known(), null),
    attempt(problems, () => forge.kfr.list(), { entries: [] }),
    attempt(problems, () => forge.feature.list(), { features: [] }),
    attempt(problems, () => forge.trust.show(), null),
    attempt(problems, () => forge.memory.stats(), null),
  ]);
  const { features } = list;
  for (const problem of where.problems) if (!problems.includes(problem)) problems.push(problem);
  return {
    project: { name: basename(forge.root), root: forge.root, branch: where.branch, git: where.git },
    ...{ health: status.components, worst: status.worst },
    ...{ session: sessions?.active ?? null, focus: focus as Answers['overview']['focus'] },
    ...{ next_step: where.step, next_task: next && taskOf(next), next_commands: where.next },
    features: where.features,
    memory: {
      status: stats?.status ?? 'corrupted',
      records: stats?.tiers.reduce((sum, { records }) => sum + records, 0) ?? 0,
      ...{ bytes: stats?.bytes ?? 0, limit: MEMORY_LIMIT },
    },
    decisions: listDecisions({ where, trust, learned, entries: kfr.entries, features }),
    problems,
  };
}

async function readFeatures({ forge: open }: Source): Promise<Answers['features']> {
  const forge = open();
  const { features } = await forge.feature.list();
  return { features, next: taskOf(await forge.next()), warnings: [...forge.warnings] };
}

/** Records of one feature or session. */
const MAX_ROWS = 200;

async function readFeature({ forge: open, rows }: Source, { id = '' }: Given): Promise<Answers['feature']> {
  const forge = open();
  const feature = await forge.feature.show({ id });
  const { checkpoints } = await forge.checkpoint.list();
  return {
    feature,
    history: newest(await rows(), (row) => row.task_id === feature.id),
    checkpoints: checkpoints.filter((row: CheckpointRow) => row.features_passing.includes(feature.id)),
  };
}

const newest = (rows: readonly LogRow[], isWanted: (row: LogRow) => boolean): LogRow[] =>
  rows.filter(isWanted).slice(-MAX_ROWS).reverse();

async function readKfr({ forge: open }: Source): Promise<Answers['kfr']> {
  const forge = open();
  const { text } = await forge.kfr.inject();
  return { ...(await forge.kfr.list()), injected: text };
}

/** A session's own commit is made just after its end. In ms. */
const END_COMMIT = 60_000;

async function readSession(source: Source, { id = '' }: Given): Promise<Answers['session']> {
  const forge = source.forge();
  const { active } = await forge.session.list({ limit: 1 });
  const detail = active?.id === id ? await readRunning(forge, active) : await readArchived(forge, id);
  const { started_at, ended_at } = detail.session;
  const [from, to] = [
    Date.parse(started_at),
    ended_at === null ? Infinity : Date.parse(ended_at) + END_COMMIT,
  ];
  const { commits } = await forge.commit.history({ limit: 1000 });
  return {
    ...detail,
    commits: commits.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) <= to),
    records: newest(await source.rows(), (row) => isOfSession(row, detail.session.id)),
  };
}

type Detail = Omit<Answers['session'], 'commits' | 'records'>;

async function readArchived(forge: Forge, id: string): Promise<Detail> {
  const { progress, ...detail } = await forge.session.show({ id });
  return { ...detail, progress: progress.lines };
}

async function readRunning(
  forge: Forge,
  active: NonNullable<Answers['sessions']['active']>,
): Promise<Detail> {
  const { holder: _h, task: _t, open_questions: _o, ...session } = active;
  const { entries } = await forge.kfr.list();
  const { lines } = await forge.progress.show();
  return {
    session: { ...session, learned: [], failed: [], goal: null },
    ...{ focus: await forge.focus.show(), kfr: entries, progress: lines },
  };
}

async function readKnowledge({ forge: open }: Source): Promise<Answers['knowledge']> {
  const forge = open();
  const [learned, { learnings }] = await Promise.all([forge.memory.known(), forge.knowledge.list()]);
  return { ...learned, learnings } as Answers['knowledge'];
}

async function readLog({ rows }: Source, given: Given): Promise<Answers['log']> {
  const chosen = selectRows(await rows(), given);
  const offset = whole('offset', given.offset, 0, 100_000_000, 0);
  const limit = whole('limit', given.limit, 1, 500, 100);
  const end = Math.max(0, chosen.length - offset);
  const records = chosen.slice(Math.max(0, end - limit), end).reverse();
  return { records, total: chosen.length, offset };
}

function selectRows(rows: readonly LogRow[], { tier, session, text }: Given): readonly LogRow[] {
  if (tier !== undefined && !(TIERS as readonly string[]).includes(tier))
    throw usage(
      'tier.unknown',
      `tier: found ${JSON.stringify(oneLine(tier, 40))}, allowed: ${TIERS.join(' | ')}.`,
    );
  if (!tier && !session && !text) return rows;
  const words = text?.toLowerCase();
  return rows.filter(
    (row) =>
      (!tier || row.tier === tier) &&
      (!session || isOfSession(row, session)) &&
      (!words || row.text.toLowerCase().includes(words) || row.id.startsWith(words)),
  );
}

async function readCharts({ forge: open, rows }: Source): Promise<Answers['charts']> {
  const forge = open();
  const [{ features }, all, reads] = [await forge.feature.list(), await rows(), await forge.finding.stats()];
  return {
    ...{ features: featureSeries(features), cycles: cycleSeries(all), memory: memorySeries(all) },
    ...{ limit: MEMORY_LIMIT, reads: { ...reads } },
  };
}

const COLUMNS = ['id', 'tier', 'n', 'kind', 'at', 'session', 'text'] as const;

/** The chosen records for a spreadsheet. */
export async function writeCsv({ rows }: Source, given: Given): Promise<string> {
  const chosen = selectRows(await rows(), given);
  return csvLine(COLUMNS) + chosen.map((row) => csvLine(COLUMNS.map((name) => row[name]))).join('');
}
