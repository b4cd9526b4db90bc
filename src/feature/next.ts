import { compareIds, compareText, oneLine } from '../core/text.js';
import type { Unit } from './issue.js';
import { blockersOf, type Feature } from './rules.js';

/** A piece of work that could be done next. */
export interface Candidate {
  id: string;
  title: string;
  source: 'feature' | 'linear';
  status: string;
  linear_issue: string | null;
  /** What must be done before; empty when it can start now. */
  blocked_by: string[];
  /** 1 (most urgent) to 4; null when none is set. */
  priority: number | null;
  created_at: string | null;
  reason: string;
}

export interface Selection {
  task: Candidate | null;
  source: Candidate['source'] | null;
  reason: string;
  candidates: Candidate[];
}

const STATUS_ORDER = ['in_progress', 'failing', 'not_implemented', 'blocked'];
const NO_PRIORITY = 5;

/**
 * SES-10: unblocked before blocked, work of an active issue before unlinked features, in_progress before failing
 * before not_implemented, then priority, then age (oldest first), then id. Passing features are done.
 */
export function selectNext(features: readonly Feature[], issues: readonly Unit[]): Selection {
  const candidates = [...featureCandidates(features, issues), ...issueCandidates(features, issues)].sort(
    compare,
  );
  const best = candidates[0];
  const task = best && best.blocked_by.length === 0 ? best : null;
  return { task, source: task?.source ?? null, reason: reasonFor(task, candidates, features), candidates };
}

function reasonFor(
  task: Candidate | null,
  candidates: readonly Candidate[],
  features: readonly Feature[],
): string {
  if (task) return task.reason;
  const first = candidates[0];
  if (first)
    return `everything left is blocked; ${first.id} waits for ${oneLine(first.blocked_by.join(', '))}`;
  return features.length === 0
    ? 'there are no features and no active issues yet'
    : 'every feature is passing';
}

function featureCandidates(features: readonly Feature[], issues: readonly Unit[]): Candidate[] {
  const byId = new Map(features.map((feature) => [feature.id, feature]));
  const active = new Set(issues.map((issue) => issue.linear_id));
  return features
    .filter((feature) => feature.status !== 'passing')
    .map((feature) => {
      const issue = feature.linear_issue && active.has(feature.linear_issue) ? feature.linear_issue : null;
      const candidate = {
        id: feature.id,
        title: feature.name,
        source: 'feature' as const,
        status: feature.status,
        linear_issue: issue,
        blocked_by: openBlockers(feature, byId),
        priority: feature.priority ?? null,
        created_at: feature.created_at ?? null,
      };
      return { ...candidate, reason: explain(candidate) };
    });
}

/** What a feature still waits for. An id that nobody knows holds it back too: better asked than skipped. */
function openBlockers(feature: Feature, byId: ReadonlyMap<string, Feature>): string[] {
  const open = blockersOf(feature).filter((id) => byId.get(id)?.status !== 'passing');
  return open.length === 0 && feature.status === 'blocked' ? ['a person (status blocked)'] : open;
}

/** An active issue stands for itself only while no unfinished feature carries it. */
function issueCandidates(features: readonly Feature[], issues: readonly Unit[]): Candidate[] {
  const carried = new Set(
    features.filter(({ status }) => status !== 'passing').map((feature) => feature.linear_issue),
  );
  return issues
    .filter((issue) => !carried.has(issue.linear_id))
    .map((issue) => {
      const candidate = {
        id: issue.linear_id,
        title: issue.title,
        source: 'linear' as const,
        status:
          issue.state === 'in_progress' || issue.state === 'started' ? 'in_progress' : 'not_implemented',
        // What forge itself asks for takes its turn: it goes before no feature that is older.
        linear_issue: issue.type === 'investigation' ? null : issue.linear_id,
        blocked_by: [],
        // Linear counts "no priority" as 0.
        priority: issue.priority || null,
        created_at: issue.created_at ?? null,
      };
      return { ...candidate, reason: explain(candidate) };
    });
}

function compare(a: Candidate, b: Candidate): number {
  return (
    Math.min(a.blocked_by.length, 1) - Math.min(b.blocked_by.length, 1) ||
    Number(a.linear_issue === null) - Number(b.linear_issue === null) ||
    STATUS_ORDER.indexOf(a.status) - STATUS_ORDER.indexOf(b.status) ||
    (a.priority ?? NO_PRIORITY) - (b.priority ?? NO_PRIORITY) ||
    // Without a date nobody knows its age; dated work goes first.
    compareText(a.created_at ?? '~', b.created_at ?? '~') ||
    compareIds(a.id, b.id)
  );
}

function explain(candidate: Omit<Candidate, 'reason'>): string {
  if (candidate.blocked_by.length > 0) return `blocked by ${oneLine(candidate.blocked_by.join(', '))}`;
  const parts = ['unblocked'];
  if (candidate.linear_issue) parts.push(`active issue ${candidate.linear_issue}`);
  parts.push(candidate.status.replaceAll('_', ' '));
  if (candidate.priority !== null) parts.push(`priority ${candidate.priority}`);
  return parts.join(', ');
}

/** How focus.json names the task. */
export function taskLine(candidate: Pick<Candidate, 'id' | 'title'>): string {
  return oneLine(`${candidate.id}: ${candidate.title}`, 300);
}
