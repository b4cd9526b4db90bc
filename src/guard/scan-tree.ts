import * as fs from 'node:fs';
import { join, relative, sep } from 'node:path';
import { ForgeError, outside, systemCode, usage } from '../core/error.js';
import { shown } from '../core/paths.js';
import { oneLine } from '../core/text.js';
import type { World } from '../core/world.js';
import { type Added, readRange, readStaged } from '../git/added.js';
import { type Git, gitIn, isNoRange, must, streamGit } from '../git/client.js';
import { findForge, findRepository } from '../git/repository.js';
import { type Context, contextAt } from '../project/project.js';
import { knowAllowed } from './allow.js';
import type { Found } from './document.js';
import { type Guard, type GuardFinding, loadGuard, notOwnFolder, toFinding } from './guard.js';
import { isGrave } from './rule.js';
import { isMarked, markOf, rememberFindings } from './salt.js';

export interface ScanInput {
  /** A file or folder, absolute; default: the whole project. */
  path?: string;
  /** What is staged, and nothing else. */
  staged?: boolean;
  /** What the commits of `A..B` add; or ids of commits, those left out with `^` in front. */
  range?: string | readonly string[];
  /** Every class in every file. Default: secrets, cards and ids only, and no lock files, binaries and vendored folders. */
  all?: boolean;
  /** A file with the JSON of an earlier scan: its findings are not reported again. */
  baseline?: string;
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
  /** Findings that the baseline has already. */
  known: number;
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
    throw usage('scan.way', 'PATH, --staged and --range cannot be used together.', {
      hint: 'forge guard scan --help',
    });
  const place = await openPlace(from, world, input);
  const scan: Scan = { findings: [], known: 0, scanned: 0, skipped: [] };
  const keep = keeperOf(scan, place.context, input);
  const { staged, range } = input;
  if (staged) await scanChange(place, scan, keep, input, (take) => readStaged(place.stream(), take));
  else if (range === undefined) await scanFiles(place, scan, keep, input, watch);
  else
    await scanChange(place, scan, keep, input, (take) =>
      readRange(place.stream(), range, take).catch((error) => {
        throw unknownRange(range, error);
      }),
    );
  rememberFindings(
    place.context.disk,
    scan.findings.map(({ fingerprint, mark, rule, class: name }) => ({
      fingerprint,
      mark,
      rule,
      class: name,
    })),
  );
  return scan;
}

/** Exit 2 as in `forge commit check`; anything else that git reports stays exit 6. */
function unknownRange(range: string | readonly string[], error: unknown): unknown {
  if (!(error instanceof ForgeError) || !isNoRange(error.message)) return error;
  return usage(
    'scan.range',
    `${JSON.stringify(oneLine([range].flat().join(' '), 80))} matches no commits here.`,
    {
      hint: 'git log --oneline A..B',
    },
  );
}

interface Place {
  guard: Guard;
  root: string;
  context: Context;
  git: Git | null;
  stream(): ReturnType<typeof streamGit>;
}

async function openPlace(from: string, world: World, { readOnly = false }: ScanInput): Promise<Place> {
  const found = findForge(from);
  const repository = found ? found.repository : findRepository(from);
  const root = repository?.root ?? found?.root ?? from;
  // Where there is neither git nor forge nothing is stored, not even a key for the fingerprints.
  const context = contextAt(found?.root ?? root, repository, world, readOnly || (!found && !repository));
  if (found) knowAllowed(context);
  const stream = (): ReturnType<typeof streamGit> => {
    if (repository) return streamGit(root, world.env);
    throw usage('scan.no_git', `${from} is not in a git repository.`, { hint: 'forge guard scan PATH' });
  };
  const git = repository ? gitIn(root, world.env) : null;
  return { root, context, git, stream, guard: await loadGuard(world.env, found ? context : undefined) };
}

async function scanFiles(
  { root, context, git, guard }: Place,
  scan: Scan,
  keep: Keep,
  { path: named, all = false }: ScanInput,
  watch: ScanWatch,
): Promise<void> {
  const files = await listFiles(root, named ?? root, git);
  for (const [i, path] of files.entries()) {
    watch.signal?.throwIfAborted();
    watch.onProgress?.(i, files.length);
    // Lets Ctrl-C and the progress bar in.
    if (i % 50 === 49) await new Promise((done) => setImmediate(done));
    const name = nameOf(root, path);
    if (!all && path !== named && isPassedOver(name)) continue;
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
      : scanPlain(guard, read.text, all);
    keep({ name, line: 1 }, found);
  }
  watch.onProgress?.(files.length, files.length);
}

async function scanChange(
  { guard }: Place,
  scan: Scan,
  keep: Keep,
  { all = false }: ScanInput,
  read: (take: (added: Added) => void) => Promise<void>,
): Promise<void> {
  await read(({ file, line, text, commit }) => {
    if (isPassedOver(file)) return;
    scan.scanned++;
    const found = file.endsWith('.jsonl')
      ? guard.scanBytes(file, Buffer.from(text))
      : scanPlain(guard, text, all || isForges(file));
    keep({ name: file === '' ? 'commit message' : file, line, commit }, found);
  });
}

