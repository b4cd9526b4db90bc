import * as fs from 'node:fs';
import { join, relative, sep } from 'node:path';
import { outside, systemCode, usage } from '../core/error.js';
import { type Git, must } from '../git/client.js';

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
