import { formatArgv } from '../core/argv.js';
import type { ErrorKind } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import type { Classification, Evidence, EvidenceLeftOut, Stage } from '../learning/evaluation.js';

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
  const { features_passing = 0, features = 0, duration_ms = 0, evidence = [] } = report ?? {};
  return `${summaryOf({ cycle, task, classification, features_passing, features, evidence })}, ${Math.round(duration_ms / 1000)} s`;
}

type Summary = Pick<CycleResult, 'cycle' | 'task' | 'classification'> &
  Pick<CycleReport, 'features' | 'features_passing'> & { evidence?: readonly Evidence[] };

/** The same without the time that it took. */
export function summaryOf({
  cycle,
  task,
  classification,
  features_passing,
  features,
  evidence,
}: Summary): string {
  const number = cycle === null ? 'Cycle' : `Cycle ${cycle}`;
  const [failing] = failuresIn(evidence);
  const why = failing === undefined ? '' : `, ${failing}`;
  return `${number} ${classification}: ${oneLine(task, 100)}, ${features_passing}/${features} features passing${why}`;
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
