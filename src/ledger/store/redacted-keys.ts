import { createHmac } from 'node:crypto';
import type { Disk } from '../../core/disk.js';
import { redactedKeysFile } from '../../core/paths.js';
import { readSalt } from '../../guard/salt.js';
import { TIERS, type Tier } from '../rules/record.js';
import { describeContainer, eachLine } from './files.js';
import { appendShared } from './redacted.js';

/** The record that bore a key, before its content went. */
export interface RedactedKey {
  tier: Tier;
  id: string;
  n: number;
}

/**
 * Keys go with the content that they belong to, and may be part of what had to go. So what is kept is a digest, which
 * says nothing to whoever has not the salt of this repository.
 */
const digestOf = (disk: Disk, key: string): string =>
  createHmac('sha256', readSalt(disk)).update(`key ${key}`).digest('hex');

/** Tells what was redacted under a key, in this repository; nothing for nearly all. */
export function readRedactedKeys(disk: Disk): (key: string) => RedactedKey[] {
  const found = new Map<string, RedactedKey[]>();
  const file = describeContainer(redactedKeysFile(disk.layout));
  eachLine(file ? [file] : [], (bytes) => {
    const entry = parse(bytes);
    if (entry) found.set(entry.key, [...(found.get(entry.key) ?? []), entry]);
  });
  return (key) => (found.size === 0 ? [] : (found.get(digestOf(disk, key)) ?? []));
}

/** A kill may have left half a line. */
function parse(bytes: Buffer): (RedactedKey & { key: string }) | null {
  try {
    const { key, tier, redacted: id, n } = JSON.parse(bytes.toString('utf8'));
    const fits = typeof key === 'string' && typeof id === 'string' && Number.isSafeInteger(n);
    return fits && TIERS.includes(tier) ? { key, tier, id, n } : null;
  } catch {
    return null;
  }
}

/** On the disk on return, like the tombstones. */
export function keepRedactedKeys(disk: Disk, keyed: readonly (RedactedKey & { key: string })[]): void {
  appendShared(disk, redactedKeysFile(disk.layout), () => {
    const known = readRedactedKeys(disk);
    return keyed
      .filter(({ key, id }) => !known(key).some((entry) => entry.id === id))
      .map(({ key, tier, id, n }) =>
        Buffer.from(JSON.stringify({ v: 1, key: digestOf(disk, key), tier, redacted: id, n })),
      );
  });
}
