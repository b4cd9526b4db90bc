import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { recordId } from '../../src/ledger/record.js';
import { type Verified, verify as verified } from './memory.js';
import type { Project } from './project.js';

/** What stands in a ledger, read past forge. */
export interface Found {
  id: string;
  tier: string;
  key?: string;
  kind: string;
  text?: string;
  prev: string | null;
  /** Of a tombstone: the record that it stands for. */
  redacted?: string;
}

/** Every whole line of every ledger file, the same line once. What is not JSON is passed over. */
export function foundRecords(project: Project, files = /^ledger\/.*\.jsonl$/): Found[] {
  const memory = project.path('.forge/memory');
  const found = new Map<string, Found>();
  for (const name of readdirSync(memory, { recursive: true, encoding: 'utf8' })) {
    if (!files.test(name) || name.includes('/.')) continue;
    const lines = readFileSync(join(memory, name)).toString('utf8').split('\n').slice(0, -1);
    for (const line of lines.map((one) => one.replace(/^ */, ''))) {
      const record = parse(line);
      if (record) found.set(recordId(line), { ...record, id: recordId(line) });
    }
  }
  return [...found.values()];
}

function parse(line: string): Omit<Found, 'id'> | null {
  try {
    return JSON.parse(line) as Omit<Found, 'id'>;
  } catch {
    return null;
  }
}

/** How often each key is in a tier. A line whose chain is cut off by damage above it is no record. */
export function countKeys(project: Project, tier: string): Map<string, number> {
  const counts = new Map<string, number>();
  const records = foundRecords(project);
  const ids = new Set(records.map(({ id, redacted }) => redacted ?? id));
  for (const { key, tier: own, prev } of records)
    if (own === tier && key !== undefined && (prev === null || ids.has(prev)))
      counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

export const recordArgs = (key: string, ...more: string[]): string[] => [
  ...['memory', 'record', '--task', 'T-1', '--exit-code', '0', '--classification', 'SUCCESS', '--key', key],
  ...more,
];

/** `forge memory verify`, whatever it finds. */
export async function verify(project: Project): Promise<Verified> {
  const found = await verified(project);
  expect(found.exitCode).toBe({ intact: 0, secret: 5, removed: 1, corrupted: 4, halted: 4 }[found.status]);
  return found;
}

export async function expectIntact(project: Project, what: unknown = ''): Promise<void> {
  expect({ what, ...(await verify(project)) }).toMatchObject({ status: 'intact', problems: [] });
}

/** Nothing but lines that a kill cut off is noted. Returns how many there are. */
export async function countTorn(project: Project, what: unknown): Promise<number> {
  const { status, problems, notes } = await verify(project);
  expect({ what, status, problems }).toEqual({ what, status: 'intact', problems: [] });
  return notes.filter((note) => note.includes('an unfinished line')).length;
}

/** Every key that was acknowledged has both of its records, and none is twice. */
export function expectKept(project: Project, acknowledged: Iterable<string>, what: unknown = ''): void {
  for (const tier of ['execution', 'evaluation']) {
    const counts = countKeys(project, tier);
    const missing = [...acknowledged].filter((key) => !counts.has(key));
    const doubled = [...counts].filter(([, count]) => count > 1).map(([key]) => key);
    expect({ what, tier, missing, doubled }).toEqual({ what, tier, missing: [], doubled: [] });
  }
}
