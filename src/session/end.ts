import * as z from 'zod/mini';
import { keepGitState, readGitState } from '../commit/git-state.js';
import { guardCommit } from '../commit/guard.js';
import { linkCommits } from '../commit/issue-commits.js';
import { ForgeError, refused } from '../core/error.js';
import { isWritable, SANDBOX_HINT } from '../core/files.js';
import { archiveFile, intentFile, shown } from '../core/paths.js';
import { checkInput, encodeDocument, type Format } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { eventUrl, hasUnsent, queueEvent } from '../events/outbox.js';
import type { ReportedEvent } from '../events/publish.js';
import { readKfr } from '../kfr/kfr.js';
import { type Entry, openEntries, requireResolved } from '../kfr/rules.js';
import { keepLearnings, listKnowledge, refreshViews } from '../knowledge/knowledge.js';
import type { Learning, NewLearning } from '../knowledge/rules.js';
import type { PatternCandidate } from '../learning/candidates.js';
import { type Classification, CycleInput } from '../learning/evaluation.js';
import { type RecordedCycle, recordCycle } from '../learning/record.js';
import { requireVerified, verifyAndRepair } from '../ledger/integrity.js';
import { describeEdited, rebuildViews } from '../ledger/view.js';
import type { Config } from '../project/config.js';
import { observerOf } from '../project/observe.js';
import { type Context, readConfig, timestamp } from '../project/project.js';
import { clearShortTerm, displayId, isWorth, shortTerm, writeArchive } from './archive.js';
import { readLearned } from './briefing.js';
import { commitSession } from './commit.js';
import { planCycle } from './cycle.js';
import { showFocus } from './focus.js';
import type { Focus } from './focus-rules.js';
import { readProgressText } from './progress.js';
import { addEntry, OPENING, type ProgressLine, parseProgress, setNext } from './progress-rules.js';
import { readTree } from './record.js';
import { type RunningSession, sessionName, toArchive } from './rules.js';
import { isOursToSettle, judgeRunning, readRunning, requireRunning } from './running.js';

export const SessionEndInput = z.strictObject({
  learned: z.optional(z.array(z.string())),
  /** Ids of candidates that were seen again. */
  confirm: z.optional(z.array(z.string())),
  failed: z.optional(z.array(z.string())),
  next: z.optional(z.string()),
  commit: z.optional(z.boolean()),
});
export type SessionEndInput = z.infer<typeof SessionEndInput>;

/** The intent of a session end. It has everything needed, so completing it twice changes nothing. */
const EndIntent = z.looseObject({
  schema_version: z.string(),
  op: z.literal('session.end'),
  id: z.string(),
  at: z.string(),
  learned: z.array(z.string()),
  failed: z.array(z.string()),
  next: z.nullable(z.string()),
  task: z.nullable(z.string()),
  /** The session as a cycle. Absent if it has nothing to record. */
  cycle: z.optional(CycleInput),
});
type EndIntent = z.infer<typeof EndIntent>;
const INTENT: Format<EndIntent> = { name: 'intent', version: '1.0', schema: EndIntent };

export interface EndedSession {
  session: { id: string; ended_at: string };
  /** The session's archive. Null if nothing happened in it. */
  archive: string | null;
  /** The NEXT line for the next session. */
  next: string | null;
  learned: Learning[];
  /** The session as a cycle of long-term memory. Absent if nothing was verified or learned. */
  cycle?: RecordedCycle & { classification: Classification | null };
  /** Open candidates, at most five: `--confirm` counts one again. */
  candidates: PatternCandidate[];
  /** What a builder learned: its cycle decides. */
  observed?: string[];
  /** KFR entries that were not promoted and expired with the session (KFR-14). */
  expired: Entry[];
  /** `unsigned`: why it has no signature although `[git] sign` is set. */
  commit?: { hash: string; short: string; subject: string; unsigned?: string };
  /** Why there is no commit. */
  commit_skipped?: string;
  /** The comment on the issue in focus, in Linear. `sent` is false while it waits for the next `linear sync`. */
  linear: { issue: string; sent: boolean }[];
  /** What was reported to the event server; none while events are off. */
  events: ReportedEvent[];
  /** The number of uncommitted files outside `.forge/`. */
  uncommitted?: number;
  warnings: string[];
}

