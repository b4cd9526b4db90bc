import { refused } from '../core/error.js';
import { runProcess } from '../core/process.js';
import { type Context, timestamp } from '../project/project.js';
import { type LoopState, resumed } from './loop-rules.js';
import type { CycleResult } from './report-rules.js';
import type { CycleWatch } from './stage.js';
import { readLoop, writeLoop } from './state.js';

/** Takes this worktree for a loop; exit 3 `loop.held` names who has it. */
export function beginLoop(context: Context, resume: boolean, max_failures: number): LoopState {
  const { disk, world } = context;
  const me = world.self();
  return disk.withLock(() => {
    const before = readLoop(disk);
    const alive =
      before?.running && before.holder.pid !== me.pid && world.liveness(before.holder) === 'alive';
    if (before && alive)
      throw refused('loop.held', `A loop is under way here: process ${before.holder.pid}; nothing was run.`, {
        hint: `wait for it, or end it: kill ${before.holder.pid}`,
      });
    if (resume && !before)
      context.warnings.push('There is no loop to resume; this one counts from the start.');
    const state: LoopState =
      resume && before
        ? resumed(before, me, world.now().getTime(), max_failures)
        : {
            schema_version: '1.0',
            holder: me,
            started_at: timestamp(context),
            cycles: 0,
            failures: 0,
            by_classification: {},
            running: true,
            in_cycle: false,
          };
    saveLoop(context, state);
    return state;
  });
}

export const saveLoop = (context: Context, state: LoopState): void =>
  writeLoop(context.disk, { ...state, updated_at: timestamp(context) });

const HOOK_TIMEOUT_MS = 60_000;

/** What the cost hook says of a cycle: its exit code decides. Typed by who started the loop, it has their surroundings. */
export async function costHookAgrees(
  context: Context,
  argv: readonly string[],
  result: CycleResult,
  watch: CycleWatch,
): Promise<boolean> {
  const env = Object.entries(context.world.env).filter(([, value]) => value !== undefined);
  const run = await runProcess(argv, {
    cwd: context.layout.root,
    env: Object.fromEntries(env) as Record<string, string>,
    input: `${JSON.stringify(result)}\n`,
    timeoutMs: HOOK_TIMEOUT_MS,
    onOutput: watch.onOutput?.bind(watch),
    stop: watch.stop,
  });
  if (run.ended !== undefined) context.warnings.push(`The cost hook ${argv[0]}: ${run.ended}.`);
  return run.exit_code === 0;
}
