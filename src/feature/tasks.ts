import * as z from 'zod/mini';
import { type EntryList, encodeFields, takeInById } from '../core/entries.js';
import { activeIssuesFile, activeIssuesFolder } from '../core/paths.js';
import type { Format } from '../core/schema.js';
import { compareIds, compareText, oneLine, plural } from '../core/text.js';
import { blockersOf, type Feature, isSame, isUnprovenPass, proofOf } from './rules.js';

/** RFC-9060 §5.1: an issue as a memory unit. These are the fields that forge reads; the others are kept unchanged. */
export const Unit = z.looseObject({
  linear_id: z.string(),
  title: z.string(),
  type: z.optional(z.string()),
  state: z.optional(z.nullable(z.string())),
  priority: z.optional(z.nullable(z.number())),
  labels: z.optional(z.array(z.string())),
  created_at: z.optional(z.string()),
  /** The branch, and the full hashes of the commits that name the issue, oldest first. */
  git_refs: z.optional(
    z.nullable(
      z.looseObject({
        branch: z.optional(z.nullable(z.string())),
        commits: z.optional(z.array(z.string())),
      }),
    ),
  ),
});
export type Unit = z.infer<typeof Unit>;

/** The id of an issue that Linear does not know yet. */
export const LOCAL = /^LOCAL-\d+$/;

/** `linear/history/<id>.json` */
export const UNIT: Format<Unit> = { name: 'unit', version: '1.0', schema: Unit };

const ActiveIssues = z.looseObject({ schema_version: z.optional(z.string()), issues: z.array(Unit) });
type ActiveIssues = z.infer<typeof ActiveIssues>;

/** `linear/active.json`, a view. */
export const ACTIVE_ISSUES: Format<ActiveIssues> = { name: 'active', version: '1.0', schema: ActiveIssues };

function applyEdit(unit: Unit, old: Unit, wanted: Unit, changes: string[]): Unit {
  // A done issue is known by the time at which it was made.
  const edited = Object.keys({ ...old, ...wanted }).filter(
    (field) => field !== 'created_at' && !isSame(old[field], wanted[field]),
  );
  if (edited.every((field) => isSame(unit[field], wanted[field]))) return unit;
  changes.push(`${unit.linear_id} (${edited.join(', ')})`);
  return { ...unit, ...Object.fromEntries(edited.map((field) => [field, wanted[field]])) };
}

/** `linear/active.d/<id>.json` */
export const ISSUE_LIST: EntryList<Unit, ActiveIssues> = {
  folder: activeIssuesFolder,
  entry: { ...UNIT, prepare: ({ schema_version: _, ...fields }) => fields },
  nameOf: ({ linear_id }) => linear_id,
  arrange: (units) =>
    [...units].sort(
      (a, b) => compareText(a.created_at ?? '~', b.created_at ?? '~') || compareIds(a.linear_id, b.linear_id),
    ),
  encode: (unit) => encodeFields(unit.linear_id, { schema_version: UNIT.version, ...unit }),
  view: ACTIVE_ISSUES,
  viewFile: activeIssuesFile,
  toView: (units, present) => ({
    ...(present ?? { schema_version: ACTIVE_ISSUES.version }),
    issues: [...units],
  }),
  takeIn: (units, base, edited) =>
    takeInById(({ linear_id }) => linear_id, [units, base?.issues, edited.issues], {
      edit: applyEdit,
      remove: ({ linear_id }) => `forge linear done ${linear_id}`,
    }),
};

/** The unit that asks for an investigation of contested knowledge (LTM-09). Its id follows from the knowledge. */
export function investigationOf(
  { knowledge_id, pattern, scope }: { knowledge_id: string; pattern: string; scope: string },
  contradicts: readonly string[],
  at: string,
): Unit {
  return {
    linear_id: investigationId(knowledge_id),
    title: `Investigate: is this still true? ${oneLine(pattern, 120)}`,
    type: 'investigation',
    state: 'unstarted',
    labels: ['investigation', 'memory'],
    memory_trace: { created_from: `contested knowledge ${knowledge_id.slice(0, 12)}`, knowledge_id },
    description: `${plural(contradicts.length, 'evaluation contradicts', 'evaluations contradict')} what was learned (scope ${scope}): ${oneLine(pattern, 400)}`,
    acceptance_criteria: [
      'Three clean cycles in a row observe the pattern again, or a human says: forge memory override invalidate',
    ],
    created_at: at,
    updated_at: at,
  };
}

/** The knowledge that an investigation is about; null for every other unit. */
export function investigatedBy({ type, linear_id, memory_trace }: Unit): string | null {
  if (type !== 'investigation') return null;
  const { knowledge_id } = (memory_trace ?? {}) as { knowledge_id?: unknown };
  return typeof knowledge_id === 'string' && investigationId(knowledge_id) === linear_id
    ? knowledge_id
    : null;
}

export const investigationId = (knowledge_id: string): string =>
  `INVESTIGATE-${knowledge_id.slice(0, 8).toUpperCase()}`;

/** A feature or an issue that could be worked on next. */
export interface Candidate {
  id: string;
  title: string;
  source: 'feature' | 'linear';
  status: string;
  linear_issue: string | null;
  /** What must be done first; empty when it can start now. */
  blocked_by: string[];
  /** 1 (most urgent) to 4; null when none is set. */
  priority: number | null;
  created_at: string | null;
  /** No test of it has failed yet: it may need no work. */
  unproven?: true;
  reason: string;
}

