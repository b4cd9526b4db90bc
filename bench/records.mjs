// Ledgers that are full already, written as forge writes them, without a command for each record.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { child, loadKit } from './ledger.mjs';
import { run } from './measure.mjs';

/** What every record says besides what it is about. */
export const STAMP = { at: '2026-03-01T10:00:00.000Z', session: null, actor: 'supervisor' };

/** Puts records behind the genesis of a tier; their ids. */
export async function writeRecords(scratch, place, tier, bodies) {
  const { planLines, recordId } = await import(await loadKit(scratch));
  const folder = tier === 'notes' ? join('memory', 'long-term') : 'memory';
  const file = join(place.cwd, '.forge', folder, `${tier}.jsonl`);
  const genesis = run(['head', '-1', file], place).trim();
  const tip = { ledger: JSON.parse(genesis).ledger, heads: [recordId(genesis)], maxN: 1 };
  const { lines } = planLines(tier, tip, null, bodies);
  writeFileSync(file, `${[genesis, ...lines.map(({ line }) => line)].join('\n')}\n`);
  return lines.map(({ id }) => id);
}

/** Commits them and verifies them once, as after a day's work. */
export async function settleRecords(scratch, place, message) {
  run(['git', 'add', '-A'], place);
  run(['git', 'commit', '-qm', message], place);
  // Git reads a file again that is as old as its index.
  run(['sleep', '1'], place);
  run(['git', 'update-index', '-q', '--refresh'], place);
  // The journal holds nothing that a commit has.
  await child(scratch, place, 'remember');
}
