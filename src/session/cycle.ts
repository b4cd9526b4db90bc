import { splitCommand } from '../core/argv.js';
import { readFeatures } from '../feature/store.js';
import type { VerificationRun } from '../feature/verify.js';
import { boundEvidence, boundTexts, type CycleInput, type Evidence } from '../learning/evaluation.js';
import { resolveCandidates } from '../learning/knowledge.js';
import { type LedgerRecord, readMemory } from '../ledger/memory.js';
import { type Context, isBuilding } from '../project/project.js';
import { type Focus, isAbout } from './focus-rules.js';
import type { RunningSession } from './rules.js';

/** Longer texts are kept as learnings only. */
const MAX_PATTERN = 1000;
const MAX_PATTERNS = 100;

/**
 * SES-06: the session as one cycle; null if nothing was verified or learned. Without a verified feature there is no
 * verdict, and the learnings wait as candidates. `confirm`: ids of candidates.
 */
export function planCycle(
  context: Context,
  running: RunningSession,
  focus: Focus,
  { learned, failed, confirm }: Record<'learned' | 'failed' | 'confirm', readonly string[]>,
  at: string,
): CycleInput | null {
  const confirmed = resolveCandidates(context, confirm);
  // A builder's work is judged by its cycle.
  if (isBuilding(context)) return null;
  // Records of a session are in its own files, or in copies made by repair and redaction.
  const isOwn = ({ name }: { name: string }): boolean =>
    name.startsWith(`${running.id}-`) || /^(?:put|red)-/.test(name);
  const verdict = judgeSession(readMemory(context).records('evaluation', isOwn), running.id);
  if (verdict === null && confirmed.length + learned.length + failed.length === 0) return null;
  const own = learned.filter((text) => text.length <= MAX_PATTERN);
  const patterns = [...own.map((pattern) => ({ pattern, scope: 'execution' as const })), ...confirmed];
  return {
    task_id: taskOf(context, running, focus, verdict),
    exit_code: verdict?.classification === 'FAILURE' ? 1 : 0,
    started_at: running.started_at,
    finished_at: at,
    ...verdict,
    ...(patterns.length > 0 ? { patterns: patterns.slice(0, MAX_PATTERNS) } : {}),
    // Only digits and hyphens, so the guard does not take it for a secret, though the field is named a key.
    idempotency_key: running.id.replace('session-', ''),
  };
}

/**
 * The feature in focus, or the one that was verified instead: a verdict is about what ran. Else the issue, or the task
 * as text.
 */
function taskOf(context: Context, { goal }: RunningSession, focus: Focus, verdict: Verdict | null): string {
  const feature = readFeatures(context).find(({ id }) => isAbout(focus, id))?.id;
  const verified = (verdict?.evidence ?? []).map((evidence) => evidence.feature);
  if (feature !== undefined && !verified.includes(feature)) return verified[0] ?? feature;
  return feature ?? focus.linear_issue ?? focus.task ?? goal ?? 'none';
}

type Verdict = Required<Pick<CycleInput, 'classification' | 'environment_valid' | 'quality_signals'>> &
  Pick<CycleInput, 'regression_flags' | 'evidence' | 'evidence_left_out'>;

/** From the last verification of each feature. Null if no test has a result. */
export function judgeSession(records: readonly { record: LedgerRecord }[], session: string): Verdict | null {
  const own = records.filter(({ record }) => record.session === session).map(({ record }) => record);
  const last = new Map<string, VerificationRun>();
  for (const { kind, runs } of own)
    if (kind === 'verification') for (const run of runs as VerificationRun[]) last.set(run.feature, run);
  const started = [...last.values()].filter(({ not_run }) => not_run === undefined);
  // Tests that were never seen to fail prove nothing (FEA-05).
  const ran = started.filter(({ exit_code, status }) => exit_code !== 0 || status === 'passing');
  if (ran.length === 0) return null;
  const passing = ran.filter(({ exit_code }) => exit_code === 0).length;
  const failing = new Set(ran.filter(({ exit_code }) => exit_code !== 0).map(({ feature }) => feature));
  const regressed = own
    .filter(({ kind, feature }) => kind === 'regression' && failing.has(String(feature)))
    .map(({ feature }) => String(feature));
  const isFailure = regressed.length > 0 || passing === 0;
  return {
    classification: isFailure ? 'FAILURE' : passing === ran.length ? 'SUCCESS' : 'PARTIAL_SUCCESS',
    environment_valid: started.length === last.size,
    quality_signals: { features_verified: ran.length, features_passing: passing },
    ...(regressed.length > 0 ? { regression_flags: boundTexts([...new Set(regressed)]) } : {}),
    ...boundEvidence(ran.map(toEvidence)),
  };
}

const toEvidence = (run: VerificationRun): Evidence => {
  const { feature, exit_code, duration_ms, output_bytes, output_sha256 } = run;
  const argv = splitCommand(run.command);
  return { feature, argv, exit_code, duration_ms, tree: null, output_bytes, output_sha256 };
};
