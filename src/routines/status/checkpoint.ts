import { stampTags } from '../../adapters/git/status.js';
import { listTags } from '../../adapters/git/tag.js';
import { byTime, TAG_FOLDER } from '../../domain/checkpoint/checkpoint.js';
import { judgeCheckpoint } from '../../domain/checkpoint/state.js';
import { decodeManifest, readManifests } from '../checkpoint/read.js';
import type { Context } from '../context.js';

/** The newest that HEAD leads to, is what it was, and may be gone back to. */
export async function newestCheckpoint(context: Context): Promise<string | null> {
  const { git, repository } = context;
  if (!git || !repository || stampTags(repository, TAG_FOLDER) === null) return null;
  const tags = await listTags(git, true);
  const files = new Map(readManifests(context).map((file) => [file.name, file]));
  const good = tags
    .map((tag) => judgeCheckpoint(tag.name, { file: files.get(tag.name), tag }, () => true, decodeManifest))
    .filter(({ state, manifest }) => state === 'ok' && manifest?.can_rollback_to === true);
  return good.sort(byTime)[0]?.tag ?? null;
}