const scanPlain = (guard: Guard, text: string, all: boolean): Found[] =>
  all ? guard.scanFields([{ path: '', text }]) : guard.scanGrave(text);

const isForges = (name: string): boolean => /(^|\/)\.forge\//.test(name);

interface From {
  name: string;
  /** Of the text's first line. */
  line: number;
  commit?: string | null;
}

type Keep = (from: From, found: readonly Found[]) => void;

/** A repository's own files rightly name people and addresses. Memory does not. */
function keeperOf(scan: Scan, context: Context, { all, baseline }: ScanInput): Keep {
  const isKnown = baseline === undefined ? () => false : readBaseline(baseline);
  return ({ name, line, commit }, found) => {
    for (const hit of found) {
      if (!all && !isForges(name) && !isGrave(hit.class)) continue;
      if (isKnown(name, hit)) scan.known++;
      else {
        const finding = toFinding(context, name, { ...hit, line: hit.line + line - 1 });
        scan.findings.push({
          ...finding,
          mark: markOf(context.disk, hit.value),
          ...(commit ? { commit } : {}),
        });
      }
    }
  };
}

/** The findings of an earlier `forge guard scan --json`. Lines may move: the file, the rule and the text count. */
function readBaseline(path: string): (file: string, hit: Found) => boolean {
  const marks = new Map<string, string[]>();
  try {
    const { findings } = JSON.parse(fs.readFileSync(path, 'utf8')) as { findings: Record<string, string>[] };
    for (const { file = '', rule = '', mark = '' } of findings) {
      const key = `${rule} ${file}`;
      marks.set(key, [...(marks.get(key) ?? []), mark]);
    }
  } catch (error) {
    throw usage(
      'scan.baseline',
      `${path} is not the JSON of a scan: ${oneLine((error as Error).message, 100)}.`,
      {
        file: path,
        hint: 'forge guard scan --json >baseline.json',
      },
    );
  }
  return (file, { rule, value }) =>
    marks.get(`${rule} ${file}`)?.some((mark) => isMarked(mark, value)) ?? false;
}

/** Files larger than this are named and not read, in bytes. */
const MAX_SCANNED_BYTES = 8 * 1024 * 1024;

/**
 * The plain files at or below a path that somebody named: below the folder that git works in what git tracks or would
 * track; elsewhere, and without git, all but `.git`, `node_modules` and what links lead to. A link that was named itself
 * is followed. Exit 2 for what is neither a file nor a folder.
 */
export async function listFiles(root: string, named: string, git: Git | null): Promise<string[]> {
  const stat = fs.statSync(named, { throwIfNoEntry: false });
  if (!stat) throw usage('path.missing', `${named} is not there.`, { file: named, hint: WHOLE });
  const path = fs.realpathSync.native(named);
  if (stat.isFile()) return [path];
  if (!stat.isDirectory())
    throw usage('path.kind', `${named} is neither a file nor a folder.`, { file: named, hint: WHOLE });
  const inside = relative(root, path);
  if (!git || inside.split(sep)[0] === '..') return walk(path);
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', inside || '.'];
  const names = new Set((await must(git, args)).split('\0').filter(Boolean));
  return [...names].map((name) => join(root, name));
}

const WHOLE = 'forge guard scan  (all of the project)';

function walk(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : walk(path);
    return entry.isFile() ? [path] : [];
  });
}

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

const VENDORED =
  /(?:^|\/)(?:node_modules|vendor|third[_-]party|bower_components|site-packages|\.venv|\.yarn)\//;
const LOCK_FILE =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb?|packages\.lock\.json|gradle\.lockfile|Package\.resolved|go\.sum|[\w.-]+\.lock)$/;
const BINARY =
  /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|tiff?|pdf|zip|gz|tgz|xz|zst|bz2|7z|jar|war|class|o|so|dylib|dll|exe|wasm|woff2?|ttf|otf|eot|mp[34]|mov|webm|ogg|wav|pyc|db|sqlite3?)$/i;

/** What people never write by hand, by its name: lock files, binaries and vendored folders. Memory is never passed over. */
export const isPassedOver = (name: string): boolean =>
  !/(?:^|\/)\.forge\//.test(name) && (VENDORED.test(name) || LOCK_FILE.test(name) || BINARY.test(name));

/** The text of a file; skipped is what is too large; and what is gone, no plain file, or no text. */
export function readText(
  path: string,
  max = MAX_SCANNED_BYTES,
): { text: string } | { skipped: 'large' | 'other' } {
  try {
    const stat = fs.lstatSync(path);
    if (!stat.isFile()) return { skipped: 'other' };
    if (stat.size > max) return { skipped: 'large' };
    const bytes = fs.readFileSync(path);
    // Git's own test for what is binary.
    return bytes.subarray(0, 8000).includes(0) ? { skipped: 'other' } : { text: bytes.toString('utf8') };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return { skipped: 'other' };
    throw outside('path.unreadable', `${path}: ${(error as Error).message}`, { file: path, cause: error });
  }
}

/** As git names it, wherever we are. */
export const nameOf = (root: string, path: string): string =>
  relative(root, path).split(sep).join('/') || path;
