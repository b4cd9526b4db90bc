import type { Tier } from '../../src/ledger/rules/record.js';
import { planLines } from '../../src/ledger/rules/segment.js';
import { fixedOf, linesOf, putLines, verify } from './memory.js';
import type { Project } from './project.js';

export const RESTORED = { status: 'intact', exitCode: 0, problems: [] };

/** A segment that another hand wrote: linked as it should be to what is here. */
export async function putForeign(
  project: Project,
  tier: Tier,
  drafts: object[],
  change: object = {},
): Promise<string> {
  const known = (await verify(project)).tiers.find((report) => report.tier === tier);
  const ledger = (JSON.parse(linesOf(project, fixedOf(tier))[0] as string) as { ledger: string }).ledger;
  const tip = { ledger, heads: known?.heads ?? [], maxN: 90, ...change };
  const { lines } = planLines(tier, tip, null, drafts as never);
  const file = `.forge/memory/${tier}.d/by-hand.jsonl`;
  putLines(
    project,
    file,
    lines.map(({ line }) => line),
  );
  return file;
}

export const note = (text: string) => ({
  at: '2026-03-01T10:00:00.000Z',
  actor: 'supervisor',
  kind: 'note',
  text,
});
