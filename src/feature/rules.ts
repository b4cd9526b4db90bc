import * as z from 'zod/mini';
import { refused, usage } from '../core/error.js';
import { checkId, type Format, findTwin, ID_PATTERN, requireRecord } from '../core/schema.js';

/** RFC-9060 §3.1, `long-term/features.json`. */
export const STATUSES = ['not_implemented', 'in_progress', 'failing', 'passing', 'blocked'] as const;
export type FeatureStatus = (typeof STATUSES)[number];

const Blockers = z.union([z.null(), z.string(), z.array(z.string())]);

export const Feature = z.looseObject({
  id: z.string().check(z.regex(ID_PATTERN)),
  name: z.string(),
  status: z.enum(STATUSES),
  /** Commands, or arguments for `[features] test_command`. */
  tests: z.optional(z.array(z.string())),
  blocked_by: z.optional(Blockers),
  /** 1 (most urgent) to 4. */
  priority: z.optional(z.int().check(z.gte(1), z.lte(4))),
  linear_issue: z.optional(z.nullable(z.string())),
  created_at: z.optional(z.string()),
  /** The evidence of `passing`: when, at which commit, by which commands. Written by verify alone. */
  verified_at: z.optional(z.nullable(z.string())),
  verified_commit: z.optional(z.nullable(z.string())),
  verified_by: z.optional(z.array(z.string())),
  /** The audit record of the human who said so instead of a test run. */
  override: z.optional(z.string()),
});
export type Feature = z.infer<typeof Feature>;

/** A merge or a hand may have left one id twice; then nobody knows which one is meant. */
function firstTwice(features: readonly { id: string }[]): string | null {
  const seen = new Set<string>();
  for (const { id } of features) {
    const key = id.toLowerCase();
    if (seen.has(key)) return id;
    seen.add(key);
  }
  return null;
}

export const Features = z.looseObject({
  schema_version: z.string(),
  features: z.array(Feature).check((list) => {
    const twice = firstTwice(list.value);
    const message = `the id ${twice} stands twice (case aside)`;
    if (twice !== null) list.issues.push({ code: 'custom', message, input: list.value, path: [] });
  }),
});
export type Features = z.infer<typeof Features>;

export const FEATURES: Format<Features> = {
  name: 'features',
  version: '1.0',
  schema: Features,
  isPlain,
  migrations: { 0: fromDraft },
};

type Fields = Record<string, unknown>;
const isText = (value: unknown): boolean => typeof value === 'string';
const isTextOr =
  (other: null | undefined) =>
  (value: unknown): boolean =>
    value === other || isText(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const PLAIN_FIELDS: Record<string, (value: unknown) => boolean> = {
  id: (value) => isText(value) && ID_PATTERN.test(value as string),
  name: isText,
  status: (value) => (STATUSES as readonly unknown[]).includes(value),
  tests: isTexts,
  blocked_by: (value) => value === null || isText(value) || isTexts(value),
  priority: (value) => value === 1 || value === 2 || value === 3 || value === 4,
  linear_issue: isTextOr(null),
  created_at: isText,
  verified_at: isTextOr(null),
  verified_commit: isTextOr(null),
  verified_by: isTexts,
  override: isText,
};

/** Hundreds of features are read by every `next` and session start; see Format. Required: id, name, status. */
function isPlain(value: unknown): boolean {
  const { schema_version, features } = value as Fields;
  if (!isText(schema_version) || !Array.isArray(features)) return false;
  return features.every(isPlainFeature) && firstTwice(features) === null;
}

function isPlainFeature(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const feature = value as Fields;
  if (feature.id === undefined || feature.name === undefined || feature.status === undefined) return false;
  for (const field in feature) if (PLAIN_FIELDS[field]?.(feature[field]) === false) return false;
  return true;
}

/**
 * Version 0 kept a boolean `passes` per feature, as feature lists of agent harnesses do. A claim without evidence
 * does not become `passing`: the tests have to be run once.
 */
function fromDraft(old: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(old.features)) return old;
  const features = old.features.map((feature: unknown) => {
    if (typeof feature !== 'object' || feature === null) return feature;
    const { passes, ...rest } = feature as Record<string, unknown>;
    return { status: passes === true ? 'in_progress' : 'not_implemented', ...rest };
  });
  return { ...old, features };
}

export interface FeatureChange {
  name?: string | undefined;
  status?: FeatureStatus | undefined;
  tests?: string[] | undefined;
  blocked_by?: string[] | undefined;
  priority?: number | undefined;
  linear_issue?: string | null | undefined;
}

/** The ids that a feature waits for, whatever form the field has. */
export function blockersOf(feature: Pick<Feature, 'blocked_by'>): string[] {
  const blockers = feature.blocked_by;
  if (blockers === null || blockers === undefined) return [];
  return typeof blockers === 'string' ? [blockers] : blockers;
}

/** Keeps the form the field had (FEA-01): one id stays one id, a list a list. */
function blockersIn(form: Feature['blocked_by'], ids: string[]): Feature['blocked_by'] {
  if (Array.isArray(form)) return ids;
  if (ids.length === 0) return null;
  return ids.length === 1 ? ids[0] : ids;
}

/** A new feature, or exit 2 for a bad or taken id. */
export function planFeature(
  features: readonly Feature[],
  id: string,
  change: FeatureChange,
  now: string,
): Feature {
  checkId(id, 'feature id');
  const twin = findTwin(features, id);
  if (twin)
    throw usage('feature.exists', `Feature ${twin.id} exists already.`, {
      hint: `forge feature edit ${twin.id} …`,
    });
  const blank: Feature = { id, name: change.name ?? id, status: 'not_implemented', created_at: now };
  const feature = changed({ ...blank, tests: change.tests ?? [] }, change);
  refuseCycle([...features, feature], feature);
  return feature;
}

