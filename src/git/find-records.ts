import { recordId } from '../ledger/rules/record.js';
import { redactedIn } from '../ledger/rules/tombstone.js';
import { readBlobs } from './blobs.js';
import { type Git, type GitStream, must } from './client.js';
import { ledgersIn, readRaw } from './raw.js';

/** Where git has a record: `git show <commit>:<path>` shows it. */
export interface FoundRecord {
  commit: string;
  /** `main`, `origin/x`, `v1`, `stash@{0}`; empty when no ref leads there, only the reflog. */
  ref: string;
  path: string;
  /** Without the LF. Of a record that was redacted there, its tombstone. */
  bytes: Buffer;
}

export interface RecordQuery {
  folder: string;
  /** Ids of records. */
  wanted: ReadonlySet<string>;
  /**
   * `refs`: as branches, tags and stashes are now; `everywhere`: in their history and the reflog too; `commits`: in the
   * history of these alone.
   */
  where: 'refs' | 'everywhere' | { commits: readonly string[] };
  /** Blobs that are known not to have them. */
  skip?: ReadonlySet<string>;
}

type Place = Omit<FoundRecord, 'bytes'>;
/** By blob; the first place of each. */
type Places = Map<string, Place>;

/** Looks for records, newest places first. The number of processes does not grow with branches, commits or files. */
export async function findRecords(
  git: Git,
  stream: GitStream,
  query: RecordQuery,
): Promise<Map<string, FoundRecord>> {
  const { folder, wanted } = query;
  const found = new Map<string, FoundRecord>();
  if (wanted.size === 0) return found;
  const done = new Set(query.skip);
  const { where } = query;
  const steps =
    typeof where === 'string'
      ? [() => readTips(git, stream, folder)]
      : [() => readHistory(stream, folder, ['--ignore-missing', '--stdin'], where.commits)];
  if (where === 'everywhere')
    // What a ref leads to first: then the rest is in the reflog alone.
    steps.push(
      () => readHistory(stream, folder, ['--all']),
      () => readHistory(stream, folder, ['--reflog', '--not', '--all']),
    );
  for (const step of steps) {
    const places = await step();
    for (const oid of done) places.delete(oid);
    await searchBlobs(stream, places, wanted, found);
    if (found.size === wanted.size) break;
    for (const oid of places.keys()) done.add(oid);
  }
  return found;
}

/** A few blobs first, for what is sought is mostly in the newest; then more at a time. */
async function searchBlobs(
  stream: GitStream,
  places: Places,
  wanted: ReadonlySet<string>,
  found: Map<string, FoundRecord>,
): Promise<void> {
  const oids = [...places.keys()];
  for (let at = 0, count = 32; at < oids.length && found.size < wanted.size; at += count, count *= 2)
    await readBlobs(stream, oids.slice(at, at + count), (oid, bytes) => {
      const grave = redactedIn(bytes);
      if (found.size === wanted.size && grave === null) return;
      const id = grave ?? recordId(bytes);
      const place = places.get(oid);
      if (!place || !wanted.has(id) || (grave === null && found.has(id))) return;
      // A copy: the chunk that it is a part of is not to be kept with it.
      found.set(id, { ...place, bytes: Buffer.from(bytes) });
    });
}

/** The blobs of all tips. Each tree is compared with the one before, so that what they share is listed once. */
async function readTips(git: Git, stream: GitStream, folder: string): Promise<Places> {
  const trees = await readTrees(git, folder, await listTips(git));
  const oids = [...trees.keys()];
  const first = oids[0];
  const places: Places = new Map();
  if (first === undefined) return places;
  const empty = (await must(git, ['hash-object', '-t', 'tree', '--stdin'], { input: '' })).trim();
  const input = oids.map((oid, i) => `${oids[i - 1] ?? empty} ${oid}\n`).join('');
  let tip: Tip | undefined;
  await readRaw(stream, ['diff-tree', '--stdin', '-r', '-z', '--no-renames', '--no-relative'], {
    input,
    onHead: (head) => {
      tip = trees.get(head.slice(head.lastIndexOf(' ') + 1));
    },
    onFile: (oid, path) => {
      if (tip && !places.has(oid)) places.set(oid, { ...tip, path: `${folder}/${path}` });
    },
  });
  return places;
}

