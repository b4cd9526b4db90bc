import { ForgeError } from '../core/error.js';
import { listFeatures, nextTask } from '../feature/feature.js';
import { countStatuses, type Feature, type FeatureStatus } from '../feature/rules.js';
import { type Candidate, taskLine } from '../feature/tasks.js';
import { readBranch } from '../git/state.js';
import { readKfr } from '../kfr/kfr.js';
import { openEntries } from '../kfr/rules.js';
import { describeWaiting, readWaiting } from '../ledger/audit.js';
import { readHalt } from '../project/halt.js';
import { type Context, hasRecovery } from '../project/project.js';
import { recentArchives } from '../session/archive.js';
import { showFocus } from '../session/focus.js';
import { readProgressText } from '../session/progress.js';
import { parseProgress } from '../session/progress-rules.js';
import { resumable, sessionName } from '../session/rules.js';
import { ownSessions, readRunning } from '../session/running.js';
import type { Component } from './component.js';
import { readStatus } from './status.js';

/** `forge` alone: where you stand, and the three most useful next commands. */
export interface Where {
  root: string | null;
  /** Null: no git. */
  branch: string | null;
  git: boolean;
  session: { id: string; started_at: string; task: string | null; open_questions: number } | null;
  features: Record<FeatureStatus, number> | null;
  /** The NEXT line of the running session, or of the last one. */
  step: string | null;
  /** Why nothing may be written until a human has acted; null when nothing stands in the way. */
  halted: string | null;
  /** Since when and why work waits for a human. */
  paused: string | null;
  /** A rollback, or its undoing, waits to be completed. */
  recovering: boolean;
  /** As `forge status` has it. */
  health: Pick<Component, 'name' | 'color'>[];
  /** What could not be read. */
  problems: string[];
  next: string[];
}

/** What is damaged is named, and hinders nobody from asking. */
export async function whereYouStand(context: Context): Promise<Where> {
  const { repository, git, layout } = context;
  const { components } = await readStatus(context, { brief: true });
  const broken = new Broken();
  const features = broken.attempt(() => listFeatures(context).features, null);
  const session = broken.attempt(() => sessionHere(context), null);
  const halted = readHalt(context.disk)?.reasons[0] ?? null;
  const [pause] = broken.attempt(() => readWaiting(context), []);
  const recovering = hasRecovery(context);
  const suggested = broken.attempt(() => suggest(context, session !== null, features ?? []), []);
  return {
    root: layout.root,
    branch: repository && git ? await readBranch(repository, git) : null,
    git: repository !== null,
    session,
    features: features && countStatuses(features),
    step: broken.attempt(() => nextStep(context), null),
    halted,
    paused: pause ? describeWaiting(pause) : null,
    recovering,
    health: components.map(({ name, color }) => ({ name, color })),
    problems: broken.problems,
    next: [
      ...(halted === null ? [] : ['forge memory verify']),
      ...(recovering ? ['forge recover'] : []),
      ...(pause ? ['forge memory override acknowledge --reason "TEXT"'] : []),
      ...broken.next,
      // A session does not end while something is open.
      ...(session && session.open_questions > 0 ? ['forge kfr list'] : []),
      ...(halted === null ? suggested : []),
    ].slice(0, 3),
  };
}

const nextStep = (context: Context): string | null =>
  (readRunning(context)
    ? parseProgress(readProgressText(context)).next
    : recentArchives(context).at(-1)?.next) ?? null;

function sessionHere(context: Context): Where['session'] {
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

/** What forge refuses to read, once each, and what to do about it. */
class Broken {
  readonly problems: string[] = [];
  readonly next: string[] = [];

  attempt<T, F>(work: () => T, otherwise: F): T | F {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      if (!this.problems.includes(error.message)) this.problems.push(error.message);
      const command = error.code === 'file.conflict' ? 'forge doctor --fix' : 'forge status';
      if (!this.next.includes(command)) this.next.push(command);
      return otherwise;
    }
  }
}

function suggest(context: Context, running: boolean, features: readonly Feature[]): string[] {
  const isOwn = ownSessions(context);
  const interrupted = resumable(recentArchives(context)).find(({ id }) => isOwn(id));
  const { task } = nextTask(context);
  const commands = [
    ...(features.length === 0 ? ['forge feature add "First thing to build" --test "COMMAND"'] : []),
    ...(running ? ['forge log "what you just did"'] : []),
    ...(!running && interrupted ? [`forge start --resume ${sessionName(interrupted.id)}`] : []),
    ...(running ? [] : ['forge start']),
    ...(task?.source === 'feature' ? [workOn(task, features)] : []),
    ...(running ? ['forge end --learned "TEXT" --next "TEXT"'] : []),
    'forge briefing',
  ];
  return commands.slice(0, 3);
}

/** A feature without tests can be proved by nothing yet. */
function workOn(task: Candidate, features: readonly Feature[]): string {
  const tested = (features.find(({ id }) => id === task.id)?.tests ?? []).length > 0;
  const command = tested ? `forge done ${task.id}` : `forge feature edit ${task.id} --test "COMMAND"`;
  return `${command}   # ${taskLine(task)}`;
}