/** SES-06: archives the session under its id, stores its learnings, and commits only `.forge/`. */
export async function endSession(context: Context, raw: SessionEndInput = {}): Promise<EndedSession> {
  const input = checkInput(SessionEndInput, raw);
  const learnings = [...(input.learned ?? []), ...(input.failed ?? [])];
  const { confirm = [] } = input;
  const observe = learnings.length + confirm.length > 0 ? observerOf(context, 'knowledge') : null;
  for (const text of learnings) checkText(text, { what: 'What was learned' });
  if (input.next !== undefined) checkText(input.next, { what: 'The NEXT text' });
  const config = readConfig(context);
  const verified = await warnOnGitFailure(context, () => requireVerified(context));
  const isVerified = verified !== null;
  // Damage must be found now, or the session would end without storing its learnings.
  if (learnings.length > 0) listKnowledge(context);
  await warnOnGitFailure(context, () => guardCommit(context));
  const { running, focus, intent, done, expired, next, lines } = context.disk.withLock(() => {
    finishIntent(context);
    const session = requireRunning(context);
    refuseHeld(context, session, config);
    const kfr = readKfr(context);
    requireResolved(kfr, 'The session cannot end');
    const present = showFocus(context);
    const { next: said, lines } = parseProgress(readProgressText(context));
    const plan = planEnd(context, session, observe ? { next: input.next } : input, present);
    refreshOrWarn(context);
    context.disk.replace(intentFile(context.layout), encodeDocument(plan));
    const ended = completeEnd(context, plan);
    return {
      running: session,
      focus: present,
      intent: plan,
      done: ended,
      expired: kfr.entries,
      next: plan.next ?? said ?? null,
      lines,
    };
  });
  await linkCommits(context);
  const wanted = input.commit ?? config.session.commit;
  const work = { running, focus, learned: [...intent.learned, ...intent.failed] };
  const outcome = wanted ? await commitSession(context, work) : { skipped: 'not asked for' };
  const gitState = readGitState(context);
  await keepGitState(context, gitState);
  // Committed records leave the journal, and the next start finds everything verified.
  const after = isVerified ? await warnOnGitFailure(context, () => verifyAndRepair(context)) : null;
  if (after) context.warnings.push(...rebuildViews(context, after.snapshot.listed).map(describeEdited));
  const linear = await commentOnIssue(context, running, focus, { lines, next });
  if (eventUrl(context) !== null) await (await import('../events/claim-work.js')).releaseOthers(context);
  const events = hasUnsent(context) ? await (await import('../events/publish.js')).sendUnsent(context) : [];
  const archive = archiveFile(context.layout, running.id);
  const tree = await warnOnGitFailure(context, () => readTree(context));
  return {
    session: { id: displayId(context, running.id), ended_at: intent.at },
    archive: context.disk.exists(archive) || context.disk.dryRun ? shown(context.layout, archive) : null,
    next,
    ...done,
    ...observe?.(learnings, confirm),
    candidates: readLearned(context).candidates,
    expired,
    ...(tree && tree.count > 0 ? { uncommitted: tree.count } : {}),
    ...('skipped' in outcome ? { commit_skipped: outcome.skipped } : { commit: outcome }),
    linear,
    events,
    warnings: context.warnings,
  };
}

/** LIN-03: the issue in focus gets the session's log as a comment. */
async function commentOnIssue(
  context: Context,
  running: RunningSession,
  focus: Focus,
  { lines, next }: { lines: readonly ProgressLine[]; next: string | null },
): Promise<EndedSession['linear']> {
  if (focus.linear_issue === null) return [];
  const { reportSession } = await import('../linear/sync.js');
  const done = lines.map(({ text }) => text).filter((text) => !OPENING.test(text));
  try {
    return await reportSession(context, { issue: focus.linear_issue, session: running.id, done, next });
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    context.warnings.push(`Linear: ${error.message}`);
    return [];
  }
}

