import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { type BackupNote, readNote } from '../git/backups.js';
import { must, streamGit } from '../git/client.js';
import { readObject } from '../git/read.js';
import type { Context } from '../project/project.js';
import { nameBackup, noteOf } from '../recover/move.js';
import { requirePlace } from '../recover/plan.js';

/** A file as it was: the blob with its bytes, or null where there was none. Paths are relative to the project. */
interface KeptState {
  path: string;
  oid: string | null;
}

/** What stood before a change of `.forge/`, on a backup ref. */
export interface Snapshot extends BackupNote {
  why: string;
  state: KeptState[];
}

/**
 * Keeps files on a backup ref before forge changes them; null without git, where nothing can be undone. The ref is a commit
 * on HEAD whose second parent holds a note and the files, as in the backup of a rollback.
 */
export async function keepFiles(
  context: Context,
  about: { why: string; subject: string; more?: Record<string, unknown> },
  paths: readonly string[],
): Promise<string | null> {
  const { git, layout, disk } = context;
  if (!git || disk.dryRun) return null;
  const there = paths.filter((path) => existsSync(path));
  const input = there.map((path) => `${path}\n`).join('');
  const args = ['hash-object', '-w', '--no-filters', '--stdin-paths'];
  const oids = there.length === 0 ? [] : (await must(git, args, { input })).trim().split('\n');
  const state = paths.map((path): KeptState => {
    const at = there.indexOf(path);
    return { path: relative(layout.root, path), oid: at < 0 ? null : (oids[at] as string) };
  });
  const note = { ...noteOf(requirePlace(context), about.why), ...about.more, files: [], index: false, state };
  const write = async (text: string, ...command: string[]): Promise<string> =>
    (await must(git, command, { input: text })).trim();
  const blob = await write(JSON.stringify(note), 'hash-object', '-w', '--stdin');
  const entries = [
    `100644 blob ${blob}\tnote.json`,
    ...oids.map((oid, i) => `100644 blob ${oid}\tfile-${i}`),
  ];
  const tree = await write(`${entries.join('\n')}\n`, 'mktree');
  const message = `${about.subject}\n`;
  const holder = await write(message, 'commit-tree', tree, '-F', '-');
  const head = (await git(['rev-parse', '-q', '--verify', 'HEAD^{commit}'])).stdout.trim();
  const parent =
    head || (await write('No commit yet\n', 'commit-tree', await write('', 'mktree'), '-F', '-'));
  const commit = await write(
    message,
    'commit-tree',
    `${parent}^{tree}`,
    '-p',
    parent,
    '-p',
    holder,
    '-F',
    '-',
  );
  const ref = nameBackup(context);
  await must(git, ['update-ref', '-m', 'forge undo', ref, commit, '']);
  return ref;
}

export const readSnapshot = async ({ git }: Context, ref: string): Promise<Snapshot | null> => {
  const note = git ? await readNote(git, ref) : null;
  return note && Array.isArray(note.state) ? (note as Snapshot) : null;
};

/** The bytes of the files, byte for byte; null for a file that was not there. */
export async function readKept(
  { layout, world }: Context,
  { state }: Snapshot,
): Promise<{ path: string; bytes: Buffer | null }[]> {
  const stream = streamGit(layout.root, world.env);
  return Promise.all(
    state.map(async ({ path, oid }) => ({
      path,
      bytes: oid === null ? null : await readObject(stream, oid, path),
    })),
  );
}
