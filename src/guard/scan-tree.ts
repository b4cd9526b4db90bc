import * as fs from 'node:fs';
import { join, relative, sep } from 'node:path';
import { ForgeError, systemCode, usage } from '../core/error.js';
import { diskError } from '../core/files.js';
import { isBinary, oneLine } from '../core/text.js';
import type { World } from '../core/world.js';
import { type Added, readRange, readStaged } from '../git/added.js';
import { type Git, hookGit, isNoRange, must, words } from '../git/client.js';
import { findForge, findRepository } from '../git/repository.js';
import { type Context, contextAt } from '../project/project.js';
import { knowAllowed } from './allow.js';
import type { Found } from './document.js';
import { isMarked, markOf, rememberFindings } from './fingerprint.js';
import { type Guard, type GuardFinding, loadGuard, toFinding } from './guard.js';

export interface ScanInput {
  /** A file or folder, absolute; default: the whole project. */
  path?: string;
  /** Only staged changes. `tracked`: those of all tracked files, as `git commit -a` takes them. */
  staged?: boolean | 'tracked';
  /** What the commits of `A..B` add; or commit ids, excluded ones with `^` in front. */
  range?: string | readonly string[];
  /** A file with the JSON of an earlier scan, whose findings are not reported again. */
  baseline?: string | undefined;
  /** Do not create the fingerprint key if it is missing. */
  readOnly?: boolean;
}

export interface ScanWatch {
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

/** The mark names the text for a baseline: unlike the fingerprint, it means the same in every clone. */
type ScanFinding = GuardFinding & { mark: string; commit?: string };

export interface Scan {
  findings: ScanFinding[];
  /** How many findings the baseline already has. */
  known: number;
  /** Files, or places of a change. */
  scanned: number;
  /** Files that are too large to be read. */
  skipped: string[];
}

/**
 * LTM-13: scans existing files, in a `.forge/` or any other folder. Needs no `.forge/` and no git. Outside of memory only
 * for secrets, cards, accounts and ids, and without lock files, binaries and vendored folders.
 */
export async function scanTree(
  from: string,
  world: World,
  input: ScanInput,
  watch: ScanWatch = {},
): Promise<Scan> {
  const { path, staged, range, baseline, readOnly = false } = input;
  if ([path !== undefined, Boolean(staged), range !== undefined].filter(Boolean).length > 1)
    throw usage('scan.way', 'PATH, --staged and --range cannot be used together.', {
      hint: 'forge guard scan --help',
    });
  const place = await openPlace(from, world, readOnly);
  const scan: Scan = { findings: [], known: 0, scanned: 0, skipped: [] };
  const keep = keeperOf(scan, place.context, baseline);
  const { git, guard } = place;
  const take = (added: Added): void => scanAdded(guard, added, scan, keep);
  if (!staged && range === undefined) await scanFiles(place, scan, keep, path, watch);
  else if (!git)
    throw usage('scan.no_git', `${from} is not in a git repository.`, { hint: 'forge guard scan PATH' });
  else if (range === undefined) await readStaged(git, take, staged === 'tracked');
  else
    await readRange(git, range, take).catch((error) => {
      throw unknownRange(range, error);
    });
  rememberFindings(place.context.disk, scan.findings);
  return scan;
}

/** Exit 2 for an unknown range; other errors of git stay exit 6. */
function unknownRange(range: string | readonly string[], error: unknown): unknown {
  if (!(error instanceof ForgeError) || !isNoRange(error.message)) return error;
  const found = JSON.stringify(oneLine([range].flat().join(' '), 80));
  return usage('scan.range', `${found} matches no commits here.`, { hint: 'git log --oneline A..B' });
}

type Place = Awaited<ReturnType<typeof openPlace>>;

async function openPlace(from: string, world: World, readOnly: boolean) {
  const found = findForge(from);
  const repository = found ? found.repository : findRepository(from);
  const root = repository?.root ?? found?.root ?? from;
  // Without git and forge nothing is stored, not even the key of the fingerprints.
  const context = contextAt(found?.root ?? root, repository, world, readOnly || (!found && !repository));
  if (found) knowAllowed(context);
  const git = repository ? hookGit(root, world.env) : null;
  return { root, context, git, guard: await loadGuard(world.env, found ? context : undefined) };
}

async function scanFiles(
  { root, git, guard }: Place,
  scan: Scan,
  keep: Keep,
  named: string | undefined,
  watch: ScanWatch,
): Promise<void> {
  const files = await listFiles(root, named ?? root, git);
  for (const [i, path] of files.entries()) {
    watch.signal?.throwIfAborted();
    watch.onProgress?.(i, files.length);
    // Lets Ctrl-C and the progress bar in.
    if (i % 50 === 49) await new Promise((done) => setImmediate(done));
    const name = nameOf(root, path);
    if (path !== named && isSkipped(name)) continue;
    const read = readScannable(path);
    if ('skipped' in read) {
      if (read.skipped === 'large') scan.skipped.push(name);
      continue;
    }
    scan.scanned++;
    const found = isForges(name) ? guard.scanBytes(name, Buffer.from(read.text)) : guard.scanGrave(read.text);
    keep({ name, line: 1 }, found);
  }
  watch.onProgress?.(files.length, files.length);
}

/** A repository's own files may contain people and addresses. Memory may not, except in pictures and the like. */
function scanAdded(guard: Guard, { file, line, text, commit }: Added, scan: Scan, keep: Keep): void {
  if (isSkipped(file)) return;
  scan.scanned++;
  // In other files, the added places are not a whole document.
  const name = file.endsWith('.jsonl') ? file : '';
  const isText = isForges(file) && !BINARY.test(file);
  const found = isText ? guard.scanBytes(name, Buffer.from(text)) : guard.scanGrave(text);
  keep({ name: file === '' ? 'commit message' : file, line, commit }, found);
}

const isForges = (name: string): boolean => /(^|\/)\.forge\//.test(name);

interface From {
  name: string;
  /** Of the text's first line. */
  line: number;
  commit?: string | null;
}

type Keep = (from: From, found: readonly Found[]) => void;

function keeperOf(scan: Scan, context: Context, baseline: string | undefined): Keep {
  const isKnown = baseline === undefined ? () => false : readBaseline(baseline);
  return ({ name, line, commit }, found) => {
    for (const hit of found) {
      if (isKnown(name, hit)) scan.known++;
      else {
        const finding = toFinding(context, name, { ...hit, line: hit.line + line - 1 });
        const mark = markOf(context.disk, hit.value);
        scan.findings.push({ ...finding, mark, ...(commit ? { commit } : {}) });
      }
    }
  };
}

/** The findings of an earlier `forge guard scan --json`, by file, rule and text, because lines move. */
function readBaseline(path: string): (file: string, hit: Found) => boolean {
  try {
    const { findings } = JSON.parse(fs.readFileSync(path, 'utf8')) as { findings?: ScanFinding[] };
    if (!Array.isArray(findings)) throw new Error('it has no findings');
    return (file, { rule, value }) =>
      findings.some((one) => one.file === file && one.rule === rule && isMarked(one.mark, value));
  } catch (error) {
    const why = oneLine((error as Error).message, 100);
    throw usage('scan.baseline', `${path} is not the JSON of a scan: ${why}.`, {
      file: path,
      hint: 'forge guard scan --json >baseline.json',
    });
  }
}

/** Larger files are reported and not read. */
const MAX_SCANNED_BYTES = 8 * 1024 * 1024;

/**
 * The plain files of a path: inside the worktree those that git tracks or would track, elsewhere all but `.git` and
 * `node_modules`. Follows a link only if it is the path itself. Exit 2 for anything but a file or a folder.
 */
async function listFiles(root: string, named: string, git: Git | null): Promise<string[]> {
  const stat = fs.statSync(named, { throwIfNoEntry: false });
  if (!stat) throw usage('path.missing', `${named} does not exist.`, { file: named, hint: WHOLE });
  const path = fs.realpathSync.native(named);
  if (stat.isFile()) return [path];
  if (!stat.isDirectory())
    throw usage('path.kind', `${named} is neither a file nor a folder.`, { file: named, hint: WHOLE });
  const inside = relative(root, path);
  if (!git || inside.split(sep)[0] === '..') return walk(path);
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', inside || '.'];
  return [...new Set(words(await must(git, args)))].map((name) => join(root, name));
}

const WHOLE = 'forge guard scan   # the whole project';

function walk(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(?:\.git|node_modules)$/.test(entry.name) ? [] : walk(path);
    return entry.isFile() ? [path] : [];
  });
}

