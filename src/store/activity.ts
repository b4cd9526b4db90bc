import type { Activity } from '../domain/session/holder.js';
import { readHint, writeHint } from './hint.js';
import { activityFile, type Layout } from './layout.js';

/** When forge was last used in this worktree; null when that is not known. */
export const readActivity = (layout: Layout): Activity | null => readHint<Activity>(activityFile(layout));

/** A hint for judging silence: without it a session counts as silent a little sooner. */
export const writeActivity = (layout: Layout, activity: Activity): void =>
  writeHint(activityFile(layout), activity);
