import * as z from 'zod/mini';
import { readBranch } from '../../adapters/git/read.js';
import { encodeDocument } from '../../domain/document.js';
import { refused } from '../../domain/error.js';
import { checkInput } from '../../domain/input.js';
import { requireResolved } from '../../domain/kfr/gate.js';
import type { Briefing } from '../../domain/session/briefing.js';
import { FOCUS, type Focus, NO_FOCUS } from '../../domain/session/focus.js';
import { type Holder, sameHolder, sameProcess } from '../../domain/session/holder.js';
import { type ArchivedSession, type RunningSession, sessionName } from '../../domain/session/session.js';
import { checkText, plural } from '../../domain/text.js';
import { focusFile, sessionFile } from '../../store/layout.js';
import { readNoted } from '../../store/noted.js';
import { recentCommits, rememberCommits } from '../commits.js';
import {
  type Context,
  hasCheckpointIntents,
  hasHooks,
  hasRecovery,
  noteActivity,
  readConfig,
  warnFileSystem,
} from '../context.js';
import { installGuard } from '../guard/guard.js';
import { readKfr } from '../kfr/kfr.js';
import { readInvariants } from '../knowledge/architecture.js';
import { requireMemory } from '../memory/integrity.js';
import { closeInvestigations } from '../memory/investigation.js';
import { warnPaused } from '../recover/pause.js';
import { clearShortTerm, displayId, requireResumable } from './archive.js';
import { composeBriefing, type Memory, readState } from './briefing.js';
import { type Around, allocate, chooseFocus, createSession } from './create.js';
import { finishIntent } from './end.js';
import { archiveInterrupted, archiveLeft, holdsWork, refuseToForget } from './interruption.js';
import { readProgressText } from './progress.js';
import type { Reverified, ReverifyWatch } from './reverify.js';
import { holderHere, isLeftBehind, judgeRunning, readRunning } from './running.js';

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
    /** `started`, or `running` when it was ours already, or `joined`. */
    state: 'started' | 'running' | 'joined';
  };
  focus: Focus;
  briefing: Briefing;
  /** State files that were read and found whole; ledgers verified, or put right. */
  integrity: { status: 'intact'; checked: string[]; notes: string[] };
  /** SES-11; absent where nothing was to be run again. */
  reverified?: Reverified;
  warnings: string[];
}

type State = StartedSession['session']['state'];

