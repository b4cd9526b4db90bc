import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { lastBytes, MAX_TAIL_BYTES, oneLine } from '../core/text.js';
import type { Body } from '../ledger/memory.js';

/**
 * How a cycle is judged. LTM, "Knowledge Promotion Mechanism", knows the first two: only they may teach anything. A
 * REGRESSION broke what had worked; a GOVERNANCE_VIOLATION broke a rule, whatever else it did.
 */
const CLASSIFICATIONS = [
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
const Log = z.strictObject({
  /** The end of a command's output. */
  tail: z.string().check(z.maxLength(MAX_TAIL_BYTES)),
  bytes: z.int().check(z.gte(0)),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
});
type Log = z.infer<typeof Log>;
const Pattern = z.strictObject({ pattern: Text, scope: z.enum(SCOPES), holds: z.optional(z.boolean()) });
const Texts = z.array(Text).check(z.maxLength(1000));

// Printable ASCII without quotes and backslashes: as JSON it is itself, so that it can be sought as bytes.
const KEY = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/** A stage of the governed loop as it went (GOV-03). */
export const Stage = z.strictObject({
  name: Text,
  status: z.enum(['ok', 'failed', 'skipped']),
  duration_ms: z.int(),
  /** Why it failed or was left out. */
  note: z.optional(Text),
});
export type Stage = z.infer<typeof Stage>;

/** What forge itself ran to judge a cycle. */
export const Evidence = z.strictObject({
  feature: z.optional(Text),
  argv: z.array(z.string()),
  exit_code: z.nullable(z.int()),
  duration_ms: z.int(),
  /** Of the working tree as it was run; null without git. */
  tree: z.nullable(Text),
  output_bytes: z.int(),
  output_sha256: Text,
});
export type Evidence = z.infer<typeof Evidence>;

/** Of runs that a record had no room for: how many, how many of them failed, and the digest of their JSON lines. */
export const EvidenceLeftOut = z.strictObject({
  runs: z.int().check(z.gte(1)),
  failed: z.int().check(z.gte(0)),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
});
export type EvidenceLeftOut = z.infer<typeof EvidenceLeftOut>;

/** One cycle as `forge memory record` takes it. */
export const CycleInput = z.strictObject({
  task_id: Text,
  /** Null when it was stopped by a signal. */
  exit_code: z.nullable(z.int()),
  started_at: z.optional(z.iso.datetime()),
  finished_at: z.optional(z.iso.datetime()),
  /** All of it, of which the last 4 KiB and the digest are kept; or just these. */
  log: z.optional(z.union([z.string(), Log])),
  /** The stages before the record was made. */
  stages: z.optional(z.array(Stage).check(z.maxLength(20))),
  classification: z.optional(z.enum(CLASSIFICATIONS)),
  environment_valid: z.optional(z.boolean()),
  governance_violations: z.optional(Texts),
  quality_signals: z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))),
  regression_flags: z.optional(Texts),
  improvement_proposals: z.optional(Texts),
  patterns: z.optional(z.array(Pattern).check(z.maxLength(1000))),
  /** Ids of candidates (`C-317`) that were observed again: each is recorded as its pattern. */
  confirm: z.optional(z.array(Text).check(z.maxLength(100))),
  evidence: z.optional(z.array(Evidence).check(z.maxLength(1000))),
  evidence_left_out: z.optional(EvidenceLeftOut),
  /** The same key again is the same cycle: nothing is recorded twice. */
  idempotency_key: z.optional(z.string().check(z.regex(KEY))),
});
export type CycleInput = z.infer<typeof CycleInput>;

/** A cycle's execution record. Clones may use the same number: evidence names ids. */
export function executionBody(input: CycleInput, key: string, now: string, cycle: number): Body {
  const { task_id, exit_code, started_at = now, finished_at = now, log, stages } = input;
  return {
    ...{ tier: 'execution', kind: 'cycle', key, cycle, task_id, exit_code, started_at, finished_at },
    ...(log === undefined ? {} : { log: keepLog(log) }),
    ...(stages === undefined ? {} : { stages }),
  };
}

