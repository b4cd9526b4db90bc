import type { Sides } from '../core/conflict-marks.js';
import { asUnproved, type Feature, type FeatureStatus, testsDiffer } from '../feature/rules.js';
import {
  type Choice,
  EARLIEST,
  type Fields,
  isSame,
  keyText,
  LEAST,
  type Merged,
  mergeFields,
} from './merge-fields.js';
import type { RecordKind } from './merge-records.js';

/** They hold together: one run of the tests, or one word of a human, made all of them. */
const PROOF = ['status', 'verified_at', 'verified_commit', 'verified_by', 'override'] as const;

/** Of two that nobody can decide between, the one that claims less. */
const CAUTIOUS: readonly FeatureStatus[] = [
  'failing',
  'blocked',
  'in_progress',
  'not_implemented',
  'passing',
];

const RULES = { priority: LEAST, created_at: EARLIEST };

/** `isSure`: the base is the one that git merged from. What markers show of it proves no feature. */
export const featuresKind = (isSure: boolean): RecordKind => ({
  keyOf: (record) => (record as Feature).id,
  merge: (sides) => mergeFeature(sides as unknown as Sides<Feature>, isSure) as unknown as Merged<Fields>,
});

function mergeFeature({ ours, theirs, base }: Sides<Feature>, isSure: boolean): Merged<Feature> {
  const formed = sameForm({ ours, theirs, base });
  const rest = mergeFields(
    { ours: without(formed.ours), theirs: without(formed.theirs), base: formed.base && without(formed.base) },
    RULES,
  );
  const merged = rest.value as Feature;
  const { value, why } = mergeProof({ ours, theirs, base: isSure ? base : null }, merged);
  const feature = inOrder({ ...merged, ...value }, ours, theirs);
  const choice: Choice = {
    id: null,
    field: 'status',
    ours: ours.status,
    theirs: theirs.status,
    value: feature.status,
    why,
  };
  const isTold = !isSame(proofOf(ours), proofOf(theirs)) || feature.status !== ours.status;
  return { value: feature, choices: isTold ? [choice, ...rest.choices] : rest.choices };
}

/** One blocker may stand as a text, and several as a list. */
function sameForm({ ours, theirs, base }: Sides<Feature>): Sides<Feature> {
  const isList = [ours, theirs].some(({ blocked_by }) => Array.isArray(blocked_by)) || isTwo(ours, theirs);
  const form = (feature: Feature): Feature =>
    isList && typeof feature.blocked_by === 'string'
      ? { ...feature, blocked_by: [feature.blocked_by] }
      : feature;
  return { ours: form(ours), theirs: form(theirs), base: base && form(base) };
}

const isTwo = (ours: Feature, theirs: Feature): boolean =>
  typeof ours.blocked_by === 'string' &&
  typeof theirs.blocked_by === 'string' &&
  ours.blocked_by !== theirs.blocked_by;

function without(feature: Feature): Fields {
  const rest: Fields = { ...feature };
  for (const field of PROOF) delete rest[field];
  return rest;
}

const proofOf = (feature: Feature): Fields =>
  Object.fromEntries(
    PROOF.filter((field) => feature[field] !== undefined).map((field) => [field, feature[field]]),
  );

/**
 * A proof stands only for the tests that the feature has now, and only if the other side does not say otherwise: it passes
 * there as well, or was left as both had it before. Nothing else makes a feature pass.
 */
function mergeProof(sides: Sides<Feature>, merged: Feature): { value: Fields; why: string } {
  const { ours, theirs, base } = sides;
  const stands = (one: Feature, other: Feature): boolean =>
    one.status === 'passing' &&
    !testsDiffer(one, merged) &&
    (other.status === 'passing' || (base !== null && isSame(proofOf(base), proofOf(other))));
  const proofs = [...(stands(ours, theirs) ? [ours] : []), ...(stands(theirs, ours) ? [theirs] : [])];
  const proof = newest(proofs, base);
  if (proof)
    return { value: proofOf(proof), why: `${proof === ours ? 'ours' : 'theirs'}: its tests ran last` };
  const status = mergeStatus(sides);
  const like = [ours, theirs].find((side) => side.status === status);
  const value = like ? proofOf(like) : unproven(ours, theirs, status);
  const isLost = ours.status === 'passing' || theirs.status === 'passing';
  return {
    value,
    why: isLost ? 'the cautious one: forge feature verify proves it again' : 'the side that claims less',
  };
}

/** One that only one side made is newer than what both had. Equal times: the same one on every machine. */
function newest(proofs: readonly Feature[], base: Feature | null): Feature | undefined {
  const fresh = base ? proofs.filter((one) => !isSame(proofOf(base), proofOf(one))) : proofs;
  const time = ({ verified_at }: Feature): number => Date.parse(verified_at ?? '') || 0;
  return [...(fresh.length > 0 ? fresh : proofs)].sort(
    (a, b) => time(b) - time(a) || (keyText(proofOf(a)) < keyText(proofOf(b)) ? -1 : 1),
  )[0];
}

/** A claim that does not stand is work that is in progress. */
function mergeStatus({ ours, theirs, base }: Sides<Feature>): FeatureStatus {
  const said = ({ status }: Feature): FeatureStatus => (status === 'passing' ? 'in_progress' : status);
  const [one, other] = [said(ours), said(theirs)];
  if (base && base.status === theirs.status) return one;
  if (base && base.status === ours.status) return other;
  return CAUTIOUS.indexOf(one) <= CAUTIOUS.indexOf(other) ? one : other;
}

const unproven = (ours: Feature, theirs: Feature, status: FeatureStatus): Fields =>
  proofOf({ ...asUnproved({ ...theirs, ...ours }), status });

/** Fields where ours has them, then where theirs does. */
function inOrder(feature: Feature, ours: Feature, theirs: Feature): Feature {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs), ...Object.keys(feature)]);
  const known = [...names].filter((name) => feature[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, feature[name]])) as Feature;
}
