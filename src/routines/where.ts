import { readBranch } from '../adapters/git-read.js';
import { countStatuses, type Feature, type FeatureStatus } from '../domain/feature.js';
import { openEntries } from '../domain/kfr-gate.js';
import { type Candidate, taskLine } from '../domain/next.js';
import { resumable, sessionName } from '../domain/session.js';
import { readHalt } from '../store/halt.js';
import { recentArchives } from './archive.js';
import { type Context, hasRecovery } from './context.js';
import { listFeatures, nextTask } from './feature.js';
import { showFocus } from './focus.js';
import { readKfr } from './kfr.js';
import { describePause, mentionedPauses } from './pause.js';
import { readRunning } from './running.js';

/** `forge` alone: where you stand, and the three most useful next commands. */
export interface Where {
  root: string | null;
  /** Null: no git. */
  branch: string | null;
  git: boolean;
  session: { id: string; started_at: string; task: string | null; open_questions: number } | null;
  features: Record<FeatureStatus, number> | null;
  /** Why nothing may be written until a human has acted; null when nothing stands in the way. */
  halted: string | null;
  /** Since when and why work waits for a human. */
  paused: string | null;
  /** A rollback, or its undoing, waits to be completed. */
  recovering: boolean;
  next: string[];
}

export async function whereYouStand(context: Context): Promise<Where> {
  const { repository, git, layout } = context;
  const running = readRunning(context);
  const focus = showFocus(context);
  const { features } = listFeatures(context);
  const halted = readHalt(context.disk)?.reasons[0] ?? null;
  const [pause] = mentionedPauses(context);
  const recovering = hasRecovery(context);
  return {
    root: layout.root,
    branch: repository && git ? await readBranch(repository, git) : null,
    git: repository !== null,
    session: running
      ? {
          id: sessionName(running.id),
          started_at: running.started_at,
          task: focus.task,
          open_questions: openEntries(readKfr(context)).length,
        }
      : null,
    features: countStatuses(features),
    halted,
    paused: pause ? describePause(pause) : null,
    recovering,
    next: [
      ...(halted === null ? [] : ['forge memory verify']),
      ...(recovering ? ['forge recover'] : []),
      ...(pause ? ['forge recover --plan', 'forge memory override acknowledge --reason "…"'] : []),
      ...suggest(context, running !== null, features),
    ].slice(0, 3),
  };
}

function suggest(context: Context, running: boolean, features: readonly Feature[]): string[] {
  const interrupted = resumable(recentArchives(context))[0];
  const { task } = nextTask(context);
  const commands = [
    ...(features.length === 0
      ? ['forge feature add FORGE-001 "First thing to build" --test "npm test"']
      : []),
    ...(running ? ['forge progress add "what you just did"'] : []),
    ...(!running && interrupted ? [`forge session start --resume ${sessionName(interrupted.id)}`] : []),
    ...(running ? [] : ['forge session start']),
    ...(task?.source === 'feature' ? [workOn(task, features)] : []),
    ...(running ? ['forge session end --learned "…" --next "…"'] : []),
    'forge briefing',
  ];
  return commands.slice(0, 3);
}

/** A feature without tests can be proved by nothing yet. */
function workOn(task: Candidate, features: readonly Feature[]): string {
  const tested = (features.find(({ id }) => id === task.id)?.tests ?? []).length > 0;
  const command = tested
    ? `forge feature verify ${task.id}`
    : `forge feature edit ${task.id} --test "npm test"`;
  return `${command}   # ${taskLine(task)}`;
}
