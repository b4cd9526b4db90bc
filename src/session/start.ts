import { keepGitState, noteHooks, readGitState, recentCommits } from '../commit/recent.js';
import { checkInput } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { refuseWorkedOn, unknownTask, usesClaims } from '../events/local-claims.js';
import { eventUrl, hasUnsent } from '../events/outbox.js';
import { taskLine } from '../feature/tasks.js';
import { readPerson } from '../git/read.js';
import { installGuard } from '../guard/guard.js';
import { readKfr } from '../kfr/kfr.js';
import { openEntries } from '../kfr/rules.js';
import { readInvariants, refreshViews } from '../knowledge/knowledge.js';
import { closeInvestigations } from '../learning/knowledge.js';
import { warnUnreviewed } from '../ledger/audit.js';
import { notesOf, requireVerified } from '../ledger/integrity.js';
import { warnSize } from '../ledger/memory.js';
import { rebuildViews } from '../ledger/view.js';
import { findForeignEdits } from '../project/edits.js';
import { type Context, hasRecovery, noteActivity, readConfig, warnFileSystem } from '../project/project.js';
import { composeBriefing, readGitFacts, readState, type State } from './briefing.js';
import { findTask, setFocus } from './focus.js';
import { openSession } from './open.js';
import { noteTree } from './record.js';
import type { ReverifyWatch } from './reverify.js';
import { type Focus, SessionStartInput, sessionName } from './rules.js';
import { displayId } from './store.js';

export type StartedSession = Awaited<ReturnType<typeof startSession>>;

/** SES-01: recovers leftovers, opens (or returns, or joins) the session, and composes the briefing. */
export async function startSession(context: Context, raw: SessionStartInput = {}, watch: ReverifyWatch = {}) {
  const input = checkInput(SessionStartInput, raw);
  if (input.goal !== undefined) checkText(input.goal, { what: 'The goal', lines: false });
  warnFileSystem(context);
  if (hasRecovery(context)) await (await import('../recover/move.js')).tryFinishRecovery(context);
  // Git reads while the guard is loaded and memory is verified.
  const commits = recentCommits(context);
  const gitState = readGitState(context, commits);
  const reading = Promise.all([readGitFacts(context, commits), findForeignEdits(context)]);
  for (const read of [gitState, reading]) read.catch(() => undefined);
  await installGuard(context);
  // LTM-05. Exit 4 `memory.corrupted` for damage that only a human can settle.
  const verdict = await requireVerified(context);
  const { listed } = verdict.snapshot;
  const notes = notesOf(verdict);
  context.disk.withLock(() => {
    refreshViews(context);
    closeInvestigations(context);
  });
  let state = readState(context, listed);
  const architecture = await readInvariants(context);
  const [{ branch, ...around }, foreign] = await reading;
  const head = around.commits[0]?.hash ?? null;
  const named = input.id === undefined ? findTask(state, input.goal) : requireTask(state, input.id);
  const wanted = { ...input, goal: named ? taskLine(named) : input.goal };
  const claims = usesClaims(context) ? await import('../events/claim-work.js') : null;
  if (named) refuseWorkedOn(context, named.id);
  if (claims && named) await claims.turnTo(context, named.id);
  else if (eventUrl(context) !== null && wanted.goal === undefined)
    await (await import('../events/claim.js')).refreshHeld(context);
  const { git } = context;
  const person = git && eventUrl(context) !== null ? await readPerson(git) : null;
  // SES-11: before the task is selected, so that a regressed feature can be it.
  const count = input.reverify ?? readConfig(context).session.reverify;
  const reverified =
    count === 0 ? null : await (await import('./reverify.js')).reverify(context, count, wanted, watch);
  if (reverified && reverified.results.length > 0) state = readState(context);
  const opened = context.disk.withLock(() =>
    openSession(context, wanted, { branch, head, person, memory: state }),
  );
  const { running } = opened;
  const focus = turnToGoal(context, wanted.goal, opened);
  await claims?.claimFocus(context, focus);
  noteActivity(context);
  if (around.work && opened.state === 'started') noteTree(context, running.id, around.work);
  rebuildViews(context, listed);
  warnUnreviewed(context, verdict.waiting);
  context.warnings.push(...notes.filter((note) => note.startsWith('in stash, ')));
  warnSize(context, listed);
  noteHooks(context, around.commits);
  await keepGitState(context, gitState);
  // Before the briefing, which names what others have learned.
  if (hasUnsent(context)) await (await import('../events/publish.js')).sendUnsent(context);
  const known = { ...state, ...around, architecture, focus, foreign };
  const briefing = await composeBriefing(context, known, { ...input, session: running.id });
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
    integrity: { status: 'intact' as const, notes },
    /** SES-11. Absent if nothing was to be rerun. */
    ...(reverified ? { reverified } : {}),
    warnings: context.warnings,
  };
}

function requireTask(state: State, id: string) {
  const task = findTask(state, id);
  if (task) return task;
  throw unknownTask(id, 'forge next\nforge start --task "TEXT"');
}

/** A running or resumed session turns to the goal. It keeps its task for others in it, and while questions are open (KFR-09). */
function turnToGoal(
  context: Context,
  goal: string | undefined,
  { state, focus, running }: ReturnType<typeof openSession>,
): Focus {
  if (goal === undefined || focus.task === goal) return focus;
  const open = openEntries(readKfr(context)).map(({ id }) => id);
  const isAlone = state !== 'joined' && !running.joined?.length;
  if (focus.task === null || (isAlone && open.length === 0)) return setFocus(context, { task: goal });
  const how =
    open.length > 0
      ? `: ${open.join(', ')} in working memory must be settled first (forge kfr list)`
      : `. To turn to another one: forge focus set --task ${JSON.stringify(goal)}`;
  context.warnings.push(`The session goes on with its task${how}`);
  return focus;
}
