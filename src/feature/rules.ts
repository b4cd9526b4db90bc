import * as z from 'zod/mini';
import { refused, usage } from '../core/error.js';
import { checkId, findTwin, ID_PATTERN, isId } from '../core/schema.js';
import { namesLike, oneLine, sha256 } from '../core/text.js';

/** RFC-9060 §3.1, `long-term/features.json`. */
export const STATUSES = ['not_implemented', 'in_progress', 'failing', 'passing', 'blocked'] as const;
export type FeatureStatus = (typeof STATUSES)[number];

/** The fields in the order in which files hold them. */
export const Feature = z.looseObject({
  id: z.string().check(z.regex(ID_PATTERN)),
  name: z.string(),
  status: z.enum(STATUSES),
  /** Commands, or arguments for `[features] test_command`. */
  tests: z.optional(z.array(z.string())),
  blocked_by: z.optional(z.union([z.null(), z.string(), z.array(z.string())])),
  /** 1 (most urgent) to 4. */
  priority: z.optional(z.int().check(z.gte(1), z.lte(4))),
  linear_issue: z.optional(z.nullable(z.string())),
  /** Its tests passed before any work was done and have never failed (FEA-05). */
  unproven: z.optional(z.boolean()),
  /** A person's word instead of a test run: the audit record, and the tests it holds for. */
  override: z.optional(
    z.looseObject({ audit: z.string(), reason: z.string(), at: z.string(), tests: z.array(z.string()) }),
  ),
  /** The evidence of `passing`. Only verify writes it. */
  verified_at: z.optional(z.nullable(z.string())),
  verified_commit: z.optional(z.nullable(z.string())),
  /** Files differed from that commit, so the pass proves nothing about it. */
  verified_dirty: z.optional(z.boolean()),
  verified_by: z.optional(z.array(z.string())),
  created_at: z.optional(z.string()),
});
export type Feature = z.infer<typeof Feature>;

const Change = {
  tests: z.optional(z.array(z.string())),
  blocked_by: z.optional(z.array(z.string())),
  ...z.pick(Feature, { priority: true, linear_issue: true }).shape,
  /** False: do not run new tests once to see them fail. */
  run: z.optional(z.boolean()),
};
export const FeatureInput = z.strictObject({ id: z.optional(z.string()), name: z.string(), ...Change });
export const FeatureEdit = z.strictObject({
  id: z.string(),
  name: z.optional(z.string()),
  status: z.optional(z.enum(STATUSES)),
  ...Change,
});
export type FeatureInput = z.infer<typeof FeatureInput>;
export type FeatureEdit = z.infer<typeof FeatureEdit>;

/** Absent fields stay unchanged. */
export type FeatureChange = Omit<FeatureEdit, 'id' | 'run'>;

/** The feature with that id, ignoring case; exit 2 without one. */
export function requireFeature<T extends { id: string }>(features: readonly T[], id: string): T {
  const found = findTwin(features, id);
  if (found) return found;
  // Another number names another feature: FORGE-005 is not a slip for FORGE-001.
  const words = (text: string): string => text.toLowerCase().replace(/\d+/g, '');
  const isOther = (one: string): boolean => /\d/.test(id) && words(one) === words(id);
  const ids = features.map((feature) => feature.id.toLowerCase()).filter((one) => !isOther(one));
  const twin = findTwin(features, namesLike(id.toLowerCase(), ids)[0] ?? '');
  throw usage('feature.unknown', `There is no feature ${JSON.stringify(oneLine(id, 80))}.`, {
    hint: twin ? `Did you mean ${twin.id}?` : 'forge ls',
  });
}

/** The ids that a feature waits for, whatever form the field has. */
export const blockersOf = ({ blocked_by }: Pick<Feature, 'blocked_by'>): string[] =>
  [blocked_by ?? []].flat();

