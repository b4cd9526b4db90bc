import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = fs.constants;
const PREFIX = 'forge-cycle-';

/** What a command gets its briefing in, and leaves its observations in: a folder that only this user may enter. */
export interface HandoverFolder {
  path: string;
  briefing: string;
  observations: string;
}

export function makeHandover(): HandoverFolder {
  // mkdtemp makes it 0700.
  const path = fs.mkdtempSync(join(tmpdir(), PREFIX));
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

/** Takes away such a folder and nothing else, whatever a file says its name is. */
export function removeHandover(path: string | undefined): void {
  if (path === undefined || dirname(path) !== tmpdir() || !/^forge-cycle-\w{6}$/.test(basename(path))) return;
  try {
    if (fs.lstatSync(path).isDirectory()) fs.rmSync(path, { recursive: true, force: true });
  } catch {
    // The system clears its folder itself.
  }
}
