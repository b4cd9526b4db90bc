import { listTags } from '../git/tags.js';
import { installGuard } from '../guard/guard.js';
import { readHalt } from '../project/halt.js';
import { type Context, hasCheckpointIntents } from '../project/project.js';
import { dropIntent, isUnderWay, leaveIntent, listIntents, readIntent } from './intent.js';
import { keepManifest } from './manifest.js';
import { decodeManifest } from './read.js';
import { type Manifest, manifestIn, tagOf } from './rules.js';

/** Completes what was cut off between tag and manifest, and removes what came to nothing. */
export async function finishCheckpoints(context: Context): Promise<void> {
  const { disk } = context;
  if (disk.dryRun || !hasCheckpointIntents(context) || readHalt(disk) !== null) return;
  for (const token of listIntents(context)) await finish(context, token);
}

/** Whoever looks, or starts, is not hindered by what waits. */
export async function tryFinishCheckpoints(context: Context): Promise<void> {
  await finishCheckpoints(context).catch((error) => {
    context.warnings.push(`A checkpoint was cut off and waits: ${(error as Error).message}`);
  });
}

/** An error ended it: whether there is anything to complete, the tag says. What fails here is left for the next command. */
export async function giveUpIntent(context: Context, token: string): Promise<void> {
  leaveIntent(token);
  if (!context.disk.dryRun) await finish(context, token).catch(() => undefined);
}

async function finish(context: Context, token: string): Promise<void> {
  const intent = readIntent(context, token);
  if (intent && isUnderWay(context, token, intent)) return;
  const manifest = intent?.name ? await taggedManifest(context, intent.name, intent.at) : null;
  if (manifest) {
    await installGuard(context);
    await keepManifest(context, manifest);
    context.warnings.push(`${manifest.tag} had been cut off; its manifest is written now.`);
  }
  dropIntent(context, token);
}

/** What was made under that name at that time: another one may have been quicker. */
async function taggedManifest({ git }: Context, name: string, at: string): Promise<Manifest | null> {
  const tag = git && (await listTags(git)).find((candidate) => candidate.name === name);
  const held = tag?.isAnnotated ? manifestIn(tag.message) : null;
  const manifest = held === null ? null : decodeManifest(held);
  const isOurs =
    manifest?.commit === tag?.commit && manifest?.tag === tagOf(name) && manifest.timestamp === at;
  return isOurs ? manifest : null;
}
