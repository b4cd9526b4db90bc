import { ForgeError, usage } from '../core/error.js';
import { JsonProblem, parseJson } from '../core/json.js';
import { checkInput } from '../core/schema.js';
import { makeToken, plural } from '../core/text.js';
import { type RecordRef, storeRecords } from '../ledger/append.js';
import { guardGrowth } from '../ledger/growth.js';
import { requireMemory } from '../ledger/integrity.js';
import type { Tier } from '../ledger/rules/record.js';
import { checkBody } from '../ledger/rules/segment.js';
import { findKeyed } from '../ledger/store/keys.js';
import { type Around, appendVerbatim } from '../ledger/store/ledger.js';
import { dropPending, keepPending, readPending } from '../ledger/store/pending.js';
import { readRedactedKeys } from '../ledger/store/redacted-keys.js';
import { type Context, requireSupervisor, timestamp } from '../project/project.js';
import { afterRecording, type Consolidated, countBefore } from './consolidation.js';
import {
  afterFailedWrite,
  CycleInput,
  cycleNumber,
  evaluationBody,
  executionDraft,
  isEvaluated,
  judgedLate,
} from './evaluation.js';

/** A cycle as it was stored. */
export interface RecordedCycle {
  cycle: number;
  execution: RecordRef;
  evaluation?: RecordRef;
  /** True when its key was recorded before. */
  known?: true;
  /** True when what its key stood for was redacted: nothing of it is recorded again (LTM-19). */
  redacted?: true;
  /** What it led to: every tenth evaluated cycle consolidates (LTM-08). */
  consolidation?: Consolidated;
}

/** LTM-02: one cycle. A write that fails is kept and tried again by the next command (LTM-16). */
export async function recordCycle(context: Context, raw: CycleInput): Promise<RecordedCycle> {
  const { cycles, consolidation } = await recordCycles(context, [raw]);
  return { ...(cycles[0] as RecordedCycle), ...(consolidation ? { consolidation } : {}) };
}

/**
 * Many cycles: one write and one fsync a ledger, each all or nothing. Should the disk fail between the two ledgers, the
 * cycles are stored without their evaluations; the same keys again bring those.
 */
export async function recordCycles(
  context: Context,
  raw: readonly CycleInput[],
): Promise<{ cycles: RecordedCycle[]; consolidation?: Consolidated }> {
  requireSupervisor(context, 'memory');
  const inputs = raw.map((input) => ({
    key: makeToken(16),
    given: input.idempotency_key,
    input: checkCycle(context, input),
  }));
  try {
    const { around } = await requireMemory(context);
    return context.disk.withLock(() => {
      const before = countCycles(context, around);
      retryPending(context, around);
      const cycles = storeCycles(
        context,
        around,
        inputs.map(({ key, given, input }) => ({ key: given ?? key, input })),
      );
      guardStored(context, around);
      return { cycles, ...learnFrom(context, around, before, cycles) };
    });
  } catch (error) {
    throw keepForRetry(context, error, inputs);
  }
}

/** Null where counting on would not do: a cycle that waited is added too. */
const countCycles = (context: Context, around: Around): number | null =>
  context.disk.dryRun || readPending(context.disk).length > 0 ? null : countBefore(context, around);

/** What is stored is stored, whatever comes of learning from it: the next cycle makes up for that. */
function learnFrom(
  context: Context,
  around: Around,
  before: number | null,
  cycles: readonly RecordedCycle[],
): { consolidation?: Consolidated } {
  const judged = new Set(cycles.filter(({ evaluation }) => evaluation).map(({ execution }) => execution.id));
  if (judged.size === 0 || context.disk.dryRun) return {};
  try {
    // What was known before may have been counted before, or not.
    const count = cycles.some(({ known }) => known) ? null : before;
    return { consolidation: afterRecording(context, around, count, judged.size) };
  } catch (error) {
    context.warnings.push(`Recorded, but not consolidated: ${(error as Error).message}`);
    return {};
  }
}

