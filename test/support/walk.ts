import { spawnSync } from 'node:child_process';
import { runForge } from './forge.js';
import {
  cloneDesk,
  type Desk,
  dirtyMemory,
  idsHere,
  idsInCommit,
  idsInHistory,
  makeDesk,
  makeServer,
} from './ledgers.js';

/** mulberry32: the same seed, the same walk. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** One of two people: a clone, and the records that forge acknowledged to them. */
interface Walker {
  desk: Desk;
  acknowledged: Set<string>;
}

export interface Tally {
  operations: number;
  records: number;
  restored: number;
  checks: number;
  /** In files that are no ledgers. */
  conflicts: number;
  counts: Record<string, number>;
}

/** Two clones of a bare repository, in which anything happens that people do with git. */
export class Walk {
  readonly trail: string[] = [];
  readonly tally: Tally = { operations: 0, records: 0, restored: 0, checks: 0, conflicts: 0, counts: {} };
  private readonly walkers: Walker[] = [];
  private step = 0;

  private constructor(
    readonly seed: number,
    private readonly random: (below: number) => number,
  ) {}

  static async begin(seed: number): Promise<Walk> {
    const walk = new Walk(seed, randomOf(seed));
    const server = makeServer(await makeDesk());
    for (const name of ['Ada', 'Bob']) {
      const desk = cloneDesk(server);
      desk.git('config', 'user.name', name);
      walk.walkers.push({ desk, acknowledged: new Set() });
    }
    return walk;
  }

  async run(operations: number): Promise<void> {
    for (let i = 0; i < operations; i++) {
      const walker = this.walkers[this.random(this.walkers.length)] as Walker;
      const [name, act] = OPERATIONS[this.random(OPERATIONS.length)] as (typeof OPERATIONS)[number];
      await this.act(walker, name, act);
      if (this.random(3) > 0) await this.check(walker);
    }
    for (const walker of this.walkers) await this.check(walker);
  }

  private async act(walker: Walker, name: string, act: Act): Promise<void> {
    this.step++;
    this.tally.operations++;
    this.tally.counts[name] = (this.tally.counts[name] ?? 0) + 1;
    this.trail.push(
      `${this.step} ${this.nameOf(walker)} on ${branchOf(walker.desk) || 'no branch'}: ${name}`,
    );
    await act(new Hand(this, walker, this.random));
  }

  private nameOf(walker: Walker): string {
    return walker === this.walkers[0] ? 'Ada' : 'Bob';
  }

  /** What must hold whatever was done. */
  private async check(walker: Walker): Promise<void> {
    const { desk, acknowledged } = walker;
    this.tally.checks++;
    const started = await this.forge(walker, ['session', 'start', '--json']);
    for (const warning of (JSON.parse(started) as { warnings: string[] }).warnings)
      if (warning.includes('put back')) this.tally.restored += Number(/^\d+/.exec(warning)?.[0] ?? 1);
    await this.forge(walker, ['memory', 'verify', '--json']);
    const here = idsHere(desk);
    const elsewhere = atTips(desk);
    const missing = [...idsInHistory(desk, 'HEAD')].filter((id) => !here.has(id) && !elsewhere.has(id));
    if (missing.length > 0) this.fail(`history has records that are nowhere now: ${missing}`);
    const everywhere = idsInHistory(desk, '--all', '--reflog');
    const kept = new Set([...here, ...reachable(desk)]);
    const lost = [...acknowledged].filter((id) => !kept.has(id));
    if (lost.length > 0)
      this.fail(
        `acknowledged, and lost: ${lost.map((id) => `${id} (${everywhere.has(id) ? 'in the reflog' : 'nowhere'})`)}`,
      );
    const dirty = dirtyMemory(desk).filter((line) => !/^[AR] {2}/.test(line));
    if (dirty.length > 0) this.fail(`dirty after a check: ${dirty}`);
  }

  /** stdout of a command that must not fail. */
  async forge({ desk }: Walker, args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await runForge(desk, args);
    if (exitCode !== 0) this.fail(`forge ${args.join(' ')}: exit ${exitCode}\n${stdout}${stderr}`);
    return stdout;
  }

  acknowledge({ acknowledged }: Walker, ids: readonly string[]): void {
    for (const id of ids) acknowledged.add(id);
    this.tally.records += ids.length;
  }

  fail(reason: string): never {
    throw new Error(`seed ${this.seed}, step ${this.step}: ${reason}\n${this.trail.slice(-40).join('\n')}`);
  }
}

/** The ids in all that refs lead to, stashes one and all. */
function reachable(desk: Desk): Set<string> {
  const stashes = desk.git('stash', 'list', '--format=%H').split('\n').filter(Boolean);
  return idsInHistory(desk, '--branches', '--remotes', '--tags', 'HEAD', ...stashes);
}

