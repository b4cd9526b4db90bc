import { type Feature, testsDiffer } from './rules.js';

/** The features at one moment. */
interface Standing {
  features: readonly Feature[];
}

/** What forge's own runs in an evaluation showed, by feature. */
export type Shown = ReadonlyMap<string, 'passing' | 'failing'>;

export const isPassing = ({ status }: Feature): boolean => status === 'passing';

const byId = ({ features }: Standing): Map<string, Feature> =>
  new Map(features.map((feature) => [feature.id, feature]));

/** Features that forge runs again: they passed before, and no human vouches for them. */
export function findRerun(before: Standing, after: Standing): Feature[] {
  const known = byId(before);
  return after.features.filter(({ id, override }) => {
    const old = known.get(id);
    return old !== undefined && isPassing(old) && override === undefined;
  });
}

/** Features that pass only now: forge's own run decides about them. */
export function findClaims(before: Standing, after: Standing): Feature[] {
  const known = byId(before);
  return after.features.filter((feature) => {
    if (!isPassing(feature) || feature.override !== undefined) return false;
    const old = known.get(feature.id);
    return !old || !isPassing(old) || testsDiffer(old, feature);
  });
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
