import { join } from 'node:path';
import { ForgeError } from '../core/error.js';
import type { Git } from '../git/client.js';
import type { Context } from '../project/project.js';

const LOG = ['log', '-50', '--no-show-signature', '--format=%h %cI %s', 'HEAD', '--'];
const FIELDS = ['HEAD', 'objectname', 'committerdate:iso-strict', 'upstream:short', 'refname:short'];
const REFS = [
  ...['for-each-ref', '--count=200', '--sort=-committerdate'],
  `--format=${FIELDS.map((field) => `%(${field})`).join('%09')}`,
  'refs/heads',
];

/** GIT-04: `git/commits.log` and `git/branches.json`, as git's hooks write them. Whatever prevents it is a warning. */
export async function keepGitState({ disk, layout, warnings }: Context, git: Git): Promise<void> {
  try {
    const [log, refs] = await Promise.all([git(LOG), git(REFS)]);
    const files = [
      ...(log.code === 0 && log.stdout !== '' ? [{ name: 'commits.log', text: log.stdout }] : []),
      ...(refs.code === 0 ? [{ name: 'branches.json', text: branchesIn(refs.stdout) }] : []),
    ].map(({ name, text }) => ({ path: join(layout.dir, 'git', name), bytes: Buffer.from(text) }));
    disk.withLock(() => disk.replaceAll(files));
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    warnings.push(`.forge/git/commits.log and branches.json are not up to date: ${error.message}`);
  }
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
