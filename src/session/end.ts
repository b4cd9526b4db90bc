import * as z from 'zod/mini';
import { guardCommit, linkCommits } from '../commit/own-commit.js';
import { keepGitState } from '../commit/recent.js';
import { splitCommand } from '../core/argv.js';
import { isWritable, SANDBOX_HINT } from '../core/files.js';
import { archiveFile, shown } from '../core/paths.js';
import { checkInput } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { usesClaims } from '../events/local-claims.js';
import { hasUnsent, queueEvent } from '../events/outbox.js';
import { readFeatures } from '../feature/store.js';
import { taskLine } from '../feature/tasks.js';
import type { VerificationRun } from '../feature/verify.js';
import { readBranch } from '../git/repository.js';
import { readKfr } from '../kfr/kfr.js';
import { requireResolved } from '../kfr/rules.js';
import { keepLearnings, listKnowledge, refreshViews } from '../knowledge/knowledge.js';
import { ANY_TASK, MAX_CANDIDATES, MAX_LESSON, type NewLearning } from '../knowledge/rules.js';
import { boundEvidence, boundTexts, type CycleInput, type Evidence } from '../learning/evaluation.js';
import { resolveCandidates } from '../learning/knowledge.js';
import { recordCycle } from '../learning/record.js';
import { endKey } from '../learning/rules.js';
import { describeNote, problemsOf, requireVerified, verifyAndRepair } from '../ledger/integrity.js';
import { type LedgerRecord, readMemory } from '../ledger/memory.js';
import { putBackDeleted } from '../ledger/repair.js';
import { rebuildViews } from '../ledger/view.js';
import { type Context, isBuilding, observerOf, orWarn, readConfig, timestamp } from '../project/project.js';
import { readLearned } from './briefing.js';
import { commitSession } from './commit.js';
import { readTree } from './record.js';
import { addEntry, type Focus, isAbout, OPENING, type RunningSession, setNext } from './rules.js';
import { isOursToSettle, requireRunning, sessionHeld, showFocus } from './running.js';
import { replacedSteps } from './sessions.js';
import {
  clearShortTerm,
  displayId,
  finishSession,
  hasWork,
  readProgress,
  readProgressText,
} from './store.js';

export const SessionEndInput = z.strictObject({
  learned: z.optional(z.array(z.string())),
  /** Ids of candidates that were seen again. */
  confirm: z.optional(z.array(z.string())),
  failed: z.optional(z.array(z.string())),
  next: z.optional(z.string()),
  commit: z.optional(z.boolean()),
});
export type SessionEndInput = z.infer<typeof SessionEndInput>;

export type EndedSession = Awaited<ReturnType<typeof endSession>>;

async function warnDetached({ repository, git, warnings }: Context, outcome: object): Promise<void> {
  if (!('hash' in outcome) || !repository || !git || (await readBranch(repository, git)) !== null) return;
  warnings.push(
    `HEAD is detached, so no branch has this commit. To keep it: git branch NAME ${outcome.hash}`,
  );
}

