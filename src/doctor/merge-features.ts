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

/** They belong together: one run of the tests, or one word of a human, made all of them. */
const PROOF = ['status', 'unproven', 'verified_at', 'verified_commit', 'verified_by', 'override'] as const;

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
export function mergeFeature(sides: Sides<Feature>, isSure: boolean): Merged<Feature> {
  const { ours, theirs, base } = sameForm(sides);
  const rest = mergeFields(
    { ours: without(ours), theirs: without(theirs), base: base && without(base) },
    RULES,
  );
  const chosen = chooseProof(ours, theirs, isSure ? base : null);
  const merged = { ...rest.value, ...proofOf(chosen) } as Feature;
  // A proof holds for the tests that were run.
  const provers = isSame(proofOf(ours), proofOf(theirs)) ? [ours, theirs] : [chosen];
  const isLost = merged.status === 'passing' && provers.every((prover) => testsDiffer(prover, merged));
  const value = isLost ? asUnproved(merged) : merged;
  if (isSame(proofOf(ours), proofOf(theirs)) && value.status === ours.status)
    return { value, choices: rest.choices };
  const choice: Choice = {
    id: null,
    field: 'status',
    ours: ours.status,
    theirs: theirs.status,
    value: value.status,
    why: isLost
      ? 'its tests differ: forge feature verify proves it again'
      : `${chosen === ours ? 'ours' : 'theirs'}: it alone changed, ran last or claims less`,
  };
  return { value, choices: [choice, ...rest.choices] };
}

/** One blocker may be a text, and several are a list. */
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

/** The side that changed it; of two the one that claims less, else the one whose tests ran last. */
function chooseProof(ours: Feature, theirs: Feature, base: Feature | null): Feature {
  if (base && isSame(proofOf(base), proofOf(theirs))) return ours;
  if (base && isSame(proofOf(base), proofOf(ours))) return theirs;
  const [one, other] = [CAUTIOUS.indexOf(ours.status), CAUTIOUS.indexOf(theirs.status)];
  if (one !== other) return one < other ? ours : theirs;
  const newest = ({ verified_at = null, ...rest }: Feature): string =>
    `${verified_at ?? ''} ${keyText(proofOf(rest as Feature))}`;
  return newest(theirs) > newest(ours) ? theirs : ours;
}
