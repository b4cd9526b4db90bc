import * as z from 'zod/mini';
import { lastBytes, MAX_TAIL_BYTES, oneLine, sha256 } from '../core/text.js';
import type { Body } from '../ledger/memory.js';

/** How a cycle is judged. Only the first two may teach anything (LTM, "Knowledge Promotion Mechanism"). */
export const CLASSIFICATIONS = [
  'SUCCESS',
  'PARTIAL_SUCCESS',
  'FAILURE',
  'REGRESSION',
  'GOVERNANCE_VIOLATION',
] as const;
export type Classification = (typeof CLASSIFICATIONS)[number];
/** LTM, "Knowledge Record Format". */
export const SCOPES = ['execution', 'environment', 'governance', 'optimization'] as const;

const Text = z.string().check(z.minLength(1), z.maxLength(65_536));
const Digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const Log = z.strictObject({
  /** The end of a command's output. */
  tail: z.string().check(z.maxLength(MAX_TAIL_BYTES)),
  bytes: z.int().check(z.gte(0)),
  sha256: Digest,
});
type Log = z.infer<typeof Log>;
const Texts = z.array(Text).check(z.maxLength(1000));
const Pattern = z.strictObject({ pattern: Text, scope: z.enum(SCOPES), holds: z.optional(z.boolean()) });

// Printable ASCII without quotes and backslashes: it is the same in JSON, so it can be searched for as bytes.
const KEY = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/** A stage of the governed loop and its outcome (GOV-03). */
export const Stage = z.strictObject({
  name: Text,
  status: z.enum(['ok', 'failed', 'skipped']),
  duration_ms: z.int(),
  /** Why it failed or was skipped. */
  note: z.optional(Text),
});
export type Stage = z.infer<typeof Stage>;

/** What forge itself ran to judge a cycle. */
export const Evidence = z.strictObject({
  feature: z.optional(Text),
  argv: z.array(z.string()),
  exit_code: z.nullable(z.int()),
  /** Why it shows neither pass nor failure. */
  not_run: z.optional(Text),
  duration_ms: z.int(),
  /** The git tree of the working tree at that time; null without git. */
  tree: z.nullable(Text),
  output_bytes: z.int(),
  output_sha256: Text,
});
export type Evidence = z.infer<typeof Evidence>;

const judged = {
  classification: z.optional(z.enum(CLASSIFICATIONS)),
  environment_valid: z.optional(z.boolean()),
  governance_violations: z.optional(Texts),
  quality_signals: z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))),
  regression_flags: z.optional(Texts),
  improvement_proposals: z.optional(Texts),
  patterns: z.optional(z.array(Pattern).check(z.maxLength(1000))),
  evidence: z.optional(z.array(Evidence).check(z.maxLength(1000))),
  /** How many runs the record had no room for. */
  evidence_left_out: z.optional(z.int().check(z.gte(1))),
};

/** One cycle as `forge memory record` takes it. */
export const CycleInput = z.strictObject({
  task_id: Text,
  /** Null if it was stopped by a signal. */
  exit_code: z.nullable(z.int()),
  started_at: z.optional(z.iso.datetime()),
  finished_at: z.optional(z.iso.datetime()),
  /** The whole log, of which the last 4 KiB and the digest are kept, or just these. */
  log: z.optional(z.union([z.string(), Log])),
  /** The stages before the record was made. */
  stages: z.optional(z.array(Stage).check(z.maxLength(20))),
  ...judged,
  /** The same key again is the same cycle: nothing is recorded twice. */
  idempotency_key: z.optional(z.string().check(z.regex(KEY))),
});
export type CycleInput = z.infer<typeof CycleInput>;

/** A cycle's execution record. Clones may repeat a number, so evidence names ids. */
export function executionBody(input: CycleInput, key: string, now: string, cycle: number): Body {
  const { task_id, exit_code, started_at = now, finished_at = now, stages } = input;
  const log = keepLog(input.log);
  return {
    ...{ tier: 'execution', kind: 'cycle', key, cycle, task_id, exit_code, started_at, finished_at },
    ...{ log, stages },
  };
}

function keepLog(log: string | Log | undefined): Log | undefined {
  if (typeof log !== 'string') return log;
  const bytes = Buffer.from(log);
  return { tail: lastBytes(bytes), bytes: bytes.length, sha256: sha256(bytes) };
}

export const isEvaluated = (input: CycleInput): boolean =>
  Object.keys(judged).some((field) => input[field as keyof CycleInput] !== undefined);

export function evaluationBody(input: CycleInput, key: string, cycle: number, execution: string): Body {
  return {
    ...{ tier: 'evaluation', kind: 'cycle', key, cycle, execution },
    task_id: input.task_id,
    classification: input.classification ?? null,
    environment_valid: input.environment_valid ?? null,
    governance_violations: input.governance_violations ?? [],
    quality_signals: input.quality_signals ?? {},
    regression_flags: input.regression_flags ?? [],
    improvement_proposals: input.improvement_proposals ?? [],
    evidence: input.evidence,
    evidence_left_out: input.evidence_left_out,
    patterns: (input.patterns ?? []).map(({ holds = true, ...pattern }) => ({ ...pattern, holds })),
  };
}

/** The violation of a cycle whose record came late. */
export const LATE_WRITE = 'memory write failed; recorded by a later command';

/** The classification of a cycle whose record came late: FAILURE, unless it broke a rule. */
export const judgedLate = (classification: CycleInput['classification']): Classification =>
  classification === 'GOVERNANCE_VIOLATION' ? classification : 'FAILURE';

/** LTM-16: nothing may be learned or improved from a cycle whose record came late. */
export function recordedLate(input: CycleInput, change: Partial<CycleInput>): CycleInput {
  const { patterns: _patterns, improvement_proposals: _proposals, ...kept } = input;
  return { ...kept, ...change, classification: judgedLate(input.classification) };
}

/** A cycle whose record could not be written. */
export const afterFailedWrite = (input: CycleInput): CycleInput =>
  recordedLate(input, { governance_violations: [...(input.governance_violations ?? []), LATE_WRITE] });

/** A record has at most 1 MB. */
const MAX_ITEMS = 500;

/** The runs of a cycle as its record has them. */
export interface BoundEvidence {
  evidence: Evidence[];
  evidence_left_out?: number;
}

/** The runs for a record, failures first if some are left out. */
export function boundEvidence(runs: readonly Evidence[]): BoundEvidence {
  if (runs.length <= MAX_ITEMS) return { evidence: [...runs] };
  const isPassed = ({ exit_code, not_run }: Evidence): boolean => exit_code === 0 && not_run === undefined;
  const sorted = runs.toSorted((a, b) => Number(isPassed(a)) - Number(isPassed(b)));
  return { evidence: sorted.slice(0, MAX_ITEMS), evidence_left_out: runs.length - MAX_ITEMS };
}

/** The texts for a record, each in one line. The last line counts the others. */
export function boundTexts(texts: readonly string[]): string[] {
  const kept = texts.slice(0, MAX_ITEMS).map((text) => oneLine(text, 500));
  return kept.length === texts.length ? kept : [...kept, `and ${texts.length - kept.length} more`];
}
