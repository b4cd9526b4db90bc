import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Activity } from '../domain/holder.js';
import { activityFile, type Layout } from './layout.js';

/** When forge was last used in this worktree; null when that is not known. */
export function readActivity(layout: Layout): Activity | null {
  try {
    return JSON.parse(readFileSync(activityFile(layout), 'utf8')) as Activity;
  } catch {
    return null;
  }
}

/** A hint for judging silence: neither locked nor synced, and never an error (a read-only place can be read). */
export function writeActivity(layout: Layout, activity: Activity): void {
  try {
    mkdirSync(layout.state, { recursive: true });
    writeFileSync(activityFile(layout), JSON.stringify(activity));
  } catch {
    // Then the session counts as silent a little sooner.
  }
}
