import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../../core/files.js';
import type { Layout } from '../../core/paths.js';
import { parseLine, recordId, type Tier } from '../rules/record.js';
import { Voids } from '../rules/settlement.js';
import { unconfirmed } from './append.js';
import { eachLine, listArchives, listContainers } from './files.js';

export interface Keyed {
  id: string;
  n: number;
  /** Its bytes, without the LF. */
  line: Buffer;
}

const MARK = Buffer.from('"key":"');
const VOIDED = Buffer.from('"voided":["');

/** A record that somebody edited bears the key of the one that was put back; one written by hand may bear any. */
function findVoided(layout: Layout, tier: Tier): Voids {
  const voids = new Voids();
  const line = (bytes: Buffer): void => {
    if (!bytes.includes(VOIDED)) return;
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind === 'record') voids.add(parsed.record, recordId(bytes));
  };
  eachLine([...listContainers(layout, tier), ...listArchives(layout)], line);
  return voids;
}

/**
 * The records that bear these idempotency keys, the first of each in file order. Who wrote one may have been killed
 * before its fsync, so they are on the disk on return (exit 6 where that is not certain). The caller holds the lock.
 */
export function findKeyed(layout: Layout, tier: Tier, wanted: ReadonlySet<string>): Map<string, Keyed> {
  const bearers: (Keyed & { key: string; path: string })[] = [];
  if (wanted.size === 0) return new Map();
  for (const container of [...listContainers(layout, tier), ...listArchives(layout)])
    eachLine([container], (bytes) => {
      const start = bytes.indexOf(MARK);
      if (start < 0) return;
      const key = bytes.toString('latin1', start + MARK.length, bytes.indexOf(0x22, start + MARK.length));
      if (!wanted.has(key)) return;
      const parsed = parseLine(bytes.toString('utf8'));
      if (parsed.kind !== 'record' || parsed.record.tier !== tier || parsed.record.key !== key) return;
      const { n } = parsed.record;
      bearers.push({ key, id: recordId(bytes), n, line: Buffer.from(bytes), path: container.path });
    });
  return bearers.length === 0 ? new Map() : firstValid(bearers, findVoided(layout, tier));
}

function firstValid(
  bearers: readonly (Keyed & { key: string; path: string })[],
  voided: Voids,
): Map<string, Keyed> {
  const valid = bearers.filter(({ id }) => !voided.has(id));
  const found = new Map(valid.toReversed().map((bearer) => [bearer.key, bearer]));
  for (const path of new Set([...found.values()].map((bearer) => bearer.path))) syncWritten(path);
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