function keepLog(log: string | Log): Log {
  if (typeof log !== 'string') return log;
  const bytes = Buffer.from(log, 'utf8');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { tail: lastBytes(bytes), bytes: bytes.length, sha256 };
}

const JUDGED = [
  'classification',
  'environment_valid',
  'governance_violations',
  'quality_signals',
  'regression_flags',
  'improvement_proposals',
  'patterns',
  'evidence',
  'evidence_left_out',
] as const;

/** Whether the cycle was evaluated at all. */
export const isEvaluated = (input: CycleInput): boolean => JUDGED.some((field) => input[field] !== undefined);

/** Its evaluation record. */
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
    ...(input.evidence === undefined ? {} : { evidence: input.evidence }),
    ...(input.evidence_left_out === undefined ? {} : { evidence_left_out: input.evidence_left_out }),
    patterns: (input.patterns ?? []).map(({ holds = true, ...pattern }) => ({ ...pattern, holds })),
  };
}

/** The violation of a cycle whose record came late. */
export const LATE_WRITE = 'memory write failed; recorded by a later command';

/** What a cycle counts as whose record did not come in time: it failed, but what broke a rule stays that. */
export const judgedLate = (classification: CycleInput['classification']): Classification =>
  classification === 'GOVERNANCE_VIOLATION' ? classification : 'FAILURE';

/** LTM-16: nothing may be learned or improved from a cycle whose record did not come in time. */
export function recordedLate(input: CycleInput, change: Partial<CycleInput>): CycleInput {
  const { patterns: _patterns, improvement_proposals: _proposals, ...kept } = input;
  return { ...kept, ...change, classification: judgedLate(input.classification) };
}

/** A cycle whose record could not be written. */
export const afterFailedWrite = (input: CycleInput): CycleInput =>
  recordedLate(input, { governance_violations: [...(input.governance_violations ?? []), LATE_WRITE] });

/** A record has 1 MB at most, and other things in it. */
const MAX_RUNS = 500;
const MAX_RUNS_BYTES = 256 * 1024;
const MAX_TEXTS = 500;
const MAX_TEXTS_BYTES = 128 * 1024;

/** The runs of a cycle as its record has them. */
export interface BoundEvidence {
  evidence: Evidence[];
  evidence_left_out?: EvidenceLeftOut;
}

/** Tells of each value whether it still fits. */
function makeRoom(count: number, bytes: number): (value: unknown) => boolean {
  return (value) => {
    const size = Buffer.byteLength(JSON.stringify(value));
    if (count === 0 || size > bytes) return false;
    count--;
    bytes -= size;
    return true;
  };
}

/**
 * What a record can hold of all runs: failures before the others, and of what is left out the number and the SHA-256
 * of its JSON lines, in the order of the runs.
 */
export function boundEvidence(runs: readonly Evidence[]): BoundEvidence {
  const fits = makeRoom(MAX_RUNS, MAX_RUNS_BYTES);
  const failed = runs.filter(({ exit_code }) => exit_code !== 0);
  const ordered = [...failed, ...runs.filter(({ exit_code }) => exit_code === 0)];
  const kept = new Set(ordered.filter((run) => fits(run)));
  const left = runs.filter((run) => !kept.has(run));
  if (left.length === 0) return { evidence: [...runs] };
  const sha256 = createHash('sha256')
    .update(left.map((run) => `${JSON.stringify(run)}\n`).join(''))
    .digest('hex');
  const left_failed = left.filter(({ exit_code }) => exit_code !== 0).length;
  return { evidence: [...kept], evidence_left_out: { runs: left.length, failed: left_failed, sha256 } };
}

/** Each on a line, and as many as a record can hold; the last says how many more there are. */
export function boundTexts(texts: readonly string[]): string[] {
  const fits = makeRoom(MAX_TEXTS, MAX_TEXTS_BYTES);
  const lines = texts.map((text) => oneLine(text, 500));
  const end = lines.findIndex((line) => !fits(line));
  return end < 0 ? lines : [...lines.slice(0, end), `and ${lines.length - end} more`];
}