/** SES-01: picks up what was left, opens (or returns, or joins) the session, and composes the briefing. */
export async function startSession(
  context: Context,
  raw: SessionStartInput = {},
  watch: ReverifyWatch = {},
): Promise<StartedSession> {
  const input = checkInput(SessionStartInput, raw);
  if (input.goal !== undefined) checkText(input.goal, { what: 'The goal', lines: false });
  const config = readConfig(context);
  warnFileSystem(context);
  if (hasRecovery(context)) await (await import('../recover/move.js')).tryFinishRecovery(context);
  // Before git is asked for commits: this makes one.
  if (hasCheckpointIntents(context))
    await (await import('../checkpoint/finish.js')).tryFinishCheckpoints(context);
  const { repository, git } = context;
  // Git works while the guard is loaded and the files are read.
  const log = recentCommits(context, config.briefing.commits);
  log.catch(() => undefined);
  await installGuard(context);
  const { ledgers, notes } = await verifyFirst(context);
  const known = readState(context);
  const branch = repository && git ? await readBranch(repository, git) : null;
  const architecture = await readInvariants(context);
  const memory: Memory = { ...known, architecture, commits: await log };
  const head = memory.commits[0]?.hash ?? null;
  const reverified = await reverifyFirst(context, input, watch);
  if (reverified) Object.assign(memory, readState(context), { regressed: regressionsOf(reverified) });
  const seen = context.recent;
  const { running, state } = context.disk.withLock(() => {
    finishIntent(context);
    closeInvestigations(context);
    return openSession(context, input, { branch, head, memory });
  });
  noteActivity(context);
  warnPaused(context);
  // Its code is loaded where there are commits to look at.
  if (hasHooks(context) && readNoted(context.layout)?.head !== head)
    (await import('../commit/past.js')).notePastHooks(context, memory.commits, memory.last?.head ?? null);
  rememberCommits(context, config.briefing.commits, memory.commits);
  const focus = readFocus(context, running, memory, input);
  // What was archived on the way (an interrupted session, an end cut off) is news for the briefing too.
  const news = context.recent === seen ? {} : readState(context);
  const briefing = composeBriefing(context, { ...memory, ...news, focus }, { ...input, session: running.id });
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

/** LTM-05. Exit 4 `memory.corrupted` for damage that only a human can settle. */
async function verifyFirst(context: Context): Promise<{ ledgers: string[]; notes: string[] }> {
  const { tiers, notes, unproven } = await requireMemory(context);
  if (unproven.length > 0)
    context.warnings.push(
      `${plural(unproven.length, 'piece')} of knowledge ${unproven.length === 1 ? 'is' : 'are'} not shown as proven: the evidence is not here. More: forge memory verify`,
    );
  return { ledgers: tiers.flatMap(({ containers }) => containers), notes };
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

function openSession(
  context: Context,
  input: SessionStartInput,
  around: Around,
): { running: RunningSession; state: State } {
  const running = readRunning(context);
  let left: ArchivedSession | null = null;
  if (running) {
    const settled = settleRunning(context, running, input);
    if (typeof settled === 'string') return { running: takePlace(context, running, settled), state: settled };
    left = settled;
  } else if (isLeftBehind(context)) clearShortTerm(context);
  else left = archiveLeft(context, input.resume, () => allocate(context));
  if (input.resume === undefined && !readRunning(context)) refuseToForget(context);
  const resumed = input.resume === undefined ? null : findResumed(context, input.resume, left);
  return { running: createSession(context, input.goal, around, resumed), state: 'started' };
}

/** What was left has gone to the archives just now; in a dry run it is in none. */
function findResumed(context: Context, wanted: string, left: ArchivedSession | null): ArchivedSession {
  const isLeft = left !== null && isMeant(left, wanted);
  return context.disk.dryRun && isLeft ? left : requireResumable(context, wanted);
}

const isMeant = ({ id }: { id: string }, wanted: string): boolean =>
  ['latest', id, sessionName(id)].includes(wanted);

/** What becomes of the session that is recorded as running; it is archived, or just gone, when a new one may start. */
function settleRunning(
  context: Context,
  running: RunningSession,
  input: SessionStartInput,
): State | ArchivedSession | null {
  const verdict = judgeRunning(context, running, readConfig(context));
  const name = sessionName(running.id);
  if (verdict.state === 'same')
    return input.resume === undefined ? 'running' : makeRoom(context, running, input.resume);
  if (verdict.state === 'held' && input.join) return 'joined';
  if (verdict.state === 'held' && !input.takeOver)
    throw refused('session.held', `Session ${name} is held by another agent: ${verdict.why}.`, {
      hint: 'forge session start --join  (work in it too)  or  --take-over --resume latest  (archive it and go on from there)',
      data: { session: name, holder: { pid: running.holder.pid, host: running.holder.host } },
    });
  // A wrong id is found before anything is archived. Once it is, `latest` and this session can be resumed.
  const own = isMeant(running, input.resume ?? 'latest');
  if (input.resume !== undefined && !own) requireResumable(context, input.resume);
  if (!own || input.resume === undefined)
    requireResolved(
      readKfr(context),
      `Session ${name} was interrupted and cannot be left`,
      `forge session start --resume ${name}  (takes them along)   or   forge kfr clear --yes --dismiss-all "why they no longer matter"`,
    );
  const left = readKfr(context).entries.length;
  const archived = archiveInterrupted(context, running);
  const why = verdict.state === 'held' ? 'taken over' : verdict.why;
  if (input.resume === undefined)
    context.warnings.push(
      `Session ${name} was interrupted (${why}). Pick it up${left === 0 ? '' : `, with its working memory (${plural(left, 'entry', 'entries')}),`} with: forge session start --resume ${name}`,
    );
  return archived;
}

/** A session that was only just started gives way to the one to resume; one that holds work does not. */
function makeRoom(context: Context, running: RunningSession, wanted: string): null {
  if (holdsWork(readProgressText(context)) || readKfr(context).entries.length > 0)
    throw refused(
      'session.running',
      `Session ${sessionName(running.id)} is running; end it before resuming another.`,
      {
        hint: 'forge session end   or   forge session discard',
      },
    );
  // A wrong id is found before anything goes.
  requireResumable(context, wanted);
  clearShortTerm(context);
  return null;
}

/** As the one who joins; or back in one's own place, when the agent was gone meanwhile or goes on in another process. */
function takePlace(context: Context, running: RunningSession, state: State): RunningSession {
  const me = holderHere(context);
  const place = state === 'joined' ? joinSession(running, me) : reclaim(running, me);
  if (place !== running) context.disk.replace(sessionFile(context.layout), encodeDocument(place));
  return place;
}

const joinSession = (running: RunningSession, me: Holder): RunningSession => ({
  ...running,
  joined: [...(running.joined ?? []), me],
});

function reclaim(running: RunningSession, me: Holder): RunningSession {
  const isMine = sameHolder(running.holder, me);
  const isMoved = isMine && me.agent !== undefined && !isSameEntry(running.holder, me);
  if (!isMoved && !(isMine && running.parked)) return running;
  const { parked: _, ...rest } = running;
  return { ...rest, holder: me };
}

const isSameEntry = (a: Holder, b: Holder): boolean => a.agent === b.agent && sameProcess(a, b);

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