/** A git failure does not block the session's end: it is reported, and the result is null. */
async function warnOnGitFailure<T>(context: Context, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForgeError) || !error.code.startsWith('git.')) throw error;
    context.warnings.push(`Memory was not verified: ${error.message}${error.hint ? ` (${error.hint})` : ''}`);
    return null;
  }
}

/** An unreadable view does not block the session's end. */
function refreshOrWarn(context: Context): void {
  try {
    refreshViews(context);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'corrupted') throw error;
    context.warnings.push(error.message);
  }
}

/** SES-09: an agent does not end a session that another agent works in. A person at a terminal may. */
function refuseHeld(context: Context, running: RunningSession, config: Config): void {
  const verdict = judgeRunning(context, running, config);
  // Many agents run each command in a new shell, so the holder is gone by the next command.
  if (verdict.state !== 'held' || context.world.terminal || isOursToSettle(context, running)) return;
  const name = sessionName(running.id);
  throw refused('session.held', `Session ${name} belongs to another agent: ${verdict.why}.`, {
    // A sandbox hides the agent's process.
    hint: !isWritable(context.layout.state)
      ? SANDBOX_HINT
      : 'forge start --join   # work in it too, then end it',
  });
}

function planEnd(context: Context, running: RunningSession, input: SessionEndInput, focus: Focus): EndIntent {
  const at = timestamp(context);
  const { learned = [], failed = [], confirm = [], next = null } = input;
  const cycle = planCycle(context, running, focus, { learned, failed, confirm }, at);
  const said = { id: running.id, at, learned, failed, next, task: focus.task };
  return { schema_version: INTENT.version, op: 'session.end', ...said, ...(cycle === null ? {} : { cycle }) };
}

/** Completes an interrupted session end. The caller holds the lock. */
export function finishIntent(context: Context): void {
  const { disk, layout } = context;
  const intent = disk.readDocument(INTENT, intentFile(layout), null).value;
  if (!intent) return;
  completeEnd(context, intent);
  context.warnings.push(
    `The end of session ${sessionName(intent.id)} had been cut off; it is completed now. The next session end commits it.`,
  );
}

/** Each step can be repeated after a crash. The intent is removed last. */
function completeEnd(context: Context, intent: EndIntent): Pick<EndedSession, 'learned' | 'cycle'> {
  const running = readRunning(context);
  const cycle = intent.cycle && recordCycle(context, intent.cycle);
  const about = intent.task ?? 'any task';
  const entries: NewLearning[] = [
    ...intent.learned.map((approach) => ({ kind: 'success' as const, context: about, approach })),
    ...intent.failed.map((issue) => ({ kind: 'failure' as const, context: about, issue, resolution: '' })),
  ];
  const learned = keepLearnings(context, entries, intent.at).map(({ learning }) => learning);
  if (running?.id === intent.id) archiveEnded(context, running, intent, learned);
  if (running === null || running.id === intent.id) clearShortTerm(context);
  const told = { task: intent.task, next: intent.next, learned: learned.length };
  queueEvent(context, 'session_end', intent.id, told, intent.id);
  context.disk.remove(intentFile(context.layout));
  const classification = intent.cycle?.classification ?? null;
  return { learned, ...(cycle ? { cycle: { ...cycle, classification } } : {}) };
}

/** SES-14: an empty session has no archive. */
function archiveEnded(
  context: Context,
  running: RunningSession,
  intent: EndIntent,
  learned: readonly Learning[],
): void {
  if (!isWorth(context) && learned.length === 0 && intent.next === null && !intent.cycle) return;
  const files = shortTerm(context);
  let text = addEntry(files.progress?.join('\n') ?? '', new Date(intent.at), 'Session ending');
  if (intent.next !== null) text = setNext(text, intent.next);
  // Added after the interrupted end: to be carried over by --resume, not forgotten.
  const isOpen = openEntries(readKfr(context)).length > 0;
  const session = toArchive(running, {
    ...files,
    status: isOpen ? 'interrupted' : 'ended',
    ended_at: isOpen ? null : intent.at,
    learned: learned.map(({ id }) => id),
    next: parseProgress(text).next ?? null,
    progress: text.split('\n'),
  });
  writeArchive(context, session);
}
