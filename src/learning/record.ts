import * as z from 'zod/mini';
import { ForgeError, SyntaxProblem, usage } from '../core/error.js';
import { formatJson, parseJson } from '../core/json.js';
import { pendingFile, pendingFolder } from '../core/paths.js';
import { checkInput } from '../core/schema.js';
import { makeToken } from '../core/text.js';
import { hasClaimed } from '../events/local-claims.js';
import { type Draft, findKeyed, guardGrowth, type RecordRef, storeRecords } from '../ledger/memory.js';
import { type Context, refuseHalted, requireSupervisor, timestamp } from '../project/project.js';
import { afterRecording, type Consolidated } from './consolidation.js';
import {
  afterFailedWrite,
  CycleInput,
  evaluationBody,
  executionBody,
  isEvaluated,
  judgedLate,
} from './evaluation.js';

/** A cycle as it was stored. */
export interface RecordedCycle {
  /** 0 if its number was redacted. */
  cycle: number;
  execution: RecordRef;
  evaluation?: RecordRef;
  /** Its key was recorded before. */
  known?: true;
  /** A record with its key was redacted, so nothing of it is recorded again (LTM-19). */
  redacted?: true;
  /** Every tenth evaluated cycle consolidates (LTM-08). */
  consolidation?: Consolidated;
}

interface KeyedInput {
  key: string;
  input: CycleInput;
}

/** LTM-02: records one cycle. If it cannot be written it is kept, and the next command records it (LTM-16). */
export const recordCycle = (context: Context, raw: CycleInput): RecordedCycle =>
  toOne(recordCycles(context, [raw]));

/** The same for a person or an agent: refused with exit 3 when another holder took the task meanwhile (EVT-03). */
export const recordClaimed = async (context: Context, raw: CycleInput): Promise<RecordedCycle> =>
  toOne(await recordManyClaimed(context, [raw]));

export async function recordManyClaimed(context: Context, raw: readonly CycleInput[]) {
  const cycles = checkInput(z.array(z.looseObject({})), raw);
  const tasks = cycles.map(({ task_id }) => String(task_id)).filter((task) => hasClaimed(context, task));
  if (tasks.length > 0) await (await import('../events/claim.js')).refuseLost(context, tasks);
  return recordCycles(context, raw);
}

const toOne = ({ cycles, ...rest }: ReturnType<typeof recordCycles>): RecordedCycle => ({
  ...(cycles[0] as RecordedCycle),
  ...rest,
});

/** Records many cycles with their evaluations in one write: all or nothing. */
function recordCycles(context: Context, raw: readonly CycleInput[]) {
  requireSupervisor(context, 'memory');
  const inputs = raw.map((given) => {
    const input = checkInput(CycleInput, given);
    return { key: input.idempotency_key ?? makeToken(16), input };
  });
  try {
    refuseHalted(context);
    return context.disk.withLock(() => {
      const pending = readPending(context);
      const all = [...pending, ...inputs];
      const stored = storeCycles(context, all);
      for (const [i, { path, input }] of pending.entries()) {
        context.disk.remove(path);
        const { cycle, known, redacted } = stored[i] as RecordedCycle;
        // The first attempt may have reached the disk after all.
        const what = known
          ? `, whose writing was not confirmed before, is in memory.`
          : `, which could not be written before, is recorded now, as ${input.classification}.`;
        if (!redacted) context.warnings.push(`Cycle ${cycle}${what}`);
      }
      tryAfter(context, 'the size of memory was not checked', () => guardGrowth(context));
      const cycles = stored.slice(pending.length);
      const isJudged = stored.some((cycle, i) => cycle.evaluation && all[i]?.input.classification);
      if (context.disk.dryRun || !isJudged) return { cycles };
      const consolidation = tryAfter(context, 'not consolidated', () => afterRecording(context));
      return { cycles, ...(consolidation ? { consolidation } : {}) };
    });
  } catch (error) {
    throw keepForRetry(context, error, inputs);
  }
}

/** What is stored stays stored, whatever fails afterwards. */
function tryAfter<T>(context: Context, failure: string, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    context.warnings.push(`Recorded, but ${failure}: ${(error as Error).message}`);
    return null;
  }
}

