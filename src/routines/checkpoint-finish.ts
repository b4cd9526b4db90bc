import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { type CommitOutcome, commitFolder } from '../adapters/git-commit.js';
import { listTags } from '../adapters/git-tag.js';
import { issueOf, type Manifest, manifestIn, nameIn, tagOf } from '../domain/checkpoint.js';
import { formatCommitMessage } from '../domain/commit-message.js';
import { encodeDocument, type Format } from '../domain/document.js';
import { ForgeError } from '../domain/error.js';
import { ForgeProcess, sameProcess } from '../domain/holder.js';
import { sessionName } from '../domain/session.js';
import { makeToken } from '../domain/token.js';
import { readHalt } from '../store/halt.js';
import {
  checkpointFile,
  checkpointIntent,
  checkpointsFolder,
  checkpointTrees,
  checkpointWorkFolder,
  privateIndex,
  shown,
  shownFrom,
} from '../store/layout.js';
import { decodeManifest } from './checkpoint-read.js';
import { type Context, hasCheckpointIntents, timestamp } from './context.js';
import { installGuard } from './guard.js';

/** A checkpoint that is being made. Once its tag is there it is completed, whatever happens; before, nothing is left of it. */
const CheckpointIntent = z.looseObject({
  schema_version: z.string(),
  op: z.literal('checkpoint.create'),
  at: z.string(),
  process: ForgeProcess,
  /** The tag that is about to be made; `at` is the time in its manifest. */
  name: z.nullable(z.string()),
});
type CheckpointIntent = z.infer<typeof CheckpointIntent>;
const INTENT: Format<CheckpointIntent> = {
  name: 'checkpoint intent',
  version: '1.0',
  schema: CheckpointIntent,
};

/** Those of this very process. */
const underWay = new Set<string>();

/** Says that a checkpoint is being made; the answer names it. */
export function beginIntent(context: Context): string {
  const token = makeToken(12);
  underWay.add(token);
  writeIntent(context, token, { name: null, at: timestamp(context) });
  return token;
}

export function writeIntent(
  context: Context,
  token: string,
  tag: Pick<CheckpointIntent, 'name' | 'at'>,
): void {
  const { disk, layout, world } = context;
  const intent = { op: 'checkpoint.create' as const, process: world.self(), ...tag };
  const bytes = encodeDocument({ schema_version: INTENT.version, ...intent });
  disk.withLock(() => disk.replace(checkpointIntent(layout, token), bytes));
}

/** It is made. */
export function endIntent(context: Context, token: string): void {
  underWay.delete(token);
  if (!context.disk.dryRun) dropIntent(context, token);
}

/** An error ended it: whether there is anything to complete, the tag says. What fails here is left for the next command. */
export async function giveUpIntent(context: Context, token: string): Promise<void> {
  underWay.delete(token);
  if (!context.disk.dryRun) await finish(context, token).catch(() => undefined);
}

/** Its file goes last. */
function dropIntent({ disk, layout }: Context, token: string): void {
  const start = `${basename(checkpointTrees(layout, token))}.`;
  for (const name of disk.list(layout.state).filter((candidate) => candidate.startsWith(start)))
    disk.remove(join(layout.state, name));
  disk.remove(checkpointIntent(layout, token));
}

/** Completes what was cut off between tag and manifest, and removes what came to nothing. */
export async function finishCheckpoints(context: Context): Promise<void> {
  const { disk, layout } = context;
  if (disk.dryRun || !hasCheckpointIntents(context) || readHalt(disk) !== null) return;
  const files = disk.list(checkpointWorkFolder(layout)).filter((name) => name.endsWith('.json'));
  for (const token of files.map((name) => name.replace(/\.json$/, ''))) await finish(context, token);
}

/** Whoever looks, or starts, is not hindered by what waits. */
export async function tryFinishCheckpoints(context: Context): Promise<void> {
  await finishCheckpoints(context).catch((error) => {
    context.warnings.push(`A checkpoint was cut off and waits: ${(error as Error).message}`);
  });
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

function isUnderWay({ world }: Context, token: string, { process }: CheckpointIntent): boolean {
  if (sameProcess(process, world.self())) return underWay.has(token);
  return world.liveness(process) !== 'gone';
}

/** What cannot be read names nothing that could be completed. */
function readIntent({ disk, layout }: Context, token: string): CheckpointIntent | null {
  try {
    return disk.requireDocument(INTENT, checkpointIntent(layout, token)).value;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'corrupted') return null;
    throw error;
  }
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
    indexFile: privateIndex(layout),
    outerIndex: world.env.GIT_INDEX_FILE,
    message: (parent) => manifestMessage(manifest, name, shown(layout, path), parent),
  });
}

function manifestMessage(manifest: Manifest, name: string, file: string, parent: string | null): string {
  const id = issueOf(name);
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
