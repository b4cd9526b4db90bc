import { join } from 'node:path';
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
import { oneLine } from '../core/text.js';
import { refNames } from '../git/state.js';
import { TIERS } from '../ledger/record.js';
import type { Context } from '../project/project.js';
import { archivedIds, displayId } from '../session/archive.js';
import { sessionName } from '../session/rules.js';
import { isOwnSession, ownSessions } from '../session/running.js';

/** An id or a name that exists here, and what it stands for. */
export interface LiveValue {
  value: string;
  note: string;
}

type Source = (context: Context, before: readonly string[]) => LiveValue[] | Promise<LiveValue[]>;

/** Of so many of the newest sessions the record is read, for what it says. */
const DESCRIBED = 20;
/** Ledgers are read from end to end. Larger ones take longer than who has pressed a key waits. */
const MAX_LEDGER_BYTES = 8 * 1024 * 1024;

type Loose = Record<string, unknown>;

/**
 * What somebody might have wanted to type, for completion. It reads and starts nothing but that; and as it only offers, it
 * takes of a damaged file what can be made out, without the checks that a command makes.
 */
export async function liveValues(
  context: Context | null,
  kind: LiveKind,
  before: readonly string[],
): Promise<LiveValue[]> {
  try {
    if (kind === 'schema') return (await import('./schema.js')).schemaNames().map(bare);
    if (kind === 'setting') return (await import('../project/config.js')).SETTINGS.map(bare);
    return context ? await SOURCES[kind](context, before) : [];
  } catch {
    return [];
  }
}

const SOURCES = {
  feature: ({ disk, layout }) =>
    disk
      .list(featuresFolder(layout))
      .filter((name) => name.endsWith('.json') && isPlain(name))
      .map((name) => {
        const { id, status, name: title } = readLoose({ disk }, join(featuresFolder(layout), name));
        return { value: String(id), note: noteOf([status, title]) };
      }),
  issue: (context) => listed(context, activeIssuesFile, 'issues', 'linear_id', ({ title }) => [title]),
  kfr: entries,
  session: (context) => [...running(context), ...archived(context)],
  interrupted: (context) =>
    archived(context, ownSessions(context)).filter(({ note }) => note.startsWith('interrupted')),
  checkpoint,
  backup: ({ repository }) =>
    repository ? refNames(repository, 'refs/forge/backup').toReversed().map(bare) : [],
  knowledge,
  note: notes,
  record: records,
  skill: ({ disk, layout }) => disk.list(skillsFolder(layout)).filter(isPlain).map(bare),
  'setting-value': settingValues,
} satisfies Record<string, Source>;

/** What completion can look up; the last two without a `.forge/`. */
export type LiveKind = keyof typeof SOURCES | 'schema' | 'setting';

const bare = (value: string): LiveValue => ({ value, note: '' });
const isPlain = (name: string): boolean => !name.startsWith('.') && name !== 'README.md';

/** The items of a list in a state file that have an id. */
function listed(
  context: Context,
  file: (layout: Context['layout']) => string,
  list: string,
  id: string,
  tell: (item: Loose) => unknown[],
): LiveValue[] {
  return itemsOf(readLoose(context, file(context.layout))[list]).flatMap((item) =>
    typeof item[id] === 'string' ? [{ value: item[id], note: noteOf(tell(item)) }] : [],
  );
}

function readLoose({ disk }: Pick<Context, 'disk'>, path: string): Loose {
  const value: unknown = JSON.parse(disk.read(path)?.toString('utf8') ?? '{}');
  return typeof value === 'object' && value !== null ? (value as Loose) : {};
}

const itemsOf = (list: unknown): Loose[] =>
  Array.isArray(list) ? list.filter((item): item is Loose => typeof item === 'object' && item !== null) : [];

const noteOf = (parts: readonly unknown[]): string =>
  oneLine(parts.filter((part) => typeof part === 'string' && part !== '').join(': '), 60);

function running(context: Context): LiveValue[] {
  const { id } = readLoose(context, sessionFile(context.layout));
  const isOwn = typeof id === 'string' && isOwnSession(context, id);
  return isOwn ? [{ value: displayId(context, id), note: 'running' }] : [];
}

