import { fixedFile, shown } from '../core/paths.js';
import { readHalt } from '../project/halt.js';
import type { Context } from '../project/project.js';
import { type Growth, growthOf } from './growth.js';
import { inspectMemory, reportTiers } from './inspect.js';
import { isDamage } from './rules/finding.js';
import type { Tier } from './rules/record.js';
import { listArchives } from './store/files.js';
import { journalStamp } from './store/journal.js';
import { readPending } from './store/pending.js';

export interface MemoryStats {
  status: 'intact' | 'corrupted' | 'halted' | 'secret';
  tiers: { tier: Tier; records: number; bytes: number; segments: number; heads: number }[];
  bytes: number;
  archives: { count: number; bytes: number };
  journal_bytes: number;
  /** Cycles that wait to be recorded. */
  pending: number;
  /** `large` from 80 MB, `paused` from 100 MB: consolidation waits for a human (LTM-11). */
  growth: Growth;
  color: 'green' | 'yellow' | 'red';
  next: string[];
}

export async function memoryStats(context: Context): Promise<MemoryStats> {
  const { disk, layout } = context;
  const inspection = await inspectMemory(context, false);
  const tiers = reportTiers(context, inspection).map(({ tier, records, bytes, heads, containers }) => ({
    tier,
    records,
    bytes,
    segments: containers.filter((file) => file !== shown(layout, fixedFile(layout, tier))).length,
    heads: heads.length,
  }));
  const bytes = tiers.reduce((sum, tier) => sum + tier.bytes, 0);
  const archives = listArchives(layout);
  const growth = growthOf(bytes);
  const halted = readHalt(disk) !== null;
  const status = inspection.findings.some(isDamage)
    ? 'corrupted'
    : halted
      ? 'halted'
      : inspection.findings.length > 0
        ? 'secret'
        : 'intact';
  return {
    status,
    tiers,
    bytes,
    archives: { count: archives.length, bytes: archives.reduce((sum, { size }) => sum + size, 0) },
    journal_bytes: journalStamp(layout).size,
    pending: readPending(disk).length,
    growth,
    color: status !== 'intact' || growth === 'paused' ? 'red' : growth === 'large' ? 'yellow' : 'green',
    next: [
      ...(status === 'intact' ? [] : ['forge memory verify']),
      ...(growth === 'normal' ? [] : ['forge memory compact']),
    ],
  };
}
