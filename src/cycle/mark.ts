import { ForgeError, refused } from '../core/error.js';
import { judgeHolder, type Verdict } from '../core/holder.js';
import { endGroup } from '../core/process.js';
import { makeToken, oneLine, plural } from '../core/text.js';
import { recordCycles } from '../learning/record.js';
import { type Context, readConfig, timestamp } from '../project/project.js';
import { removeHandover } from './handover.js';
import type { KeepWatch } from './keep.js';
import { type CycleMark, interruptedInput, interruptedMarks, NO_TASK, type StageName } from './mark-rules.js';
import { clearMark, readMark, writeMark } from './state.js';

/** Keys of the cycles that this very process runs. */
const running = new Set<string>();

/** Takes this worktree for one cycle; exit 3 `cycle.held` names who has it. What was cut off before is kept in it. */
export function takeMark(context: Context): CycleMark {
  const { disk, world } = context;
  const { unknown_host_minutes } = readConfig(context).session;
  return disk.withLock(() => {
    const found = readLeft(context);
    const verdict = found && judge(context, found, unknown_host_minutes);
    if (found && verdict?.state === 'held') throw heldBy(found, verdict.why);
    const mark: CycleMark = {
      schema_version: '1.0',
      key: makeToken(16),
      holder: world.self(),
      started_at: timestamp(context),
      task_id: NO_TASK,
      stage: 'supervisor',
      stages: [],
      left: found ? interruptedMarks(found) : [],
    };
    writeMark(disk, mark);
    running.add(mark.key);
    return mark;
  });
}

/** Exit 3 `cycle.held` while a cycle is under way here: its files are not to be moved under it. */
export function requireNoCycle(context: Context): void {
  const found = readLeft(context);
  const verdict = found && judge(context, found, readConfig(context).session.unknown_host_minutes);
  if (found && verdict?.state === 'held') throw heldBy(found, verdict.why);
}

/** What cannot be read names no cycle that could be recorded. */
function readLeft(context: Context): CycleMark | null {
  try {
    return readMark(context.disk);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'corrupted') throw error;
    context.warnings.push(`The mark of an earlier cycle is of no use: ${error.message}`);
    return null;
  }
}

/** A cycle of this process that is not under way any more was given up by an error. */
function judge({ world, lastActivity }: Context, mark: CycleMark, unknownHostMinutes: number): Verdict {
  const verdict = judgeHolder({
    holder: mark.holder,
    me: world.self(),
    liveness: world.liveness(mark.holder),
    activity: lastActivity,
    now: world.activity(),
    silenceMinutes: 0,
    unknownHostMinutes,
  });
  if (verdict.state !== 'same') return verdict;
  const why = `process ${mark.holder.pid} is running it`;
  return running.has(mark.key) ? { state: 'held', why } : { state: 'interrupted', why: 'it was given up' };
}

const heldBy = ({ holder, started_at, stage, task_id }: CycleMark, why: string): Error =>
  refused(
    'cycle.held',
    `A cycle is under way here since ${started_at} (${stage}, task ${oneLine(task_id, 100)}): ${why}; nothing was run.`,
    { hint: `wait for it, or end it: kill ${holder.pid}` },
  );

/**
 * Records what was cut off, each once; none of it succeeded. What was cut off behind its record gets what was to follow.
 * The mark forgets it afterwards.
 */
export async function recordLeft(context: Context, mark: CycleMark, watch: KeepWatch): Promise<CycleMark> {
  const left = interruptedMarks(mark).filter(({ key }) => key !== mark.key);
  for (const { command, key } of left) {
    if (command) endGroup(command);
    removeHandover(key);
  }
  if (left.length > 0) await recordEach(context, left, watch);
  return left.length > 0 ? moveMark(context, mark, { left: undefined }) : { ...mark, left: undefined };
}

async function recordEach(context: Context, left: readonly CycleMark[], watch: KeepWatch): Promise<void> {
  const inputs = left.map(interruptedInput);
  const { cycles } = await recordCycles(context, inputs);
  const fresh = cycles.flatMap(({ cycle, known }, i) =>
    known ? [] : [{ cycle, as: inputs[i]?.classification }],
  );
  for (const as of new Set(fresh.map((each) => each.as))) {
    const numbers = fresh.filter((each) => each.as === as).map(({ cycle }) => cycle);
    const what = plural(numbers.length, 'cycle that was cut off is', 'cycles that were cut off are');
    context.warnings.push(`${what} recorded now, as ${as}: ${numbers.join(', ')}.`);
  }
  for (const [i, each] of left.entries())
    if (each.keep && cycles[i]) await (await import('./left.js')).keepLeft(context, each, cycles[i], watch);
}

/** Says where the cycle is. */
export function moveMark(
  { disk }: Context,
  mark: CycleMark,
  change: Partial<CycleMark> & { stage?: StageName },
): CycleMark {
  const after = { ...mark, ...change };
  writeMark(disk, after);
  return after;
}

/** The cycle is over: recorded, or refused before anything was run. */
export function dropMark(context: Context, mark: CycleMark): void {
  const { disk } = context;
  removeHandover(mark.key);
  disk.withLock(() => {
    const found = readLeft(context);
    if (!found || found.key === mark.key) clearMark(disk);
  });
  running.delete(mark.key);
}

/** It is left for the next cycle to record. */
export function leaveMark(mark: CycleMark): void {
  removeHandover(mark.key);
  running.delete(mark.key);
}
