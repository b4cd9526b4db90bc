import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge, storedFeature } from '../support/forge-project.js';
import { commitAll, makeFolder, type Project, projectAt, run } from '../support/project.js';

/** `FORGE_SOAK=1`: the 30 pull requests of the requirement; the short form takes 10. */
const COUNT = Number(process.env.FORGE_SOAK ?? 0) >= 1 ? 30 : 10;
const OPEN = 5;
const KINDS = ['merge', 'squash', 'rebase'] as const;

/** What a hosting service does with a branch: in a bare repository, where no merge driver runs. */
class Server {
  /** Paths that stood in conflict. */
  readonly conflicts: string[] = [];
  readonly project = projectAt(join(makeFolder(), 'server.git'));

  constructor(origin: Project) {
    origin.git('clone', '-q', '--bare', origin.dir, this.project.dir);
  }

  clone(name: string): Project {
    const clone = projectAt(join(makeFolder(), name));
    this.project.git('clone', '-q', this.project.dir, clone.dir);
    return clone;
  }

  private merged(ours: string, theirs: string, base?: string): string {
    const [one, other] = base === undefined ? [ours, theirs] : this.withBase(ours, theirs, base);
    const args = ['merge-tree', '--write-tree', '--name-only', one as string, other as string];
    const { exitCode, stdout } = run(this.project.dir, 'git', args);
    const [tree = '', ...rest] = stdout.split('\n');
    if (exitCode !== 0)
      this.conflicts.push(...rest.slice(0, rest.indexOf('')).map((path) => `${theirs}: ${path}`));
    return tree;
  }

  /** Commits of the same trees whose only common ancestor is the base. */
  private withBase(ours: string, theirs: string, base: string): string[] {
    const make = (ref: string, ...parents: string[]): string =>
      this.project.git('commit-tree', `${ref}^{tree}`, ...parents, '-m', 'x');
    const root = make(base);
    return [make(ours, '-p', root), make(theirs, '-p', root)];
  }

  private commit(tree: string, message: string, ...parents: string[]): void {
    const flags = parents.flatMap((parent) => ['-p', parent]);
    const hash = this.project.git('commit-tree', tree, ...flags, '-m', message);
    this.project.git('update-ref', 'refs/heads/main', hash);
  }

  land(branch: string, how: (typeof KINDS)[number]): void {
    if (how === 'merge') this.commit(this.merged('main', branch), `Merge ${branch}`, 'main', branch);
    else if (how === 'squash') this.commit(this.merged('main', branch), `${branch} (#1)`, 'main');
    else this.rebase(branch);
  }

  private rebase(branch: string): void {
    const commits = this.project.git('rev-list', '--reverse', '--no-merges', `main..${branch}`).split('\n');
    for (const commit of commits.filter(Boolean))
      this.commit(this.merged('main', commit, `${commit}^`), `Rebased ${commit}`, 'main');
  }

  /** The button "Revert", for the tip of main. */
  revert(): void {
    const [tip, parent] = ['main', 'main^'].map((ref) => this.project.git('rev-parse', ref));
    this.commit(this.merged('main', parent as string, tip as string), `Revert ${tip}`, 'main');
  }

  /** Another main, with a history of its own since the fork. */
  mergeFork(fork: Project): void {
    this.project.git('fetch', '-q', fork.dir, 'main:fork');
    this.commit(this.merged('main', 'fork'), 'Merge the fork', 'main', 'fork');
  }
}

/** Of the ledger's own files the tests of the ledger know. */
const isEntry = (path: string): boolean => path.includes('.forge/') && !path.endsWith('.jsonl');

const must = (project: Project, ...args: string[]): Promise<unknown> => forgeJson(project, args);

