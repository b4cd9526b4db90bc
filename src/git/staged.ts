import { type Git, must, withoutLocalFilters } from './client.js';

/** A file of the commit that is to be made. */
export interface ChangedFile {
  /** Git's letter: A, M, D, R, C, T. */
  status: string;
  path: string;
}

const DIFF = ['diff', '--name-status', '-z', '-M', '-l200', '--no-ext-diff', '--no-relative'];

/** What `git commit` would take, and with `all` what `git commit -a` would. */
export async function readStagedFiles(unsafe: Git, all: boolean): Promise<ChangedFile[]> {
  const staged = parseNames(await must(unsafe, [...DIFF, '--cached']));
  if (!all) return staged;
  const git = await withoutLocalFilters(unsafe);
  const known = new Set(staged.map(({ path }) => path));
  // A diff with the working tree would write the index anew.
  const changed = parseStatus(await must(git, STATUS));
  return [...staged, ...changed.filter(({ path }) => !known.has(path))];
}

const STATUS = ['status', '--porcelain=v2', '-z', '--no-renames', '--untracked-files=no'];

/** `1 XY <sub> <mode> <mode> <mode> <oid> <oid> <path>`; Y is what the working tree has otherwise. */
function parseStatus(output: string): ChangedFile[] {
  return output.split('\0').flatMap((record) => {
    const fields = record.split(' ');
    const status = fields[1]?.[1] ?? '.';
    return fields[0] === '1' && status !== '.' ? [{ status, path: fields.slice(8).join(' ') }] : [];
  });
}

function parseNames(output: string): ChangedFile[] {
  const words = output.split('\0');
  const files: ChangedFile[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) {
    const status = (words[i] as string).slice(0, 1);
    // The old name comes first.
    if (status === 'R' || status === 'C') i++;
    files.push({ status, path: words[i + 1] as string });
  }
  return files;
}

/** True when a commit made now has each ledger file as it is on the disk. */
export async function holdsLedgers(git: Git, folder: string, all: boolean): Promise<boolean> {
  const args = ['status', '--porcelain=v2', '-z', '--no-renames', '--untracked-files=all', '--', folder];
  return (await must(git, args))
    .split('\0')
    .filter((record) => record.endsWith('.jsonl'))
    .every((record) => record.startsWith('1 ') && (all || record[3] === '.'));
}

/** The commit that HEAD names. */
export interface HeadCommit {
  hash: string;
  short: string;
  at: string;
  subject: string;
  message: string;
}

/** Null on an unborn branch. */
export async function readHead(git: Git): Promise<HeadCommit | null> {
  if ((await git(['rev-parse', '-q', '--verify', 'HEAD'])).code !== 0) return null;
  const format = '--format=%H%x00%h%x00%cI%x00%s%x00%B';
  const out = await must(git, [
    'log',
    '-1',
    '--no-show-signature',
    '--no-notes',
    '--encoding=UTF-8',
    format,
    'HEAD',
    '--',
  ]);
  const [hash = '', short = '', at = '', subject = '', ...message] = out.split('\0');
  return { hash, short, at, subject, message: `${message.join('\0').trimEnd()}\n` };
}
