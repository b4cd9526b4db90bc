import { keepGitState, readGitState } from '../commit/git-state.js';
import { lookBack, notePastHooks, recentCommits } from '../commit/recent.js';
import { usage } from '../core/error.js';
import { shown } from '../core/paths.js';
import { checkInput, findTwin } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import { eventUrl, hasUnsent } from '../events/outbox.js';
import { taskLine } from '../feature/tasks.js';
import { readBranch } from '../git/state.js';
import { installGuard, maskText } from '../guard/guard.js';
import { readInvariants } from '../knowledge/architecture.js';
import { refreshViews } from '../knowledge/knowledge.js';
import { closeInvestigations } from '../learning/knowledge.js';
import { warnUnreviewed } from '../ledger/audit.js';
import { ledgerFolder } from '../ledger/files.js';
import { warnSize } from '../ledger/growth.js';
import { notesOf, requireVerified } from '../ledger/integrity.js';
import { describeEdited, rebuildViews } from '../ledger/view.js';
import { findForeignEdits } from '../project/edits.js';
import {
  type Context,
  hasHooks,
  hasRecovery,
  noteActivity,
  readConfig,
  warnFileSystem,
} from '../project/project.js';
import { displayId } from './archive.js';
import { composeBriefing, type Memory, maskSubjects, readState } from './briefing.js';
import type { Briefing } from './briefing-rules.js';
import { finishIntent } from './end.js';
import { setFocus } from './focus.js';
import type { Focus } from './focus-rules.js';
import { openSession, type State } from './open.js';
import { noteTree, readTree } from './record.js';
import type { Reverified, ReverifyWatch } from './reverify.js';
import { SessionStartInput, sessionName } from './rules.js';

export interface StartedSession {
  session: {
    id: string;
    started_at: string;
    branch: string | null;
    head: string | null;
    resumed_from?: string;
    state: State;
  };
  focus: Focus;
  briefing: Briefing;
  /** State files that were read and are intact; ledgers that were verified or repaired. */
  integrity: { status: 'intact'; checked: string[]; notes: string[] };
  /** SES-11. Absent if nothing was to be rerun. */
  reverified?: Reverified;
  warnings: string[];
}

/** SES-01: recovers leftovers, opens (or returns, or joins) the session, and composes the briefing. */
export async function startSession(
  context: Context,
  raw: SessionStartInput = {},
  watch: ReverifyWatch = {},
): Promise<StartedSession> {
  const input = checkInput(SessionStartInput, raw);
  if (input.goal !== undefined) checkText(input.goal, { what: 'The goal', lines: false });
  warnFileSystem(context);
  if (hasRecovery(context)) await (await import('../recover/move.js')).tryFinishRecovery(context);
  // Git reads while the guard is loaded and memory is verified.
  const gitState = readGitState(context);
  const log = recentCommits(context, lookBack(readConfig(context).briefing.commits));
  const tree = readTree(context);
  for (const reading of [gitState, log, tree]) reading.catch(() => undefined);
  await installGuard(context);
  // LTM-05. Exit 4 `memory.corrupted` for damage that only a human can settle.
  const verdict = await requireVerified(context);
  const { listed } = verdict.snapshot;
  const state = readState(context, listed);
  const branch = await shownBranch(context);
  const architecture = await readInvariants(context);
  const commits = await maskSubjects(await log);
  const work = await tree;
  const memory: Memory = { ...state, architecture, commits, uncommitted: work?.count };
  const head = memory.commits[0]?.hash ?? null;
  const claims = eventUrl(context) === null ? null : await import('../events/claim-work.js');
  if (claims && input.id !== undefined) await claims.turnTo(context, requireTask(memory, input.id).id);
  else if (claims && input.goal === undefined)
    await (await import('../events/claim.js')).refreshHeld(context);
  const reverified = await reverifyFirst(context, input, watch);
  if (reverified) Object.assign(memory, readState(context), { regressed: regressionsOf(reverified) });
  const seen = context.recent;
  const goal = input.id === undefined ? input.goal : taskLine(requireTask(memory, input.id));
  const opened = context.disk.withLock(() => {
    finishIntent(context);
    refreshViews(context);
    closeInvestigations(context);
    return openSession(context, { ...input, goal }, { branch, head, memory });
  });
  const { running } = opened;
  const isTaskless = opened.state !== 'started' && opened.focus.task === null;
  const focus = goal !== undefined && isTaskless ? setFocus(context, { task: goal }) : opened.focus;
  if (goal !== undefined && opened.state !== 'started' && focus.task !== goal)
    context.warnings.push(
      `The session goes on with its task. To turn to another one: forge focus set --task ${JSON.stringify(goal)}`,
    );
  await claims?.claimFocus(context, focus);
  noteActivity(context);
  if (work && opened.state === 'started') noteTree(context, running.id, work);
  context.warnings.push(...rebuildViews(context, listed).map(describeEdited));
  warnUnreviewed(context, verdict.waiting);
  warnSize(context, listed);
  if (hasHooks(context)) notePastHooks(context, memory.commits);
  await keepGitState(context, gitState);
  // The briefing also reports what was just archived (an interrupted session, an interrupted end).
  const news = context.recent === seen ? {} : readState(context);
  const foreign = await findForeignEdits(context);
  // Before the briefing, which names what others have learned.
  if (hasUnsent(context)) await (await import('../events/publish.js')).sendUnsent(context);
  const known = { ...memory, ...news, focus, foreign };
  const briefing = composeBriefing(context, known, { ...input, session: running.id });
  const ledgers = [shown(context.layout, ledgerFolder(context.layout))];
  return {
    session: {
      id: displayId(context, running.id),
      started_at: running.started_at,
      branch,
      head,
      ...(running.resumed_from ? { resumed_from: sessionName(running.resumed_from) } : {}),
      state: opened.state,
    },
    focus,
    briefing,
    integrity: { status: 'intact', checked: [...memory.checked, ...ledgers], notes: notesOf(verdict) },
    ...(reverified ? { reverified } : {}),
    warnings: context.warnings,
  };
}

/** By the id of a feature, in any case, or of an active issue. Exit 2 for an unknown one. */
function requireTask({ features, issues }: Memory, id: string): { id: string; title: string } {
  const feature = findTwin(features, id);
  if (feature) return { id: feature.id, title: feature.name };
  const issue = issues.find(({ linear_id }) => linear_id.toLowerCase() === id.toLowerCase());
  if (issue) return { id: issue.linear_id, title: issue.title };
  throw usage('task.unknown', `There is no feature and no active issue ${JSON.stringify(oneLine(id, 60))}.`, {
    hint:
      /\s/.test(id) && !/["$`\\]/.test(id)
        ? `forge start --task "${oneLine(id, 200)}"`
        : 'forge next\nforge start --task "TEXT"',
  });
}

/** Its name is free text, so the guard scans it. */
async function shownBranch({ repository, git }: Context): Promise<string | null> {
  const branch = repository && git ? await readBranch(repository, git) : null;
  return branch === null ? null : maskText(branch);
}

/** SES-11: before the task is selected, so that a regressed feature can be it. Its code is loaded only if needed. */
async function reverifyFirst(
  context: Context,
  input: SessionStartInput,
  watch: ReverifyWatch,
): Promise<Reverified | null> {
  const count = input.reverify ?? readConfig(context).session.reverify;
  if (count === 0) return null;
  context.disk.withLock(() => finishIntent(context));
  return (await import('./reverify.js')).reverify(context, count, input, watch);
}

const regressionsOf = ({ results, regressed }: Reverified): Memory['regressed'] =>
  results.filter(({ id }) => regressed.includes(id));
