import { listPassing } from '../checkpoint/run.js';
import { timeLimit } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { compareIds, compareText } from '../core/text.js';
import type { Feature } from '../feature/rules.js';
import { type FeatureResult, type VerificationRun, verifyFeatures } from '../feature/verify.js';
import { recentEvaluations } from '../learning/knowledge.js';
import { readMemory } from '../ledger/memory.js';
import { type Context, readConfig } from '../project/project.js';
import { foreseeStart } from './open.js';
import type { SessionStartInput } from './rules.js';

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
  const settings = readConfig(context).session;
  const state = foreseeStart(context, asked);
  if (state === 'held' || (asked.reverify === undefined && state !== 'started')) return null;
  const chosen = chooseOldest(context, count);
  if (watch.isHook && !settings.reverify_in_hooks) {
    if (chosen.length > 0)
      context.warnings.push(
        `No feature was verified again: an agent waits for its hook. Run: forge start --reverify ${count}`,
      );
    return null;
  }
  const { reverify_seconds: most, reverify_at_once: atOnce } = settings;
  const seconds = watch.isHook ? Math.min(HOOK_SECONDS, most) : most;
  const limit = timeLimit(seconds * 1000, watch.signal);
  const reverified = await runAll(context, chosen, atOnce, limit.signal, watch).finally(limit.release);
  warn(context, reverified, seconds);
  return reverified;
}

/** An overridden feature passes by a human's decision, not by a test run. */
function chooseOldest(context: Context, count: number): Feature[] {
  const passing = listPassing(context).filter(
    ({ tests = [], override }) => tests.length > 0 && override === undefined,
  );
  if (passing.length <= count) return passing;
  // A run that changes no status leaves the feature's own time as it is.
  const again = new Map<string, string>();
  for (const { record } of recentEvaluations(readMemory(context)))
    if (record.kind === 'verification')
      for (const { feature } of record.runs as VerificationRun[]) again.set(feature, String(record.at));
  const lastRun = ({ id, verified_at }: Feature): string =>
    [verified_at ?? '', again.get(id) ?? ''].sort(compareText)[1] as string;
  return passing
    .sort((a, b) => compareText(lastRun(a), lastRun(b)) || compareIds(a.id, b.id))
    .slice(0, count);
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
  const onStart = (feature: string, command: string): void =>
    watch.onTest?.(feature, command, results.length, chosen.length);
  const work = async (): Promise<void> => {
    for (let id = queue.shift()?.id; id !== undefined; id = queue.shift()?.id) {
      if (signal.aborted) notRun.push({ id, code: 'time' });
      else
        try {
          results.push(...(await verifyFeatures(context, { ids: [id] }, { onStart, signal })).results);
        } catch (error) {
          const { kind, code } = error instanceof ForgeError ? error : { kind: 'bug', code: '' };
          if (kind === 'interrupted') notRun.push({ id, code: 'time' });
          else if (kind === 'refused' || kind === 'usage') notRun.push({ id, code });
          else throw error;
        }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: atOnce }, work));
  if (watch.signal?.aborted)
    throw new ForgeError('interrupted', 'interrupted', 'Interrupted; no session was started.');
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  const regressed = results.filter(({ before, status, planned }) => !planned && before !== status);
  return { results, regressed: regressed.map(({ id }) => id), not_run: notRun };
}

const SHOWN = 5;

/** One line per kind of result, with ids only, because an agent reads these lines outside the marked data. */
function warn({ warnings }: Context, { regressed, not_run }: Reverified, seconds: number): void {
  const idsOf = (isMeant: (code: string) => boolean): string[] =>
    not_run.filter(({ code }) => isMeant(code)).map(({ id }) => id);
  const others = idsOf((code) => code !== 'time' && code !== 'trust.needed');
  const untrusted = 'Not verified again, since the tests were not approved on this machine';
  const rows: [what: string, ids: string[], then: string][] = [
    ['Regressed', regressed, ` passed until now, and the tests fail. forge done ${regressed[0]}`],
    [untrusted, idsOf((code) => code === 'trust.needed'), '. forge trust'],
    [
      `Not verified again, the time was up (${seconds} s)`,
      idsOf((code) => code === 'time'),
      '. They stay as they were.',
    ],
    ['Not verified again', others, `. forge done ${others[0]}`],
  ];
  for (const [what, ids, then] of rows) {
    const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : '';
    if (ids.length > 0) warnings.push(`${what}: ${ids.slice(0, SHOWN).join(', ')}${more}${then}`);
  }
}
