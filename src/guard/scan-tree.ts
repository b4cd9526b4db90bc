import { usage } from '../core/error.js';
import { shown } from '../core/paths.js';
import type { World } from '../core/world.js';
import { type Added, readRange, readStaged } from '../git/added.js';
import { type Git, gitIn, streamGit } from '../git/client.js';
import { findForge, findRepository } from '../git/repository.js';
import { type Context, contextAt } from '../project/project.js';
import type { Found } from './document.js';
import { listFiles, nameOf, readText } from './files.js';
import { type Guard, type GuardFinding, loadGuard, notOwnFolder, toFinding } from './guard.js';
import { CRITICAL } from './policy.js';

export interface ScanInput {
  /** A file or folder, absolute; default: the whole project. */
  path?: string;
  /** What is staged, and nothing else. */
  staged?: boolean;
  /** What the commits of `A..B` add; or ids of commits, those left out with `^` in front. */
  range?: string | readonly string[];
  /** Every class in every file. Default: in files outside of `.forge/` only what would halt memory. */
  all?: boolean;
  /** Do not create the fingerprint key if it is missing. */
  readOnly?: boolean;
}

export interface ScanWatch {
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

export interface Scan {
  findings: (GuardFinding & { commit?: string })[];
  /** Files, or places of a change. */
  scanned: number;
  /** Too large to be read. */
  skipped: string[];
}

/** LTM-13: what is there already, in a `.forge/` or any other folder. Needs neither; writes nothing into it. */
export async function scanTree(
  from: string,
  world: World,
  input: ScanInput,
  watch: ScanWatch = {},
): Promise<Scan> {
  if ([input.path, input.staged || undefined, input.range].filter((way) => way !== undefined).length > 1)
    throw usage('scan.way', 'PATH, --staged and --range exclude each other.', {
      hint: 'forge guard scan --help',
    });
  const place = { ...placeOf(from, world, input.readOnly ?? false), guard: await loadGuard(world.env) };
  if (input.staged) return scanChange(place, input, (take) => readStaged(place.stream(), take));
  const { range } = input;
  if (range !== undefined) return scanChange(place, input, (take) => readRange(place.stream(), range, take));
  return scanFiles(place, input, watch);
}

interface Place {
  guard: Guard;
  root: string;
  context: Context;
  git: Git | null;
  stream(): ReturnType<typeof streamGit>;
}

function placeOf(from: string, world: World, readOnly: boolean): Omit<Place, 'guard'> {
  const found = findForge(from);
  const repository = found ? found.repository : findRepository(from);
  const root = repository?.root ?? found?.root ?? from;
  // Where there is neither git nor forge nothing is kept, not even a key for the fingerprints.
  const context = contextAt(found?.root ?? root, repository, world, readOnly || (!found && !repository));
  const stream = (): ReturnType<typeof streamGit> => {
    if (repository) return streamGit(root, world.env);
    throw usage('scan.no_git', `${from} is in no git repository.`, { hint: 'forge guard scan PATH' });
  };
  return { root, context, git: repository ? gitIn(root, world.env) : null, stream };
}

async function scanFiles(
  { root, context, git, guard }: Place,
  input: ScanInput,
  watch: ScanWatch,
): Promise<Scan> {
  const files = await listFiles(root, input.path ?? root, git);
  const scan: Scan = { findings: [], scanned: 0, skipped: [] };
  for (const [i, path] of files.entries()) {
    watch.signal?.throwIfAborted();
    watch.onProgress?.(i, files.length);
    // Lets Ctrl-C and the progress bar in.
    if (i % 50 === 49) await new Promise((done) => setImmediate(done));
    const name = nameOf(root, path);
    const read = readText(path);
    if ('skipped' in read) {
      if (read.skipped === 'large') scan.skipped.push(name);
      continue;
    }
    scan.scanned++;
    const found = isForges(name)
      ? guard
          .scanBytes(name, Buffer.from(read.text))
          .filter(notOwnFolder(context, shown(context.layout, path)))
      : guard.scanFields([{ path: '', text: read.text }]);
    keep(scan, context, { name, line: 1, all: input.all }, found);
  }
  watch.onProgress?.(files.length, files.length);
  return scan;
}

async function scanChange(
  { context, guard }: Place,
  { all }: ScanInput,
  read: (take: (added: Added) => void) => Promise<void>,
): Promise<Scan> {
  const scan: Scan = { findings: [], scanned: 0, skipped: [] };
  await read(({ file, line, text, commit }) => {
    scan.scanned++;
    const found = file.endsWith('.jsonl')
      ? guard.scanBytes(file, Buffer.from(text))
      : guard.scanFields([{ path: '', text }]);
    keep(scan, context, { name: file === '' ? 'commit message' : file, line, all, commit }, found);
  });
  return scan;
}

const isForges = (name: string): boolean => /(^|\/)\.forge\//.test(name);

interface From {
  name: string;
  /** Of the text's first line. */
  line: number;
  all?: boolean | undefined;
  commit?: string | null;
}

/** A repository's own files name people and addresses rightly; memory does not. */
function keep(scan: Scan, context: Context, from: From, found: readonly Found[]): void {
  for (const hit of found) {
    if (!from.all && !isForges(from.name) && !CRITICAL.has(hit.class)) continue;
    const finding = toFinding(context, from.name, { ...hit, line: hit.line + from.line - 1 });
    scan.findings.push(from.commit ? { ...finding, commit: from.commit } : finding);
  }
}
