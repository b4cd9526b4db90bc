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

/** GIT-04: the content of `git/commits.log` and `git/branches.json`. Empty where git hooks write them. */
export async function readGitState(context: Context): Promise<Record<string, string>> {
  const { git, disk } = context;
  if (!git || disk.dryRun || hasHooks(context)) return {};
  const [log, refs] = await Promise.all([git(LOG), git(REFS)]);
  return {
    ...(log.code === 0 && log.stdout !== '' ? { 'commits.log': log.stdout } : {}),
    ...(refs.code === 0 ? { 'branches.json': formatBranches(refs.stdout) } : {}),
  };
}

/** Writes the files that have changed. A failure is a warning, because both can be derived again. */
export async function keepGitState(context: Context, read = readGitState(context)): Promise<void> {
  const { disk, layout, warnings } = context;
  try {
    const files = Object.entries(await read)
      .map(([name, text]) => ({ path: join(layout.dir, 'git', name), bytes: Buffer.from(text) }))
      .filter(({ path, bytes }) => !disk.read(path)?.equals(bytes));
    if (files.length > 0) disk.withLock(() => disk.replaceAll(files));
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    warnings.push(`.forge/git/commits.log and branches.json are not up to date: ${error.message}`);
  }
}

function formatBranches(refs: string): string {
  const rows = refs
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [current, head, committed_at, upstream, name] = line.split('\t');
      const branch = { name, head, committed_at, upstream: upstream || null, current: current === '*' };
      return `\n    ${JSON.stringify(branch)}`;
    });
  return `{\n  "schema_version": "1.0",\n  "branches": [${rows.join(',')}\n  ]\n}\n`;
}
