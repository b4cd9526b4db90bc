import type { ProcessIdentity } from '../domain/session/holder.js';
import type { Disk } from './disk.js';
import { cycleFile } from './layout.js';

/** What the cycle that is under way here runs at this moment; null without one, or where its mark cannot be read. */
export function readCycleCommand(disk: Disk): ProcessIdentity | null {
  try {
    const mark = JSON.parse(disk.read(cycleFile(disk.layout))?.toString('utf8') ?? '{}');
    return typeof mark.command?.pid === 'number' ? mark.command : null;
  } catch {
    return null;
  }
}