/** The ids in what refs and stashes point to, without their history: there forge finds what is not here. */
function atTips(desk: Desk): Set<string> {
  const refs = desk.git('for-each-ref', '--format=%(objectname)', 'refs/heads', 'refs/remotes', 'refs/tags');
  const stashes = desk.git('stash', 'list', '--format=%H %P').split(/\s/);
  return new Set(
    [...refs.split('\n'), ...stashes].filter(Boolean).flatMap((commit) => idsInCommit(desk, commit)),
  );
}

const branchOf = (desk: Desk): string => desk.git('branch', '--show-current');

/** What a walker can do, with the dice in hand. */
class Hand {
  constructor(
    private readonly walk: Walk,
    private readonly walker: Walker,
    readonly random: (below: number) => number,
  ) {}

  get desk(): Desk {
    return this.walker.desk;
  }

  async forge(...args: string[]): Promise<string> {
    return this.walk.forge(this.walker, args);
  }

  async try(...args: string[]): Promise<boolean> {
    const { exitCode, stderr } = await runForge(this.desk, args);
    if (exitCode === 4) this.walk.fail(`forge ${args.join(' ')}: ${stderr}`);
    return exitCode === 0;
  }

  async record(): Promise<void> {
    for (let left = this.random(3); left >= 0; left--)
      this.walk.acknowledge(this.walker, await this.guarded(() => this.desk.record()));
  }

  async note(): Promise<void> {
    this.walk.acknowledge(this.walker, await this.guarded(() => this.desk.note()));
  }

  private async guarded<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      return this.walk.fail((error as Error).message);
    }
  }

  /**
   * False when git had a reason that has nothing to do with ledgers; any other ends the walk. Archives of sessions are
   * files like the code, and where one was reverted and picked, git may take another for it.
   */
  git(...args: string[]): boolean {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: this.desk.dir, encoding: 'utf8' });
    const said = `${stdout}${stderr}`;
    const last = status === 0 ? '' : `: ${said.trim().split('\n').at(-1)}`;
    this.walk.trail.push(`    git ${args.join(' ')}${last}`);
    if (status === 0) return true;
    // A revert of nothing but records ends with nothing to commit, for the merge driver keeps them; what is not tracked is
    // listed then.
    const nothing = /^nothing (added )?to commit/m.test(said);
    const complaint = said.replace(/^Auto-merging .*$/gm, '');
    if (!nothing && /\.jsonl/.test(complaint)) this.walk.fail(`git ${args.join(' ')}\n${said}`);
    this.giveUp(said.includes('CONFLICT'));
    return false;
  }

  /** Whatever it was that stopped: the next operation is not about the last one. */
  private giveUp(conflict: boolean): void {
    const { dir } = this.desk;
    const aborts = ['rebase', 'cherry-pick', 'revert', 'merge'].map((kind) => [kind, '--abort']);
    const aborted = aborts.some((args) => spawnSync('git', args, { cwd: dir }).status === 0);
    if (conflict) this.walk.tally.conflicts++;
    if (conflict && !aborted) spawnSync('git', ['reset', '-q', '--hard'], { cwd: dir });
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.random(Math.max(list.length, 1))];
  }

  branches(): string[] {
    return this.lines('for-each-ref', '--format=%(refname:short)', 'refs/heads');
  }

  other(): string | undefined {
    const current = branchOf(this.desk);
    return this.pick(this.branches().filter((name) => name !== current));
  }

  /** Commits that are no merges, newest first. */
  plainCommits(count: number, revision = 'HEAD'): string[] {
    return this.lines('rev-list', '--no-merges', `-${count}`, revision);
  }

  commits(count: number): string[] {
    return this.lines('rev-list', '--first-parent', `-${count}`, 'HEAD');
  }

  lines(...args: string[]): string[] {
    return this.desk
      .git(...args)
      .split('\n')
      .filter(Boolean);
  }

  commit(): void {
    if (this.isClean() && this.random(2) === 0) return;
    this.desk.commit();
  }

  isClean(): boolean {
    return this.desk.git('status', '--porcelain') === '';
  }

  /** Most flows want a clean tree; half of the people commit before, half stash, some do neither. */
  tidy(): void {
    const dice = this.random(4);
    if (dice === 0 && !this.isClean()) this.git('stash', 'push', '-q', '-u');
    else if (dice < 3 && !this.isClean()) this.commit();
  }

  branch = (): string => branchOf(this.desk);
}

type Act = (hand: Hand) => unknown;

