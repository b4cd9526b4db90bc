import { corrupted } from '../core/error.js';
import { MAX_STATE_BYTES } from '../core/json.js';
import { type Git, type GitStream, gitError, must, withoutLocalFilters } from './client.js';

/** The blobs of a path in conflict: what both branches had, ours, theirs. A side that deleted it has none. */
export interface Stages {
  base?: string;
  ours?: string;
  theirs?: string;
}

const STAGES = { '1': 'base', '2': 'ours', '3': 'theirs' } as const;

/** What is in conflict below a folder, by its path from the worktree's top. Links and submodules are not told. */
export async function readUnmerged(git: Git, folder: string): Promise<Map<string, Stages>> {
  const found = new Map<string, Stages>();
  const listed = await must(git, ['ls-files', '--unmerged', '-z', '--', folder]);
  for (const record of listed.split('\0').filter(Boolean)) {
    const [, oid, stage, path] = /^100\d{3} ([0-9a-f]+) ([123])\t(.*)$/s.exec(record) ?? [];
    if (path === undefined) continue;
    found.set(path, { ...found.get(path), [STAGES[stage as keyof typeof STAGES]]: oid });
  }
  return found;
}

/** Files below a folder, known to git, in which a line begins like a conflict. */
export async function findMarked(git: Git, folder: string): Promise<string[]> {
  const args = ['grep', '-l', '-z', '-I', '--no-color', '-E', '-e', '^<{7}', '--', folder];
  const { code, stdout, stderr } = await git(args);
  // 1: none has any.
  if (code > 1) throw gitError(args, stderr);
  return stdout.split('\0').filter(Boolean);
}

/** The bytes of a blob. */
export async function readObject(stream: GitStream, oid: string, file: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const args = ['cat-file', 'blob', oid];
  const { code, stderr } = await stream(args, (chunk) => {
    size += chunk.length;
    if (size > MAX_STATE_BYTES)
      throw corrupted('file.too_large', `${file}: a side has more than ${MAX_STATE_BYTES} bytes.`, { file });
    chunks.push(chunk);
  });
  if (code !== 0) throw gitError(args, stderr);
  return Buffer.concat(chunks);
}

/** Tells git that a path is resolved. It remembers what it was: `git checkout --merge -- PATH` brings the conflict back. */
export async function addResolved(unsafe: Git, path: string): Promise<void> {
  const git = await withoutLocalFilters(unsafe);
  await must(git, ['add', '--', path]);
}
