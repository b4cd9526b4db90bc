import { formatArgv } from '../core/argv.js';
import type { ForgeError } from '../core/error.js';
import { firstNames, oneLine, plural } from '../core/text.js';
import { type Feature, testsDiffer } from '../feature/rules.js';
import type { BoundEvidence, Classification, Evidence, Stage } from '../learning/evaluation.js';

/** The task id when there is no task. */
export const NO_TASK = 'none';

/** The facts that a cycle is judged by. */
export interface Findings
  extends Pick<Judgment, 'governance_violations' | 'regression_flags' | 'tests_changed'> {
  /** Features that passed before and whose tests could not run now. */
  not_run: readonly string[];
  environment_valid: boolean;
  /** Of the command. Null when it did not end by itself or was not run. */
  exit_code: number | null;
  /** The result of the task's own tests. `unknown`: they could not be completed. */
  task: 'passing' | 'failing' | 'untested' | 'unknown';
  /** A feature from before the cycle became passing in forge's own run. */
  improved: boolean;
}

/** The most severe classification that applies. Only tests that forge ran itself make a SUCCESS. */
export function classify({
  exit_code,
  task,
  improved,
  tests_changed,
  ...findings
}: Findings): Classification {
  const { governance_violations, regression_flags, not_run, environment_valid } = findings;
  if (governance_violations.length > 0) return 'GOVERNANCE_VIOLATION';
  if (regression_flags.length > 0) return 'REGRESSION';
  if (!environment_valid || exit_code !== 0 || task === 'unknown' || not_run.length > 0) return 'FAILURE';
  if (task === 'passing') return tests_changed.length === 0 ? 'SUCCESS' : 'PARTIAL_SUCCESS';
  return task === 'failing' && !improved ? 'FAILURE' : 'PARTIAL_SUCCESS';
}

export const hasFailed = (classification: Classification): boolean =>
  classification !== 'SUCCESS' && classification !== 'PARTIAL_SUCCESS';

/** What a cycle compares before and after the command. */
export interface CycleFacts {
  features: Feature[];
  /** The files that the tests' commands name, and the scripts of package.json. */
  testFiles: Readonly<Record<string, Buffer>>;
  /** Files that the command may not change, by name. Null: there is no such file. */
  files: Readonly<Record<string, GuardedFile | null>>;
  /** The file of each feature, by path. */
  stored: ReadonlyMap<string, { bytes: Buffer; entry: Feature }>;
  /** The reasons of the breach records in the audit ledger, by id. */
  breaches: ReadonlyMap<string, string>;
}

export interface GuardedFile {
  bytes: Buffer;
  mode: number;
}

export const isPassing = ({ status }: Feature): boolean => status === 'passing';

/** Features to rerun: they passed before or claim to pass now, without a human override. */
export function findRerun(before: CycleFacts, after: CycleFacts): Feature[] {
  const passed = new Set(before.features.filter(isPassing).map(({ id }) => id));
  const isTold = (feature: Feature): boolean => isPassing(feature) || passed.has(feature.id);
  return after.features.filter((feature) => feature.override === undefined && isTold(feature));
}

/** Of forge's own run of a feature's tests. */
export type Verdict = 'passing' | 'failing' | 'not_run';

/** How the features stand after a cycle, as ids. `ran`: the results of forge's own runs. */
export function compareFeatures(
  before: CycleFacts,
  after: CycleFacts,
  ran: ReadonlyMap<string, { verdict: Verdict }>,
) {
  const known = new Map(before.features.map((feature) => [feature.id, feature]));
  const rows = after.features.map((now) => {
    const [old, result] = [known.get(now.id), ran.get(now.id)?.verdict];
    const passed = old !== undefined && isPassing(old);
    const isSame = old !== undefined && !testsDiffer(old, now);
    // In forge's own run, or before with the same tests.
    const isShown = result === 'passing' || now.override !== undefined || (passed && isSame && !result);
    return { id: now.id, passed, isSame, result, passes: isPassing(now) && isShown, status: now.status };
  });
  const idsOf = (wanted: (row: (typeof rows)[number]) => boolean): string[] =>
    rows.filter(wanted).map(({ id }) => id);
  return {
    passing: idsOf(({ passes }) => passes),
    gained: idsOf(({ passes, passed, result }) => passes && !passed && result === 'passing'),
    regressions: idsOf(({ passed, result, status }) => passed && (result ?? status) === 'failing'),
    not_run: idsOf(({ passed, result }) => passed && result === 'not_run'),
    improved: rows.some(({ passed, isSame, result }) => !passed && isSame && result === 'passing'),
  };
}

/** What forge found when it judged a cycle, with the runs that it judged by. */
export interface Judgment extends BoundEvidence {
  governance_violations: string[];
  regression_flags: string[];
  /** GOV-05: files that judge the work and changed, which makes the cycle at most a PARTIAL_SUCCESS. */
  tests_changed: string[];
  gained: string[];
  features_passing: number;
  features: number;
  files_changed: number | null;
}

