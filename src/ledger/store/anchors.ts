import type { Disk } from '../../core/disk.js';
import { anchorsFile } from '../../core/paths.js';
import { encodeDocument } from '../../core/schema.js';

/** The commits at which memory was last found intact in this worktree. */
export interface Anchors {
  /** History up to here drops no record. */
  history: string | null;
  /** By branch. */
  branches: Record<string, string>;
}

/** None where the file is missing or damaged: then history is checked from its beginning. */
export function readAnchors(disk: Disk): Anchors {
  try {
    const anchors = JSON.parse(disk.read(anchorsFile(disk.layout))?.toString('utf8') ?? '') as Anchors;
    return { history: anchors.history ?? null, branches: { ...anchors.branches } };
  } catch {
    return { history: null, branches: {} };
  }
}

/** Caller holds the lock. */
export function writeAnchors(disk: Disk, anchors: Anchors): void {
  const bytes = encodeDocument(anchors);
  if (disk.read(anchorsFile(disk.layout))?.equals(bytes) !== true)
    disk.replace(anchorsFile(disk.layout), bytes);
}
