import { basename } from 'node:path';
import { idHere } from '../commit/check.js';
import { formatCommitMessage } from '../commit/message.js';
import { readHint } from '../core/cache.js';
import { ForgeProcess, sameProcess } from '../core/holder.js';
import {
  checkpointFile,
  checkpointIntent,
  checkpointsFolder,
  checkpointWorkFolder,
  shown,
  shownFrom,
} from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { type CommitOutcome, commitFolder } from '../git/commit.js';
import { listTags } from '../git/tags.js';
import { installGuard } from '../guard/guard.js';
import { readHalt } from '../project/halt.js';
import { type Context, hasCheckpointIntents, readConfig } from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { decodeManifest } from './read.js';
import { issueOf, type Manifest, manifestIn, nameIn, tagOf } from './rules.js';

/** Notes that a tag is about to be made: once it is there, its manifest is kept, whatever happens to this process. */
export function noteTag({ disk, layout, world }: Context, name: string): void {
  const bytes = Buffer.from(JSON.stringify(world.self()));
  disk.withLock(() => disk.replace(checkpointIntent(layout, name), bytes));
}

export const forgetTag = ({ disk, layout }: Context, name: string): void =>
  disk.remove(checkpointIntent(layout, name));

/** Names of checkpoints whose maker is gone between tag and manifest. */
export function listCutOff({ disk, layout, world }: Context): string[] {
  const files = disk.list(checkpointWorkFolder(layout)).filter((file) => file.endsWith('.json'));
  const names = files.map((file) => basename(file, '.json'));
  return names.filter((name) => {
    const maker = ForgeProcess.safeParse(readHint<unknown>(checkpointIntent(layout, name)));
    if (!maker.success || sameProcess(maker.data, world.self())) return true;
    return world.liveness(maker.data) === 'gone';
  });
}

/** Completes what was interrupted between tag and manifest. */
export async function finishCheckpoints(context: Context): Promise<void> {
  const { disk } = context;
  if (disk.dryRun || !hasCheckpointIntents(context) || readHalt(disk) !== null) return;
  for (const name of listCutOff(context)) {
    const manifest = await taggedManifest(context, name);
    if (manifest) {
      await installGuard(context);
      await keepManifest(context, manifest);
      context.warnings.push(`${manifest.tag} had been cut off; its manifest is written now.`);
    }
    forgetTag(context, name);
  }
}

/** The same for a command that only reads, or starts: what fails is a warning. */
export async function tryFinishCheckpoints(context: Context): Promise<void> {
  await finishCheckpoints(context).catch((error) => {
    context.warnings.push(`A checkpoint was cut off and waits: ${(error as Error).message}`);
  });
}

async function taggedManifest({ git }: Context, name: string): Promise<Manifest | null> {
  const tag = git && (await listTags(git)).find((candidate) => candidate.name === name);
  const held = tag?.isAnnotated ? manifestIn(tag.message) : null;
  const manifest = held === null ? null : decodeManifest(held);
  return manifest?.commit === tag?.commit && manifest?.tag === tagOf(name) ? manifest : null;
}

/** The manifest as a file, byte for byte as the tag has it, and a commit of it alone. Again, it changes nothing. */
export async function keepManifest(context: Context, manifest: Manifest): Promise<CommitOutcome> {
  const { disk, layout, repository, git, world } = context;
  const name = nameIn(manifest.tag) as string;
  const path = checkpointFile(layout, name);
  disk.withLock(() => {
    if (!disk.exists(path)) disk.replace(path, encodeDocument(manifest));
  });
  if (!repository || !git) return { skipped: 'this folder is no git repository' };
  return commitFolder({
    repository,
    git,
    folder: shownFrom(repository.root, checkpointsFolder(layout)),
    outerIndex: world.env.GIT_INDEX_FILE,
    sign: readConfig(context).git.sign,
    message: (parent) =>
      manifestMessage(manifest, {
        name,
        id: idHere(context, issueOf(name)),
        file: shown(layout, path),
        parent,
      }),
  });
}

function manifestMessage(
  manifest: Manifest,
  { name, id, file, parent }: { name: string; id: string; file: string; parent: string | null },
): string {
  const { commit, verified_by, linear_issues_closed, session, message } = manifest;
  return formatCommitMessage({
    id,
    subject: `Checkpoint ${name}`,
    what: [
      `Marked ${commit.slice(0, 12)} as ${manifest.tag}`,
      ...verified_by.map((command) => `Ran: ${command}`),
    ],
    why: message ?? 'A verified state to come back to.',
    learned: [],
    updated: [file],
    backtrace: {
      parent: parent ?? 'none',
      parentNote: `the verified state is ${commit.slice(0, 12)}`,
      linear: linear_issues_closed.includes(id) ? id : 'none',
      session: session ? sessionName(session) : 'none',
    },
  });
}
