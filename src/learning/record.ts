import { ForgeError, usage } from '../core/error.js';
import { formatJson, JsonProblem, parseJson } from '../core/json.js';
import { pendingFile, pendingFolder } from '../core/paths.js';
import { checkInput } from '../core/schema.js';
import { makeToken, plural } from '../core/text.js';
import {
  type Draft,
  findKeyed,
  journaledLines,
  type LedgerRecord,
  type RecordRef,
  readMemory,
  requireMemory,
  storeRecords,
} from '../ledger/memory.js';
import { recordId } from '../ledger/record.js';
import { type Context, requireSupervisor, timestamp } from '../project/project.js';
import { resolveCandidates } from './candidates.js';
import { afterRecording, type Consolidated, rememberCount, rememberedCount } from './consolidation.js';
import {
  afterFailedWrite,
  CycleInput,
  evaluationBody,
  executionBody,
  isEvaluated,
  judgedLate,
} from './evaluation.js';
import { guardGrowth } from './growth.js';
import { textsOf } from './proven.js';

/** A cycle as it was stored. */
export interface RecordedCycle {
  /** 0 where its number was redacted. */
  cycle: number;
  execution: RecordRef;
  evaluation?: RecordRef;
  /** True when its key was recorded before. */
  known?: true;
  /** True when a record with its key was redacted: nothing of it is recorded again (LTM-19). */
  redacted?: true;
  /** What it led to: every tenth evaluated cycle consolidates (LTM-08). */
  consolidation?: Consolidated;
}

interface Keyed {
  key: string;
  input: CycleInput;
}

/** LTM-02: one cycle. A cycle that cannot be written is kept, and the next command records it (LTM-16). */
export function recordCycle(context: Context, raw: CycleInput): RecordedCycle {
  const { cycles, consolidation } = recordCycles(context, [raw]);
  return { ...(cycles[0] as RecordedCycle), ...(consolidation ? { consolidation } : {}) };
}

/** Many cycles with their evaluations, in one write: all or nothing. */
export function recordCycles(
  context: Context,
  raw: readonly CycleInput[],
): { cycles: RecordedCycle[]; consolidation?: Consolidated } {
  requireSupervisor(context, 'memory');
  const inputs = raw.map((given) => {
    const input = withConfirmed(context, checkInput(CycleInput, given));
    return { key: input.idempotency_key ?? makeToken(16), input };
  });
  try {
    requireMemory(context);
    return context.disk.withLock(() => {
      const before = context.disk.dryRun ? null : rememberedCount(context);
      const pending = readPending(context);
      const all = [...pending, ...inputs];
      const stored = storeCycles(context, all);
      for (const [i, kept] of pending.entries()) endPending(context, kept, stored[i] as RecordedCycle);
      tryAfter(context, 'the size of memory was not checked', () => guardGrowth(context));
      const consolidation = learnFrom(
        context,
        before,
        stored.filter((_, i) => hasVerdict(all[i])),
      );
      return { cycles: stored.slice(pending.length), ...(consolidation ? { consolidation } : {}) };
    });
  } catch (error) {
    throw keepForRetry(context, error, inputs);
  }
}

/** A candidate that is confirmed by its id is observed in its own words. */
function withConfirmed(context: Context, { confirm, ...input }: CycleInput): CycleInput {
  if (confirm === undefined) return input;
  return { ...input, patterns: [...(input.patterns ?? []), ...resolveCandidates(context, confirm)] };
}

/** What is stored is stored, whatever fails afterwards. */
function tryAfter<T>(context: Context, failure: string, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    context.warnings.push(`Recorded, but ${failure}: ${(error as Error).message}`);
    return null;
  }
}

/** LTM-08 counts evaluated cycles. What was only observed waits for cycles with a verdict. */
const hasVerdict = (cycle: Keyed | undefined): boolean => cycle?.input.classification !== undefined;

function learnFrom(
  context: Context,
  before: number | null,
  cycles: readonly RecordedCycle[],
): Consolidated | null {
  const judged = new Set(cycles.flatMap(({ execution, evaluation }) => (evaluation ? [execution.id] : [])));
  if (judged.size === 0) {
    if (before !== null) rememberCount(context, before);
    return null;
  }
  if (context.disk.dryRun) return null;
  // A known cycle may have been counted before.
  const count = cycles.some(({ known }) => known) ? null : before;
  return tryAfter(context, 'not consolidated', () => afterRecording(context, count, judged.size));
}

/** In the order of `wanted`, in one write. The same key is the same cycle. */
function storeCycles(context: Context, wanted: readonly Keyed[]): RecordedCycle[] {
  const chosen = wanted.filter(({ input }) => input.idempotency_key !== undefined);
  const cycles = findRecorded(context, new Set(chosen.map(({ key }) => key)));
  const now = timestamp(context);
  const drafted = new Map<string, ReturnType<typeof draftCycle>>();
  for (const each of wanted)
    if (!cycles.get(each.key)?.redacted && !drafted.has(each.key))
      drafted.set(each.key, draftCycle(each, now, cycles.get(each.key)));
  const drafts = [...drafted.values()].flatMap((cycle) => cycle.drafts);
  const stored = drafts.length > 0 ? storeRecords(context, drafts) : [];
  let at = 0;
  for (const [key, { drafts: own, describe }] of drafted) {
    cycles.set(key, describe(stored.slice(at, at + own.length)));
    at += own.length;
  }
  return wanted.map(({ key }) => cycles.get(key) as RecordedCycle);
}

