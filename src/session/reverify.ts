import { listPassing } from '../checkpoint/run.js';
import { timeLimit } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { compareIds, compareText } from '../core/text.js';
import type { Feature } from '../feature/rules.js';
import { type FeatureResult, type VerificationRun, verifyFeatures } from '../feature/verify.js';
import { recentEvaluations } from '../learning/candidates.js';
import { readMemory } from '../ledger/memory.js';
import { type Context, readConfig } from '../project/project.js';
import { requireResumable } from './archive.js';
import { type SessionStartInput, sessionName } from './rules.js';
import { judgeRunning, readRunning } from './running.js';

export interface ReverifyWatch {
  /** A test is about to run; this many features are done. */
  onTest?(feature: string, command: string, done: number, total: number): void;
  /** Aborts the reruns. No session is started then. */
  signal?: AbortSignal;
  /** Called by an agent's start hook, which waits only a few seconds. */
  isHook?: boolean;
}

export interface Reverified {
  /** The runs, in the order in which they ended. */
  results: FeatureResult[];
  /** Features that passed until now. */
  regressed: string[];
  /** Unchanged features: the `time` was up, or the code of the refusal (`trust.needed`, …). */
  not_run: { id: string; code: string }[];
}

/** Part of the nine seconds of a start hook. */
const HOOK_SECONDS = 4;

/**
 * SES-11: reruns the tests of passing features, those verified longest ago first, so that each gets its turn. Results
 * are recorded as by `feature verify`. A test that hit the time limit has no result. Null if it does not apply.
 * The setting applies to new sessions, and nothing is run for a start that will be refused.
 */
export async function reverify(
  context: Context,
  count: number,
  asked: SessionStartInput,
  watch: ReverifyWatch,
): Promise<Reverified | null> {
  const { reverify_seconds, reverify_at_once, reverify_in_hooks } = readConfig(context).session;
  const state = foresee(context, asked);
  if (state === 'refused' || (asked.reverify === undefined && state !== 'started')) return null;
  const chosen = chooseOldest(context, count);
  if (watch.isHook && !reverify_in_hooks) {
    if (chosen.length > 0)
      context.warnings.push(
        `No feature was verified again: an agent waits for its hook. Run: forge start --reverify ${count}`,
      );
    return null;
  }
  const seconds = watch.isHook ? Math.min(HOOK_SECONDS, reverify_seconds) : reverify_seconds;
  const limit = timeLimit(seconds * 1000, watch.signal);
  const reverified = await runAll(context, chosen, reverify_at_once, limit.signal, watch).finally(
    limit.release,
  );
  warn(context, reverified, seconds);
  return reverified;
}

/** Predicts the start: fails here for a wrong id or a second agent. Other refusals come later. */
function foresee(
  context: Context,
  { resume, join, takeOver }: SessionStartInput,
): 'started' | 'running' | 'refused' {
  const running = readRunning(context);
  const own = ['latest', ...(running ? [running.id, sessionName(running.id)] : [])];
  if (resume !== undefined && !own.includes(resume)) requireResumable(context, resume);
  if (!running) return 'started';
  const { state } = judgeRunning(context, running, readConfig(context));
  if (state === 'same') return resume === undefined ? 'running' : 'started';
  if (state !== 'held' || takeOver) return 'started';
  return join ? 'running' : 'refused';
}

/** An overridden feature passes by a human's decision, not by a test run. */
function chooseOldest(context: Context, count: number): Feature[] {
  const again = lastRuns(context);
  const lastRun = ({ id, verified_at }: Feature): string =>
    [verified_at ?? '', again.get(id) ?? ''].sort(compareText)[1] as string;
  return listPassing(context)
    .filter(({ tests = [], override }) => tests.length > 0 && override === undefined)
    .sort((a, b) => compareText(lastRun(a), lastRun(b)) || compareIds(a.id, b.id))
    .slice(0, count);
}

/** By feature. A run that changes no status leaves the feature's own time as it is. */
function lastRuns(context: Context): Map<string, string> {
  const last = new Map<string, string>();
  for (const { record } of recentEvaluations(readMemory(context)))
    if (record.kind === 'verification')
      for (const { feature } of record.runs as VerificationRun[]) last.set(feature, String(record.at));
  return last;
}

/** Runs several concurrently. `signal`: the time is up, or a user aborted. Throws errors that no feature caused. */
async function runAll(
  context: Context,
  chosen: readonly Feature[],
  atOnce: number,
  signal: AbortSignal,
  watch: ReverifyWatch,
): Promise<Reverified> {
  const queue = [...chosen];
  const results: FeatureResult[] = [];
  const notRun: Reverified['not_run'] = [];
  let failure: unknown;
  const onStart = (feature: string, command: string): void =>
    watch.onTest?.(feature, command, results.length, chosen.length);
  const work = async (): Promise<void> => {
    while (!signal.aborted && failure === undefined) {
      const id = queue.shift()?.id;
      if (id === undefined) return;
      try {
        results.push(...(await verifyFeatures(context, { ids: [id] }, { onStart, signal })).results);
      } catch (error) {
        const { kind, code } = error instanceof ForgeError ? error : { kind: 'bug', code: '' };
        if (kind === 'interrupted') notRun.push({ id, code: 'time' });
        else if (kind === 'refused' || kind === 'usage') notRun.push({ id, code });
        else failure ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (watch.signal?.aborted)
    throw new ForgeError('interrupted', 'interrupted', 'Interrupted; no session was started.');
  if (failure !== undefined) throw failure;
  const regressed = results.filter(({ before, status, planned }) => !planned && before !== status);
  const late = queue.map(({ id }) => ({ id, code: 'time' }));
  return { results, regressed: regressed.map(({ id }) => id), not_run: [...notRun, ...late] };
}

/** One line per kind of result, with ids only, because an agent reads these lines outside the marked data. */
function warn({ warnings }: Context, { regressed, not_run }: Reverified, seconds: number): void {
  const [untrusted, late, others] = ['trust.needed', 'time', null].map((wanted) =>
    not_run
      .filter(({ code }) => (wanted === null ? !['trust.needed', 'time'].includes(code) : code === wanted))
      .map(({ id }) => id),
  ) as [string[], string[], string[]];
  const tell = (ids: readonly string[], text: string): unknown => ids.length > 0 && warnings.push(text);
  tell(
    regressed,
    `Regressed: ${named(regressed)} passed until now, and the tests fail. forge done ${regressed[0]}`,
  );
  tell(
    untrusted,
    `Not verified again, since the tests were not approved on this machine: ${named(untrusted)}. forge trust`,
  );
  tell(late, `Not verified again, the time was up (${seconds} s): ${named(late)}. They stay as they were.`);
  tell(others, `Not verified again: ${named(others)}. forge done ${others[0]}`);
}

const SHOWN = 5;
const named = (ids: readonly string[]): string =>
  `${ids.slice(0, SHOWN).join(', ')}${ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : ''}`;
