import { activeIssuesFile, doneIssueFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import {
  ACTIVE_ISSUES,
  type ActiveIssues,
  investigatedBy,
  investigationId,
  investigationOf,
  type Unit,
} from '../feature/tasks.js';
import { type Memory, readMemory } from '../ledger/memory.js';
import { type Context, timestamp } from '../project/project.js';
import { type Proven, readProven } from './proven.js';
import type { Contested } from './rules.js';

/** All knowledge by its id. Works while memory is halted. */
export const readKnowledge = (context: Context, memory = readMemory(context)): Map<string, Proven> =>
  readProven(memory.records('knowledge'), (id) => memory.graph.has(id));

/** A piece of knowledge as answers list it. */
export type KnownPattern = Omit<Proven, 'record' | 'contested' | 'invalidated' | 'answered'>;

export const listKnown = (context: Context, memory?: Memory): KnownPattern[] =>
  [...readKnowledge(context, memory).values()].map(
    ({ record: _, contested: _contested, invalidated: _invalidated, answered: _answered, ...known }) => known,
  );

/** LTM-09: opens a unit for each contested piece of knowledge that has none. The caller holds the lock. */
export function openInvestigations(context: Context, contested: readonly Contested[]): void {
  if (contested.length === 0) return;
  const at = timestamp(context);
  changeActive(context, (issues) => {
    const open = new Set(issues.map(({ linear_id }) => linear_id));
    const fresh = contested.filter(({ knowledge_id }) => !open.has(investigationId(knowledge_id)));
    return [...issues, ...fresh.map((entry) => investigationOf(entry, entry.contradicts, at))];
  });
}

/**
 * Ends investigations of knowledge that is no longer contested: a merge, a reset or an interrupted command may have left
 * them open. The caller holds the lock.
 */
export function closeInvestigations(context: Context): void {
  changeActive(context, (issues) => {
    const open = openOf(context, issues);
    for (const unit of issues) if (!open.includes(unit)) keepDone(context, unit);
    return open;
  });
}

/** The active issues, without investigations that only wait to be closed. */
export function readIssues(context: Context): { path: string; bytes: Buffer | null; issues: Unit[] } {
  const { disk, layout } = context;
  const { path, bytes, value } = disk.readDocument(ACTIVE_ISSUES, activeIssuesFile(layout), { issues: [] });
  return { path, bytes, issues: openOf(context, value.issues) };
}

/** Reads knowledge only if there is an investigation. */
function openOf(context: Context, issues: Unit[]): Unit[] {
  if (issues.every((unit) => investigatedBy(unit) === null)) return issues;
  const proven = readKnowledge(context);
  return issues.filter((unit) => {
    const id = investigatedBy(unit);
    return id === null || proven.get(id)?.status === 'contested';
  });
}

/** Each investigation of the same knowledge has a separate file. Closing one twice writes the same file. */
function keepDone({ disk, layout, world }: Context, unit: Unit): void {
  const { linear_id, created_at } = unit;
  const opened = `"created_at": ${JSON.stringify(created_at)}`;
  const updated_at = world.now().toISOString();
  const done = { schema_version: ACTIVE_ISSUES.version, ...unit, state: 'done', updated_at };
  for (let turn = 1; ; turn++) {
    const path = doneIssueFile(layout, turn === 1 ? linear_id : `${linear_id}-${turn}`);
    const bytes = disk.read(path);
    if (bytes !== null && !bytes.includes(opened)) continue;
    disk.replace(path, encodeDocument(done));
    return;
  }
}

/** The caller holds the lock. */
export function changeActive({ disk, layout }: Context, change: (issues: Unit[]) => Unit[]): void {
  const path = activeIssuesFile(layout);
  const none: ActiveIssues = { schema_version: ACTIVE_ISSUES.version, issues: [] };
  const { value, bytes } = disk.readDocument(ACTIVE_ISSUES, path, none);
  const issues = change(value.issues);
  if (issues.length === value.issues.length && issues.every((unit, i) => unit === value.issues[i])) return;
  const after = encodeDocument({ ...value, issues });
  if (!bytes?.equals(after)) disk.replace(path, after, bytes);
}
