import * as z from 'zod/mini';
import { keepGitState, readGitState } from '../commit/git-state.js';
import { lookBack, readNoted, recentCommits } from '../commit/recent.js';
import { focusFile, shown } from '../core/paths.js';
import { checkInput } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { readBranch } from '../git/state.js';
import { installGuard, maskText } from '../guard/guard.js';
import { readInvariants } from '../knowledge/architecture.js';
import { refreshViews } from '../knowledge/views.js';
import { warnSize } from '../learning/growth.js';
import { closeInvestigations } from '../learning/investigation.js';
import { warnWaiting } from '../ledger/audit.js';
import { ledgerFolder } from '../ledger/context.js';
import { requireVerified } from '../ledger/integrity.js';
import type { AuditMark } from '../ledger/graph.js';
import type { Listed } from '../ledger/read.js';
import { describeEdited, rebuildViews } from '../ledger/view.js';
import { findForeignEdits } from '../project/edits.js';
import {
  type Context,
  hasCheckpointIntents,
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
import { FOCUS, type Focus, NO_FOCUS } from './focus-rules.js';
import { chooseFocus, openSession, type State } from './open.js';
import { countFiles, noteTree, readTree, type Tree } from './record.js';
import type { Reverified, ReverifyWatch } from './reverify.js';
import { type RunningSession, sessionName } from './rules.js';

export const SessionStartInput = z.strictObject({
  goal: z.optional(z.string()),
  budget: z.optional(z.int()),
  format: z.optional(z.enum(['text', 'markdown'])),
  resume: z.optional(z.string()),
  join: z.optional(z.boolean()),
  takeOver: z.optional(z.boolean()),
  /** Passing features whose tests are run again first; 0: none, whatever the setting says. */
  reverify: z.optional(z.int().check(z.gte(0), z.lte(1000))),
});
export type SessionStartInput = z.infer<typeof SessionStartInput>;

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
  /** State files that were read and found whole; ledgers verified, or put right. */
  integrity: { status: 'intact'; checked: string[]; notes: string[] };
  /** SES-11; absent where nothing was to be run again. */
  reverified?: Reverified;
  warnings: string[];
}

/** SES-01: picks up what was left, opens (or returns, or joins) the session, and composes the briefing. */
export async function startSession(
  context: Context,
  raw: SessionStartInput = {},
  watch: ReverifyWatch = {},
): Promise<StartedSession> {
  const input = checkInput(SessionStartInput, raw);
  if (input.goal !== undefined) checkText(input.goal, { what: 'The goal', lines: false });
  const shownCommits = lookBack(readConfig(context).briefing.commits);
  warnFileSystem(context);
  await finishCutOff(context);
  // Read while the guard is loaded and memory is verified.
  const gitState = readGitState(context);
  gitState.catch(() => undefined);
  const { memory, branch, tree, ledgers, notes, listed, waiting } = await readMemory(context, shownCommits);
  const head = memory.commits[0]?.hash ?? null;
  const reverified = await reverifyFirst(context, input, watch);
  if (reverified) Object.assign(memory, readState(context), { regressed: regressionsOf(reverified) });
  const seen = context.recent;
  const { running, state } = context.disk.withLock(() => {
    finishIntent(context);
    refreshViews(context);
    closeInvestigations(context);
    return openSession(context, input, { branch, head, memory });
  });
  noteActivity(context);
  if (tree && state === 'started') noteTree(context, running.id, tree);
  context.warnings.push(...rebuildViews(context, listed).map(describeEdited));
  warnWaiting(context, waiting);
  warnSize(context, listed);
  await lookAtCommits(context, memory);
  await keepGitState(context, gitState);
  const focus = readFocus(context, running, memory, input);
  // What was archived on the way (an interrupted session, an end cut off) is news for the briefing too.
  const news = context.recent === seen ? {} : readState(context);
  const foreign = await findForeignEdits(context);
  const known = { ...memory, ...news, focus, foreign };
  const briefing = composeBriefing(context, known, { ...input, session: running.id });
  return {
    session: {
      id: displayId(context, running.id),
      started_at: running.started_at,
      branch,
      head,
      ...(running.resumed_from ? { resumed_from: sessionName(running.resumed_from) } : {}),
      state,
    },
    focus,
    briefing,
    integrity: { status: 'intact', checked: [...memory.checked, ...ledgers], notes },
    ...(reverified ? { reverified } : {}),
    warnings: context.warnings,
  };
}

/** A rollback or checkpoint that something ended half-way. Before git is asked for commits: a checkpoint makes one. */
async function finishCutOff(context: Context): Promise<void> {
  if (hasRecovery(context)) await (await import('../recover/move.js')).tryFinishRecovery(context);
  if (hasCheckpointIntents(context))
    await (await import('../checkpoint/finish.js')).tryFinishCheckpoints(context);
}

interface Known extends Verified {
  memory: Memory;
  branch: string | null;
  tree: Tree | null;
}

/** Verified, then read. Git works while the guard is loaded and the files are read. */
async function readMemory(context: Context, shownCommits: number): Promise<Known> {
  const log = recentCommits(context, shownCommits);
  log.catch(() => undefined);
  const tree = readTree(context);
  tree.catch(() => undefined);
  await installGuard(context);
  const verified = await verifyFirst(context);
  const known = readState(context, verified.listed);
  const { repository, git } = context;
  const named = repository && git ? await readBranch(repository, git) : null;
  const branch = named === null ? null : await maskText(named);
  const architecture = await readInvariants(context);
  const commits = await maskSubjects(await log);
  const work = await tree;
  const uncommitted = countFiles(work);
  return { memory: { ...known, architecture, commits, uncommitted }, branch, tree: work, ...verified };
}

/** Report commits that went past the hooks. Load the code for it only where there are commits to look at. */
async function lookAtCommits(context: Context, { commits }: Memory): Promise<void> {
  if (hasHooks(context) && readNoted(context.layout) !== commits[0]?.hash)
    (await import('../commit/past.js')).notePastHooks(context, commits);
}

interface Verified {
  ledgers: string[];
  notes: string[];
  /** The ledger's files. */
  listed: readonly Listed[];
  waiting: readonly AuditMark[];
}

/** LTM-05. Exit 4 `memory.corrupted` for damage that only a human can settle. */
async function verifyFirst(context: Context): Promise<Verified> {
  const { findings, snapshot, waiting } = await requireVerified(context);
  const notes = findings.filter(({ level }) => level === 'note').map(({ message }) => message);
  const ledgers = [shown(context.layout, ledgerFolder(context.layout))];
  return { ledgers, notes, listed: snapshot.listed, waiting };
}

/** SES-11: before the task is chosen, so that what regressed can be it. Its code is loaded where it is wanted. */
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

/** In a dry run nothing was written, so what would stand there is worked out again. */
function readFocus(
  context: Context,
  running: RunningSession,
  memory: Memory,
  input: SessionStartInput,
): Focus {
  if (!context.disk.dryRun) return context.disk.requireDocument(FOCUS, focusFile(context.layout)).value;
  return running.resumed_from ? NO_FOCUS : chooseFocus(context, memory, input.goal);
}