/** The edited feature. Its evidence goes when its tests change (FEA-03). */
export function planEdit(features: readonly Feature[], id: string, change: FeatureChange): Feature {
  const before = requireRecord(features, id, 'feature');
  let after = changed(before, change);
  if (testsDiffer(before, after) && before.status === 'passing')
    after = withoutEvidence({ ...after, status: change.status ?? 'in_progress' });
  refuseCycle(
    features.map((feature) => (feature.id === id ? after : feature)),
    after,
  );
  return after;
}

function changed(feature: Feature, change: FeatureChange): Feature {
  if (change.status === 'passing')
    throw refused('feature.unproven', `${feature.id}: only a verified test run makes a feature passing.`, {
      hint: `forge feature verify ${feature.id}  or, for a human: forge feature edit ${feature.id} --status passing --reason "…"`,
    });
  const after: Feature = { ...feature };
  if (change.name !== undefined) after.name = change.name;
  if (change.tests !== undefined) after.tests = change.tests;
  if (change.priority !== undefined) after.priority = change.priority;
  if (change.linear_issue !== undefined) after.linear_issue = change.linear_issue;
  if (change.blocked_by !== undefined) after.blocked_by = blockersIn(feature.blocked_by, change.blocked_by);
  if (change.status === undefined || change.status === feature.status) return after;
  return withoutEvidence({ ...after, status: change.status });
}

export function testsDiffer(a: Feature, b: Feature): boolean {
  return JSON.stringify(a.tests ?? []) !== JSON.stringify(b.tests ?? []);
}

/** What of these a state does not show to pass, since only work that is gone did: in progress again. */
export function unproved(features: readonly Feature[], vouched: ReadonlySet<string>): Feature[] {
  return features.filter(({ id, status }) => status === 'passing' && !vouched.has(id));
}

export const asUnproved = (feature: Feature): Feature =>
  withoutEvidence({ ...feature, status: 'in_progress' });

function withoutEvidence(feature: Feature): Feature {
  const after: Feature = { ...feature };
  if (after.verified_at !== undefined) after.verified_at = null;
  delete after.verified_commit;
  delete after.verified_by;
  delete after.override;
  return after;
}

/** What a finished test run makes of a feature: the one way to `passing` (FEA-02). */
export function judged(
  feature: Feature,
  run: { ok: boolean; at: string; commit: string | null; commands: string[] },
): Feature {
  if (!run.ok) return withoutEvidence({ ...feature, status: 'failing' });
  return {
    ...withoutEvidence(feature),
    status: 'passing',
    verified_at: run.at,
    verified_commit: run.commit,
    verified_by: run.commands,
  };
}

/** A human's word instead of a test run; it holds for the tests as they stand (FEA-03). */
export function overridden(
  feature: Feature,
  by: { audit: string; at: string; commands: readonly string[] },
): Feature {
  const claim = { verified_at: by.at, verified_by: [...by.commands], override: by.audit };
  return { ...withoutEvidence(feature), status: 'passing', ...claim };
}

/**
 * Whether a `passing` may be believed: it has a time, and where it names its commands they are those of the tests as
 * they stand. `commands` are the present tests' (null when one cannot be run). Whoever edits the file by hand can
 * still invent all of it; the ledger will tell that apart.
 */
export function isProven(feature: Feature, commands: readonly string[] | null): boolean {
  if (!feature.verified_at) return false;
  return (
    feature.verified_by === undefined || JSON.stringify(feature.verified_by) === JSON.stringify(commands)
  );
}

/** Only `from` has new blockers, so a new circle runs through it; the shortest one is named. */
function refuseCycle(features: readonly Feature[], from: Feature): void {
  const byId = new Map(features.map((feature) => [feature.id, feature]));
  const waiting = new Map<string, string>();
  const found = [from.id];
  for (const id of found)
    for (const next of blockersOf(byId.get(id) ?? { blocked_by: null })) {
      if (next === from.id) throw circle(id, from.id, waiting);
      if (waiting.has(next)) continue;
      waiting.set(next, id);
      found.push(next);
    }
}

/** The way back from the last one to the first. */
function circle(last: string, first: string, waiting: ReadonlyMap<string, string>): Error {
  const path = [first];
  for (let id: string | undefined = last; id !== undefined && id !== first; id = waiting.get(id))
    path.unshift(id);
  return usage('feature.cycle', `blocked_by runs in a circle: ${[first, ...path].join(' → ')}.`, {
    field: 'blocked_by',
  });
}

/** Removes a feature; refused (exit 3) while others wait for it. */
export function planRemove(features: readonly Feature[], id: string): Feature[] {
  requireRecord(features, id, 'feature');
  const waiting = features.filter((feature) => blockersOf(feature).includes(id)).map((feature) => feature.id);
  if (waiting.length > 0)
    throw refused('feature.needed', `${id} blocks ${waiting.join(', ')}.`, {
      hint: `forge feature edit ${waiting[0]} --blocked-by none`,
    });
  return features.filter((feature) => feature.id !== id);
}

/** How many features stand where. */
export function countStatuses(features: readonly Feature[]): Record<FeatureStatus, number> {
  const counts = { not_implemented: 0, in_progress: 0, failing: 0, passing: 0, blocked: 0 };
  for (const feature of features) counts[feature.status]++;
  return counts;
}
