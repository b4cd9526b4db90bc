import { quoteWord } from '../core/argv.js';
import { ForgeError } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import { describeLoop } from '../cycle/loop-state.js';
import { listFeatures, nextTask } from '../feature/feature.js';
import { countStatuses, type Feature, isUnprovenPass } from '../feature/rules.js';
import type { Candidate } from '../feature/tasks.js';
import { operationInProgress, readBranch } from '../git/repository.js';
import { describePause } from '../guard/fingerprint.js';
import { describeLost, readKfr, TAKE_LOST } from '../kfr/kfr.js';
import { openEntries } from '../kfr/rules.js';
import { describeUnreviewed, readUnreviewed } from '../ledger/audit.js';
import { ACCEPT } from '../ledger/memory.js';
import { isForSomebody, readNotes } from '../note/note.js';
import { type Context, hasRecovery, otherWorktrees, readHalt } from '../project/project.js';
import { handoversOf, isAbout, notePassed, resumable, sessionName } from '../session/rules.js';
import { judgeRunning, ownSessions, readRunning, showFocus } from '../session/running.js';
import { readProgress, recentArchives } from '../session/store.js';
import { describeMissing, showTrust } from '../trust/trust.js';
import type { Status } from './rules.js';
import { readStatus } from './status.js';

export type Where = Awaited<ReturnType<typeof whereYouStand>>;

/**
 * The state of the work, and the three most useful next commands. Reports damage instead of failing. `status`: if the
 * caller has just read it.
 */
export async function whereYouStand(
  context: Context,
  { status }: { status?: Pick<Status, 'components'> } = {},
) {
  const { repository, git, layout } = context;
  const { components } = status ?? (await readStatus(context));
  const problems = new Set<string>();
  const attempt = <T, F>(work: () => T, otherwise: F): T | F => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      problems.add(error.message.replace(/\.$/, ''));
      return otherwise;
    }
  };
  const features = attempt(() => listFeatures(context).features, null);
  const running = attempt(() => readRunning(context), null);
  const verdict = running && judgeRunning(context, running);
  const session = running && {
    id: sessionName(running.id),
    started_at: running.started_at,
    task: attempt(() => showFocus(context).task, null),
    open_questions: attempt(() => openEntries(readKfr(context)).length, 0),
    /** Why nobody works in it any more. */
    ...(verdict?.state === 'interrupted' ? { interrupted: verdict.why } : {}),
  };
  const halted = readHalt(context.disk)?.reasons[0] ?? null;
  const stopped = attempt(() => describePause(context), null);
  const [review] = attempt(() => readUnreviewed(context), []);
  const pause = stopped ?? (review ? { why: describeUnreviewed(review), fix: ACCEPT } : null);
  const recovering = hasRecovery(context);
  const known = features ?? [];
  const steps: string[] = attempt(() => nextSteps(context, known), []);
  const loop = attempt(() => describeLoop(context), null);
  const waiting = attempt(() => forPerson(context, known), []);
  const work = halted === null && !stopped ? attempt(() => suggest(context, known, session), []) : [];
  const doctor = problems.size > 0 ? ['forge doctor'] : [];
  const memory = components.find(({ name, color }) => name === 'long-term' && color === 'red');
  if (memory && halted === null) problems.add(memory.reasons[0] as string);
  const lost = attempt(() => describeLost(context), null);
  if (lost) problems.add(lost);
  const operation = repository && operationInProgress(repository);
  const next = [
    ...(pause ? [pause.fix] : []),
    ...(memory?.fix.slice(0, 1) ?? []),
    ...(recovering ? ['forge recover'] : []),
    ...doctor,
    ...(lost ? [TAKE_LOST] : []),
    ...(operation ? [`git status   # ${operation} is in progress`] : []),
    ...work.filter((line) => !lost || line !== 'forge start'),
  ];
  return {
    root: layout.root,
    /** Null: no git, or a detached HEAD. */
    branch: repository && git ? await readBranch(repository, git) : null,
    git: repository !== null,
    session,
    features: features && countStatuses(features),
    /** The first of `steps`: all that are open. */
    step: steps[0] ?? null,
    steps,
    halted,
    /** Why work waits for a human. The first of `next` ends it. */
    paused: pause?.why ?? null,
    ...{ loop, waiting, recovering },
    health: components.map(({ name, color }) => ({ name, color })),
    /** Files that could not be read, and damage for which memory is not halted yet. */
    problems: [...problems],
    next: [...new Set(next)].slice(0, 3),
  };
}

