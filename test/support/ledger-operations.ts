import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateOf } from '../../src/ledger/compare.js';
import { forgeJson } from './forge.js';
import { type Desk, LEDGER, type World } from './ledger-world.js';

export type Operation = (world: World, desk: Desk) => Promise<void> | void;

const other = (world: World, desk: Desk): string | undefined =>
  world.pick(desk.branches().filter((name) => name !== desk.branch()));

/** A branch that no worktree has checked out. */
const free = (world: World, desk: Desk): string | undefined => {
  const taken = desk.run('worktree', 'list', '--porcelain').out;
  return world.pick(desk.branches().filter((name) => !taken.includes(`branch refs/heads/${name}\n`)));
};

const anyCommit = (world: World, desk: Desk, range = 'HEAD'): string | undefined =>
  world.pick(
    desk.run('rev-list', '--max-count=12', '--no-merges', range).out.trim().split('\n').filter(Boolean),
  );

/** Ends what a failed operation left open, as a person would. */
export function giveUp(desk: Desk): void {
  for (const command of ['merge', 'rebase', 'cherry-pick', 'revert'])
    if (desk.run(command, '--abort').code === 0) return;
  if (desk.run('ls-files', '-u').out.trim() !== '') desk.run('reset', '--merge');
}

const merge =
  (...flags: string[]): Operation =>
  (world, desk) => {
    const name = other(world, desk);
    if (name && !world.try(desk, 'merge', '-q', ...flags, name)) giveUp(desk);
  };

const parents = (desk: Desk): number =>
  desk.run('rev-list', '--count', '--first-parent', 'HEAD').out.trim() === '1' ? 0 : 1;
/** The first commits, which have the folder's own files, stay. */
const canUndo = (desk: Desk): boolean =>
  parents(desk) === 1 && desk.run('cat-file', '-e', `HEAD~1:${LEDGER}`).code === 0;

/** A decision as a person types it. */
const human = (desk: Desk, ...words: string[]): Promise<object> =>
  forgeJson({ dir: desk.root }, ['memory', ...words, '--reason', 'a test'], { terminal: true });