const VENDORED =
  /(?:^|\/)(?:node_modules|vendor|third[_-]party|bower_components|site-packages|\.venv|\.yarn)\//;
const LOCK_FILE =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb?|packages\.lock\.json|gradle\.lockfile|Package\.resolved|go\.sum|[\w.-]+\.lock)$/;
const BINARY =
  /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|tiff?|pdf|zip|gz|tgz|xz|zst|bz2|7z|jar|war|class|o|so|dylib|dll|exe|wasm|woff2?|ttf|otf|eot|mp[34]|mov|webm|ogg|wav|pyc|db|sqlite3?)$/i;

/** Files that nobody writes by hand. Memory is never skipped. */
const isSkipped = (name: string): boolean =>
  !isForges(name) && (VENDORED.test(name) || LOCK_FILE.test(name) || BINARY.test(name));

/** The text of a file. Skips files that are too large, missing, not plain, or binary. */
export function readScannable(
  path: string,
  max = MAX_SCANNED_BYTES,
): { text: string } | { skipped: 'large' | 'other' } {
  try {
    const stat = fs.lstatSync(path);
    if (!stat.isFile()) return { skipped: 'other' };
    if (stat.size > max) return { skipped: 'large' };
    const bytes = fs.readFileSync(path);
    return isBinary(bytes) ? { skipped: 'other' } : { text: bytes.toString('utf8') };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return { skipped: 'other' };
    throw diskError(error, path);
  }
}

const nameOf = (root: string, path: string): string => relative(root, path).split(sep).join('/') || path;