interface Tip {
  commit: string;
  ref: string;
}

/** Revisions and how they are called, the nearest first. A stash's third parent has the untracked files. */
async function listTips(git: Git): Promise<{ revision: string; ref: string }[]> {
  const patterns = ['refs/heads', 'refs/remotes', 'refs/tags', 'refs/stash'];
  const output = await must(git, ['for-each-ref', '--format=%(objectname) %(refname)', ...patterns]);
  const refs = output
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' ') as [string, string]);
  const head = (await git(['symbolic-ref', '-q', 'HEAD'])).stdout.trim();
  const plain = refs.filter(
    ([, name]) => name !== 'refs/stash' && !/^refs\/remotes\/[^/]+\/HEAD$/.test(name),
  );
  return [
    { revision: 'HEAD', ref: head === '' ? 'HEAD' : shortName(head) },
    ...plain.map(([revision, name]) => ({ revision, ref: shortName(name) })),
    ...(plain.length < refs.length ? await listStashes(git) : []),
  ];
}

async function listStashes(git: Git): Promise<{ revision: string; ref: string }[]> {
  const { stdout } = await git(['log', '-g', '--format=%H', 'refs/stash', '--']);
  const stashes = stdout.split('\n').filter(Boolean);
  return stashes.flatMap((hash, i) =>
    [hash, `${hash}^2`, `${hash}^3`].map((revision) => ({ revision, ref: `stash@{${i}}` })),
  );
}

const shortName = (ref: string): string =>
  ref === 'refs/stash' ? 'stash@{0}' : ref.replace(/^refs\/(heads\/|remotes\/|tags\/)?/, '');

/** The distinct trees of the folder, each with the first tip that has it. */
async function readTrees(
  git: Git,
  folder: string,
  tips: readonly { revision: string; ref: string }[],
): Promise<Map<string, Tip>> {
  const questions = tips.flatMap(({ revision }) => [
    `${revision}^{commit}`,
    `${revision}^{commit}:${folder}`,
  ]);
  const args = ['cat-file', '-z', '--buffer', '--batch-check=%(objecttype) %(objectname)'];
  let output = await must(git, args, { input: questions.map((question) => `${question}\0`).join('') });
  const answers = questions.map((question) => {
    // Git repeats what it does not find, even an LF in it.
    const missing = `${question} missing\n`;
    const answer = output.startsWith(missing) ? missing : output.slice(0, output.indexOf('\n') + 1);
    output = output.slice(answer.length);
    return answer.trim().split(' ');
  });
  const trees = new Map<string, Tip>();
  for (const [i, { ref }] of tips.entries()) {
    const [[, commit = ''] = [], [type, tree = ''] = []] = answers.slice(2 * i);
    if (type === 'tree' && !trees.has(tree)) trees.set(tree, { commit, ref });
  }
  return trees;
}

/** The blobs that came with each commit, newest first. */
async function readHistory(
  stream: GitStream,
  folder: string,
  which: readonly string[],
  commits?: readonly string[],
): Promise<Places> {
  const places: Places = new Map();
  let [commit, ref] = ['', ''];
  const format = ['--root', '--raw', '-z', '--no-abbrev', '--no-renames', '--no-follow', '--format=%H %S'];
  const args = ['--no-literal-pathspecs', 'log', '--full-history', '--diff-merges=separate', ...format];
  const more = ['--no-relative', '-O/dev/null', ...which, '--', ...ledgersIn(folder)];
  await readRaw(stream, [...args, ...more], {
    ...(commits ? { input: commits.map((each) => `${each}\n`).join('') } : {}),
    onHead: (head) => {
      [commit = '', ref = ''] = head.split(' ');
    },
    onFile: (oid, path) => {
      if (!places.has(oid)) places.set(oid, { commit, ref: shortName(ref), path });
    },
  });
  return places;
}
