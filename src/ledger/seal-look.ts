import { memoryFolder, shownFrom } from '../core/paths.js';
import { streamGit } from '../git/client.js';
import { findRecords } from '../git/memory.js';
import type { Context } from '../project/project.js';
import { recordId } from './rules/record.js';
import type { Pins } from './rules/supervisor.js';
import { eachLine, listContainers } from './store/files.js';
import { journalStamp, readJournal } from './store/journal.js';

const SEAL = Buffer.from('"kind":"seal"');

/** Seals that were made or seen here and are nowhere: not in the audit ledger, not in any branch, reflog or the journal. */
export async function findGoneSeals(context: Context, { seals }: Pins): Promise<string[]> {
  const wanted = new Set(seals);
  if (wanted.size === 0) return [];
  eachLine(listContainers(context.layout, 'audit'), (bytes) => {
    if (wanted.size > 0 && bytes.includes(SEAL)) wanted.delete(recordId(bytes));
  });
  return [...(await dropElsewhere(context, wanted))];
}

/** Takes away from `wanted` what another branch, the reflog or the journal has. */
export async function dropElsewhere(context: Context, wanted: Set<string>): Promise<Set<string>> {
  const { git, repository, layout } = context;
  if (wanted.size === 0) return wanted;
  readJournal(layout, journalStamp(layout).size, (bytes) => wanted.delete(recordId(bytes)));
  if (!git || !repository || wanted.size === 0) return wanted;
  const stream = streamGit(repository.root, context.world.env);
  const folder = shownFrom(repository.root, memoryFolder(layout));
  const found = await findRecords(git, stream, { folder, wanted, where: 'everywhere' });
  for (const id of found.keys()) wanted.delete(id);
  return wanted;
}