export const OPERATIONS: Record<string, Operation> = {
  append: (world, desk) => world.record(desk),
  'append and commit': (world, desk) => {
    world.record(desk);
    world.work(desk);
  },
  'append, commit, append': (world, desk) => {
    world.record(desk);
    world.work(desk);
    world.record(desk);
  },
  'commit all': (world, desk) => world.work(desk),
  'commit code only': (world, desk) => world.work(desk, false),
  'git add only': (_world, desk) => void desk.run('add', '-A'),
  'new branch': (world, desk) => {
    desk.run('switch', '-qc', `b${world.tally.operations}`);
    world.record(desk);
    world.work(desk);
  },
  switch: (world, desk) => {
    const name = free(world, desk);
    if (name) world.try(desk, 'switch', '-q', name);
  },
  'switch to main': (world, desk) => {
    if (desk.branch() !== 'main' && !desk.main) world.try(desk, 'switch', '-q', 'main');
  },
  merge: merge(),
  'merge --no-ff': merge('--no-ff'),
  'merge -X ours': merge('-X', 'ours'),
  'merge -s ours': (world, desk) => (world.random(4) === 0 ? merge('-s', 'ours')(world, desk) : undefined),
  'merge octopus': (world, desk) => {
    const names = desk
      .branches()
      .filter((name) => name !== desk.branch())
      .slice(0, 3);
    if (names.length > 1 && !world.try(desk, 'merge', '-q', ...names)) giveUp(desk);
  },
  'merge --squash': (world, desk) => {
    const name = other(world, desk);
    if (!name) return;
    if (!world.try(desk, 'merge', '-q', '--squash', name)) return giveUp(desk);
    desk.run('commit', '-qm', `Squash ${name}`);
  },
  'merge --squash and merge again': async (world, desk) => {
    const name = other(world, desk);
    if (!name) return;
    if (!world.try(desk, 'merge', '-q', '--squash', name)) return giveUp(desk);
    desk.run('commit', '-qm', `Squash ${name}`);
    await world.check(desk);
    if (!world.try(desk, 'merge', '-q', name)) giveUp(desk);
  },
  'squash, delete, reset': async (world, desk) => {
    const name = free(world, desk);
    if (!name || name === 'main') return;
    const flags = world.random(2) === 0 ? ['merge', '-q', '--squash', name] : ['cherry-pick', '-n', name];
    if (!world.try(desk, ...flags)) return giveUp(desk);
    await world.check(desk);
    desk.run('branch', '-qD', name);
    await world.check(desk);
    desk.run('reset', '-q', '--hard');
  },
  rebase: (world, desk) => {
    const name = other(world, desk);
    if (name && !world.try(desk, 'rebase', '-q', name)) giveUp(desk);
  },
  'rebase -i drop': (world, desk) => {
    if (!canUndo(desk)) return;
    world.work(desk);
    process.env.GIT_SEQUENCE_EDITOR = "sed -i '1s/^pick/drop/'";
    if (!world.try(desk, 'rebase', '-q', '-i', 'HEAD~2')) giveUp(desk);
    delete process.env.GIT_SEQUENCE_EDITOR;
  },
  'rebase --autostash': (world, desk) => {
    const name = other(world, desk);
    writeFileSync(join(desk.root, 'README.md'), `A project ${world.random(1e6)}\n`);
    world.record(desk);
    if (name && !world.try(desk, 'rebase', '-q', '--autostash', name)) giveUp(desk);
    desk.run('checkout', '-q', '--', 'README.md');
  },
  push: (world, desk) => {
    if (desk.branch()) world.try(desk, 'push', '-q', 'origin', 'HEAD');
  },
  'push, undo, push -f': async (world, desk) => {
    if (!desk.branch() || !canUndo(desk)) return;
    world.record(desk);
    world.work(desk);
    desk.run('push', '-q', 'origin', 'HEAD');
    if (world.random(2) === 0) await world.check(desk);
    desk.run('reset', '-q', '--hard', 'HEAD~1');
    if (world.random(2) === 0) await world.check(desk);
    desk.run('push', '-qf', 'origin', 'HEAD');
  },
  'cherry-pick': (world, desk) => {
    const name = other(world, desk);
    const commit = name && anyCommit(world, desk, name);
    if (commit && !world.try(desk, 'cherry-pick', '--keep-redundant-commits', commit)) giveUp(desk);
  },
  'cherry-pick range': (world, desk) => {
    const name = other(world, desk);
    const base = name && desk.run('merge-base', 'HEAD', name).out.trim();
    if (base && !world.try(desk, 'cherry-pick', '--keep-redundant-commits', '-m1', `${base}..${name}`))
      giveUp(desk);
  },
  'cherry-pick -n, reset': async (world, desk) => {
    const name = other(world, desk);
    const commit = name && anyCommit(world, desk, name);
    if (!commit) return;
    if (!world.try(desk, 'cherry-pick', '-n', commit)) giveUp(desk);
    await world.check(desk);
    desk.run('reset', '-q', '--hard');
  },
  'stash push': (_world, desk) => void desk.run('stash', 'push', '-q'),
  'stash push -u': (world, desk) => {
    world.record(desk);
    desk.run('stash', 'push', '-qu');
  },
  'stash pop': (world, desk) => {
    if (desk.run('stash', 'list').out.trim() && !world.try(desk, 'stash', 'pop', '-q')) giveUp(desk);
  },
  'stash drop': (_world, desk) => void desk.run('stash', 'drop', '-q'),
  'stash apply, record, pop': (world, desk) => {
    world.record(desk);
    desk.run('add', '-A');
    desk.run('stash', 'push', '-q');
    if (!world.try(desk, 'stash', 'apply', '-q')) return giveUp(desk);
    world.record(desk);
    desk.run('add', '-A');
    desk.run('commit', '-qm', 'Applied');
    if (!world.try(desk, 'stash', 'pop', '-q')) giveUp(desk);
  },
  'stash here, pop there': async (world, desk) => {
    const there = world.desks.find((one) => one !== desk && (one.main ?? one) === (desk.main ?? desk));
    world.record(desk);
    if (desk.run('stash', 'push', '-qu').code !== 0) return;
    await world.check(desk);
    if (there && !world.try(there, 'stash', 'pop', '-q')) giveUp(there);
    if (there) await world.check(there);
  },
  'older commit and back': async (world, desk) => {
    const [branch, commit] = [desk.branch(), anyCommit(world, desk)];
    if (!branch || !commit || !world.try(desk, 'checkout', '-q', commit)) return;
    if (!existsSync(desk.ledger)) return void world.try(desk, 'switch', '-q', branch);
    await world.check(desk);
    if (world.random(2) === 0) world.record(desk);
    await world.check(desk);
    world.try(desk, 'switch', '-q', branch);
  },
  'detached commit': async (world, desk) => {
    const branch = desk.branch();
    if (!branch) return;
    desk.run('checkout', '-q', '--detach');
    world.record(desk);
    world.work(desk);
    await world.check(desk);
    world.try(desk, 'switch', '-q', branch);
  },
  'reset --hard': (_world, desk) => void (canUndo(desk) && desk.run('reset', '-q', '--hard', 'HEAD~1')),
  'reset --soft, --hard': async (world, desk) => {
    if (!canUndo(desk)) return;
    desk.run('reset', '-q', '--soft', 'HEAD~1');
    if (world.random(2) === 0) await world.check(desk);
    world.record(desk);
    desk.run('reset', '-q', '--hard');
  },
  'reset --mixed': (world, desk) => {
    if (!canUndo(desk)) return;
    desk.run('reset', '-q', 'HEAD~1');
    world.record(desk);
  },
  'reset, clean': async (world, desk) => {
    if (!canUndo(desk)) return;
    desk.run('reset', '-q', 'HEAD~1');
    if (world.random(2) === 0) await world.check(desk);
    desk.run('clean', '-qfd');
  },
  'rm --cached, clean': (world, desk) => {
    const name = world.pick(desk.files());
    if (!name) return;
    desk.run('rm', '-q', '--cached', '--', `${LEDGER}/${name}`);
    desk.run('clean', '-qfd');
    desk.run('reset', '-q');
  },
  'clean -fd': (_world, desk) => void desk.run('clean', '-qfd'),
  'clean -fdx': (world, desk) => {
    world.record(desk);
    desk.run('clean', '-qfdx');
  },
  amend: (world, desk) => {
    if (!canUndo(desk)) return;
    world.record(desk);
    desk.run('add', '-A');
    desk.run('commit', '-q', '--amend', '--no-edit');
  },
  'branch rename': (world, desk) => {
    const name = free(world, desk);
    if (name && name !== 'main') desk.run('branch', '-m', name, `r${world.tally.operations}`);
  },
  'branch delete': (world, desk) => {
    const name = free(world, desk);
    if (name && name !== 'main') desk.run('branch', '-qD', name);
  },
  'branch from an old commit': (world, desk) => {
    const commit = anyCommit(world, desk);
    if (!commit || desk.run('cat-file', '-e', `${commit}:${LEDGER}`).code !== 0) return;
    if (world.try(desk, 'switch', '-qc', `o${world.tally.operations}`, commit)) world.record(desk);
  },
  'commit, branch, reset': (world, desk) => {
    world.record(desk);
    world.work(desk);
    desk.run('branch', `k${world.tally.operations}`);
    desk.run('reset', '-q', '--hard', 'HEAD~1');
    world.record(desk);
  },
  'worktree add': (world, desk) => {
    if (desk.main || world.desks.length > 4) return;
    const name = `wt${world.tally.operations}`;
    if (desk.run('worktree', 'add', '-q', '-b', name, join(world.folder, name)).code !== 0) return;
    world.record(world.addDesk(name, join(world.folder, name), desk));
  },
  'worktree remove': async (world, desk) => {
    const linked = world.desks.find((one) => one.main === desk);
    if (!linked) return;
    await world.check(linked);
    world.record(linked);
    desk.run('worktree', 'remove', '--force', linked.root);
    world.removeDesk(linked);
  },
  pull: (world, desk) => {
    if (!desk.branch()) return;
    if (!world.try(desk, 'pull', '-q', '--no-rebase', 'origin', 'main')) giveUp(desk);
  },
  'pull --rebase': (world, desk) => {
    if (!desk.branch()) return;
    if (!world.try(desk, 'pull', '-q', '--rebase', 'origin', 'main')) giveUp(desk);
  },
  'pull and push': (world, desk) => {
    if (desk.branch() !== 'main') return;
    if (!world.try(desk, 'pull', '-q', '--no-rebase', 'origin', 'main')) return giveUp(desk);
    desk.run('push', '-q', 'origin', 'HEAD');
  },
  'fetch --prune': (_world, desk) => void desk.run('fetch', '-q', '--prune'),
  'delete remote branch': (world, desk) => {
    const name = world.pick(desk.git('ls-remote', '--heads', 'origin').match(/(?<=refs\/heads\/).*/g) ?? []);
    if (name && name !== 'main') desk.run('push', '-q', 'origin', `:${name}`);
  },
  'merge on the server': (world, desk) => {
    const heads = desk.git('ls-remote', '--heads', 'origin').match(/(?<=refs\/heads\/).*/g) ?? [];
    const name = world.pick(heads.filter((head) => head !== 'main'));
    if (!name) return;
    const at = ['-C', world.server];
    const merged = desk.run(...at, 'merge-tree', '--write-tree', 'main', name);
    const tree = merged.out.split('\n')[0] ?? '';
    if (merged.code !== 0) {
      if (merged.out.includes('.forge/')) world.tally.conflicts++;
      return world.note(`merge-tree main ${name}: ${merged.out.slice(0, 300)}`);
    }
    const commit = desk
      .run(...at, 'commit-tree', tree, '-p', 'main', '-p', name, '-m', `Merge ${name}`)
      .out.trim();
    desk.run(...at, 'update-ref', 'refs/heads/main', commit);
  },
  revert: (world, desk) => {
    const commit = world.random(2) === 0 ? 'HEAD' : anyCommit(world, desk);
    if (!commit || !canUndo(desk) || /^(Start|Init)/.test(desk.run('log', '-1', '--format=%s', commit).out))
      return;
    if (!world.try(desk, 'revert', '--no-edit', commit)) giveUp(desk);
  },
  'revert the revert': (world, desk) => {
    const last = desk.run('log', '-1', '--format=%s').out;
    if (/^Revert/.test(last) && !world.try(desk, 'revert', '--no-edit', 'HEAD')) giveUp(desk);
  },
  gc: (world, desk) => {
    // Git prunes what a bisect of another worktree needs, and then lists no refs at all.
    if (world.desks.some((one) => one.run('bisect', 'log').code === 0)) return;
    desk.run('reflog', 'expire', '--expire=now', '--all');
    desk.run('gc', '-q', '--prune=now');
  },
  'filter-branch': (world, desk) => {
    if (world.random(6) > 0 || !desk.branch()) return;
    process.env.FILTER_BRANCH_SQUELCH_WARNING = '1';
    desk.run('filter-branch', '-f', '--msg-filter', 'sed s/Work/Job/', '--', 'HEAD');
  },
  'cp -r': async (world, desk) => {
    if (desk.main || world.desks.some((one) => one.main === desk)) return;
    const name = `copy${world.tally.operations}`;
    world.record(desk);
    cpSync(desk.root, join(world.folder, name), { recursive: true });
    const copy = world.addDesk(name, join(world.folder, name));
    if (world.random(2) === 0) await world.check(copy);
    world.record(copy);
    world.work(copy);
    world.record(desk);
    copy.run('push', '-q', 'origin', `HEAD:refs/heads/${name}`);
    await world.check(copy);
    world.removeDesk(copy);
    rmSync(copy.root, { recursive: true });
    world.work(desk);
    desk.run('fetch', '-q');
    if (!world.try(desk, 'merge', '-q', `origin/${name}`)) giveUp(desk);
  },
  'clock goes back': (world) => world.turnClockBack(),
  'bisect left open': (world, desk) => {
    if (desk.run('bisect', 'log').code === 0) return void desk.run('bisect', 'reset');
    const commit = anyCommit(world, desk);
    if (!commit || desk.run('cat-file', '-e', `${commit}:${LEDGER}`).code !== 0) return;
    desk.run('bisect', 'start', 'HEAD', commit);
  },
  'rm a ledger file': async (world, desk) => {
    const name = world.pick(desk.files());
    if (!name) return;
    rmSync(join(desk.ledger, name));
    await world.check(desk);
    desk.run('checkout', '-q', 'HEAD', '--', LEDGER);
  },
  'rm -rf memory': async (world, desk) => {
    rmSync(join(desk.root, '.forge/memory'), { recursive: true, force: true });
    await world.check(desk);
    desk.run('checkout', '-q', 'HEAD', '--', LEDGER);
  },
  'sed in a ledger file': async (world, desk) => {
    const name = world.pick(desk.files().filter((file) => !file.startsWith('init-')));
    if (!name) return;
    const path = join(desk.ledger, name);
    const before = readFileSync(path);
    const text = before.toString('utf8');
    const edited = text.replace(/"text":"\w/, '"text":"Z').replace(/"kind":"re\w+"/, '"kind":"renewed"');
    // A tombstone has nothing that this would change.
    if (edited === text) return;
    writeFileSync(path, edited);
    world.isEdited = true;
    const state = stateOf((await world.check(desk)).findings);
    if (state !== 'corrupted') world.fail('losses', `${desk.name}: an edit of ${name} is ${state}`);
    world.isEdited = false;
    writeFileSync(path, before);
  },
  'memory repair': async (world, desk) => {
    const before = await world.check(desk);
    const missing = before.findings
      .filter(({ code: kind }) => /^(removed_by_commit|disappeared|missing)$/.test(kind))
      .flatMap(({ ids }) => ids);
    if (missing.length > 0 && world.random(2) === 0) {
      await human(desk, 'repair', ...missing.flatMap((id) => ['--discard', id]));
      for (const id of missing) world.discarded.add(id);
    }
    const open = await world.check(desk);
    if (open.findings.some(({ code, hint }) => hint.endsWith('repair') || code === 'set_back'))
      await human(desk, 'repair');
    if (before.findings.some(({ code: kind }) => kind === 'journal'))
      for (const id of world.flipped) world.discarded.add(id);
    const { findings } = await world.check(desk);
    // A damaged journal line may have been the only copy of a record. Those after it cannot be put back.
    const isCut = (code: string): boolean => code === 'disappeared' && world.flipped.size > 0;
    const left = findings.filter(
      ({ code }) => !/^(elsewhere|torn|rewound|put_back|missing|returned)$/.test(code) && !isCut(code),
    );
    if (left.length > 0)
      world.fail('alarms', `${desk.name}: repair left ${left.map(({ message }) => message)}`);
  },
  redact: async (world, desk) => {
    const here = world.oracle.inTree(desk);
    const own = [...(world.acknowledged.get(desk.name) ?? [])].filter(
      (id) => here.has(id) && !world.redacted.has(id),
    );
    const id = world.pick(own);
    const { findings } = await world.check(desk);
    const returned = findings.filter(({ code: kind }) => kind === 'returned').flatMap(({ ids }) => ids);
    for (const one of new Set([...returned, ...(id && world.random(2) === 0 ? [id] : [])])) {
      world.redacted.add(one);
      await human(desk, 'redact', one);
    }
    const after = await world.check(desk);
    if (after.findings.some(({ code: kind }) => kind === 'returned'))
      world.fail('alarms', `${desk.name}: content is still there`);
  },
  'git rm, commit': (world, desk) => {
    const name = world.pick(desk.files().filter((file) => !file.startsWith('init-')));
    if (!name || world.random(3) > 0 || desk.run('rm', '-q', '--', `${LEDGER}/${name}`).code !== 0) return;
    desk.run('commit', '-qm', `Remove ${name}`);
  },
  'checkout a file of another branch': (world, desk) => {
    const name = other(world, desk);
    if (name) desk.run('checkout', '-q', name, '--', LEDGER);
  },
  'flip a byte of the journal': (world, desk) => {
    const folder = join(desk.context.layout.shared, 'journal');
    const name = world.pick(existsSync(folder) ? readdirSync(folder) : []);
    if (!name) return;
    const bytes = readFileSync(join(folder, name));
    const at = world.random(bytes.length);
    // A lost line end damages two lines.
    const from = bytes.lastIndexOf(10, Math.max(0, at - 1)) + 1;
    const to = bytes.indexOf(10, at + 1);
    for (const id of bytes
      .toString('utf8', from, to < 0 ? bytes.length : to)
      .match(/(?<="id":")[0-9a-f]{64}/g) ?? [])
      world.flipped.add(id);
    bytes[at] = (bytes[at] as number) ^ (1 << world.random(7));
    writeFileSync(join(folder, name), bytes);
  },
};
