import { basename } from 'node:path';
import { ForgeError } from '../core/error.js';
import { parseWhole } from '../core/schema.js';
import { oneOf } from '../core/text.js';
import { type Forge, type LogRow, type PastCommit, type SessionDetail, TIERS } from '../index.js';
import { PAUSE_BYTES } from '../ledger/memory.js';
import { NO_FOCUS, sessionName } from '../session/rules.js';
import { csvLine, cycleSeries, featureSeries, listDecisions, listDone, memorySeries } from './views.js';

/** What the routes read. */
export class Source {
  private kept: Promise<readonly LogRow[]> | null = null;
  private drawn: ReturnType<typeof drawSeries> | null = null;

  /** `forge` opens `.forge/` anew with `dryRun`, so that nothing is written. Throws while it is gone. */
  constructor(readonly forge: () => Forge) {}

  /** Every record, oldest first. Paging through the log asks for them again and again, so they are kept. */
  rows = (): Promise<readonly LogRow[]> => {
    this.kept ??= this.forge().memory.rows();
    this.kept.catch(() => this.forget());
    return this.kept;
  };

  /** What the charts show of them. */
  series = (): ReturnType<typeof drawSeries> => {
    this.drawn ??= drawSeries(this.rows());
    return this.drawn;
  };

  forget(): void {
    this.kept = null;
    this.drawn = null;
  }
}

async function drawSeries(reading: Promise<readonly LogRow[]>) {
  const rows = await reading;
  return { cycles: cycleSeries(rows), memory: memorySeries(rows) };
}

/** Words of the query and of the path. */
type Given = Readonly<Record<string, string | undefined>>;

interface Route<A extends object = object> {
  summary: string;
  run(source: Source, given: Given): Promise<A>;
  /** The parameters, and what each one does. */
  query: Readonly<Record<string, string>>;
}

const route = <A extends object>(
  summary: string,
  run: Route<A>['run'],
  query: Route['query'] = {},
): Route<A> => ({ summary, run, query });

/** VIS-03: every route of the API below /api/, GET only. docs/page-api.md is made from these and their types. */
export const ROUTES = {
  overview: route('Health, the work now, and what waits for a person', readOverview),
  done: route('What was done in the last day, newest first', readDone),
  tree: route('Names and sizes in .forge/, with the kinds of RFC-9060 §8.2', ({ forge }) => forge().tree()),
  features: route('All features with their evidence', readFeatures),
  'features/:id': route('One feature, its records and its checkpoints', readFeature),
  kfr: route('Working memory as the agent sees it', readKfr),
  sessions: route(
    'The running session and the last ones, newest first',
    ({ forge }, { limit }) => forge().session.list({ limit: whole('limit', limit, 1, 1000, 50) }),
    { limit: 'up to 1,000; default 50' },
  ),
  'sessions/:id': route('One session: progress, commits, records', readSession),
  knowledge: route('What is known, what may become known, and what was learned', readKnowledge),
  'knowledge/:id': route('Why something is known: cycles, records, commits', ({ forge }, { id = '' }) =>
    forge().memory.chain({ id }),
  ),
  ledger: route('Verifies all of memory, signatures included', ({ forge }) =>
    forge().memory.verify({ signatures: true }),
  ),
  log: route('Records, newest first. The first one (genesis) and redacted ones are left out', readLog, {
    offset: 'skip so many; default 0',
    limit: 'at most so many, up to 500; default 100',
    tier: TIERS.join(', '),
    session: 'of this session',
    text: 'with this text',
  }),
  'records/:id': route(
    'One record in full, by the first 6 or more digits of its id',
    ({ forge }, { id = '' }) => forge().memory.show({ id }),
  ),
  checkpoints: route('All checkpoints, newest first', ({ forge }) => forge().checkpoint.list()),
  'checkpoints/:id': route('The manifest of one checkpoint, ISSUE-vN', ({ forge }, { id = '' }) =>
    forge().checkpoint.show({ tag: id }),
  ),
  skills: route('Skills, and whether they are approved here', ({ forge }) => forge().skill.list()),
  issues: route('Active issues, and the ids of those that are done', ({ forge }) => forge().linear.list()),
  artifacts: route('Outputs of the work, with their hashes', ({ forge }) => forge().artifact.list()),
  recall: route(
    'Searches memory',
    ({ forge }, { q = '', limit }) => forge().recall({ query: q, limit: whole('limit', limit, 1, 100, 20) }),
    { q: 'the question', limit: 'up to 100; default 20' },
  ),
  charts: route('Numbers over time', readCharts),
  fleet: route('Who works on what (EVT-03)', ({ forge }) => forge().fleet()),
};

