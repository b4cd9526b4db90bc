import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, readPlain, replaceFiles } from '../core/files.js';
import type { Layout } from '../core/paths.js';
import { eachRecord } from './container.js';
import type { LedgerContext } from './context.js';
import { containerBytes, type Snapshot } from './read.js';
import { byNumber, TIERS, type Tier } from './record.js';

/** LTM v0.1 retains so many cycles. The ledger keeps all. */
export const EXECUTION_CYCLES = 1000;

/** Views are for people, `jq` and `tail -F`. Forge never reads one as memory. */
export const viewFile = ({ dir }: Layout, tier: Tier): string =>
  tier === 'note' ? join(dir, 'memory', 'long-term', 'notes.jsonl') : join(dir, 'memory', `${tier}.jsonl`);

const tierOf = (line: string): Tier | undefined => {
  const name = /^\{"v":1,"tier":"([a-z]+)"/.exec(line)?.[1];
  return TIERS.find((tier) => tier === name);
};

/** A view that cannot be written is rebuilt later. It must not fail a record that is stored. */
export function appendToViews({ layout }: LedgerContext, lines: readonly string[]): void {
  for (const tier of TIERS) {
    const own = lines.filter((line) => tierOf(line) === tier);
    if (own.length === 0) continue;
    try {
      if (!fs.existsSync(dirname(viewFile(layout, tier)))) makeFolder(dirname(viewFile(layout, tier)));
      fs.appendFileSync(viewFile(layout, tier), own.map((line) => `${line}\n`).join(''));
    } catch {
      // See above.
    }
  }
}

/** Rewrites each view that is not what the records give; returns the names of those. The caller holds the lock. */
export function rebuildViews(context: LedgerContext, snapshot: Snapshot): Tier[] {
  const lines = new Map<Tier, Map<string, { n: number; id: string; line: string }>>();
  const gone = snapshot.graph.tombstones();
  for (const { name } of snapshot.graph.containers)
    eachRecord(containerBytes(context, name), (id, record, line) => {
      if (!('kind' in record) || gone.has(id)) return;
      const known = lines.get(record.tier) ?? new Map();
      lines.set(record.tier, known.set(id, { n: record.n, id, line: line.bytes.toString('utf8') }));
    });
  return TIERS.filter((tier) => {
    const sorted = [...(lines.get(tier)?.values() ?? [])].sort(byNumber);
    const kept = tier === 'execution' ? sorted.slice(-EXECUTION_CYCLES) : sorted;
    return replaceView(viewFile(context.layout, tier), kept.map(({ line }) => `${line}\n`).join(''));
  });
}

function replaceView(path: string, text: string): boolean {
  const bytes = Buffer.from(text, 'utf8');
  if ((readPlain(path, Number.MAX_SAFE_INTEGER) ?? Buffer.alloc(0)).equals(bytes)) return false;
  makeFolder(dirname(path));
  replaceFiles([{ path, bytes }]);
  return true;
}
