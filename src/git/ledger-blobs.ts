import { identify, redactedIn } from '../ledger/rules/tombstone.js';
import { readBlobs } from './blobs.js';
import type { GitStream } from './client.js';
import { ledgersIn, readRaw } from './raw.js';

/** A file that git's history has with the content of some records. */
export interface Held {
  path: string;
  /** How many commits wrote the file with it. */
  commits: number;
  /** The first of them. */
  first: string;
}

interface HeldQuery {
  folder: string;
  wanted: ReadonlySet<string>;
  /** Asked between looks; what was not looked at by then is left. */
  isOver(): boolean;
}

/** By blob, the commits that wrote it and under which path, newest first. */
type Versions = Map<string, { commit: string; path: string }[]>;

export interface HeldFiles {
  held: Held[];
  /** False when time was over before all was looked at. */
  complete: boolean;
  /** The lines of the records that were found, by id. */
  lines: Map<string, Buffer>;
}

/** Where branches, tags, stashes and the reflog still have the content of records. */
export async function findHeld(stream: GitStream, { folder, wanted, isOver }: HeldQuery): Promise<HeldFiles> {
  const versions = await listVersions(stream, folder);
  const oids = [...versions.keys()];
  const found = new Set<string>();
  const lines = new Map<string, Buffer>();
  let at = 0;
  for (; at < oids.length && !isOver(); at += CHUNK)
    await readBlobs(stream, oids.slice(at, at + CHUNK), (oid, bytes) => {
      const id = identify(bytes);
      if (!wanted.has(id) || redactedIn(bytes) !== null) return;
      found.add(oid);
      if (!lines.has(id)) lines.set(id, Buffer.from(bytes));
    });
  const files = new Map<string, Set<string>>();
  for (const oid of oids.filter((oid) => found.has(oid)))
    for (const { commit, path } of versions.get(oid) ?? [])
      files.set(path, (files.get(path) ?? new Set()).add(commit));
  const held = [...files].map(([path, commits]) => {
    return { path, commits: commits.size, first: [...commits].at(-1) ?? '' };
  });
  return { held, complete: at >= oids.length, lines };
}

const CHUNK = 256;

async function listVersions(stream: GitStream, folder: string): Promise<Versions> {
  const versions: Versions = new Map();
  let commit = '';
  const format = ['--root', '--raw', '-z', '--no-abbrev', '--no-renames', '--no-follow', '--format=%H'];
  const args = ['--no-literal-pathspecs', 'log', '--full-history', '--diff-merges=separate', ...format];
  const more = ['--no-relative', '-O/dev/null', '--all', '--reflog', '--', ...ledgersIn(folder)];
  await readRaw(stream, [...args, ...more], {
    onHead: (head) => {
      commit = head;
    },
    onFile: (oid, path) => {
      versions.set(oid, [...(versions.get(oid) ?? []), { commit, path }]);
    },
  });
  return versions;
}
