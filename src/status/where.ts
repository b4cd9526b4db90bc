import { quoteWord } from '../core/argv.js';
import { ForgeError } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import { describeLoop } from '../cycle/loop-state.js';
import { listFeatures, nextTask } from '../feature/feature.js';
import { countStatuses, type Feature, type FeatureStatus, isUnprovenPass } from '../feature/rules.js';
import type { Candidate } from '../feature/tasks.js';
import { operationInProgress, readBranch } from '../git/repository.js';
import { readKfr } from '../kfr/kfr.js';
import { openEntries } from '../kfr/rules.js';
import { describeUnreviewed, readUnreviewed } from '../ledger/audit.js';
import { isForSomebody, readNotes } from '../note/note.js';
import { type Context, hasRecovery, otherWorktrees, readHalt } from '../project/project.js';
import { handoversOf, isAbout, resumable, sessionName } from '../session/rules.js';
import { ownSessions, readRunning, showFocus } from '../session/running.js';
import { readProgress, recentArchives } from '../session/store.js';
import { describeMissing, showTrust } from '../trust/trust.js';
import type { Component } from './rules.js';
import { readStatus, type StatusReport } from './status.js';

/** The state of the work, and the three most useful next commands. */
export interface Where {
  root: string | null;
  /** Null: no git, or a detached HEAD. */
  branch: string | null;
  git: boolean;
  session: { id: string; started_at: string; task: string | null; open_questions: number } | null;
  features: Record<FeatureStatus, number> | null;
  /** The NEXT line of the running session, else of the last one. */
  step: string | null;
  /** Why nothing may be written until a human acts. */
  halted: string | null;
  /** Since when and why work waits for a human. */
  paused: string | null;
  /** What the last day's loop came to. */
  loop: string | null;
  /** What else a person has to look at, each with the command. */
  waiting: string[];
  /** A rollback or an undo was interrupted. */
  recovering: boolean;
  health: Pick<Component, 'name' | 'color'>[];
  /** Files that could not be read, and damage for which memory is not halted yet. */
  problems: string[];
  next: string[];
}

/** Reports damage instead of failing. `status`: if the caller has just read it. */
export async function whereYouStand(
  context: Context,
  { status }: { status?: Pick<StatusReport, 'components'> } = {},
): Promise<Where> {
  const { repository, git, layout } = context;
  const { components } = status ?? (await readStatus(context, { brief: true }));
  const problems = new Set<string>();
  const repairs = new Set<string>();
  // Markers that were committed cannot be merged; doctor shows what to do.
  const operation = repository && operationInProgress(repository);
  const settle = operation ? 'forge doctor --fix' : 'forge doctor';
  const attempt = <T, F>(work: () => T, otherwise: F): T | F => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      problems.add(error.message);
      repairs.add(error.code === 'file.conflict' ? settle : 'forge status');
      return otherwise;
    }
  };
  const features = attempt(() => listFeatures(context).features, null);
  const session = attempt(() => currentSession(context), null);
  const halted = readHalt(context.disk)?.reasons[0] ?? null;
  const damage =
    halted === null && components.find((each) => each.name === 'long-term' && each.color === 'red');
  if (damage) {
    problems.add(damage.reasons[0] as string);
    for (const command of damage.fix.slice(0, 1)) repairs.add(command);
  }
  const [pause] = attempt(() => readUnreviewed(context), []);
  const recovering = hasRecovery(context);
  const suggested = attempt(() => suggest(context, features ?? [], session?.open_questions ?? 0), []);
  const step = attempt(() => nextStep(context), null);
  return {
    root: layout.root,
    branch: repository && git ? await readBranch(repository, git) : null,
    git: repository !== null,
    session,
    features: features && countStatuses(features),
    step,
    halted,
    paused: pause ? describeUnreviewed(pause) : null,
    loop: attempt(() => describeLoop(context), null),
    waiting: attempt(() => forPerson(context, features ?? []), []),
    recovering,
    health: components.map(({ name, color }) => ({ name, color })),
    problems: [...problems],
    next: [
      ...(halted === null ? [] : ['forge memory verify']),
      ...(recovering ? ['forge recover'] : []),
      ...(pause ? ['forge memory override acknowledge --reason "TEXT"'] : []),
      ...repairs,
      ...(operation ? [`git status   # ${operation} is in progress`] : []),
      ...(halted === null && attempt(() => needsTrust(context), false) ? ['forge trust'] : []),
      ...(halted === null ? suggested : []),
    ].slice(0, 3),
  };
}

