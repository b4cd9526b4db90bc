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
import { sessionName } from './rules.js';
import { judgeRunning, readRunning } from './running.js';

export interface ReverifyWatch {
  /** A test is about to run; so many of the features are through. */
  onTest?(feature: string, command: string, done: number, total: number): void;
  /** Ends it: no session is started then. */
  signal?: AbortSignal;
  /** An agent's start hook asks, and waits for a few seconds only. */
  isHook?: boolean;
}

export interface Reverified {
  /** What was run, in the order in which it ended. */
  results: FeatureResult[];
  /** Those that passed until now. */
  regressed: string[];
  /** Left as they were: `time` was up, or the code of what kept them from being run (`trust.needed`, …). */
  not_run: { id: string; code: string }[];
}

/** Of the nine seconds that a start hook has. */
const HOOK_SECONDS = 4;

/** What a session start was asked. */
export interface Asked {
  resume?: string | undefined;
  join?: boolean | undefined;
  takeOver?: boolean | undefined;
  reverify?: number | undefined;
}

/**
 * SES-11: runs the tests of passing features again, those verified longest ago first, so that each has its turn. What
 * they show is recorded as `feature verify` does it; a test that the time limit cut off shows nothing. Null: not here.
 * The setting counts where a session begins, and nothing is run for a start that will be refused.
 */
export async function reverify(
  context: Context,
  count: number,
  asked: Asked,
  watch: ReverifyWatch,
): Promise<Reverified | null> {
  const { reverify_seconds, reverify_at_once, reverify_in_hooks } = readConfig(context).session;
  const state = foresee(context, asked);
  if (state === 'refused' || (asked.reverify === undefined && state !== 'started')) return null;
  const chosen = chooseOldest(context, count);
  if (watch.isHook && !reverify_in_hooks) {
    if (chosen.length > 0)
      context.warnings.push(
        `No feature was verified again: an agent waits for its hook. Run: forge session start --reverify ${count}`,
      );
    return null;
  }
  const seconds = watch.isHook ? Math.min(HOOK_SECONDS, reverify_seconds) : reverify_seconds;
  const limit = timeLimit(seconds * 1000, watch.signal);
  const round = new Round(context, chosen, limit.signal, watch);
  await Promise.all(Array.from({ length: reverify_at_once }, () => round.work())).finally(limit.release);
  const reverified = round.end();
  warn(context, reverified, seconds);
  return reverified;
}

/** What the start will come to: a wrong id is found here, and who comes second. Other refusals come later. */
function foresee(context: Context, { resume, join, takeOver }: Asked): 'started' | 'running' | 'refused' {
  const running = readRunning(context);
  const own = ['latest', ...(running ? [running.id, sessionName(running.id)] : [])];
  if (resume !== undefined && !own.includes(resume)) requireResumable(context, resume);
  if (!running) return 'started';
  const { state } = judgeRunning(context, running, readConfig(context));
  if (state === 'same') return resume === undefined ? 'running' : 'started';
  if (state !== 'held' || takeOver) return 'started';
  return join ? 'running' : 'refused';
}

/** A human's word stands for an overridden feature, not a test run. */
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

/** Features that are run by several at once, each takes the next. */
class Round {
  private readonly results: FeatureResult[] = [];
  private readonly notRun: Reverified['not_run'] = [];
  private readonly queue: Feature[];
  private failure: unknown;

  constructor(
    private readonly context: Context,
    private readonly chosen: readonly Feature[],
    /** The time is up, or somebody has ended it. */
    private readonly signal: AbortSignal,
    private readonly watch: ReverifyWatch,
  ) {
    this.queue = [...chosen];
  }

  async work(): Promise<void> {
    while (!this.signal.aborted && this.failure === undefined) {
      const feature = this.queue.shift();
      if (!feature) return;
      await this.run(feature);
    }
  }

  private async run({ id }: Feature): Promise<void> {
    const onStart = (feature: string, command: string): void =>
      this.watch.onTest?.(feature, command, this.results.length, this.chosen.length);
    try {
      const { results } = await verifyFeatures(this.context, { ids: [id] }, { onStart, signal: this.signal });
      this.results.push(...results);
    } catch (error) {
      const kind = error instanceof ForgeError ? error.kind : 'bug';
      if (kind === 'interrupted') this.notRun.push({ id, code: 'time' });
      else if (kind === 'refused' || kind === 'usage')
        this.notRun.push({ id, code: (error as ForgeError).code });
      else this.failure ??= error;
    }
  }

  /** Throws what is no feature's fault. */
  end(): Reverified {
    if (this.watch.signal?.aborted)
      throw new ForgeError('interrupted', 'interrupted', 'Interrupted; no session was started.');
    if (this.failure !== undefined) throw this.failure;
    const { results } = this;
    const regressed = results.filter(({ before, status, planned }) => !planned && before !== status);
    const late = this.queue.map(({ id }) => ({ id, code: 'time' }));
    return { results, regressed: regressed.map(({ id }) => id), not_run: [...this.notRun, ...late] };
  }
}

/** One line for each kind of news. Ids alone: an agent reads these lines outside of what is marked as data. */
function warn({ warnings }: Context, { regressed, not_run }: Reverified, seconds: number): void {
  if (regressed.length > 0)
    warnings.push(
      `Regressed: ${named(regressed)} passed until now, and the tests fail. forge feature verify ${regressed[0]}`,
    );
  const left = (wanted: (code: string) => boolean): string[] =>
    not_run.filter(({ code }) => wanted(code)).map(({ id }) => id);
  const [untrusted, late] = [left((code) => code === 'trust.needed'), left((code) => code === 'time')];
  const others = left((code) => code !== 'trust.needed' && code !== 'time');
  if (untrusted.length > 0)
    warnings.push(
      `Not verified again, since the tests were not approved on this machine: ${named(untrusted)}. forge trust`,
    );
  if (late.length > 0)
    warnings.push(
      `Not verified again, the time was up (${seconds} s): ${named(late)}. They stay as they were.`,
    );
  if (others.length > 0)
    warnings.push(`Not verified again: ${named(others)}. forge feature verify ${others[0]}`);
}

const SHOWN = 5;
const named = (ids: readonly string[]): string =>
  `${ids.slice(0, SHOWN).join(', ')}${ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : ''}`;