function entries(context: Context): LiveValue[] {
  const { session } = readLoose(context, kfrFile(context.layout));
  const isOwn = typeof session === 'string' && isOwnSession(context, session);
  return isOwn ? listed(context, kfrFile, 'entries', 'id', ({ kind, text }) => [kind, text]) : [];
}

/** Newest first; under the ids that lists show. */
function archived(context: Context, isOffered: (id: string) => boolean = () => true): LiveValue[] {
  const ids = archivedIds(context);
  const twins = new Map<string, number>();
  for (const id of ids) twins.set(sessionName(id), (twins.get(sessionName(id)) ?? 0) + 1);
  const offered = ids.toReversed().filter(isOffered);
  return offered.map((id, i) => ({
    value: twins.get(sessionName(id)) === 1 ? sessionName(id) : id,
    note: i < DESCRIBED ? describeSession(context, id) : '',
  }));
}

function describeSession(context: Context, id: string): string {
  try {
    const { status, next } = readLoose(context, archiveFile(context.layout, id));
    return noteOf([status, next]);
  } catch {
    return '';
  }
}

/** Tags, and manifests of this branch whose tag is not here. */
function checkpoint({ disk, layout, repository }: Context): LiveValue[] {
  const tags = repository ? refNames(repository, `refs/tags/${TAG_FOLDER}`) : [];
  const files = disk.list(checkpointsFolder(layout)).filter((name) => name.endsWith('.json'));
  const names = new Set([...tags, ...files.map((name) => name.slice(0, -'.json'.length))]);
  return [...names].filter((name) => nameIn(name) === name).map(bare);
}

async function knowledge(context: Context): Promise<LiveValue[]> {
  const { listKnowledge } = await import('../knowledge/knowledge.js');
  return listKnowledge(context).learnings.map((learning) => ({
    value: learning.id,
    note: noteOf([
      learning.kind,
      learning.kind === 'invariant' ? learning.text : learning.context,
      learning.kind === 'success' ? learning.approach : learning.kind === 'failure' ? learning.issue : '',
    ]),
  }));
}

/** As many digits as lists show. */
const SHOWN_DIGITS = 12;

async function notes(context: Context): Promise<LiveValue[]> {
  return (await lastOf(context, ['note'])).filter(({ kind }) => kind === 'note').map(toLive);
}

async function records(context: Context): Promise<LiveValue[]> {
  return (await lastOf(context, TIERS)).map(toLive);
}

type Recent = Awaited<ReturnType<typeof lastOf>>[number];

const toLive = ({ id, kind, record }: Recent): LiveValue => ({
  value: id.slice(0, SHOWN_DIGITS),
  note: noteOf([kind, record.text ?? record.task_id ?? record.pattern ?? record.action]),
});

/** Newest first. */
async function lastOf(context: Context, tiers: typeof TIERS | ['note']) {
  const { lastRecords } = await import('../ledger/log.js');
  const { liveBytes, readMemory } = await import('../ledger/memory.js');
  if (liveBytes(context) > MAX_LEDGER_BYTES) return [];
  const memory = readMemory(context);
  return tiers.flatMap((tier) => lastRecords(memory, [tier], 50).toReversed());
}

/** The words of which one has to be taken; of anything else what it is now. */
async function settingValues(context: Context, [name = '']: readonly string[]): Promise<LiveValue[]> {
  const { schemaOf } = await import('./schema.js');
  const setting = name
    .split('.')
    .reduce<JsonSchema | undefined>((schema, key) => schema?.properties?.[key], schemaOf('config'));
  if (setting?.enum) return setting.enum.map(String).map(bare);
  if (setting?.type === 'boolean') return ['true', 'false'].map(bare);
  const { readSetting } = await import('../project/config.js');
  const { readConfig } = await import('../project/project.js');
  const value = readSetting(readConfig(context), name);
  return typeof value === 'string' || typeof value === 'number' ? [bare(String(value))] : [];
}

interface JsonSchema {
  type?: string;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
}