/** GOV-04: what was made of a cycle's work, as far as `[cycle]` allows. */
export interface Kept {
  commit: { hash: string; short: string; subject: string } | null;
  /** The checkpoint's tag. */
  checkpoint: string | null;
}

/** LTM, "Compliance Reporting Extension", for one cycle. */
export interface CycleReport extends Judgment, Kept {
  memory_write_performed: boolean;
  knowledge_promoted: boolean;
  knowledge_conflict_detected: boolean;
  memory_integrity_status: 'intact' | 'corrupted' | 'halted' | 'unknown';
  /** The results of the consolidation, if one was due. */
  promoted: { knowledge_id: string; pattern: string }[];
  contested: { knowledge_id: string; pattern: string }[];
  execution: string | null;
  evaluation: string | null;
  environment_valid: boolean;
  duration_ms: number;
}

/** Why the record could not be written. */
export type MemoryError = Pick<ForgeError, 'kind' | 'code' | 'message' | 'hint' | 'exit'>;

export const toMemoryError = ({ kind, code, message, hint, exit }: MemoryError): MemoryError => ({
  ...{ kind, code, message, hint, exit },
});

/** One governed cycle. */
export interface CycleResult {
  /** Null when it could not be recorded, and with --dry-run. */
  cycle: number | null;
  task: string;
  stages: Stage[];
  /** Null only with --dry-run. */
  classification: Classification | null;
  exit_code: number | null;
  report: CycleReport | null;
  memory_error?: MemoryError;
  warnings: string[];
}

/** GOV-04: the line of a cycle in progress. */
export function progressLine({ cycle, task, classification, report, stages }: CycleResult): string {
  const { features_passing = 0, features = 0, duration_ms = 0, evidence, tests_changed = [] } = report ?? {};
  return [
    `${cycle === null ? 'Cycle' : `Cycle ${cycle}`} ${classification}: ${oneLine(task, 100)}`,
    ...(isInterrupted(stages) ? ['interrupted from outside'] : []),
    `${features_passing}/${features} features passing`,
    ...failuresIn(evidence).slice(0, 1),
    ...(tests_changed.length > 0 ? [`tests changed: ${oneLine(firstNames(tests_changed, 3), 200)}`] : []),
    `${Math.round(duration_ms / 1000)} s`,
  ].join(', ');
}

/** By Ctrl-C or SIGTERM, which is no failure of the command. */
export const isInterrupted = (stages: readonly Stage[]): boolean =>
  stages.some(({ note = '' }) => /^interrupted$|: stopped$|: Interrupted;/.test(note));

/** The tests that failed or could not run, each with how it ended. */
export const failuresIn = (evidence: readonly Evidence[] = []): string[] =>
  evidence
    .filter(({ exit_code, not_run }) => exit_code !== 0 || not_run !== undefined)
    .map(({ argv, exit_code, not_run, feature }) => {
      const how = not_run ?? (exit_code === null ? 'did not end' : `exit ${exit_code}`);
      const what = `${oneLine(formatArgv(argv), 200)} ${not_run === undefined ? 'failed' : 'could not run'}`;
      return `${what} (${feature === undefined ? '' : `${feature}, `}${how})`;
    });

/** The exit code of `forge cycle`: that of the memory error, else by the classification. */
export function exitOf({ classification, memory_error }: CycleResult): number {
  if (memory_error) return memory_error.exit;
  return classification !== null && hasFailed(classification) ? 1 : 0;
}

const MAX_RUNS = 5;

/** Describes the runs that judged a tree, for its commit message. */
export function describeRuns(evidence: readonly Evidence[]): string[] {
  const left = evidence.length - MAX_RUNS;
  return [
    ...evidence.slice(0, MAX_RUNS).map(({ argv, exit_code, not_run, feature }) => {
      const result = not_run !== undefined ? 'Not run' : exit_code === 0 ? 'Passed' : 'Failed';
      return `${result}: ${formatArgv(argv)}${feature === undefined ? '' : ` (${feature})`}`;
    }),
    ...(left > 0 ? [`${plural(left, 'more run')} of tests`] : []),
  ];
}

/** One line, empty if nothing was made. */
export function describeKept({ commit, checkpoint }: Kept): string {
  return [...(commit ? [`commit ${commit.short}`] : []), ...(checkpoint ? [checkpoint] : [])].join(', ');
}

/** Why a loop ends, for people. */
export const STOP_REASONS = {
  max_cycles: 'the requested number of cycles was run',
  max_time: 'the time is up',
  max_failures: 'too many cycles in a row failed or made no feature pass',
  nothing_left: 'nothing is left to do',
  interrupted: 'interrupted',
  error: 'memory could not be written',
};
export type StopReason = keyof typeof STOP_REASONS;

/** The result of a loop, including the loops that it continued. */
export interface LoopResult {
  cycles: number;
  stopped_by: StopReason;
  by_classification: Record<string, number>;
  reason: string;
  /** With `error`. Its exit code is that of the loop. */
  error?: MemoryError;
}

export const loopExit = ({ stopped_by, error }: LoopResult): number =>
  error?.exit ?? { max_failures: 1, interrupted: 130 }[stopped_by as string] ?? 0;
