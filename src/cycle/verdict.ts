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