/** Stores cycles in one write and returns them in the order of `wanted`. The same key is the same cycle. */
function storeCycles(context: Context, wanted: readonly KeyedInput[]): RecordedCycle[] {
  const chosen = wanted.filter(({ input }) => input.idempotency_key !== undefined);
  const cycles = findRecorded(context, new Set(chosen.map(({ key }) => key)));
  const now = timestamp(context);
  const drafts: { cycle: RecordedCycle; tier: 'execution' | 'evaluation'; draft: Draft }[] = [];
  const drafted = new Set<string>();
  for (const { key, input } of wanted) {
    const known = cycles.get(key);
    if (known?.redacted || drafted.has(key)) continue;
    drafted.add(key);
    const cycle: RecordedCycle = known ?? { cycle: 0, execution: { id: '', n: 0 } };
    cycles.set(key, cycle);
    const execute: Draft = (next) => {
      cycle.cycle = next.cycle;
      return executionBody(input, key, now, next.cycle);
    };
    const judge: Draft = ({ ids }) =>
      evaluationBody(input, key, cycle.cycle, known ? cycle.execution.id : (ids.at(-1) as string));
    if (!known) drafts.push({ cycle, tier: 'execution', draft: execute });
    // A crash in the middle of a write may have left a cycle without its evaluation.
    if (isEvaluated(input) && !cycle.evaluation) drafts.push({ cycle, tier: 'evaluation', draft: judge });
  }
  const bodies = drafts.map(({ draft }) => draft);
  const stored = bodies.length > 0 ? storeRecords(context, bodies) : [];
  for (const [i, { cycle, tier }] of drafts.entries()) cycle[tier] = stored[i] as RecordRef;
  return wanted.map(({ key }) => cycles.get(key) as RecordedCycle);
}

/** The cycles stored under these keys, here or on another branch. An evaluation without its cycle does not count. */
function findRecorded(context: Context, keys: ReadonlySet<string>): Map<string, RecordedCycle> {
  const cycles = new Map<string, RecordedCycle>();
  for (const [key, { records, redacted }] of findKeyed(context, keys)) {
    const execution = records.find(({ record }) => record.tier === 'execution');
    const evaluation = records.find(({ record }) => record.tier === 'evaluation');
    const id = execution?.id ?? (redacted.length > 0 ? (evaluation?.record.execution ?? redacted[0]) : null);
    if (typeof id !== 'string') continue;
    cycles.set(key, {
      cycle: Number((execution ?? evaluation)?.record.cycle ?? 0),
      execution: { id, n: execution?.n ?? 0 },
      ...(evaluation ? { evaluation: { id: evaluation.id, n: evaluation.n } } : {}),
      known: true,
      ...(redacted.length > 0 ? { redacted: true } : {}),
    });
  }
  return cycles;
}

/** Cycles that could not be written before, as they are recorded now (LTM-16). The caller holds the lock. */
function readPending({ disk, layout }: Context): (KeyedInput & { path: string })[] {
  const names = disk.list(pendingFolder(layout)).filter((name) => /^[0-9a-f]{16}\.json$/.test(name));
  return names.flatMap((name) => {
    const file = name.slice(0, 16);
    const path = pendingFile(layout, file);
    const kept = CycleInput.safeParse(tryJson(disk.read(path)?.toString('utf8') ?? ''));
    if (!kept.success) return [];
    const key = kept.data.idempotency_key ?? file;
    return [{ path, key, input: { ...afterFailedWrite(kept.data), idempotency_key: key } }];
  });
}

/** The disk's failure, and what happened to the input. */
function keepForRetry(context: Context, error: unknown, inputs: readonly KeyedInput[]): unknown {
  if (!(error instanceof ForgeError) || error.kind !== 'outside' || context.disk.dryRun) return error;
  const [only] = inputs;
  const isKept = only !== undefined && inputs.length === 1 && keepPending(context, only);
  const outcome = isKept
    ? `The cycle counts as ${judgedLate(only.input.classification)}; it is kept, and the next forge memory record records it.`
    : 'Nothing is kept: record it again when the disk works.';
  return new ForgeError('outside', error.code, `${error.message} ${outcome}`, error.details);
}

function keepPending({ disk, layout }: Context, { key, input }: KeyedInput): boolean {
  try {
    const bytes = Buffer.from(formatJson({ idempotency_key: key, ...input }));
    disk.withLock(() => disk.replace(pendingFile(layout, makeToken(16)), bytes));
    return true;
  } catch {
    return false;
  }
}

/** Parses the input of `forge memory record FILE`: one object, or JSONL for many. Exit 2 names the line. */
export function parseCycles(text: string): CycleInput[] {
  const whole = text.includes('\n{') ? undefined : tryJson(text);
  if (whole !== undefined) return [whole as CycleInput];
  const lines = text.split('\n').map((line, i) => ({ line, at: i + 1 }));
  const cycles = lines.filter(({ line }) => line.trim() !== '').map(({ line, at }) => parseCycle(line, at));
  if (cycles.length > 0) return cycles;
  throw usage('record.what', 'Nothing to record: the input is empty.', {
    hint: 'forge memory record --task F-1 --exit-code 0',
  });
}

function tryJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function parseCycle(line: string, at: number): CycleInput {
  try {
    return checkInput(CycleInput, parseJson(line));
  } catch (error) {
    if (!(error instanceof SyntaxProblem) && !(error instanceof ForgeError)) throw error;
    const field = error instanceof ForgeError ? error.details.field : undefined;
    const place = { line: at, ...(field ? { field } : {}) };
    throw usage('record.line', `Line ${at}: ${error.message.replace(/\.$/, '')}.`, place);
  }
}
