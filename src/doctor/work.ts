import { hookScript } from '../core/paths.js';
import { hooksStatus } from '../hooks/install.js';
import { describeWaiting, readWaiting } from '../ledger/audit.js';
import { type Context, hasRecovery, readConfig } from '../project/project.js';
import { attempt, valueOr } from './attempt.js';
import type { HookFacts, WorkFacts } from './work-rules.js';

/** What git, the settings or the disk refuse is a finding of its own. */
const TOLD = /^(git|config|file|disk)\./;

/** What hinders work here. What cannot be read hinders nobody from asking. */
export async function lookAtWork(context: Context): Promise<WorkFacts> {
  const paused = await valueOr(undefined, () => readWaiting(context)[0]);
  const hooks = await attempt(() => lookAtHooks(context));
  return {
    paused: paused ? describeWaiting(paused) : null,
    recovering: await valueOr(false, () => hasRecovery(context)),
    hooks: 'value' in hooks ? hooks.value : TOLD.test(hooks.problem.code) ? null : hooks.problem,
  };
}

async function lookAtHooks(context: Context): Promise<HookFacts | null> {
  const { git, layout } = context;
  if (!git || readConfig(context).commit.enforce === 'off') return null;
  const { hooks, gone, beside } = await hooksStatus(context);
  const script = hookScript(layout);
  const absent = hooks.filter(({ state }) => state === 'absent' || state === 'refused');
  return {
    absent: absent.map(({ name, why }) => ({ name, why })),
    isAny: absent.length < hooks.length,
    // One that cannot be read says as little as none.
    hasScript: context.disk.exists(script) && !gone.includes(script),
    gone: gone.filter((path) => path !== script),
    twice: beside.filter(({ runs_forge }) => runs_forge),
  };
}
