import { checkpointFile, shown } from '../core/paths.js';
import type { Context } from '../project/project.js';
import { tryFinishCheckpoints } from './finish.js';
import { readCheckpoints, requireCheckpoint } from './read.js';
import type { Checkpoint, CheckpointState, Manifest } from './rules.js';

export interface CheckpointRow {
  tag: string;
  commit: string | null;
  timestamp: string | null;
  features_passing: string[];
  can_rollback_to: boolean;
  state: CheckpointState;
  why?: string;
}

/** All of them, newest first. */
export async function listCheckpoints(context: Context): Promise<{ checkpoints: CheckpointRow[] }> {
  await tryFinishCheckpoints(context);
  const all = await readCheckpoints(context);
  return {
    checkpoints: all.map(({ tag, timestamp, manifest, state, why }) => ({
      tag,
      commit: manifest?.commit ?? null,
      timestamp,
      features_passing: manifest?.features_passing ?? [],
      can_rollback_to: state === 'ok' && manifest?.can_rollback_to === true,
      state,
      ...(why === undefined ? {} : { why }),
    })),
  };
}

/** Its manifest, beside what is known of it. */
export type ShownCheckpoint = Partial<Manifest> &
  Pick<Checkpoint, 'tag' | 'state' | 'why'> & { file?: string };

export async function showCheckpoint(context: Context, input: { tag: string }): Promise<ShownCheckpoint> {
  await tryFinishCheckpoints(context);
  const { name, tag, state, why, manifest, hasFile } = await requireCheckpoint(context, input.tag);
  const file = hasFile ? { file: shown(context.layout, checkpointFile(context.layout, name)) } : {};
  return { ...manifest, tag, state, ...(why === undefined ? {} : { why }), ...file };
}