/** Keeps the form the field had (FEA-01): one id stays one id, a list a list. */
function blockersIn(form: Feature['blocked_by'], ids: string[]): Feature['blocked_by'] {
  if (Array.isArray(form) || ids.length > 1) return ids;
  return ids[0] ?? null;
}

/** A new feature; exit 2 for an invalid or used id. */
export function planFeature(
  features: readonly Feature[],
  id: string,
  change: FeatureChange,
  now: string,
): Feature {
  checkId(id, 'feature id');
  const twin = findTwin(features, id);
  if (twin) throw alreadyThere(`Feature ${twin.id} already exists.`, twin.id);
  const blank: Feature = { id, name: change.name ?? id, status: 'not_implemented', created_at: now };
  const feature = applyChange(features, { ...blank, tests: change.tests ?? [] }, change);
  refuseCycle([...features, feature], feature);
  return feature;
}

/** A feature with the same name is nearly always the same feature. With its own id it may be another one. */
export function refuseSameName(features: readonly Feature[], name: string): void {
  const same = features.find((feature) => feature.name.toLowerCase() === name.toLowerCase());
  if (same) throw alreadyThere(`A feature with that name already exists: ${same.id}.`, same.id);
}

const alreadyThere = (message: string, id: string): Error =>
  usage('feature.exists', message, { hint: `forge feature show ${id}` });

export function planEdit(features: readonly Feature[], id: string, change: FeatureChange): Feature {
  const before = requireFeature(features, id);
  const after = settleEdit(before, applyChange(features, before, change));
  refuseCycle(features.with(features.indexOf(before), after), after);
  return after;
}

function applyChange(
  features: readonly Feature[],
  feature: Feature,
  { blocked_by, ...change }: FeatureChange,
): Feature {
  if (change.status === 'passing')
    throw refused('feature.unproven', `${feature.id}: only a verified test run makes a feature passing.`, {
      hint: `forge done ${feature.id}\nforge feature edit ${feature.id} --status passing --reason "TEXT"   # for a person`,
    });
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const blockers = blocked_by?.map((id) => findTwin(features, id)?.id ?? id);
  return {
    ...{ ...feature, ...Object.fromEntries(given) },
    ...(blockers && { blocked_by: blockersIn(feature.blocked_by, blockers) }),
  };
}

/** Other tests or another status void the evidence (FEA-03): old results say nothing about new tests. */
export function settleEdit(before: Feature, after: Feature): Feature {
  if (!testsDiffer(before, after)) return after.status === before.status ? after : withoutEvidence(after);
  const { unproven, ...changed } = after.status === 'passing' ? asInProgress(after) : withoutEvidence(after);
  return changed;
}

export const testsDiffer = (a: Feature, b: Feature): boolean => !areSame(a.tests ?? [], b.tests ?? []);

const areSame = (a: readonly string[], b: readonly string[]): boolean => isSame(a.toSorted(), b.toSorted());

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const asInProgress = (feature: Feature): Feature =>
  withoutEvidence({ ...feature, status: 'in_progress' });

export function withoutEvidence(feature: Feature): Feature {
  const { verified_at, verified_commit, verified_dirty, verified_by, override, ...after } = feature;
  return after;
}

/**
 * The feature after a test run (FEA-02). Evidence for the same status and tests stays
 * unchanged, so that runs on two branches never conflict.
 */
export function judged(
  feature: Feature,
  run: { ok: boolean; at: string; commit: string | null; dirty?: true; commands: string[] },
): Feature {
  if (!run.ok) {
    if (feature.status === 'failing' && !feature.unproven) return feature;
    const { unproven, ...failing } = withoutEvidence(feature);
    // It was set aside, so its tests are expected to fail.
    return { ...failing, status: feature.status === 'blocked' ? 'blocked' : 'failing' };
  }
  const status = feature.unproven ? 'in_progress' : 'passing';
  if (feature.status === status && !feature.override && isProven(feature, run.commands)) return feature;
  return {
    ...withoutEvidence(feature),
    status,
    verified_at: run.at,
    ...(run.commit === null ? {} : { verified_commit: run.commit }),
    ...(run.dirty ? { verified_dirty: true } : {}),
    verified_by: run.commands,
  };
}

