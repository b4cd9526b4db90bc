import { memoryFolder, shownFrom } from '../core/paths.js';
import { streamGit } from '../git/client.js';
import { changedMemory, readBlobs } from '../git/memory.js';
import type { Context } from '../project/project.js';
import { parseLine, TIERS } from './rules/record.js';
import { identify } from './rules/tombstone.js';
import { eachLine, listArchives, listContainers } from './store/files.js';

/**
 * Files of the ledgers that HEAD has and that are gone here, with a record that stands nowhere else: what was folded, or
 * moved to an archive, and is not committed yet, is not gone. Paths from the worktree's top; none without git.
 */
export async function goneLedgers({ git, layout, repository, world }: Context): Promise<string[]> {
  if (!git || !repository) return [];
  const folder = shownFrom(repository.root, memoryFolder(layout));
  const changed = await changedMemory(git, { repository, folder });
  const deleted = changed.filter(({ state }) => state === 'deleted');
  if (deleted.length === 0) return [];
  const here = new Set<string>();
  const places = [...TIERS.flatMap((tier) => listContainers(layout, tier)), ...listArchives(layout)];
  eachLine(places, (line) => here.add(identify(line)));
  const missed = new Set<string>();
  const check = (oid: string, line: Buffer): void => {
    if (!here.has(identify(line)) && parseLine(line.toString('utf8')).kind !== 'padding') missed.add(oid);
  };
  const oids = new Set(deleted.map(({ oid }) => oid));
  await readBlobs(streamGit(repository.root, world.env), oids, check, (oid) => missed.add(oid));
  return deleted.flatMap(({ path, oid }) => (missed.has(oid) ? [path] : []));
}