export interface Selection {
  task: Candidate | null;
  source: Candidate['source'] | null;
  reason: string;
  candidates: Candidate[];
}

/**
 * SES-10: unblocked before blocked, work of an active issue before unlinked features, in_progress before failing
 * before not_implemented, then priority, then unproven features last, then age (oldest first), then id. Passing features are done. `held`: what others
 * hold, and who.
 */
export function selectNext(
  features: readonly Feature[],
  issues: readonly Unit[],
  held: ReadonlyMap<string, string> = new Map(),
): Selection {
  const open = features.filter(({ status }) => status !== 'passing');
  const linked = new Set(open.map(({ linear_issue }) => linear_issue));
  const candidates = [
    ...featureCandidates(features, open, issues),
    // An active issue is a candidate only while no unfinished feature is linked to it.
    ...issues.filter(({ linear_id }) => !linked.has(linear_id)).map(issueCandidate),
  ]
    .map((work) => {
      const holder = held.get(work.id) ?? held.get(work.linear_issue ?? '') ?? [];
      const candidate = { ...work, blocked_by: [...work.blocked_by, holder].flat() };
      return { ...candidate, reason: explain(candidate) };
    })
    .sort(compare);
  const [best] = candidates;
  const task = best && best.blocked_by.length === 0 ? best : null;
  const reason = best ? (task?.reason ?? allBlocked(candidates)) : nothingOpen(features);
  return { task, source: task?.source ?? null, reason, candidates };
}

function allBlocked(candidates: readonly Candidate[]): string {
  const waits = candidates.map(({ id, blocked_by }) => `${id} waits for ${oneLine(blocked_by.join(', '))}`);
  const more = waits.length > 3 ? `; ${waits.length - 3} more wait` : '';
  return `everything left is blocked; ${waits.slice(0, 3).join('; ')}${more}`;
}

const nothingOpen = (features: readonly Feature[]): string =>
  features.length === 0 ? 'there are no features and no active issues yet' : 'every feature is passing';

type Unexplained = Omit<Candidate, 'reason'>;

function featureCandidates(
  features: readonly Feature[],
  open: readonly Feature[],
  issues: readonly Unit[],
): Unexplained[] {
  const done = new Set(features.filter(({ status }) => status === 'passing').map(({ id }) => id));
  const active = new Set(issues.map((issue) => issue.linear_id));
  return open.map((feature) => {
    // An unknown id blocks too: another branch may bring that feature.
    const waits = blockersOf(feature).filter((id) => !done.has(id));
    // An agent has done what it can.
    if (isUnprovenPass(feature)) waits.push(`its proof (for a person: ${proofOf(feature)})`);
    const isHeld = waits.length === 0 && feature.status === 'blocked';
    const { linear_issue } = feature;
    return {
      id: feature.id,
      title: feature.name,
      source: 'feature',
      status: feature.status,
      linear_issue: linear_issue && active.has(linear_issue) ? linear_issue : null,
      blocked_by: isHeld ? ['its status'] : waits,
      priority: feature.priority ?? null,
      created_at: feature.created_at ?? null,
      ...(feature.unproven ? { unproven: true as const } : {}),
    };
  });
}

const issueCandidate = (issue: Unit): Unexplained => ({
  id: issue.linear_id,
  title: issue.title,
  source: 'linear',
  status: issue.state === 'in_progress' || issue.state === 'started' ? 'in_progress' : 'not_implemented',
  // An investigation, which forge asks for, goes before no older feature.
  linear_issue: issue.type === 'investigation' ? null : issue.linear_id,
  blocked_by: [],
  // Linear stores "no priority" as 0.
  priority: issue.priority || null,
  created_at: issue.created_at ?? null,
});

const STATUS_ORDER = ['in_progress', 'failing', 'not_implemented', 'blocked'];
const NO_PRIORITY = 5;

function compare(a: Candidate, b: Candidate): number {
  return (
    Math.min(a.blocked_by.length, 1) - Math.min(b.blocked_by.length, 1) ||
    Number(a.linear_issue === null) - Number(b.linear_issue === null) ||
    STATUS_ORDER.indexOf(a.status) - STATUS_ORDER.indexOf(b.status) ||
    (a.priority ?? NO_PRIORITY) - (b.priority ?? NO_PRIORITY) ||
    Number(a.unproven ?? false) - Number(b.unproven ?? false) ||
    // Work without a date goes last.
    compareText(a.created_at ?? '~', b.created_at ?? '~') ||
    compareIds(a.id, b.id)
  );
}

function explain({ blocked_by, linear_issue, status, priority, unproven }: Unexplained): string {
  if (blocked_by.length > 0) return `blocked by ${oneLine(blocked_by.join(', '))}`;
  const parts = ['unblocked'];
  if (linear_issue) parts.push(`active issue ${linear_issue}`);
  parts.push(status.replaceAll('_', ' '));
  if (priority !== null) parts.push(`priority ${priority}`);
  if (unproven) parts.push('unproven');
  return parts.join(', ');
}

/** Whether a text names a task: by its id, its title, or as `taskLine` writes it, in any case. */
export const namesTask = (text: string, task: Pick<Candidate, 'id' | 'title'>): boolean =>
  [task.id, task.title, taskLine(task)].some((name) => name.toLowerCase() === text.toLowerCase());

/** How focus.json names the task. */
export const taskLine = ({ id, title }: Pick<Candidate, 'id' | 'title'>): string =>
  oneLine(`${id}: ${title}`, 300);
