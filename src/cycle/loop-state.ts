import { statSync } from 'node:fs';
import * as z from 'zod/mini';
import { DAY, describeAge } from '../core/clock.js';
import { ProcessIdentity } from '../core/holder.js';
import { loopFile } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { firstNames, plural } from '../core/text.js';
import { nextTask } from '../feature/feature.js';
import type { Context } from '../project/project.js';

/** `<git dir>/forge/loop.json`: the running or last loop of this worktree. */
const LoopState = z.looseObject({
  schema_version: z.literal('1.0'),
  cycles: z.int().check(z.gte(0)),
  by_classification: z.record(z.string(), z.int()),
  /** How long the loop ran, without the pauses before a resume. */
  seconds: z.number().check(z.gte(0)),
  holder: z.optional(ProcessIdentity),
  /** Why it ended. Null while it runs. */
  reason: z.optional(z.nullable(z.string())),
});
export type LoopState = z.infer<typeof LoopState>;

const LOOP_STATE: Format<LoopState> = { name: 'loop', version: '1.0', schema: LoopState };

export const readLoop = ({ disk }: Context): LoopState | null =>
  disk.readDocument(LOOP_STATE, loopFile(disk.layout), null).value;

export const saveLoop = ({ disk }: Context, state: LoopState): void =>
  disk.withLock(() => disk.replace(loopFile(disk.layout), encodeDocument(state)));

/** `5 cycles (3 SUCCESS, 2 FAILURE)` */
export function countCycles(loop: Pick<LoopState, 'cycles' | 'by_classification'>): string {
  const counts = Object.entries(loop.by_classification).map(([name, count]) => `${count} ${name}`);
  return `${plural(loop.cycles, 'cycle')}${counts.length > 0 ? ` (${counts.join(', ')})` : ''}`;
}

/** What does not pass yet, and why nothing can be done about it. */
export function describeLeft(context: Context): string {
  const left = nextTask(context).candidates.map(({ id, blocked_by, reason }) =>
    blocked_by.length > 0 ? `${id} (${reason})` : id,
  );
  return left.length === 0 ? '' : `; not passing yet: ${firstNames(left, 5)}`;
}

/** What the last day's loop came to, in one line: whether it runs, was killed, or why it ended. */
export function describeLoop(context: Context): string | null {
  const state = readLoop(context);
  const written = statSync(loopFile(context.layout), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const now = context.world.now();
  if (!state?.holder || state.cycles === 0 || now.getTime() - written > DAY) return null;
  const counts = countCycles(state);
  if (state.reason)
    return `${counts}, ended ${describeAge(new Date(written).toISOString(), now) ?? 'just now'}: ${state.reason}${describeLeft(context)}`;
  return context.world.liveness(state.holder) === 'gone'
    ? `killed after ${counts}: forge loop --resume -- COMMAND`
    : `running, ${counts} so far`;
}