const OPERATIONS: readonly (readonly [string, Act])[] = [
  ['record', (hand) => hand.record()],
  ['record again', (hand) => hand.record()],
  ['record once more', (hand) => hand.record()],
  ['note', (hand) => hand.note()],
  ['session start', (hand) => hand.forge('session', 'start')],
  ['session end', (hand) => hand.try('session', 'end')],
  ['fold', fold],
  ['commit', (hand) => hand.commit()],
  ['commit all', (hand) => hand.commit()],
  ['amend', amend],
  ['branch', (hand) => hand.git('switch', '-q', '-c', `b${hand.random(1e6)}`)],
  ['switch', switchBranch],
  ['switch to an older commit', switchOlder],
  ['switch to main', (hand) => switchMain(hand)],
  ['merge', merge],
  ['merge without fast-forward', (hand) => merge(hand, '--no-ff')],
  ['rebase', rebase],
  ['cherry-pick', cherryPick],
  ['revert', revert],
  ['stash push', (hand) => hand.git('stash', 'push', '-q', '-u')],
  ['stash pop', stashPop],
  ['stash drop', (hand) => hasStash(hand) && hand.git('stash', 'drop', '-q')],
  ['pull', pull],
  ['pull --rebase', pullRebase],
  ['push', push],
  ['reset --hard', resetHard],
  ['clean -fdx', (hand) => hand.git('clean', '-qfdx')],
  ['tag', (hand) => hand.git('tag', `t${hand.random(1e6)}`)],
  ['delete branch', deleteBranch],
];

/** What was folded by hand is committed at once, or given up: in between the fixed files are dirty. */
async function fold(hand: Hand): Promise<void> {
  if (!(await hand.try('memory', 'fold')) || hand.isClean()) return;
  if (hand.random(3) > 0) hand.desk.commit('Fold');
  else hand.git('reset', '-q', '--hard');
}

function amend(hand: Hand): void {
  hand.git('add', '-A');
  hand.git('commit', '-q', '--amend', '--no-edit', '--allow-empty');
}

function switchBranch(hand: Hand): void {
  const other = hand.other();
  if (other) hand.git('switch', '-q', other);
}

function switchOlder(hand: Hand): void {
  hand.tidy();
  const older = hand.pick(hand.commits(6).filter((commit) => hasForge(hand, commit)));
  if (older) hand.git('switch', '-q', '--detach', older);
}

const switchMain = (hand: Hand): boolean => hand.git('switch', '-q', 'main');

function merge(hand: Hand, ...options: string[]): void {
  hand.tidy();
  const other = hand.other();
  if (other) hand.git('merge', '-q', '--no-edit', ...options, other);
}

function rebase(hand: Hand): void {
  hand.tidy();
  const other = hand.other();
  if (other) hand.git('rebase', '-q', '--autostash', other);
}

function cherryPick(hand: Hand): void {
  hand.tidy();
  const other = hand.other();
  const commit = other && hand.pick(hand.plainCommits(5, other));
  if (commit && hasForge(hand, `${commit}~1`))
    hand.git('cherry-pick', '--allow-empty', '--keep-redundant-commits', commit);
}

function revert(hand: Hand): void {
  hand.tidy();
  // Whoever reverts the introduction of forge has no memory.
  const commit = hand.pick(hand.plainCommits(5).filter((own) => hasForge(hand, `${own}~1`)));
  if (commit) hand.git('revert', '--no-edit', commit);
}

const hasForge = (hand: Hand, commit: string): boolean =>
  spawnSync('git', ['cat-file', '-e', `${commit}:.forge/config.toml`], { cwd: hand.desk.dir }).status === 0;

const hasStash = (hand: Hand): boolean => hand.lines('stash', 'list').length > 0;

function stashPop(hand: Hand): void {
  if (hasStash(hand)) hand.git('stash', 'pop', '-q');
}

function pull(hand: Hand): void {
  hand.tidy();
  if (hand.branch() === 'main') hand.git('pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main');
}

function pullRebase(hand: Hand): void {
  hand.tidy();
  if (hand.branch() === 'main') hand.git('pull', '-q', '--rebase', '--autostash', 'origin', 'main');
}

function push(hand: Hand): void {
  if (hand.branch() === 'main') hand.git('push', '-q', 'origin', 'main');
  else if (hand.branch() !== '') hand.git('push', '-q', '--force', 'origin', 'HEAD');
}

function resetHard(hand: Hand): void {
  const target = hand.pick(hand.commits(4).filter((commit) => hasForge(hand, commit)));
  if (target) hand.git('reset', '-q', '--hard', target);
}

/** By force: what only this branch had comes back, for it was acknowledged. */
function deleteBranch(hand: Hand): void {
  const other = hand.other();
  if (other && other !== 'main') hand.git('branch', '-q', '-D', other);
}