/** SES-06: archives the session under its id, stores its learnings, and commits only `.forge/`. */
export async function endSession(context: Context, raw: SessionEndInput = {}) {
  const input = checkInput(SessionEndInput, raw);
  const { learned = [], failed = [], confirm = [] } = input;
  const learnings = [...learned, ...failed];
  const observe = learnings.length + confirm.length > 0 ? observerOf(context, 'knowledge') : null;
  for (const text of learnings) checkText(text, { what: 'What was learned', maxBytes: MAX_LESSON });
  if (input.next !== undefined) checkText(input.next, { what: 'The NEXT text' });
  const isWanted = input.commit ?? readConfig(context).session.commit;
  if (isWanted) await warnOnGitFailure(context, () => putBackDeleted(context));
  const before = await warnOnGitFailure(context, () => requireVerified(context, { isEnd: true }));
  // Damage must be found now, or the session would end without storing its learnings.
  if (learnings.length > 0) listKnowledge(context);
  await warnOnGitFailure(context, () => guardCommit(context));
  const replaced = (await warnOnGitFailure(context, () => replacedSteps(context, input.next))) ?? [];
  const { running, focus, kfr, progress, closed } = context.disk.withLock(() => {
    const running = requireRunning(context);
    // SES-09: an agent does not end a session that another agent works in. A person at a terminal may.
    if (!context.world.terminal && !isOursToSettle(context, running)) {
      const join = 'forge start --join   # work in it too, then end it';
      // A sandbox hides the agent's process.
      throw sessionHeld(context, running, isWritable(context.layout.state) ? join : SANDBOX_HINT);
    }
    const kfr = readKfr(context);
    requireResolved(kfr, 'The session cannot end');
    refreshViews(context);
    const focus = showFocus(context);
    const progress = readProgress(context);
    const closed = closeSession(
      context,
      { ...running, after: replaced },
      observe ? { next: input.next } : input,
    );
    return { running, focus, kfr, progress, closed };
  });
  const next = input.next ?? progress.next ?? null;
  await linkCommits(context);
  const done = progress.lines.map(({ text }) => text).filter((text) => !OPENING.test(text));
  const { about, ended_at, ...kept } = closed;
  const task = about === ANY_TASK ? focus.task : about;
  const lessons = [...learned, ...failed.map((text) => `This failed: ${text}`)];
  const work = { running, focus: { ...focus, task }, done, learned: observe ? [] : lessons };
  const tree = await warnOnGitFailure(context, () => readTree(context));
  const outcome = isWanted ? await commitSession(context, work) : { skipped: 'not asked for' };
  await warnDetached(context, outcome);
  await keepGitState(context);
  // Committed records leave the journal, and the next start finds everything verified.
  const after = before && (await warnOnGitFailure(context, () => verifyAndRepair(context)));
  if (after) {
    rebuildViews(context, after.snapshot.listed);
    context.warnings.push(...problemsOf(after).map(describeNote));
  }
  const linear = await commentOnIssue(context, work, next);
  if (usesClaims(context)) await (await import('../events/claim-work.js')).releaseOthers(context);
  const events = hasUnsent(context) ? await (await import('../events/publish.js')).sendUnsent(context) : [];
  const archive = archiveFile(context.layout, running.id);
  return {
    session: { id: displayId(context, running.id), ended_at },
    archive: context.disk.exists(archive) || context.disk.dryRun ? shown(context.layout, archive) : null,
    next,
    /** The learnings, and the session as a cycle if something was verified or learned. */
    ...kept,
    ...observe?.(learnings, confirm),
    candidates: readLearned(context).candidates.slice(0, MAX_CANDIDATES),
    /** What was not promoted (KFR-14). */
    expired: kfr.entries,
    ...(tree && tree.count > 0 ? { uncommitted: tree.count } : {}),
    ...('hash' in outcome ? { commit: outcome } : {}),
    /** Why there is no commit. */
    ...('skipped' in outcome ? { commit_skipped: outcome.skipped } : {}),
    linear,
    events,
    warnings: context.warnings,
  };
}

/** LIN-03: the issue in focus gets the session's log as a comment. */
async function commentOnIssue(
  context: Context,
  { running, focus, done }: { running: RunningSession; focus: Focus; done: string[] },
  next: string | null,
) {
  if (focus.linear_issue === null) return [];
  const { reportSession } = await import('../linear/sync.js');
  const report = { issue: focus.linear_issue, session: running.id, done, next };
  return (await orWarn(context, 'Linear', () => reportSession(context, report))) ?? [];
}

/** A git failure does not block the session's end. */
const warnOnGitFailure = <T>(context: Context, work: () => Promise<T>): Promise<T | null> =>
  orWarn(context, 'Memory was not verified', work, ({ code }) => code.startsWith('git.'));

/**
 * Records the session as a cycle, stores its learnings, archives and clears it. The caller holds the lock. Each step can
 * be repeated: after a crash the session still runs, and the next end finds what this one stored.
 */
function closeSession(
  context: Context,
  running: RunningSession,
  { learned: approaches = [], failed = [], confirm = [], next }: SessionEndInput = {},
) {
  const at = timestamp(context);
  const focus = showFocus(context);
  const planned = planCycle(context, running, focus, { learned: approaches, failed, confirm }, at);
  const cycle = planned && {
    ...recordCycle(context, planned),
    classification: planned.classification ?? null,
    ...(planned.regression_flags && { regression_flags: planned.regression_flags }),
  };
  const about = subjectOf(context, focus, planned);
  const entries: NewLearning[] = [
    ...approaches.map((approach) => ({ kind: 'success' as const, context: about, approach })),
    ...failed.map((issue) => ({ kind: 'failure' as const, context: about, issue, resolution: '' })),
  ];
  const learned = keepLearnings(context, entries, at).map(({ learning }) => learning);
  const news = { task: about === ANY_TASK ? null : about, next: next ?? null, learned: learned.length };
  queueEvent(context, 'session_end', running.id, news, running.id);
  // SES-14: an empty session has no archive.
  if (!hasWork(context) && learned.length === 0 && next === undefined && !planned) clearShortTerm(context);
  else {
    const log = addEntry(readProgressText(context), new Date(at), 'Session ending');
    finishSession(context, running, {
      status: 'ended',
      ended_at: at,
      learned: learned.map(({ id }) => id),
      progress: (next === undefined ? log : setNext(log, next)).split('\n'),
      ...(next === undefined ? {} : { next }),
    });
  }
  return { ended_at: at, learned, about, ...(cycle ? { cycle } : {}) };
}

/** The session's task: the feature that it verified instead of the one in focus, as in its cycle. */
function subjectOf(context: Context, { task }: Focus, planned: CycleInput | null): string {
  const feature = planned && readFeatures(context).find(({ id }) => id === planned.task_id);
  return feature ? taskLine({ id: feature.id, title: feature.name }) : (task ?? ANY_TASK);
}

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
    idempotency_key: endKey(running.id),
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