/** A day's work on a branch: a feature with its test, a look at all of them, one more edit, and what was learned. */
async function work(project: Project, n: number, others: readonly string[]): Promise<void> {
  const id = `F-${n}`;
  await must(project, 'session', 'start', '--task', `Feature ${n}`);
  await must(project, 'feature', 'add', id, `Feature ${n}`, '--test', `test -e src/f-${n}`);
  project.write(`src/f-${n}`, `${n}\n`);
  await runForge(project, ['trust', '--yes'], { terminal: true });
  await runForge(project, ['feature', 'verify', '--all']);
  const [other] = others;
  if (other && storedFeature(project, other))
    await must(
      project,
      'feature',
      'edit',
      other,
      ...(n % 2 ? ['--priority', '2'] : ['--issue', `I-${other}`]),
    );
  if (n % 4 === 0 && storedFeature(project, 'OLD-1'))
    await must(project, 'feature', 'remove', `OLD-${(n / 4) % 3}`);
  await must(project, 'knowledge', 'add', 'success', `lesson ${n % 7}`, '--context', 'the pull requests');
  await must(project, 'progress', 'add', `did ${n}`);
  commitAll(project, `Work on ${n}`);
  await runForge(project, ['feature', 'verify', '--all']);
  await must(project, 'session', 'end', '--learned', `learned by ${n}`, '--next', `next of ${n}`);
  project.git('add', '-A');
  if (project.git('status', '--porcelain') !== '') project.git('commit', '-qm', `Rest of ${n}`);
}

async function hosted(): Promise<{ server: Server; people: Project[] }> {
  const origin = await makeForge();
  for (const id of ['OLD-0', 'OLD-1', 'OLD-2', 'SHARED'])
    await must(origin, 'feature', 'add', id, `the ${id}`);
  commitAll(origin, 'Plan');
  const server = new Server(origin);
  return { server, people: [server.clone('ada'), server.clone('bob')] };
}

describe('pull requests of two people', () => {
  it(`LAY-09 ${COUNT} of them, five open at a time, give no conflict in .forge/`, async () => {
    const { server, people } = await hosted();
    const open: string[] = [];
    for (let n = 1; n <= COUNT; n++) {
      const person = people[n % 2] as Project;
      person.git('fetch', '-q');
      const isStacked = n % 5 === 0 && open.length > 1;
      person.git('switch', '-qc', `pr-${n}`, '--no-track', `origin/${isStacked ? open.at(-1) : 'main'}`);
      await work(person, n, ['SHARED', `F-${n - 7}`]);
      person.git('push', '-q', 'origin', `pr-${n}`);
      open.push(`pr-${n}`);
      if (open.length <= OPEN) continue;
      server.land(open.splice((n * 3) % (OPEN - 1), 1)[0] as string, KINDS[n % 3] ?? 'merge');
      if (n % 9 === 0) server.revert();
    }
    for (const [n, branch] of open.entries()) server.land(branch, KINDS[n % 3] ?? 'merge');
    expect(server.conflicts.filter(isEntry)).toEqual([]);
    const reader = server.clone('reader');
    const { features } = await forgeJson<{ features: { id: string }[] }>(reader, ['feature', 'list']);
    expect(features.length).toBeGreaterThan(COUNT / 2);
  });

  it('LAY-09 two mains, and a fork’s main, merge as well', async () => {
    const { server, people } = await hosted();
    const [ada, fork] = people as [Project, Project];
    await work(ada, 1, ['SHARED']);
    await work(fork, 2, ['SHARED']);
    ada.git('push', '-q', 'origin', 'main');
    server.mergeFork(fork);
    ada.git('pull', '-q', '--no-edit', '--no-rebase');
    expect(server.conflicts.filter(isEntry)).toEqual([]);
    expect(storedFeature(ada, 'SHARED')).toMatchObject({ priority: 2, linear_issue: 'I-SHARED' });
  });

  it('LAY-09 a feature that one branch replaced by another does not take over the edit of the first', async () => {
    const { people } = await hosted();
    const [ada] = people as [Project];
    ada.git('switch', '-qc', 'other');
    await must(ada, 'feature', 'edit', 'OLD-2', '--priority', '1');
    ada.git('commit', '-qam', 'Edited');
    ada.git('switch', '-q', 'main');
    await must(ada, 'feature', 'remove', 'OLD-1');
    await must(ada, 'feature', 'add', 'NEW-1', 'the NEW-1');
    commitAll(ada, 'Replaced');
    ada.git('merge', '-q', '--no-edit', 'other');
    expect(storedFeature(ada, 'NEW-1')).not.toHaveProperty('priority');
    rmSync(ada.path('.forge/memory/long-term/features.json'), { force: true });
    const { features } = await forgeJson<{ features: { id: string }[] }>(ada, ['feature', 'list']);
    expect(features.map(({ id }) => id).sort()).toEqual(['NEW-1', 'OLD-0', 'OLD-2', 'SHARED']);
  });
});
