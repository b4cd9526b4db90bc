import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { readHint, readPlain, replaceFiles, stampOf } from '../core/files.js';
import { type Layout, shown } from '../core/paths.js';
import type { Context } from '../project/project.js';
import { withLedgerLock } from './files.js';
import { digestOf, type Listed, listContainers, readSnapshot, recordsOf } from './read.js';
import { TIERS, type Tier } from './record.js';

/** LTM v0.1 retains this many cycles. The ledger keeps all of them. */
const EXECUTION_CYCLES = 1000;

/** Views are for people, `jq` and `tail -F`. Forge never reads one as memory. */
export const viewFile = ({ dir }: Layout, tier: Tier): string =>
  tier === 'note' ? join(dir, 'memory', 'long-term', 'notes.jsonl') : join(dir, 'memory', `${tier}.jsonl`);

/** Each view's stamp after forge's last write. A view with another stamp was edited, touched or copied. */
type Stamps = Partial<Record<Tier, string>> & {
  /** Digest of the ledger's files that the views show. */
  of?: string;
};

const stampsFile = ({ state }: Layout): string => join(state, 'views.json');
const readStamps = (layout: Layout): Stamps => readHint(stampsFile(layout)) ?? {};

function isEdited(layout: Layout, tier: Tier, stamps: Stamps): boolean {
  const stamp = stampOf(viewFile(layout, tier));
  return stamp !== '' && stamps[tier] !== undefined && stamps[tier] !== stamp;
}

/** A view that cannot be written is rebuilt later. It must not fail a record that is stored. */
export function appendToViews(
  context: Context,
  lines: readonly string[],
  folder: { before: string; after: string },
): void {
  const { layout } = context;
  const own = TIERS.map((tier) => ({
    ...{ tier, path: viewFile(layout, tier) },
    text: lines.filter((line) => line.startsWith(`{"v":1,"tier":"${tier}"`)).map((line) => `${line}\n`),
  })).filter(({ text }) => text.length > 0);
  try {
    const stamps = readStamps(layout);
    const existing = own.filter(({ path }) => stampOf(path) !== '');
    for (const { tier, path, text } of existing) {
      const keepsEdit = isEdited(layout, tier, stamps);
      // A link that came with a clone may lead anywhere.
      const { O_APPEND, O_NOFOLLOW = 0, O_WRONLY } = fs.constants;
      const flag = (O_WRONLY | O_APPEND | O_NOFOLLOW) as unknown as string;
      fs.writeFileSync(path, text.join(''), { flag });
      if (keepsEdit) continue;
      if (tier === 'execution') dropOldCycles(path);
      stamps[tier] = stampOf(path);
    }
    const isWhole = existing.length === own.length;
    if (stamps.of === folder.before && isWhole) stamps.of = folder.after;
    fs.writeFileSync(stampsFile(layout), JSON.stringify(stamps));
    // After a clone or `git clean` a new file would show only this record.
    if (!isWhole) rebuildViews(context);
  } catch {
    // See above.
  }
}

function dropOldCycles(path: string): void {
  const lines = (readPlain(path, Number.MAX_SAFE_INTEGER)?.toString() ?? '').split('\n');
  if (lines.length - 1 <= EXECUTION_CYCLES) return;
  const kept = lines.slice(-EXECUTION_CYCLES - 1).join('\n');
  replaceFiles([{ path, bytes: Buffer.from(kept) }]);
}

/** Rewrites each view that differs from the records. Warns of those that somebody else changed. */
export function rebuildViews(context: Context, listed: readonly Listed[] = listContainers(context)): void {
  const { layout, disk } = context;
  const isCurrent = ({ of, ...stamps }: Stamps): boolean =>
    of === digestOf(listed) && TIERS.every((tier) => stampOf(viewFile(layout, tier)) === stamps[tier]);
  if (disk.dryRun || isCurrent(readStamps(layout))) return;
  withLedgerLock(context, () => {
    const now = listContainers(context);
    const { graph } = readSnapshot(context, now);
    const stamps = readStamps(layout);
    for (const tier of TIERS) {
      const path = viewFile(layout, tier);
      const records = recordsOf(context, graph, tier).slice(tier === 'execution' ? -EXECUTION_CYCLES : 0);
      const wasEdited = isEdited(layout, tier, stamps);
      const bytes = Buffer.from(records.map(({ record }) => `${JSON.stringify(record)}\n`).join(''));
      if (replaceView(context, path, bytes) && wasEdited)
        context.warnings.push(
          `${shown(layout, path)} differed from the records that it shows, so it was rewritten from them: forge memory log`,
        );
      stamps[tier] = stampOf(path);
    }
    fs.writeFileSync(stampsFile(layout), JSON.stringify({ ...stamps, of: digestOf(now) }));
  });
}

function replaceView({ disk }: Context, path: string, bytes: Buffer): boolean {
  disk.makeFolder(dirname(path));
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true)
    if ((readPlain(path, Number.MAX_SAFE_INTEGER) ?? Buffer.alloc(0)).equals(bytes)) return false;
  replaceFiles([{ path, bytes }]);
  return true;
}
