import { type Feature, testsDiffer } from '../feature/rules.js';
import type { Classification } from '../learning/evaluation.js';

/** What a cycle is judged by. */
export interface Findings {
  /** Rules that were broken. */
  violations: readonly string[];
  /** Features that passed before and fail now. */
  regressions: readonly string[];
  environment_valid: boolean;
  /** Of the command; null when it did not end by itself or was not run. */
  exit_code: number | null;
  /** What the task's own tests said; `unknown`: they could not be run to their end. */
  task: 'passing' | 'failing' | 'untested' | 'unknown';
  /** A feature that was there before came to pass, as forge's own run showed. */
  improved: boolean;
  /** Files that judge the work changed with it. */
  tests_changed: readonly string[];
}

/** The gravest that holds. Only what forge ran itself makes a SUCCESS. */
export function classify(findings: Findings): Classification {
  const { violations, regressions, environment_valid, exit_code, task, improved, tests_changed } = findings;
  if (violations.length > 0) return 'GOVERNANCE_VIOLATION';
  if (regressions.length > 0) return 'REGRESSION';
  if (!environment_valid || exit_code !== 0 || task === 'unknown') return 'FAILURE';
  if (task === 'passing') return tests_changed.length === 0 ? 'SUCCESS' : 'PARTIAL_SUCCESS';
  return task === 'failing' && !improved ? 'FAILURE' : 'PARTIAL_SUCCESS';
}

/** Whether a cycle counts against `--max-failures`. */
export const hasFailed = (classification: Classification): boolean =>
  classification !== 'SUCCESS' && classification !== 'PARTIAL_SUCCESS';

/** What a command may not change, as it stood at one moment. */
export interface Guarded {
  /** Digests by name; null where there is no such file. */
  files: Readonly<Record<string, string | null>>;
  /** The tests of each feature. */
  tests: ReadonlyMap<string, string>;
  /** Breach records of the audit ledger, by id: why. */
  breaches: ReadonlyMap<string, string>;
}

/** What broke a rule between two moments, each named. A feature that is new judges nothing that was there. */
export function findViolations(before: Guarded, after: Guarded): string[] {
  const names = new Set([...Object.keys(before.files), ...Object.keys(after.files)]);
  const files = [...names].filter((name) => (before.files[name] ?? null) !== (after.files[name] ?? null));
  const tests = [...before.tests].filter(([id, test]) => after.tests.get(id) !== test);
  const breaches = [...after.breaches].filter(([id]) => !before.breaches.has(id));
  return [
    ...breaches.map(([, reason]) => reason),
    ...files.map((name) => `${name} was changed by the command`),
    ...tests.map(([id]) =>
      after.tests.has(id)
        ? `the tests of ${id} were changed by the command`
        : `${id} was removed by the command`,
    ),
  ];
}

/** The features at one moment. */
interface Standing {
  features: readonly Feature[];
}

/** What forge's own runs in an evaluation showed, by feature. */
export type Shown = ReadonlyMap<string, 'passing' | 'failing'>;

export const isPassing = ({ status }: Feature): boolean => status === 'passing';

const byId = ({ features }: Standing): Map<string, Feature> =>
  new Map(features.map((feature) => [feature.id, feature]));

/** Features that forge runs again: they passed before or pass now, and no human vouches for them. */
export function findRerun(before: Standing, after: Standing): Feature[] {
  const passed = new Set(before.features.filter(isPassing).map(({ id }) => id));
  return after.features.filter(
    (feature) => feature.override === undefined && (isPassing(feature) || passed.has(feature.id)),
  );
}

/** Features that pass now: forge saw it in this cycle, or they passed before with the same tests. */
export function findPassing(before: Standing, after: Standing, shown: Shown): Feature[] {
  const known = byId(before);
  return after.features.filter((feature) => {
    const old = known.get(feature.id);
    const isOld = old !== undefined && isPassing(old) && !testsDiffer(old, feature);
    const isKnown = isOld || feature.override !== undefined || shown.get(feature.id) === 'passing';
    return isPassing(feature) && isKnown;
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