/** What is stored is stored, whatever comes of looking at its size. */
function guardStored(context: Context, around: Around): void {
  try {
    guardGrowth(context, around);
  } catch (error) {
    context.warnings.push(`Stored, but how large memory is could not be told: ${(error as Error).message}`);
  }
}

/** Both records of it fit, or none is stored. */
function checkCycle(context: Context, raw: CycleInput): CycleInput {
  const input = checkInput(CycleInput, raw);
  const [key, now, id] = [input.idempotency_key ?? '', timestamp(context), '0'.repeat(64)];
  checkBody(executionDraft(input, key, now)(1));
  checkBody(evaluationBody(input, key, { id, n: 1 }));
  return input;
}

interface Keyed {
  key: string;
  input: CycleInput;
}

function storeCycles(context: Context, around: Around, wanted: readonly Keyed[]): RecordedCycle[] {
  // Only keys that somebody chose, or that are tried again, can have been recorded before.
  const chosen = wanted.filter(({ input }) => input.idempotency_key !== undefined).map(({ key }) => key);
  const gone = findGone(context, chosen);
  const known = new Map([...findRefs(context, 'execution', chosen), ...gone.execution]);
  const fresh = firstOfEach(wanted.filter(({ key }) => !known.has(key)));
  const now = timestamp(context);
  const stored = storeRecords(
    context,
    around,
    'execution',
    fresh.map(({ key, input }) => executionDraft(input, key, now)),
  );
  const executions = new Map([
    ...known,
    ...fresh.map(({ key }, i) => [key, stored[i] as RecordRef] as const),
  ]);
  const evaluations = storeEvaluations(context, around, wanted, executions, {
    retried: known.size > 0,
    gone,
  });
  return wanted.map(({ key }) => {
    const execution = executions.get(key) as RecordRef;
    const evaluation = evaluations.get(key);
    return {
      cycle: cycleNumber(execution.n),
      execution,
      ...(evaluation ? { evaluation } : {}),
      ...(known.has(key) ? { known: true as const } : {}),
      ...(gone.all.has(key) ? { redacted: true as const } : {}),
    };
  });
}

interface Gone {
  /** Keys under which something was redacted. */
  all: ReadonlySet<string>;
  execution: ReadonlyMap<string, RecordRef>;
  evaluation: ReadonlyMap<string, RecordRef>;
}

/** LTM-19: content that a human took out does not come back with the next try of the same cycle. */
function findGone({ disk, warnings }: Context, keys: readonly string[]): Gone {
  const find = readRedactedKeys(disk);
  const gone = new Map(keys.map((key) => [key, find(key)] as const).filter(([, found]) => found.length > 0));
  const of = (wanted: Tier): Map<string, RecordRef> =>
    new Map(
      [...gone].flatMap(([key, found]) =>
        found.flatMap(({ tier, id, n }) => (tier === wanted ? [[key, { id, n }] as const] : [])),
      ),
    );
  if (gone.size > 0)
    warnings.push(
      `${plural(gone.size, 'cycle')} came again under ${gone.size === 1 ? 'its' : 'their'} key, of which something was redacted: that is not recorded anew.`,
    );
  return { all: new Set(gone.keys()), execution: of('execution'), evaluation: of('evaluation') };
}

function findRefs({ layout }: Context, tier: Tier, keys: readonly string[]): Map<string, RecordRef> {
  return new Map([...findKeyed(layout, tier, new Set(keys))].map(([key, { id, n }]) => [key, { id, n }]));
}

/** The same key twice in one batch is one cycle. */
function firstOfEach(wanted: readonly Keyed[]): Keyed[] {
  const seen = new Set<string>();
  return wanted.filter(({ key }) => !seen.has(key) && seen.add(key));
}

