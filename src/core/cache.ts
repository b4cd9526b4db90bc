import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readPlain, removeDrafts, removeQuietly } from './files.js';
import { makeToken } from './text.js';

/** The most that a hint or a log holds, in bytes. */
const MAX_LENGTH = 64 * 1024;

/** What a hint file says; null when there is none, or nothing that can be read. */
export function readHint<T>(path: string): T | null {
  try {
    return JSON.parse(readPlain(path, MAX_LENGTH)?.toString('utf8') ?? '') as T;
  } catch {
    return null;
  }
}

/** Remembers what costs little to find out again. Neither locked nor synced; what is too long is not kept. */
export const writeHint = (path: string, value: object): void =>
  replaceQuietly(path, () => `${JSON.stringify(value)}\n`);

/** Adds a line to a log of what nobody could be told. A full log loses its older half. */
export function appendLog(path: string, line: string): void {
  replaceQuietly(path, () => {
    const text = `${readPlain(path, 2 * MAX_LENGTH)?.toString('utf8') ?? ''}${line}\n`;
    return text.length < MAX_LENGTH ? text : text.slice(text.indexOf('\n', text.length / 2) + 1);
  });
}

/** Never an error: a read-only place can be read. */
function replaceQuietly(path: string, makeText: () => string): void {
  const folder = dirname(path);
  const draft = join(folder, `.${basename(path)}.${makeToken(12)}.tmp`);
  try {
    fs.mkdirSync(folder, { recursive: true });
    const bytes = Buffer.from(makeText(), 'utf8');
    // Without git it lies in .forge/, which may have come with links in it.
    if (bytes.length > MAX_LENGTH || !fs.lstatSync(folder).isDirectory()) return;
    // What a kill left; another one's, without a lock, costs that one its hint.
    removeDrafts(path);
    fs.writeFileSync(draft, bytes, { flag: 'wx' });
    fs.renameSync(draft, path);
  } catch {
    removeQuietly(draft);
  }
}
