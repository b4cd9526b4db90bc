import { type Feature, testsDiffer } from './rules.js';

/** A human's word for a feature, as the audit ledger has it (`feature_override`). */
export interface FeatureDecision {
  feature: string;
  /** As JSON: it holds for these alone. */
  tests: string;
  /** It is none of those that were archived long ago. */
  live: boolean;
}

/** What is said of features at one moment, and what humans decided of them, by audit record. */
export interface Standing {
  features: readonly Feature[];
  decisions: ReadonlyMap<string, FeatureDecision>;
}

/** What forge's own runs in an evaluation showed, by feature. */
export type Shown = ReadonlyMap<string, 'passing' | 'failing'>;

export const isPassing = ({ status }: Feature): boolean => status === 'passing';

/** A hand can write any override; one that the audit ledger knows for this feature and its tests counts. */
export function isDecided({ id, override = '', tests = [] }: Feature, { decisions }: Standing): boolean {
  const decision = decisions.get(override);
  return decision?.feature === id && decision.tests === JSON.stringify(tests);
}

/** An older word, set again by hand, is nobody's decision of now. */
const isDecidedSince = (before: Standing, after: Standing, feature: Feature): boolean =>
  isDecided(feature, after) &&
  !before.decisions.has(feature.override ?? '') &&
  after.decisions.get(feature.override ?? '')?.live === true;

const byId = ({ features }: Standing): Map<string, Feature> =>
  new Map(features.map((feature) => [feature.id, feature]));

/** What forge runs again: what passed, unless a human's word stands for it. */
export function findRerun(before: Standing, after: Standing): Feature[] {
  const known = byId(before);
  return after.features.filter((feature) => {
    const old = known.get(feature.id);
    if (!old || !isPassing(old)) return false;
    return !isDecided(old, before) && !isDecidedSince(before, after, feature);
  });
}

/** What passes only now, as somebody says: neither what was there before nor a human vouches for it. */
export function findClaims(before: Standing, after: Standing): Feature[] {
  const known = byId(before);
  return after.features.filter((feature) => {
    if (!isPassing(feature) || isDecidedSince(before, after, feature)) return false;
    const old = known.get(feature.id);
    return !old || !isPassing(old) || testsDiffer(old, feature) || old.override !== feature.override;
  });
}

/** Overrides that came or changed without a human's word. */
export function findForged(before: Standing, after: Standing): Feature[] {
  const known = byId(before);
  return after.features.filter(
    (feature) =>
      feature.override !== undefined &&
      feature.override !== known.get(feature.id)?.override &&
      !isDecidedSince(before, after, feature),
  );
}

/** Whether a feature of before passes now, with the tests of before, as forge itself saw. */
export function hasImproved(before: Standing, after: Standing, shown: Shown): boolean {
  const now = byId(after);
  return before.features.some((old) => {
    const feature = now.get(old.id);
    return feature && !isPassing(old) && !testsDiffer(old, feature) && shown.get(old.id) === 'passing';
  });
}

/** Features that passed before and fail now: forge's own run says so, or where there was none their status. */
export function findRegressions(before: Standing, after: Standing, shown: Shown): string[] {
  const now = byId(after);
  const fails = ({ id }: Feature): boolean => (shown.get(id) ?? now.get(id)?.status) === 'failing';
  return before.features.filter((feature) => isPassing(feature) && fails(feature)).map(({ id }) => id);
}
