import type { HookFacts, WorkFacts } from '../domain/diagnosis-work.js';
import { ForgeError } from '../domain/error.js';
import type { Problem } from '../domain/symptom.js';
import { hookScript } from '../store/layout.js';
import { type Context, hasRecovery, readConfig } from './context.js';
import { hooksStatus } from './git-hooks.js';
import { describePause, mentionedPauses } from './pause.js';

/** What hinders work here. What cannot be read hinders nobody from asking. */
export async function lookAtWork(context: Context): Promise<WorkFacts> {
  const paused = await attempt(async () => mentionedPauses(context)[0]);
  const hooks = await attempt(() => lookAtHooks(context));
  return {
    paused: paused && !('message' in paused) ? describePause(paused) : null,
    recovering: hasRecovery(context),
    hooks: hooks ?? null,
  };
}

/** What git or the settings refuse is a finding of its own. */
async function attempt<T>(work: () => Promise<T>): Promise<T | Problem | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    return /^(git|config|file)\./.test(error.code) ? null : { message: error.message, hint: error.hint };
  }
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
