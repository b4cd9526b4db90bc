import type { Sides } from '../core/conflict-marks.js';
import { decodeDocument, encodeDocument, type Format } from '../core/schema.js';
import { ACTIVE_ISSUES, UNIT } from '../feature/issue.js';
import {
  asUnproved,
  FEATURE,
  FEATURE_LIST,
  type Feature,
  type FeatureStatus,
  testsDiffer,
} from '../feature/rules.js';
import { ARCHIVED_SESSION } from '../session/rules.js';
import { type Choice, type Fields, isSame, keyText, type Merged, mergeDocument } from './merge.js';

/** State files that can be merged. Checkpoints cannot: what one of them proved, the other did not. */
const FORMATS = {
  feature: FEATURE as Format<unknown>,
  issues: ACTIVE_ISSUES as Format<unknown>,
  issue: UNIT as Format<unknown>,
  session: ARCHIVED_SESSION as Format<unknown>,
};
export type StateName = keyof typeof FORMATS;

/**
 * The bytes of the merged file, and what was chosen. Each side is decoded as the file would be, and so is the result.
 * Exit 4 names the side that cannot be read. `isSure`: the base is the one that git merged from.
 */
export function mergeState(
  name: StateName,
  sides: Sides<Buffer>,
  file: string,
  isSure: boolean,
): { bytes: Buffer; choices: Choice[] } {
  const format = FORMATS[name];
  const read = (bytes: Buffer, side: string): Fields =>
    decodeDocument(format, bytes, `${file} (${side})`).value as Fields;
  const decoded = {
    ours: read(sides.ours, 'ours'),
    theirs: read(sides.theirs, 'theirs'),
    base: tryRead(read, sides.base),
  };
  const isFeature = name === 'feature';
  const merged = isFeature
    ? mergeFeature(decoded as unknown as Sides<Feature>, isSure)
    : mergeDocument(decoded);
  const bytes = isFeature ? FEATURE_LIST.encode(merged.value as Feature) : encodeDocument(merged.value);
  decodeDocument(format, bytes, `${file} (merged)`);
  const id = isFeature ? String(decoded.ours.id) : null;
  return { bytes, choices: merged.choices.map((choice) => ({ ...choice, id: choice.id ?? id })) };
}

/** Without a readable base nothing counts as removed. */
function tryRead(read: (bytes: Buffer, side: string) => Fields, bytes: Buffer | null): Fields | null {
  try {
    return bytes && read(bytes, 'base');
  } catch {
    return null;
  }
}

/** They belong together: one run of the tests, or one decision of a human, made all of them. */
const PROOF = ['status', 'unproven', 'verified_at', 'verified_commit', 'verified_by', 'override'] as const;

/** Of two statuses without a base, the one that claims less. */
const CAUTIOUS: readonly FeatureStatus[] = [
  'failing',
  'blocked',
  'in_progress',
  'not_implemented',
  'passing',
];

/** The base between conflict markers may lack lines, so it proves no feature. */
function mergeFeature(sides: Sides<Feature>, isSure: boolean): Merged<Fields> {
  const { ours, theirs, base } = sameForm(sides);
  const rest = mergeDocument({ ours: without(ours), theirs: without(theirs), base: base && without(base) });
  const isAgreed = isSame(proofOf(ours), proofOf(theirs));
  const chosen = chooseProof(ours, theirs, isSure ? base : null);
  const merged = { ...rest.value, ...proofOf(chosen) } as Feature;
  // A proof holds for the tests that were run.
  const provers = isAgreed ? [ours, theirs] : [chosen];
  const isLost = merged.status === 'passing' && provers.every((prover) => testsDiffer(prover, merged));
  const value: Feature = isLost ? asUnproved(merged) : merged;
  if (isAgreed && !isLost) return { value: { ...value }, choices: rest.choices };
  const why = isLost
    ? 'its tests differ: forge feature verify proves it again'
    : `${chosen === ours ? 'ours' : 'theirs'}: it alone changed, ran last or claims less`;
  const { status } = value;
  const choice = { id: null, field: 'status', ours: ours.status, theirs: theirs.status, value: status, why };
  return { value: { ...value }, choices: [choice, ...rest.choices] };
}

/** One blocker may be a string, several are a list. */
function sameForm({ ours, theirs, base }: Sides<Feature>): Sides<Feature> {
  const forms = [ours.blocked_by, theirs.blocked_by];
  const isTwo = forms.every((form) => typeof form === 'string') && forms[0] !== forms[1];
  if (!isTwo && !forms.some(Array.isArray)) return { ours, theirs, base };
  const form = (feature: Feature): Feature =>
    typeof feature.blocked_by === 'string' ? { ...feature, blocked_by: [feature.blocked_by] } : feature;
  return { ours: form(ours), theirs: form(theirs), base: base && form(base) };
}

const isProof = ([field]: [string, unknown]): boolean => (PROOF as readonly string[]).includes(field);
const without = (feature: Feature): Fields =>
  Object.fromEntries(Object.entries(feature).filter((entry) => !isProof(entry)));
const proofOf = (feature: Feature): Fields => Object.fromEntries(Object.entries(feature).filter(isProof));

/** The side that changed it; of two the one that claims less, else the one whose tests ran last. */
function chooseProof(ours: Feature, theirs: Feature, base: Feature | null): Feature {
  if (base && isSame(proofOf(base), proofOf(theirs))) return ours;
  if (base && isSame(proofOf(base), proofOf(ours))) return theirs;
  const [one, other] = [CAUTIOUS.indexOf(ours.status), CAUTIOUS.indexOf(theirs.status)];
  if (one !== other) return one < other ? ours : theirs;
  const newest = (feature: Feature): string => `${feature.verified_at ?? ''} ${keyText(proofOf(feature))}`;
  return newest(theirs) > newest(ours) ? theirs : ours;
}
