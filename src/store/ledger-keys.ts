import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { parseLine, recordId, type Tier } from '../domain/ledger.js';
import { syncFolder } from './durable.js';
import type { Layout } from './layout.js';
import { unconfirmed } from './ledger-append.js';
import { listArchives, listContainers, scanContainer } from './ledger-files.js';

export interface Keyed {
  id: string;
  n: number;
  /** Its bytes, without the LF. */
  line: Buffer;
}

const MARK = Buffer.from('"key":"');
const VOIDED = Buffer.from('"voided":["');

/** A record that somebody edited bears the key of the one that was put back. */
function findVoided(layout: Layout, tier: Tier): Set<string> {
  const voided = new Set<string>();
  const line = (bytes: Buffer): void => {
    if (!bytes.includes(VOIDED)) return;
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind !== 'record' || parsed.record.kind !== 'repair') return;
    for (const id of parsed.record.voided as string[]) voided.add(id);
  };
  const ignore = (): void => {};
  for (const { path, size } of listContainers(layout, tier))
    scanContainer(path, size, { line, long: ignore, tail: ignore });
  return voided;
}

/**
 * The records that bear these idempotency keys, the first of each in file order. Who wrote one may have been killed
 * before its fsync, so they are on the disk on return (exit 6 where that is not certain). The caller holds the lock.
 */
export function findKeyed(layout: Layout, tier: Tier, wanted: ReadonlySet<string>): Map<string, Keyed> {
  const found = new Map<string, Keyed>();
  if (wanted.size === 0) return found;
  const voided = findVoided(layout, tier);
  const line = (bytes: Buffer): void => {
    const start = bytes.indexOf(MARK);
    if (start < 0) return;
    const key = bytes.toString('latin1', start + MARK.length, bytes.indexOf(0x22, start + MARK.length));
    if (!wanted.has(key) || found.has(key)) return;
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind !== 'record' || voided.has(recordId(bytes))) return;
    if (parsed.record.tier === tier && parsed.record.key === key)
      found.set(key, { id: recordId(bytes), n: parsed.record.n, line: Buffer.from(bytes) });
  };
  const ignore = (): void => {};
  for (const { path, size } of [...listContainers(layout, tier), ...listArchives(layout)]) {
    const before = found.size;
    scanContainer(path, size, { line, long: ignore, tail: ignore });
    if (found.size > before) syncWritten(path);
  }
  return found;
}

/** What another process wrote, made durable, with its name. */
function syncWritten(path: string): void {
  try {
    const fd = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0));
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    syncFolder(dirname(path));
  } catch (error) {
    throw unconfirmed(error, path);
  }
}
