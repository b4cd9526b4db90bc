import { decodeManifest, readManifests } from '../checkpoint/read.js';
import { byTime, judgeCheckpoint } from '../checkpoint/rules.js';
import { listTags } from '../git/tags.js';
import type { Context } from '../project/project.js';

/** The newest that HEAD leads to, is what it was, and may be gone back to. */
export async function newestCheckpoint(context: Context): Promise<string | null> {
  const { git } = context;
  if (!git) return null;
  const tags = await listTags(git, true);
  const files = new Map(readManifests(context).map((file) => [file.name, file]));
  const good = tags
    .map((tag) => judgeCheckpoint(tag.name, { file: files.get(tag.name), tag }, () => true, decodeManifest))
    .filter(({ state, manifest }) => state === 'ok' && manifest?.can_rollback_to === true);
  return good.sort(byTime)[0]?.tag ?? null;
}
