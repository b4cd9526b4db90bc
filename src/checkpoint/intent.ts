import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { ForgeError } from '../core/error.js';
import { ForgeProcess, sameProcess } from '../core/holder.js';
import { checkpointIntent, checkpointTrees, checkpointWorkFolder } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { makeToken } from '../core/text.js';
import { type Context, timestamp } from '../project/project.js';

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
  leaveIntent(token);
  if (!context.disk.dryRun) dropIntent(context, token);
}

/** This process is done with it, whatever became of it. */
export const leaveIntent = (token: string): boolean => underWay.delete(token);

/** Its file goes last. */
export function dropIntent({ disk, layout }: Context, token: string): void {
  const start = `${basename(checkpointTrees(layout, token))}.`;
  for (const name of disk.list(layout.state).filter((candidate) => candidate.startsWith(start)))
    disk.remove(join(layout.state, name));
  disk.remove(checkpointIntent(layout, token));
}

/** Those that are there, under way or not. Each is written under the lock: a draft that is found with it in hand is nobody's. */
export function listIntents({ disk, layout }: Context): string[] {
  const folder = checkpointWorkFolder(layout);
  disk.withLock(() => {
    for (const draft of disk.list(folder).filter((name) => name.endsWith('.tmp')))
      disk.remove(join(folder, draft));
  });
  const files = disk.list(folder).filter((name) => name.endsWith('.json'));
  return files.map((name) => basename(name, '.json'));
}

export function isUnderWay({ world }: Context, token: string, { process }: CheckpointIntent): boolean {
  if (sameProcess(process, world.self())) return underWay.has(token);
  return world.liveness(process) !== 'gone';
}

/** What cannot be read names nothing that could be completed. */
export function readIntent({ disk, layout }: Context, token: string): CheckpointIntent | null {
  try {
    return disk.requireDocument(INTENT, checkpointIntent(layout, token)).value;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'corrupted') return null;
    throw error;
  }
}
