import * as z from 'zod/mini';
import { formatArgv } from '../core/argv.js';
import type { ErrorKind } from '../core/error.js';
import { ProcessIdentity } from '../core/holder.js';
import type { Format } from '../core/schema.js';
import { oneLine, plural } from '../core/text.js';
import { type Feature, testsDiffer } from '../feature/rules.js';
import type { Classification, Evidence, EvidenceLeftOut, Stage } from '../learning/evaluation.js';

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
type Standing = { features: readonly Feature[] };

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

/** LTM, "Compliance Reporting Extension", of one cycle. */
export interface CycleReport {
  memory_write_performed: boolean;
  knowledge_promoted: boolean;
  knowledge_conflict_detected: boolean;
  memory_integrity_status: 'intact' | 'corrupted' | 'halted' | 'unknown';
  /** What the consolidation that it made due came to. */
  promoted: { knowledge_id: string; pattern: string }[];
  contested: { knowledge_id: string; pattern: string }[];
  /** Records that were written. */
  execution: string | null;
  evaluation: string | null;
  environment_valid: boolean;
  governance_violations: string[];
  regression_flags: string[];
  /** GOV-05: files that judge the work, and changed with it: the cycle is at most PARTIAL_SUCCESS. */
  tests_changed: string[];
  evidence: Evidence[];
  evidence_left_out?: EvidenceLeftOut;
  features_passing: number;
  features: number;
  files_changed: number | null;
  duration_ms: number;
  /** GOV-04: what `[cycle]` let it make. */
  commit: Kept['commit'];
  checkpoint: Kept['checkpoint'];
}

/** Why the record could not be written. */
export interface MemoryError {
  kind: ErrorKind;
  code: string;
  message: string;
  hint?: string | undefined;
  exit: number;
}

/** One governed cycle. */
export interface CycleResult {
  /** Its number; null when it could not be recorded, or nothing was done (--dry-run). */
  cycle: number | null;
  task: string;
  stages: Stage[];
  /** Null with --dry-run alone. */
  classification: Classification | null;
  exit_code: number | null;
  report: CycleReport | null;
  memory_error?: MemoryError;
  warnings: string[];
}

/** GOV-04: what progress says of a cycle. */
export function progressLine({ cycle, task, classification, report }: CycleResult): string {
  const { features_passing = 0, features = 0, duration_ms = 0, evidence } = report ?? {};
  const number = cycle === null ? 'Cycle' : `Cycle ${cycle}`;
  const [failing] = failuresIn(evidence);
  const why = failing === undefined ? '' : `, ${failing}`;
  const passing = `${features_passing}/${features} features passing`;
  return `${number} ${classification}: ${oneLine(task, 100)}, ${passing}${why}, ${Math.round(duration_ms / 1000)} s`;
}

/** The tests that failed, each named with how it ended. */
export const failuresIn = (evidence: readonly Evidence[] = []): string[] =>
  evidence
    .filter(({ exit_code }) => exit_code !== 0)
    .map(({ argv, exit_code, feature }) => {
      const how = exit_code === null ? 'did not end' : `exit ${exit_code}`;
      return `${oneLine(formatArgv(argv), 200)} failed (${feature === undefined ? '' : `${feature}, `}${how})`;
    });

/** The exit code of `forge cycle`: what hindered its record, else how it was judged. */
export function exitOf({ classification, memory_error }: CycleResult): number {
  if (memory_error) return memory_error.exit;
  return classification === null || classification === 'SUCCESS' || classification === 'PARTIAL_SUCCESS'
    ? 0
    : 1;
}

/** GOV-04: what is to follow the record of a cycle. */
export interface CycleKeep {
  /** The digest of the working tree that was judged, `.forge/` left out. */
  tree: string;
  commit: boolean;
  /** Features that came to pass: a checkpoint is made for them. */
  checkpoint: string[];
}

/** What was made of it. */
export interface Kept {
  commit: { hash: string; short: string; subject: string } | null;
  /** The checkpoint's tag. */
  checkpoint: string | null;
}

const MAX_RUNS = 5;

