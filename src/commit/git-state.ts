import { join } from 'node:path';
import { ForgeError } from '../core/error.js';
import { type Context, hasHooks } from '../project/project.js';

const LOG = ['log', '-50', '--no-show-signature', '--format=%h %cI %s', 'HEAD', '--'];
const FIELDS = ['HEAD', 'objectname', 'committerdate:iso-strict', 'upstream:short', 'refname:short'];
const REFS = [
  ...['for-each-ref', '--count=200', '--sort=-committerdate'],
  `--format=${FIELDS.map((field) => `%(${field})`).join('%09')}`,
  'refs/heads',
];

interface GitState {
  name: string;
  text: string;
}

/** GIT-04: what belongs in `git/commits.log` and `git/branches.json`. Empty where git's hooks keep them. */
export async function readGitState(context: Context): Promise<GitState[]> {
  const { git, disk, warnings } = context;
  if (!git || disk.dryRun || hasHooks(context)) return [];
  try {
    const [log, refs] = await Promise.all([git(LOG), git(REFS)]);
    return [
      ...(log.code === 0 && log.stdout !== '' ? [{ name: 'commits.log', text: log.stdout }] : []),
      ...(refs.code === 0 ? [{ name: 'branches.json', text: branchesIn(refs.stdout) }] : []),
    ];
  } catch (error) {
    warnings.push(notKept(error));
    return [];
  }
}

/** Writes what has changed. Whatever prevents it is a warning. */
export async function keepGitState(context: Context, read = readGitState(context)): Promise<void> {
  const { disk, layout, warnings } = context;
  const files = (await read)
    .map(({ name, text }) => ({ path: join(layout.dir, 'git', name), bytes: Buffer.from(text) }))
    .filter(({ path, bytes }) => !disk.read(path)?.equals(bytes));
  if (files.length === 0) return;
  try {
    disk.withLock(() => disk.replaceAll(files));
  } catch (error) {
    warnings.push(notKept(error));
  }
}

function notKept(error: unknown): string {
  if (!(error instanceof ForgeError)) throw error;
  return `.forge/git/commits.log and branches.json are not up to date: ${error.message}`;
}

function branchesIn(refs: string): string {
  const branches = refs
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [current, head, committed_at, upstream, name] = line.split('\t');
      return JSON.stringify({
        name,
        head,
        committed_at,
        upstream: upstream || null,
        current: current === '*',
      });
    });
  const rows = branches.map((row) => `\n    ${row}`).join(',');
  return `{\n  "schema_version": "1.0",\n  "branches": [${rows}\n  ]\n}\n`;
}