/** A crash between the two ledgers leaves a cycle without its evaluation; the retry brings it. */
function storeEvaluations(
  context: Context,
  around: Around,
  wanted: readonly Keyed[],
  executions: ReadonlyMap<string, RecordRef>,
  { retried, gone }: { retried: boolean; gone: Gone },
): Map<string, RecordRef> {
  const judged = firstOfEach(wanted.filter(({ input }) => isEvaluated(input)));
  const before = findRefs(context, 'evaluation', retried ? judged.map(({ key }) => key) : []);
  const known = new Map([...before, ...gone.evaluation]);
  const fresh = judged.filter(({ key }) => !known.has(key) && !gone.all.has(key));
  const drafts = fresh.map(({ key, input }) => evaluationBody(input, key, executions.get(key) as RecordRef));
  const stored = storeRecords(context, around, 'evaluation', drafts);
  return new Map([...known, ...fresh.map(({ key }, i) => [key, stored[i] as RecordRef] as const)]);
}

/** What an earlier command could not write. Its first try may have reached the disk after all: the key tells. */
function retryPending(context: Context, around: Around): void {
  for (const { key, input } of readPending(context.disk)) {
    const result = CycleInput.safeParse(input);
    if (result.success) {
      const retried = {
        ...afterFailedWrite(result.data),
        idempotency_key: result.data.idempotency_key ?? key,
      };
      writeAgain(context, retried.idempotency_key);
      const [cycle] = storeCycles(context, around, [{ key: retried.idempotency_key, input: retried }]);
      // What was redacted was named already.
      if (!cycle?.redacted)
        context.warnings.push(
          cycle?.known
            ? `Cycle ${cycle.cycle}, whose writing was not confirmed before, is in memory.`
            : `Cycle ${cycle?.cycle}, which could not be written before, is recorded now, as ${retried.classification}.`,
        );
    }
    dropPending(context.disk, key);
  }
}

/**
 * After a failed fsync what can be read need not be on the disk, and another fsync does not tell. So it is written once
 * more, to another file: the same line twice is one record.
 */
function writeAgain({ disk, layout }: Context, key: string): void {
  for (const tier of ['execution', 'evaluation'] as const)
    for (const { line } of findKeyed(layout, tier, new Set([key])).values())
      appendVerbatim(disk, tier, [line]);
}

/** The disk's failure, and what became of the input. */
function keepForRetry(
  context: Context,
  error: unknown,
  inputs: readonly { key: string; input: CycleInput }[],
): unknown {
  if (!(error instanceof ForgeError) || error.kind !== 'outside' || context.disk.dryRun) return error;
  // A git that refuses to work is no memory that cannot be written.
  if (error.code.startsWith('git.')) return error;
  const kept =
    inputs.length === 1 &&
    inputs.every(({ key, input }) => keepPending(context.disk, key, { idempotency_key: key, ...input }));
  const fate = kept
    ? `The cycle counts as ${judgedLate(inputs[0]?.input.classification)}; it is kept and recorded by the next forge memory record.`
    : 'Nothing is kept: record it again when the disk works.';
  return new ForgeError('outside', error.code, `${error.message} ${fate}`, error.details);
}

/** The input of `forge memory record FILE`: one object, or JSONL for many. Exit 2 names the line. */
export function parseCycles(text: string): CycleInput[] {
  const whole = tryJson(text);
  if (whole !== undefined) return [whole as CycleInput];
  const lines = text
    .split('\n')
    .map((line, i) => ({ line, at: i + 1 }))
    .filter(({ line }) => line.trim() !== '');
  if (lines.length === 0)
    throw usage('record.what', 'Nothing to record: the input is empty.', {
      hint: 'forge memory record --task FORGE-001 --exit-code 0',
    });
  return lines.map(({ line, at }) => parseCycle(line, at));
}

function tryJson(text: string): unknown {
  if (text.includes('\n{')) return undefined;
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
    if (!(error instanceof JsonProblem) && !(error instanceof ForgeError)) throw error;
    const field = error instanceof ForgeError ? error.details.field : undefined;
    throw usage('record.line', `Line ${at}: ${error.message.replace(/\.$/, '')}.`, {
      line: at,
      ...(field ? { field } : {}),
    });
  }
}
