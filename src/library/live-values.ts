import { nameIn, TAG_FOLDER } from '../checkpoint/rules.js';
import {
  activeIssuesFile,
  archiveFile,
  checkpointsFolder,
  featuresFolder,
  kfrFile,
  sessionFile,
  skillsFolder,
} from '../core/paths.js';
import { refNames } from '../git/state.js';
import { TIERS } from '../ledger/record.js';
import type { Context } from '../project/project.js';
import { archivedIds, displayId } from '../session/archive.js';
import { isOwnSession, ownSessions } from '../session/running.js';

type Source = (context: Context, before: readonly string[]) => unknown[] | Promise<unknown[]>;

/** So many of the newest sessions are read to know whether they were interrupted. */
const LOOKED_AT = 20;
/** More are no help to anybody. */
const MOST = 1000;
/** Larger ledgers take longer to read than a person waits after TAB. */
const MAX_LEDGER_BYTES = 8 * 1024 * 1024;

type Loose = Record<string, unknown>;

/** Ids and names to complete. Reads without a command's checks, so that it offers what a damaged file still has. */
export async function liveValues(
  context: Context | null,
  kind: LiveKind,
  before: readonly string[],
): Promise<string[]> {
  try {
    if (kind === 'schema') return (await import('./schema.js')).schemaNames();
    if (kind === 'setting') return [...(await import('../project/config.js')).SETTINGS];
    const found = context ? await SOURCES[kind](context, before) : [];
    return found.filter((value) => typeof value === 'string');
  } catch {
    return [];
  }
}

const SOURCES = {
  feature: ({ disk, layout }) => entriesIn(disk.list(featuresFolder(layout))),
  issue: (context) => listed(context, activeIssuesFile, 'issues', 'linear_id'),
  kfr: (context) => {
    const { session } = readLoose(context, kfrFile(context.layout));
    return isOwn(context, session) ? listed(context, kfrFile, 'entries', 'id') : [];
  },
  session: (context) => {
    const { id } = readLoose(context, sessionFile(context.layout));
    const ids = [...(isOwn(context, id) ? [id] : []), ...newestArchives(context, MOST)];
    return ids.map((each) => displayId(context, each));
  },
  interrupted: (context) =>
    newestArchives(context, LOOKED_AT)
      .filter(ownSessions(context))
      .filter((id) => readLoose(context, archiveFile(context.layout, id)).status === 'interrupted')
      .map((id) => displayId(context, id)),
  checkpoint,
  backup: ({ repository }) => (repository ? refNames(repository, 'refs/forge/backup').toReversed() : []),
  knowledge: async (context) => {
    const { listKnowledge } = await import('../knowledge/knowledge.js');
    return listKnowledge(context).learnings.map(({ id }) => id);
  },
  note: (context) => lastOf(context, ['note']),
  record: (context) => lastOf(context, TIERS),
  skill: ({ disk, layout }) => disk.list(skillsFolder(layout)).filter(isPlain),
  'setting-value': settingValues,
} satisfies Record<string, Source>;

/** What completion can look up; the last two without a `.forge/`. */
export type LiveKind = keyof typeof SOURCES | 'schema' | 'setting';

const isPlain = (name: string): boolean => !name.startsWith('.') && name !== 'README.md';
const isOwn = (context: Context, id: unknown): id is string =>
  typeof id === 'string' && isOwnSession(context, id);

/** The ids in a list of a state file. */
function listed(
  context: Context,
  file: (layout: Context['layout']) => string,
  list: string,
  id: string,
): unknown[] {
  const items = readLoose(context, file(context.layout))[list];
  return Array.isArray(items) ? items.map((item: Loose | null) => item?.[id]) : [];
}

function readLoose({ disk }: Pick<Context, 'disk'>, path: string): Loose {
  const value: unknown = JSON.parse(disk.read(path)?.toString('utf8') ?? '{}');
  return typeof value === 'object' && value !== null ? (value as Loose) : {};
}

const newestArchives = (context: Context, count: number): string[] =>
  archivedIds(context).toReversed().slice(0, count);

/** The names of JSON files, without their ending. */
const entriesIn = (names: readonly string[]): string[] =>
  names
    .filter((name) => name.endsWith('.json') && isPlain(name))
    .map((name) => name.slice(0, -'.json'.length));

/** Tags, and manifests of this branch whose tag is not here. */
function checkpoint({ disk, layout, repository }: Context): string[] {
  const tags = repository ? refNames(repository, `refs/tags/${TAG_FOLDER}`) : [];
  return [...new Set([...tags, ...entriesIn(disk.list(checkpointsFolder(layout)))])].filter(
    (name) => nameIn(name) === name,
  );
}

/** As many digits as lists show. */
const SHOWN_DIGITS = 12;

/** Newest first. */
async function lastOf(context: Context, tiers: typeof TIERS | ['note']): Promise<string[]> {
  const { lastRecords, liveBytes, readMemory } = await import('../ledger/memory.js');
  if (liveBytes(context) > MAX_LEDGER_BYTES) return [];
  const memory = readMemory(context);
  return tiers
    .flatMap((tier) => lastRecords(memory, [tier], 50).toReversed())
    .filter(({ kind }) => tiers.length > 1 || kind === 'note')
    .map(({ id }) => id.slice(0, SHOWN_DIGITS));
}

/** The words of which one has to be taken; of anything else what it is now. */
async function settingValues(context: Context, [name = '']: readonly string[]): Promise<string[]> {
  const { schemaOf } = await import('./schema.js');
  const setting = name
    .split('.')
    .reduce<JsonSchema | undefined>((schema, key) => schema?.properties?.[key], schemaOf('config'));
  if (setting?.enum) return setting.enum.map(String);
  if (setting?.type === 'boolean') return ['true', 'false'];
  const { readSetting } = await import('../project/config.js');
  const { readConfig } = await import('../project/project.js');
  const value = readSetting(readConfig(context), name);
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

interface JsonSchema {
  type?: string;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
}
