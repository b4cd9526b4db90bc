import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { type EntryList, encodeFields } from '../core/entries.js';
import { corrupted, refused, usage } from '../core/error.js';
import { featuresFile, featuresFolder } from '../core/paths.js';
import { checkId, type Format, findTwin, ID_PATTERN, isId, requireRecord } from '../core/schema.js';
import { compareIds, compareText, oneLine } from '../core/text.js';

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
  /** Its tests passed before any work was done, and were never seen to fail (FEA-05). */
  unproven: z.optional(z.boolean()),
  /** The evidence of `passing`: when, at which commit, by which commands. Written by verify alone. */
  verified_at: z.optional(z.nullable(z.string())),
  verified_commit: z.optional(z.nullable(z.string())),
  verified_by: z.optional(z.array(z.string())),
  /** A human's word instead of a test run: the audit record, and the tests it holds for. */
  override: z.optional(
    z.looseObject({ audit: z.string(), reason: z.string(), at: z.string(), tests: z.array(z.string()) }),
  ),
});
export type Feature = z.infer<typeof Feature>;

/** A merge or an edit may leave one id twice; then nobody knows which one is meant. */
function firstTwice(features: readonly { id: string }[]): string | null {
  const seen = new Set<string>();
  for (const { id } of features) {
    const key = id.toLowerCase();
    if (seen.has(key)) return id;
    seen.add(key);
  }
  return null;
}

const Features = z.looseObject({
  schema_version: z.string(),
  features: z.array(Feature).check((list) => {
    const twice = firstTwice(list.value);
    const message = `the id ${twice} stands twice (case aside)`;
    if (twice !== null) list.issues.push({ code: 'custom', message, input: list.value, path: [] });
  }),
});
export type Features = z.infer<typeof Features>;

/** `long-term/features.json`, a view in the shape of RFC-9060 §3.1. */
export const FEATURES: Format<Features> = { name: 'features', version: '1.0', schema: Features };

/** `long-term/features.d/<id>.json` */
export const FEATURE: Format<Feature> = {
  name: 'feature',
  version: '1.0',
  schema: Feature,
  isPlain: isPlainFeature,
  prepare: fromFile,
};

/** The fields of an entry's file, in their order. All of them always stand there: an absent one is null. */
const FIELDS = [
  'id',
  'name',
  'status',
  'tests',
  'blocked_by',
  'priority',
  'linear_issue',
  'unproven',
  'override',
  'verified_at',
  'verified_commit',
  'verified_by',
  'created_at',
] as const;

function encodeFeature(feature: Feature): Buffer {
  const known = Object.fromEntries(FIELDS.map((field) => [field, feature[field] ?? null]));
  return encodeFields(feature.id, { schema_version: FEATURE.version, ...known, ...feature });
}

/** Known fields in their order, then those that somebody added. */
function inOrder(feature: Feature): Feature {
  const known = FIELDS.filter((field) => feature[field] !== undefined);
  return { ...Object.fromEntries(known.map((field) => [field, feature[field]])), ...feature } as Feature;
}

function fromFile({ schema_version: _, ...fields }: Record<string, unknown>): Record<string, unknown> {
  const isAbsent = (field: string): boolean =>
    fields[field] === null && (FIELDS as readonly string[]).includes(field);
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !isAbsent(field)));
}

/** By age, then by id. */
function arrange(features: Feature[]): Feature[] {
  const twice = firstTwice(features);
  if (twice !== null) {
    const files = features.filter(({ id }) => id.toLowerCase() === twice.toLowerCase());
    throw corrupted('feature.twice', `${files.map(({ id }) => id).join(' and ')} differ only in case.`, {
      hint: `git rm .forge/memory/long-term/features.d/${twice}.json   # or give it another id`,
    });
  }
  const age = ({ created_at }: Feature): string => created_at ?? '~';
  return [...features].sort((a, b) => compareText(age(a), age(b)) || compareIds(a.id, b.id));
}

/** Fields that a person may change in the view. The rest is evidence, which forge alone writes. */
const isEditable = (field: string): boolean =>
  !['id', 'created_at', 'unproven', 'override'].includes(field) && !field.startsWith('verified_');