/** What `forge trust` asks, tests that never failed, notes for somebody, and parked entries of all worktrees here. */
function forPerson(context: Context, features: readonly Feature[]): string[] {
  const open = showTrust(context).items.filter(({ state }) => state !== 'trusted' && state !== 'missing');
  const missing = describeMissing(context);
  const notes = readNotes(context).filter(isForSomebody);
  const unproven = features.filter(isUnprovenPass).map(({ id }) => id);
  const named = unproven.length > 5 ? '--all' : unproven.join(' ');
  const count = (found: readonly unknown[], what: string, rest: string): string[] =>
    found.length > 0 ? [`${plural(found.length, what)} ${rest}`] : [];
  return [
    ...count(open, 'thing', 'to approve: forge trust'),
    ...(missing === null ? [] : [`${missing}: forge trust`]),
    ...count(unproven, 'feature', `to confirm: forge feature confirm ${named}`),
    ...count(notes, 'note', 'for somebody: forge note list --waiting'),
    ...describeParked(context, ''),
    ...otherWorktrees(context).flatMap((other) =>
      describeParked(other, `-C ${quoteWord(other.layout.root)} `),
    ),
  ];
}

function describeParked(context: Context, folder: string): string[] {
  const parked = readKfr(context).entries.filter((entry) => entry.parked);
  if (parked.length === 0) return [];
  return [`${plural(parked.length, 'entry waits', 'entries wait')} for a person: forge ${folder}kfr list`];
}

/** The running session's next step, else those that were handed over. */
function nextSteps(context: Context, features: readonly Feature[]): string[] {
  const next = readRunning(context) && readProgress(context).next;
  if (next) return [next];
  const handovers = handoversOf(recentArchives(context), ownSessions(context));
  return notePassed(handovers, features).map(({ session, notes }) =>
    [session.next, ...notes.map((note) => `(${note})`)].join(' '),
  );
}

function suggest(
  context: Context,
  features: readonly Feature[],
  session: { id: string; open_questions: number; interrupted?: string } | null,
): string[] {
  const { task } = nextTask(context);
  // In a fresh clone and a moved folder nothing is approved, so forge would run no test. An agent cannot approve it.
  const isUntrusted =
    !context.world.isAgent &&
    showTrust(context).items.some(({ kind, state }) => kind !== 'rule' && state !== 'trusted');
  const first = [
    ...(isUntrusted ? ['forge trust'] : []),
    // An open entry keeps the session from ending.
    ...(session?.open_questions ? ['forge kfr list'] : []),
    ...(features.length === 0 ? ['forge feature add "First thing to build"'] : []),
  ];
  const chosen = task?.source === 'feature' ? workOn(context, task, features) : [];
  // Another task has to wait for the answer.
  const work = session?.open_questions
    ? chosen.filter((line) => !line.startsWith('forge focus set'))
    : chosen;
  if (session?.interrupted) return [...first, `forge start --resume ${session.id}`, ...work];
  if (session)
    return [...first, 'forge log "what you just did"', ...work, 'forge end --next "what comes next"'];
  const isOwn = ownSessions(context);
  // An older one was not needed by the sessions after it.
  const interrupted = resumable(recentArchives(context).slice(-1)).find(({ id }) => isOwn(id));
  const resume = interrupted ? [`forge start --resume ${sessionName(interrupted.id)}`] : [];
  return [...first, ...resume, 'forge start', ...work, 'forge briefing'];
}

/** Before the work and without tests there is nothing to verify. A session's start chooses the task. */
function workOn(context: Context, { id, title, status }: Candidate, features: readonly Feature[]): string[] {
  const hasTests = features.some((feature) => feature.id === id && feature.tests?.length);
  const isBegun = status !== 'not_implemented' || isAbout(showFocus(context), id);
  if (hasTests && !isBegun && !readRunning(context)) return [];
  const command = !hasTests
    ? `forge feature edit ${id} --test "COMMAND"`
    : isBegun
      ? `forge done ${id}`
      : `forge focus set ${id}`;
  return [`${command}   # ${oneLine(title, 300)}`];
}
