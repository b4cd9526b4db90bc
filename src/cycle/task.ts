import { oneLine } from '../core/text.js';
import { nextTask } from '../feature/feature.js';
import type { Feature } from '../feature/rules.js';
import type { Context } from '../project/project.js';
import { showFocus } from '../session/focus.js';
import { NO_TASK } from './mark.js';

interface ChosenTask {
  id: string;
  why: string;
}

/** What was asked for, else what is in focus and not done, else what comes next. */
export function chooseTask(
  context: Context,
  wanted: string | undefined,
  features: readonly Feature[],
): ChosenTask {
  if (wanted !== undefined) return asked(context, wanted, features);
  return focused(context, features) ?? following(context);
}

/** Work may have no feature; a slip of the pen is to be seen. */
function asked({ warnings }: Context, id: string, features: readonly Feature[]): ChosenTask {
  if (features.length === 0 || features.some((feature) => feature.id === id))
    return { id, why: 'as asked for' };
  warnings.push(`No feature is called ${id}: no tests judge this task. Features: forge feature list`);
  return { id, why: 'as asked for; no feature is called that' };
}

function focused(context: Context, features: readonly Feature[]): ChosenTask | null {
  const { task, linear_issue } = showFocus(context);
  if (task === null && linear_issue === null) return null;
  const feature = features.find(({ id }) => task === id || task?.startsWith(`${id}:`));
  if (feature?.status === 'passing') return null;
  const id = feature?.id ?? linear_issue ?? oneLine(task ?? '', 200);
  return id === '' ? null : { id, why: 'in focus' };
}

function following(context: Context): ChosenTask {
  const { task, reason } = nextTask(context);
  return task ? { id: task.id, why: reason } : { id: NO_TASK, why: `no task: ${reason}` };
}