/** By id and field: what differs between `base` and `edited` is what the person changed. */
function takeIn(
  features: readonly Feature[],
  base: Features,
  edited: Features,
): { entries: Feature[]; changes: string[] } {
  const [was, now] = [byId(base.features), byId(edited.features)];
  const changes: string[] = [];
  const kept = features
    .filter(({ id }) => !was.has(id) || now.has(id))
    .map((feature) => {
      const [old, wanted] = [was.get(feature.id), now.get(feature.id)];
      return wanted ? edit(feature, old ?? feature, wanted, changes) : feature;
    });
  for (const { id } of features) if (was.has(id) && !now.has(id)) changes.push(`${id} removed`);
  const known = new Set(features.map(({ id }) => id));
  const added = edited.features.filter(({ id }) => !known.has(id) && !was.has(id));
  for (const { id } of added) {
    if (!isId(id)) throw corrupted('feature.id', `features.json: ${JSON.stringify(id)} is not a feature id.`);
    changes.push(`${id} added`);
  }
  return { entries: [...kept, ...added.map((feature) => unclaimed(withoutNulls(feature)))], changes };
}

function edit(feature: Feature, old: Feature, wanted: Feature, changes: string[]): Feature {
  const fields = new Set([...Object.keys(old), ...Object.keys(wanted)]);
  const changed = [...fields].filter(
    (field) => isEditable(field) && !isSame(old[field] ?? null, wanted[field] ?? null),
  );
  // Only a run of the tests makes a feature pass.
  const taken = changed.filter((field) => field !== 'status' || wanted.status !== 'passing');
  if (changed.length > taken.length)
    changes.push(`${feature.id} stays ${feature.status} until forge done ${feature.id}`);
  if (taken.every((field) => isSame(feature[field] ?? null, wanted[field] ?? null))) return feature;
  changes.push(`${feature.id} (${taken.join(', ')})`);
  const given = Object.fromEntries(taken.map((field) => [field, wanted[field]]));
  const after = withoutNulls({ ...feature, ...given });
  if (testsDiffer(feature, after) && after.status === 'passing') return asUnproved(after);
  return after.status === feature.status ? after : withoutEvidence(after);
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const withoutNulls = (feature: Feature): Feature => fromFile(feature) as Feature;

const unclaimed = (feature: Feature): Feature =>
  withoutEvidence(feature.status === 'passing' ? { ...feature, status: 'in_progress' } : feature);

const byId = (features: readonly Feature[]): Map<string, Feature> =>
  new Map(features.map((feature) => [feature.id, feature]));

export const FEATURE_LIST: EntryList<Feature, Features> = {
  folder: featuresFolder,
  entry: FEATURE,
  nameOf: ({ id }) => id,
  arrange,
  encode: encodeFeature,
  view: FEATURES,
  viewFile: featuresFile,
  toView: (features, standing) => ({
    ...(standing ?? { schema_version: FEATURES.version }),
    features: features.map(inOrder),
  }),
  takeIn,
};

type Fields = Record<string, unknown>;
const isText = (value: unknown): boolean => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const PLAIN_FIELDS: Record<string, (value: unknown) => boolean> = {
  id: (value) => isText(value) && ID_PATTERN.test(value as string),
  name: isText,
  status: (value) => (STATUSES as readonly unknown[]).includes(value),
  tests: isTexts,
  blocked_by: (value) => isText(value) || isTexts(value),
  priority: (value) => value === 1 || value === 2 || value === 3 || value === 4,
  linear_issue: isText,
  created_at: isText,
  unproven: (value) => typeof value === 'boolean',
  verified_at: isText,
  verified_commit: isText,
  verified_by: isTexts,
  override: () => false,
};

/** Hundreds of features are read by every `next` and session start; see Format. Required: id, name, status. */
function isPlainFeature(value: unknown): boolean {
  const feature = value as Fields;
  if (feature.id === undefined || feature.name === undefined || feature.status === undefined) return false;
  for (const field in feature) if (PLAIN_FIELDS[field]?.(feature[field]) === false) return false;
  return true;
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
    throw usage('feature.exists', `Feature ${twin.id} already exists.`, {
      hint: `forge feature show ${twin.id}`,
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
  if (testsDiffer(before, after)) {
    // What the old tests showed says nothing about the new ones.
    const status = change.status ?? (before.status === 'passing' ? 'in_progress' : before.status);
    after = asConfirmed(withoutEvidence({ ...after, status }));
  }
  refuseCycle(
    features.map((feature) => (feature.id === id ? after : feature)),
    after,
  );
  return after;
}

function changed(feature: Feature, change: FeatureChange): Feature {
  if (change.status === 'passing')
    throw refused('feature.unproven', `${feature.id}: only a verified test run makes a feature passing.`, {
      hint: `forge done ${feature.id}\nforge feature edit ${feature.id} --status passing --reason "TEXT"   # for a person`,
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
  const { verified_at, verified_commit, verified_by, override, ...after } = feature;
  return after;
}

/**
 * What a finished test run makes of a feature: the one way to `passing` (FEA-02). Evidence of the same status for the same
 * tests stays as it is, so that runs on two branches never conflict; each run is in the evaluation ledger.
 */
export function judged(
  feature: Feature,
  run: { ok: boolean; at: string; commit: string | null; commands: string[] },
): Feature {
  if (!run.ok) {
    if (feature.status === 'failing' && !feature.unproven) return feature;
    const { unproven, ...seen } = withoutEvidence(feature);
    return { ...seen, status: 'failing' };
  }
  const status = feature.unproven ? 'in_progress' : 'passing';
  if (feature.status === status && !feature.override && isProven(feature, run.commands)) return feature;
  return {
    ...withoutEvidence(feature),
    status,
    verified_at: run.at,
    ...(run.commit === null ? {} : { verified_commit: run.commit }),
    verified_by: run.commands,
  };
}

/** Its tests pass, and nobody knows whether they could fail: it stays in progress (FEA-05). */
export const isUnprovenPass = ({ verified_at, unproven }: Feature): boolean =>
  verified_at !== undefined && unproven === true;

/** Without the doubt: passing if its tests have passed. */
export function asConfirmed(feature: Feature): Feature {
  const { unproven, ...confirmed } = feature;
  return isUnprovenPass(feature) ? { ...confirmed, status: 'passing' } : confirmed;
}

/** What the first run of a new feature's tests says about them; `ok`: they pass before any work is done. */
export function firstSeen(feature: Feature, ok: boolean): Feature {
  return ok ? { ...feature, unproven: true } : asConfirmed(feature);
}

/** How a feature's status is shown, with what a reader must not miss. */
export function describeStatus({ status, override, unproven }: Feature): string {
  if (status === 'passing' && override) return `passing (by hand: ${oneLine(override.reason, 60)})`;
  return unproven ? `${status} (unproven)` : status;
}

/** An id made of the name, so that two branches hardly ever make the same one for different features. */
export function makeId(features: readonly Feature[], name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  const base = isId(words) ? words : `f-${hash}`;
  let id = base;
  for (let n = 2; findTwin(features, id); n++) id = `${base}-${n}`;
  return id;
}

/** A human's word instead of a test run; it holds for the tests as they stand (FEA-03). */
export function overridden(feature: Feature, by: { audit: string; at: string; reason: string }): Feature {
  const override = { ...by, tests: feature.tests ?? [] };
  return { ...withoutEvidence(feature), status: 'passing', override };
}

/**
 * Whether a `passing` may be believed: a human vouched for these tests, or verify ran the commands of the tests as they
 * stand. `commands` are the present tests' (null when one cannot be run). Whoever edits the files can still invent all of it.
 */
export function isProven(feature: Feature, commands: readonly string[] | null): boolean {
  if (feature.override) return isSame(feature.override.tests, feature.tests ?? []);
  if (!feature.verified_at) return false;
  return feature.verified_by === undefined || isSame(feature.verified_by, commands);
}

/** Only `from` has new blockers, so a new circle runs through it. The shortest one is named. */
function refuseCycle(features: readonly Feature[], from: Feature): void {
  const known = byId(features);
  const seen = new Set<string>();
  const paths = [[from.id]];
  for (const path of paths)
    for (const next of blockersOf(known.get(path.at(-1) as string) ?? {})) {
      if (next === from.id)
        throw usage('feature.cycle', `blocked_by has a cycle: ${[...path, next].join(' → ')}.`, {
          field: 'blocked_by',
        });
      if (!seen.has(next)) paths.push([...path, next]);
      seen.add(next);
    }
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

/** Features that count as passing because a person said so, with the reason. */
export const byHand = (features: readonly Feature[]): string[] =>
  features.flatMap((feature) =>
    feature.status === 'passing' && feature.override ? [`${feature.id}: ${describeStatus(feature)}`] : [],
  );

/** How many features stand where. */
export function countStatuses(features: readonly Feature[]): Record<FeatureStatus, number> {
  const counts = { not_implemented: 0, in_progress: 0, failing: 0, passing: 0, blocked: 0 };
  for (const feature of features) counts[feature.status]++;
  return counts;
}