/** What a commit says of the runs that its tree was judged by. */
export function describeRuns(evidence: readonly Evidence[]): string[] {
  const left = evidence.length - MAX_RUNS;
  return [
    ...evidence.slice(0, MAX_RUNS).map(({ argv, exit_code, feature }) => {
      const said = exit_code === 0 ? 'Passed' : 'Failed';
      return `${said}: ${formatArgv(argv)}${feature === undefined ? '' : ` (${feature})`}`;
    }),
    ...(left > 0 ? [`${plural(left, 'more run')} of tests`] : []),
  ];
}

/** In one line; empty where nothing was made. */
export function describeKept({ commit, checkpoint }: Kept): string {
  return [...(commit ? [`commit ${commit.short}`] : []), ...(checkpoint ? [checkpoint] : [])].join(', ');
}

export interface LoopLimits {
  max_cycles?: number | undefined;
  /** Seconds that it runs, pauses before a resume left out; looked at between cycles. */
  max_time?: number | undefined;
  /** Failed cycles in a row. */
  max_failures: number;
}

/** So that what goes wrong each time is not paid for all night. */
export const MAX_FAILURES = 3;

/** `<git dir>/forge/loop.json`: what a resumed loop goes on with. */
export const LoopState = z.looseObject({
  schema_version: z.literal('1.0'),
  holder: ProcessIdentity,
  /** Moved by each pause before a resume, which does not count. */
  started_at: z.iso.datetime(),
  /** When this was written: from then on it may not have run. */
  updated_at: z.optional(z.iso.datetime()),
  cycles: z.int().check(z.gte(0)),
  /** In a row, up to the last cycle. */
  failures: z.int().check(z.gte(0)),
  by_classification: z.record(z.string(), z.int()),
  /** The loop is under way. */
  running: z.boolean(),
  /** A cycle is under way. Found by another process, it was cut off. */
  in_cycle: z.boolean(),
});
export type LoopState = z.infer<typeof LoopState>;

export const LOOP_STATE: Format<LoopState> = { name: 'loop', version: '1.0', schema: LoopState };

export type StopReason =
  | 'max_cycles'
  | 'max_time'
  | 'max_failures'
  | 'nothing_left'
  | 'cost_hook'
  | 'interrupted'
  | 'error';

/** Whether a limit is reached before another cycle; `waiting`: what would be slept before, seconds. */
export function reachedLimit(
  state: LoopState,
  limits: LoopLimits,
  now: number,
  waiting = 0,
): StopReason | null {
  if (state.failures >= limits.max_failures) return 'max_failures';
  if (limits.max_cycles !== undefined && state.cycles >= limits.max_cycles) return 'max_cycles';
  const elapsed = (now - Date.parse(state.started_at)) / 1000 + waiting;
  return limits.max_time !== undefined && elapsed >= limits.max_time ? 'max_time' : null;
}

export function afterCycle(state: LoopState, classification: Classification): LoopState {
  return {
    ...state,
    in_cycle: false,
    cycles: state.cycles + 1,
    failures: hasFailed(classification) ? state.failures + 1 : 0,
    by_classification: {
      ...state.by_classification,
      [classification]: (state.by_classification[classification] ?? 0) + 1,
    },
  };
}

/**
 * Where another process goes on: a cycle that was cut off counts as the failure that it is recorded as. As many failures
 * as stopped it are forgiven, or it would stop at once: who resumes has seen them.
 */
export function resumed(
  state: LoopState,
  holder: ProcessIdentity,
  now: number,
  max_failures: number,
): LoopState {
  const { updated_at, in_cycle, running } = state;
  const failures = !running && state.failures >= max_failures ? 0 : state.failures;
  const pause = updated_at === undefined ? 0 : Math.max(0, now - Date.parse(updated_at));
  const started_at = new Date(Date.parse(state.started_at) + pause).toISOString();
  const before = { ...state, failures, started_at };
  return { ...(in_cycle ? afterCycle(before, 'FAILURE') : before), holder, running: true };
}

/** What a loop came to, all that it was resumed from included. */
export interface LoopResult {
  cycles: number;
  stopped_by: StopReason;
  by_classification: Record<string, number>;
  /** Why, for people. */
  reason: string;
  /** With `error`: its exit code decides. */
  error?: { kind: ErrorKind; code: string; message: string; exit: number };
}

export const loopExit = ({ stopped_by, error }: LoopResult): number =>
  error?.exit ?? { max_failures: 1, interrupted: 130 }[stopped_by as string] ?? 0;