/** The commit that a pass is about; '' without one. */
export const describeCommit = (commit: string | null | undefined, isDirty?: boolean): string =>
  commit ? `${isDirty ? 'with uncommitted changes after' : 'at'} ${commit.slice(0, 12)}` : '';

/** Its tests pass but have never failed, so it stays in progress (FEA-05). */
export const isUnprovenPass = ({ verified_at, unproven }: Feature): boolean =>
  verified_at !== undefined && unproven === true;

/** The command after which a feature with tests is passing. Another run of tests that never failed proves nothing. */
export const proofOf = (feature: Feature): string =>
  `forge ${isUnprovenPass(feature) ? 'feature confirm' : 'done'} ${feature.id}`;

/** Trusts the tests: passing if they have passed. */
export function trustTests(feature: Feature): Feature {
  const { unproven, ...confirmed } = feature;
  return isUnprovenPass(feature) ? { ...confirmed, status: 'passing' } : confirmed;
}

/**
 * Whether `passing` has evidence: a person vouched for these tests, or verify ran the current `commands` (null when one
 * cannot be run). An agent that edits the files by hand can still invent all of it.
 */
export function isProven(feature: Feature, commands: readonly string[] | null): boolean {
  if (feature.override) return areSame(feature.override.tests, feature.tests ?? []);
  if (!feature.verified_at) return false;
  return feature.verified_by === undefined || (commands !== null && areSame(feature.verified_by, commands));
}

/** How a feature's status is shown. */
export function describeStatus({ status, override, unproven }: Feature): string {
  if (status === 'passing' && override) return `passing (by hand: ${oneLine(override.reason, 60)})`;
  return unproven ? `${status} (unproven)` : status;
}

/** An id made from the name: two branches rarely make the same one for different features. */
export function makeId(features: readonly Feature[], name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  // `none` means no feature.
  const base = isId(words) && words !== 'none' ? words : `f-${sha256(name).slice(0, 8)}`;
  let id = base;
  for (let n = 2; findTwin(features, id); n++) id = `${base}-${n}`;
  return id;
}

/** Only `from` has new blockers, so a new cycle includes it. */
function refuseCycle(features: readonly Feature[], from: Feature): void {
  const known = new Map(features.map((feature) => [feature.id, feature]));
  const ids = new Set([from.id]);
  for (const id of ids)
    for (const next of blockersOf(known.get(id) ?? {})) {
      if (next === from.id)
        throw usage('feature.cycle', `blocked_by has a cycle: ${id} waits for ${next}.`, {
          field: 'blocked_by',
        });
      ids.add(next);
    }
}

/** The feature to remove; exit 3 while another one waits for it. */
export function checkRemoval(features: readonly Feature[], id: string): Feature {
  const removed = requireFeature(features, id);
  const waiting = features.filter((feature) => blockersOf(feature).includes(removed.id));
  const [first] = waiting;
  if (!first) return removed;
  const rest = blockersOf(first).filter((other) => other !== removed.id);
  throw refused('feature.needed', `${removed.id} blocks ${waiting.map((one) => one.id).join(', ')}.`, {
    hint: `forge feature edit ${first.id} --blocked-by ${rest.join(' --blocked-by ') || 'none'}`,
  });
}

/** Features that a person marked as passing, each with the reason. */
export const byHand = (features: readonly Feature[]): string[] =>
  features
    .filter(({ status, override }) => status === 'passing' && override)
    .map((feature) => `${feature.id}: ${describeStatus(feature)}`);

export function countStatuses(features: readonly Feature[]): Record<FeatureStatus, number> {
  const counts = { not_implemented: 0, in_progress: 0, failing: 0, passing: 0, blocked: 0 };
  for (const feature of features) counts[feature.status]++;
  return counts;
}