/** The records that a cycle lacks, and its answer once they are stored. */
function draftCycle(
  { key, input }: Keyed,
  now: string,
  known?: RecordedCycle,
): { drafts: Draft[]; describe: (stored: readonly RecordRef[]) => RecordedCycle } {
  let cycle = known?.cycle ?? 0;
  const execution: Draft = (next) => {
    cycle = next.cycle;
    return executionBody(input, key, now, cycle);
  };
  const evaluation: Draft = ({ ids }) =>
    evaluationBody(input, key, cycle, known?.execution.id ?? (ids.at(-1) as string));
  // A crash in the middle of a write may leave a cycle without its evaluation.
  const isJudged = isEvaluated(input) && !known?.evaluation;
  const describe = (stored: readonly RecordRef[]): RecordedCycle => ({
    ...(known ?? { cycle, execution: stored[0] as RecordRef }),
    ...(isJudged ? { evaluation: stored.at(-1) as RecordRef } : {}),
  });
  return { drafts: [...(known ? [] : [execution]), ...(isJudged ? [evaluation] : [])], describe };
}

/** Cycles stored under these keys, here or on another branch. An evaluation without its cycle does not count. */
function findRecorded(context: Context, keys: ReadonlySet<string>): Map<string, RecordedCycle> {
  const found = findKeyed(context, keys);
  const ids = new Set([...found.values()].flatMap(({ records }) => records.map(({ id }) => id)));
  const byId = ids.size > 0 ? readByIds(context, ids) : new Map<string, LedgerRecord>();
  const cycles = new Map<string, RecordedCycle>();
  for (const [key, { records, redacted }] of found) {
    const [execution, evaluation] = ['execution', 'evaluation'].map((tier) =>
      records.find(({ id }) => byId.get(id)?.tier === tier),
    );
    const known = execution ?? redactedCycle(context, key) ?? (redacted ? records[0] : undefined);
    if (!known) continue;
    cycles.set(key, {
      cycle: Number(byId.get(known.id)?.cycle ?? 0),
      execution: known,
      ...(evaluation ? { evaluation } : {}),
      known: true,
      ...(redacted ? { redacted } : {}),
    });
  }
  const gone = [...cycles.values()].filter(({ redacted }) => redacted).length;
  if (gone > 0)
    context.warnings.push(
      `${plural(gone, 'cycle')} came again under a key of which a record was redacted: not recorded again.`,
    );
  return cycles;
}

function readByIds(context: Context, ids: ReadonlySet<string>): Map<string, LedgerRecord> {
  const memory = readMemory(context);
  const here = [...memory.records('execution'), ...memory.records('evaluation')];
  const byId = new Map(here.filter(({ id }) => ids.has(id)).map(({ id, record }) => [id, record]));
  if (byId.size === ids.size) return byId;
  for (const line of journaledLines(context)) {
    const id = recordId(line);
    if (ids.has(id)) byId.set(id, JSON.parse(line) as LedgerRecord);
  }
  return byId;
}

/** What is left of an execution record that was redacted, by its key. */
function redactedCycle(context: Context, key: string): RecordRef | undefined {
  const audit = readMemory(context).records('audit');
  const redaction = audit.find(
    ({ record }) => record.of === 'execution' && textsOf(record.keys).includes(recordId(key)),
  );
  const [id] = textsOf(redaction?.record.subjects);
  return id === undefined ? undefined : { id, n: 0 };
}

interface Pending extends Keyed {
  path: string;
}

/** Cycles that could not be written before, as they are recorded now (LTM-16). Caller holds the lock. */
function readPending({ disk, layout }: Context): Pending[] {
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

/** The first try may have reached the disk after all. */
function endPending({ disk, warnings }: Context, { path, input }: Pending, cycle: RecordedCycle): void {
  disk.remove(path);
  if (cycle.redacted) return;
  warnings.push(
    cycle.known
      ? `Cycle ${cycle.cycle}, whose writing was not confirmed before, is in memory.`
      : `Cycle ${cycle.cycle}, which could not be written before, is recorded now, as ${input.classification}.`,
  );
}

/** The disk's failure, and what became of the input. */
function keepForRetry(context: Context, error: unknown, inputs: readonly Keyed[]): unknown {
  if (!(error instanceof ForgeError) || error.kind !== 'outside' || context.disk.dryRun) return error;
  const [only] = inputs;
  const isKept = only !== undefined && inputs.length === 1 && keepPending(context, only);
  const fate = isKept
    ? `The cycle counts as ${judgedLate(only.input.classification)}; it is kept and recorded by the next forge memory record.`
    : 'Nothing is kept: record it again when the disk works.';
  return new ForgeError('outside', error.code, `${error.message} ${fate}`, error.details);
}

function keepPending({ disk, layout }: Context, { key, input }: Keyed): boolean {
  try {
    const bytes = Buffer.from(formatJson({ idempotency_key: key, ...input }));
    disk.withLock(() => disk.replace(pendingFile(layout, makeToken(16)), bytes));
    return true;
  } catch {
    return false;
  }
}

/** The input of `forge memory record FILE`: one object, or JSONL for many. Exit 2 names the line. */
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
    if (!(error instanceof JsonProblem) && !(error instanceof ForgeError)) throw error;
    const field = error instanceof ForgeError ? error.details.field : undefined;
    const place = { line: at, ...(field ? { field } : {}) };
    throw usage('record.line', `Line ${at}: ${error.message.replace(/\.$/, '')}.`, place);
  }
}
