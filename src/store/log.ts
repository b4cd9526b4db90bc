import * as fs from 'node:fs';
import { dirname } from 'node:path';

const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_WRONLY } = fs.constants;

/** Beyond it, the older half goes, in bytes. */
const MAX_BYTES = 64 * 1024;

/** Adds a line to a log of what nobody could be told. Never an error; not synced. */
export function appendLog(path: string, line: string): void {
  try {
    fs.mkdirSync(dirname(path), { recursive: true });
    const file = fs.openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      const stat = fs.fstatSync(file);
      if (!stat.isFile() || stat.nlink > 1) return;
      fs.writeSync(file, `${line}\n`);
      if (stat.size > MAX_BYTES) halve(path);
    } finally {
      fs.closeSync(file);
    }
  } catch {
    // A log is not worth failing for.
  }
}

function halve(path: string): void {
  const lines = fs.readFileSync(path, 'utf8').split('\n');
  fs.writeFileSync(path, lines.slice(Math.floor(lines.length / 2)).join('\n'));
}