/** What each route answers. Times are ISO 8601, sizes are bytes. */
export type Answers = { [P in keyof typeof ROUTES]: Awaited<ReturnType<(typeof ROUTES)[P]['run']>> };

function whole(name: string, given: string | undefined, min: number, max: number, otherwise: number): number {
  return given === undefined ? otherwise : parseWhole(given, name, min, max);
}

async function readOverview({ forge: open }: Source) {
  const forge = open();
  const problems = new Set<string>();
  /** Damage in one part is reported, and the rest is still shown. */
  const attempt = async <T, F>(part: Promise<T>, otherwise: F): Promise<T | F> => {
    try {
      return await part;
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      problems.add(error.message.replace(/\.$/, ''));
      return otherwise;
    }
  };
  const reading = forge.status();
  const [status, name, where, sessions, focus, next, learned, kfr, stats] = await Promise.all([
    reading,
    attempt(forge.config.get({ name: 'project.name' }), null),
    reading.then((status) => forge.where({ status })),
    attempt(forge.session.list({ limit: 1 }), null),
    attempt(forge.focus.show(), NO_FOCUS),
    attempt(forge.next(), null),
    attempt(forge.memory.known(), null),
    attempt(forge.kfr.list(), null),
    attempt(forge.memory.stats(), null),
  ]);
  for (const problem of where.problems) problems.add(problem);
  return {
    /** `root` is the project's folder, `branch` null without git or on a detached HEAD. */
    project: {
      name: String(name?.value || basename(forge.root)),
      root: forge.root,
      branch: where.branch,
      git: where.git,
    },
    /** RFC-9060 §8.1. */
    health: status.components,
    worst: status.worst,
    session: sessions?.active ?? null,
    focus,
    next_step: where.step,
    next_steps: where.steps,
    next_task: next?.task ?? null,
    next_commands: where.next,
    features: where.features,
    /** Consolidation pauses from `limit` bytes on. */
    memory: {
      status: stats?.status ?? 'corrupted',
      records: stats?.tiers.reduce((sum, { records }) => sum + records, 0) ?? 0,
      bytes: stats?.bytes ?? 0,
      limit: PAUSE_BYTES,
    },
    decisions: listDecisions(where, kfr?.entries ?? [], learned?.known ?? []),
    /** Files that could not be read. */
    problems: [...problems],
  };
}

/** Sessions and commits that are read. */
const MAX_DONE = 100;

async function readDone({ forge: open }: Source) {
  const forge = open();
  const [sessions, { learnings }, { features }, { commits }] = await Promise.all([
    forge.session.list({ limit: MAX_DONE }),
    forge.knowledge.list(),
    forge.feature.list(),
    forge.commit.history({ limit: MAX_DONE }),
  ]);
  return { done: listDone(Date.now(), { sessions, learnings, features, commits }) };
}

async function readFeatures({ forge: open }: Source) {
  const forge = open();
  const { features } = await forge.feature.list();
  /** `warnings`: files that could not be believed or read. */
  return { features, warnings: [...forge.warnings] };
}

/** Of one feature or session, newest first. */
const newest = (rows: readonly LogRow[], isWanted: (row: LogRow) => boolean): LogRow[] =>
  rows.filter(isWanted).slice(-200).reverse();

async function readFeature({ forge: open, rows }: Source, { id = '' }: Given) {
  const forge = open();
  const feature = await forge.feature.show({ id });
  const { checkpoints } = await forge.checkpoint.list();
  return {
    feature,
    history: newest(await rows(), ({ task_id, passed = [], failed = [] }) =>
      [task_id, ...passed, ...failed].includes(feature.id),
    ),
    checkpoints: checkpoints.filter(({ features_passing }) => features_passing.includes(feature.id)),
  };
}

