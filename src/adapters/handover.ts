import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = fs.constants;

/** What a command gets its briefing in, and leaves its observations in: a folder that only this user may enter. */
export interface HandoverFolder {
  path: string;
  briefing: string;
  observations: string;
}

export function makeHandover(key: string): HandoverFolder {
  const path = folderOf(key);
  // Fails where somebody was there first.
  fs.mkdirSync(path, { mode: 0o700 });
  return { path, briefing: join(path, 'briefing.md'), observations: join(path, 'observations.jsonl') };
}

export function fillHandover({ briefing, observations }: HandoverFolder, text: string): void {
  fs.writeFileSync(briefing, text, { mode: 0o600 });
  fs.writeFileSync(observations, '', { mode: 0o600 });
}

/** Its text; `too_large`, or `unreadable` when the command put something else in its place. Empty when it is gone. */
export function readObservations(
  path: string,
  max: number,
): { text: string } | { problem: 'too_large' | 'unreadable' } {
  let file: number | undefined;
  try {
    file = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = fs.fstatSync(file);
    if (!stat.isFile()) return { problem: 'unreadable' };
    if (stat.size > max) return { problem: 'too_large' };
    const bytes = Buffer.alloc(stat.size);
    const count = fs.readSync(file, bytes, 0, stat.size, 0);
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, count)) };
  } catch (error) {
    return (error as { code?: string }).code === 'ENOENT' ? { text: '' } : { problem: 'unreadable' };
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

const folderOf = (key: string): string => join(tmpdir(), `forge-cycle-${key}`);

/** By the cycle's key: what a kill left is found as well. */
export function removeHandover(key: string): void {
  const path = folderOf(key);
  try {
    if (fs.lstatSync(path).isDirectory()) fs.rmSync(path, { recursive: true, force: true });
  } catch {
    // The system clears its folder itself.
  }
}