/** In a fresh clone and a moved folder nothing is approved, so forge would run no test. */
const needsTrust = (context: Context): boolean =>
  showTrust(context).items.some(({ kind, state }) => kind !== 'rule' && state !== 'trusted');

/** What `forge trust` asks, tests that never failed, notes for somebody, and parked entries of all worktrees here. */
function forPerson(context: Context, features: readonly Feature[]): string[] {
  const { items } = showTrust(context);
  const missing = describeMissing(context);
  const open = items.filter(({ state }) => state !== 'trusted' && state !== 'missing');
  const rules = open.filter(({ kind }) => kind === 'rule').length;
  const what = rules === open.length ? 'invariant' : 'thing';
  const some = 0 < rules && rules < open.length ? ` (${plural(rules, 'invariant')})` : '';
  const notes = readNotes(context).filter(isForSomebody);
  const unproven = features.filter(isUnprovenPass).map(({ id }) => id);
  const confirm = `${plural(unproven.length, 'feature')} to confirm: forge feature confirm ${unproven.length > 5 ? '--all' : unproven.join(' ')}`;
  return [
    ...(open.length > 0 ? [`${plural(open.length, what)} to approve${some}: forge trust`] : []),
    ...(missing === null ? [] : [`${missing}: forge trust`]),
    ...(unproven.length > 0 ? [confirm] : []),
    ...(notes.length > 0 ? [`${plural(notes.length, 'note')} for somebody: forge note list --waiting`] : []),
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

/** The running session's next step, else the last one left in this clone, else the last one. */
function nextStep(context: Context): string | null {
  if (readRunning(context)) return readProgress(context).next ?? null;
  const isOwn = ownSessions(context);
  const left = handoversOf(recentArchives(context), isOwn);
  return (left.find(({ id }) => isOwn(id)) ?? left[0])?.next ?? null;
}

function currentSession(context: Context): Where['session'] {
  const running = readRunning(context);
  return (
    running && {
      id: sessionName(running.id),
      started_at: running.started_at,
      task: showFocus(context).task,
      open_questions: openEntries(readKfr(context)).length,
    }
  );
}

function suggest(context: Context, features: readonly Feature[], open: number): string[] {
  const running = readRunning(context);
  const { task } = nextTask(context);
  const add = features.length === 0 ? ['forge feature add "First thing to build"'] : [];
  const work = task?.source === 'feature' ? workOn(context, task, features) : [];
  const end = 'forge end --next "what comes next"';
  // An open entry keeps the session from ending.
  const settle = open > 0 ? ['forge kfr list'] : [];
  if (running) return [...settle, ...add, 'forge log "what you just did"', ...work, end, 'forge briefing'];
  const isOwn = ownSessions(context);
  // An older one was not needed by the sessions after it.
  const interrupted = resumable(recentArchives(context).slice(-1)).find(({ id }) => isOwn(id));
  const resume = interrupted ? [`forge start --resume ${sessionName(interrupted.id)}`] : [];
  return [...add, ...resume, 'forge start', ...work, 'forge briefing'];
}

/** Before the work and without tests there is nothing to verify. A session's start chooses the task. */
function workOn(context: Context, task: Candidate, features: readonly Feature[]): string[] {
  const feature = features.find(({ id }) => id === task.id);
  const isBegun = task.status !== 'not_implemented' || isAbout(showFocus(context), task.id);
  if (feature?.tests?.length && !isBegun && !readRunning(context)) return [];
  const command = !feature?.tests?.length
    ? `forge feature edit ${task.id} --test "COMMAND"`
    : isBegun
      ? `forge done ${task.id}`
      : `forge focus set ${task.id}`;
  return [`${command}   # ${oneLine(task.title, 300)}`];
}