async function readKfr({ forge: open }: Source) {
  const forge = open();
  /** `injected`: what an agent's prompt contains; null without entries. */
  return { ...(await forge.kfr.list()), injected: (await forge.kfr.inject()).text };
}

/** ms: a session's own commit is made just after its end. */
const END_COMMIT = 60_000;

/** Commits that name the session, and those of the same people in its time that name none. */
function commitsOf({ id, started_at, ended_at }: SessionDetail['session'], history: readonly PastCommit[]) {
  // Git stores whole seconds.
  const [from, to] = [Date.parse(started_at) - 1000, Date.parse(ended_at ?? '9999') + END_COMMIT];
  const then = history.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) <= to);
  const named = then.filter(({ session }) => session === sessionName(id));
  const people = new Set(named.map(({ author }) => author));
  return then.filter(
    (commit) =>
      named.includes(commit) || (commit.session === null && (people.size === 0 || people.has(commit.author))),
  );
}

async function readSession({ forge: open, rows }: Source, { id = '' }: Given) {
  const forge = open();
  const detail = await forge.session.show({ id });
  const { commits } = await forge.commit.history({ limit: 1000 });
  return {
    ...detail,
    /** `time` is `HH:MM` in UTC. */
    progress: detail.progress.lines,
    commits: commitsOf(detail.session, commits),
    records: newest(await rows(), (row) => isOfSession(row, detail.session.id)),
  };
}

const MAX_NOTES = 500;

async function readKnowledge({ forge: open }: Source) {
  const forge = open();
  const { items } = await forge.trust.show();
  const { notes } = await forge.note.list();
  return {
    ...(await forge.memory.known()),
    ...(await forge.knowledge.list()),
    /** Invariants of architecture.md and knowledge.json. `trusted`: approved on this machine. */
    rules: items.flatMap(({ kind, content, state }) => (kind === 'rule' ? [{ text: content, state }] : [])),
    /** Newest first. */
    notes: notes.slice(-MAX_NOTES).reverse(),
  };
}

async function readLog({ rows }: Source, given: Given) {
  const chosen = selectRows(await rows(), given);
  const offset = whole('offset', given.offset, 0, 100_000_000, 0);
  const end = Math.max(0, chosen.length - offset);
  const records = chosen.slice(Math.max(0, end - whole('limit', given.limit, 1, 500, 100)), end).reverse();
  return { records, total: chosen.length, offset };
}

function selectRows(rows: readonly LogRow[], { tier, session, text }: Given): readonly LogRow[] {
  if (tier !== undefined) oneOf(TIERS, tier, 'tier', 'log.tier');
  const words = text?.toLowerCase();
  return rows.filter(
    (row) =>
      (!tier || row.tier === tier) &&
      (!session || isOfSession(row, session)) &&
      (!words || row.text.toLowerCase().includes(words) || row.id.startsWith(words)),
  );
}

/** A record has the shown or the stored id of its session. */
const isOfSession = ({ session }: LogRow, id: string): boolean =>
  session !== null && (session === id || sessionName(session) === id);

async function readCharts({ forge: open, rows, series }: Source) {
  const forge = open();
  const { features } = await forge.feature.list();
  return {
    /** Seconds since 1970, and for each name a number at each of them. */
    features: featureSeries(features, await rows(), Date.now()),
    ...(await series()),
    limit: PAUSE_BYTES,
    /** What the running session's agent asked twice (EXM-05). */
    reads: await forge.finding.stats(),
  };
}

const COLUMNS = ['id', 'tier', 'n', 'kind', 'at', 'session', 'text'] as const;

export async function writeCsv({ rows }: Source, given: Given): Promise<string> {
  const chosen = selectRows(await rows(), given);
  return csvLine(COLUMNS) + chosen.map((row) => csvLine(COLUMNS.map((name) => row[name]))).join('');
}
