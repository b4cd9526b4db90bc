import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ForgeError } from '../../src/core/error.js';
import { systemWorld } from '../../src/core/world.js';
import { gitIn } from '../../src/git/client.js';
import { append } from '../../src/ledger/append.js';
import { type Finding, meaningOf } from '../../src/ledger/compare.js';
import { type Verdict, verify } from '../../src/ledger/verify.js';
import { type Context, contextAt } from '../../src/project/project.js';
import { BIN } from './forge.js';
import { seeded } from './secrets.js';

export const LEDGER = '.forge/memory/ledger';

/** The same seed, the same play. */
export function randomOf(seed: number): (below: number) => number {
  const next = seeded(seed);
  return (below) => (next() * 2 ** 32) % below;
}

export interface GitRun {
  code: number;
  out: string;
}

/** One working tree in which somebody works. */
export class Desk {
  readonly context: Context;
  /** Git processes that the ledger started. */
  processes = 0;

  constructor(
    readonly name: string,
    readonly root: string,
    private readonly clock: () => Date,
    /** The desk that takes over the journal of a removed worktree. */
    readonly main: Desk | null = null,
  ) {
    const [gitDir = '', commonDir = ''] = this.git(
      'rev-parse',
      '--absolute-git-dir',
      '--git-common-dir',
    ).split('\n');
    const repository = { root, gitDir, commonDir: resolve(root, commonDir), kind: 'main' as const };
    const world = { ...systemWorld(process.env, false), now: clock };
    this.context = contextAt(root, repository, world, false);
    this.context.disk.guard = () => {};
    const git = gitIn(root, process.env);
    this.context.git = (args, options) => {
      this.processes++;
      return git(args, options);
    };
  }

  /** Git as a person runs it. */
  run(...args: string[]): GitRun {
    const at = this.clock().toISOString();
    const env = {
      ...process.env,
      GIT_AUTHOR_DATE: at,
      GIT_COMMITTER_DATE: at,
      GIT_EDITOR: ':',
      GIT_MERGE_AUTOEDIT: 'no',
    };
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: this.root, env, encoding: 'utf8' });
    return { code: status ?? 1, out: `${stdout}${stderr}` };
  }

  /** The answer of a git command that must work. */
  git(...args: string[]): string {
    return execFileSync('git', args, {
      cwd: this.root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  get ledger(): string {
    return join(this.root, LEDGER);
  }

  branch(): string {
    return this.run('symbolic-ref', '-q', '--short', 'HEAD').out.trim();
  }

  branches(): string[] {
    return this.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n').filter(Boolean);
  }

  files(): string[] {
    return existsSync(this.ledger) ? readdirSync(this.ledger).filter((name) => name.endsWith('.jsonl')) : [];
  }
}

/** Ids in a container, by nothing but the documented rule. */
export function idsIn(text: string): string[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map(
      (line) =>
        // A tombstone stands for its record.
        /^ *\{"v":1,"redacted":"([0-9a-f]{64})"/.exec(line)?.[1] ??
        createHash('sha256').update(line.replace(/^ */, '').replace(/\r$/, '')).digest('hex'),
    );
}

/** Knows every acknowledged record and where it really is. It shares no code with the ledger. */
export class Oracle {
  private readonly trees = new Map<string, Set<string>>();
  private readonly blobs = new Map<string, string[]>();

  inTree(desk: Desk): Set<string> {
    return new Set(desk.files().flatMap((name) => idsIn(readFileSync(join(desk.ledger, name), 'utf8'))));
  }

  inCommit(desk: Desk, commit: string): Set<string> {
    const known = this.trees.get(commit);
    if (known) return known;
    const { code, out } = desk.run('ls-tree', '-r', commit, '--', LEDGER);
    const ids = new Set<string>();
    if (code === 0)
      for (const line of out.split('\n').filter(Boolean))
        for (const id of this.inBlob(desk, line.split(/\s+/)[2] ?? '')) ids.add(id);
    if (code === 0) this.trees.set(commit, ids);
    return ids;
  }

  private inBlob(desk: Desk, oid: string): string[] {
    const known = this.blobs.get(oid) ?? idsIn(desk.run('cat-file', 'blob', oid).out);
    this.blobs.set(oid, known);
    return known;
  }

  /** Ids in every ref, stash and detached HEAD of a clone. */
  inRefs(desk: Desk): Set<string> {
    const refs = desk
      .git('for-each-ref', '--format=%(objectname) %(*objectname)')
      .split(/\s+/)
      .filter(Boolean);
    const stashes = desk.run('stash', 'list', '--format=%H').out.split('\n').filter(Boolean);
    const heads = desk.run('worktree', 'list', '--porcelain').out.match(/(?<=^HEAD )[0-9a-f]+/gm) ?? [];
    const all = [...refs, ...heads, ...stashes.flatMap((commit) => [commit, `${commit}^2`, `${commit}^3`])];
    return new Set(all.flatMap((commit) => [...this.inCommit(desk, commit)]));
  }

  inHistory(desk: Desk): Set<string> {
    const { code, out } = desk.run('rev-list', 'HEAD');
    const commits = code === 0 ? out.split('\n').filter(Boolean) : [];
    return new Set(commits.flatMap((commit) => [...this.inCommit(desk, commit)]));
  }
}

export interface Tally {
  operations: number;
  records: number;
  verifies: number;
  putBack: number;
  losses: number;
  alarms: number;
  unknown: number;
  /** Git operations that failed because of forge's files: conflicts, and files in the way. */
  conflicts: number;
  inTheWay: number;
  otherFailures: number;
  maxProcesses: number;
  processes: number;
  findings: Record<string, number>;
  counts: Record<string, number>;
}

/** Two clones of a bare server, where anything happens that people do with git. */
export class World {
  readonly folder = mkdtempSync(join(tmpdir(), 'forge-play-'));
  readonly server = join(this.folder, 'server.git');
  readonly desks: Desk[] = [];
  readonly oracle = new Oracle();
  readonly trail: string[] = [];
  readonly problems: string[] = [];
  readonly tally: Tally = {
    ...{ operations: 0, records: 0, verifies: 0, putBack: 0, losses: 0, alarms: 0, unknown: 0, conflicts: 0 },
    ...{ inTheWay: 0, otherFailures: 0, maxProcesses: 0, processes: 0, findings: {}, counts: {} },
  };
  /** Acknowledged records by the name of the desk that must not lose them. */
  readonly acknowledged = new Map<string, Set<string>>();
  readonly discarded = new Set<string>();
  readonly redacted = new Set<string>();
  /** Records whose line in a journal was damaged. */
  readonly flipped = new Set<string>();
  /** A ledger file is edited now, so damage is not a false alarm. */
  isEdited = false;
  private time = Date.UTC(2026, 10, 20, 10);
  private files = 0;

  constructor(readonly random: (below: number) => number) {
    execFileSync('git', ['init', '-q', '--bare', '-b', 'main', this.server]);
    const ada = this.clone('ada');
    writeFileSync(join(ada.root, 'README.md'), 'A project\n');
    ada.git('add', '-A');
    ada.run('commit', '-qm', 'Start');
    execFileSync(process.execPath, [BIN, 'init', '--yes', '--quiet'], { cwd: ada.root, stdio: 'ignore' });
    ada.git('add', '-A');
    ada.run('commit', '-qm', 'Init');
    ada.git('push', '-q', 'origin', 'HEAD:main');
    this.clone('bob');
  }

  clone(name: string): Desk {
    execFileSync('git', ['clone', '-q', this.server, join(this.folder, name)], { stdio: 'ignore' });
    return this.addDesk(name, join(this.folder, name));
  }

  addDesk(name: string, root: string, main: Desk | null = null): Desk {
    const desk = new Desk(name, root, () => this.now(), main);
    if (!main)
      for (const [key, value] of [
        ['user.name', name],
        ['user.email', `${name}@example.com`],
        ['gc.auto', '0'],
      ] as const)
        desk.git('config', key, value);
    this.desks.push(desk);
    this.acknowledged.set(name, new Set());
    return desk;
  }

  /** The main worktree takes the records of a removed one over. */
  removeDesk(desk: Desk): void {
    this.desks.splice(this.desks.indexOf(desk), 1);
    const heir = desk.main && this.acknowledged.get(desk.main.name);
    for (const id of this.acknowledged.get(desk.name) ?? []) heir?.add(id);
    this.acknowledged.delete(desk.name);
  }

  now(): Date {
    this.time += 1000;
    return new Date(this.time);
  }

  turnClockBack(): void {
    this.time -= 3_600_000 * (1 + this.random(48));
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.random(list.length)];
  }

  record(desk: Desk, count = 1 + this.random(3)): void {
    const texts = Array.from({ length: count }, (_, i) => `${this.trail.length}.${i} ${this.random(1e9)}`);
    const own = this.acknowledged.get(desk.name);
    try {
      const stored = append(
        desk.context,
        texts.map((text) => ({ tier: 'note', kind: 'note', text: `${desk.name} ${text}` })),
      );
      for (const { id } of stored) own?.add(id);
      this.tally.records += count;
    } catch (error) {
      // The only file is gone from the working tree.
      if ((error as ForgeError).code !== 'ledger.missing') throw error;
    }
  }

  /** A commit with a file of its own, so that people's files never conflict. */
  work(desk: Desk, all = true): void {
    const name = `work-${this.files++}.txt`;
    writeFileSync(join(desk.root, name), `${name}\n`);
    desk.run('add', ...(all ? ['-A'] : [name]));
    desk.run('commit', '-qm', `Work ${name}`);
  }

  /** Runs git, and counts a failure by its reason. */
  try(desk: Desk, ...args: string[]): boolean {
    const { code, out } = desk.run(...args);
    if (code === 0) return true;
    const unmerged = desk.run('ls-files', '-u', '--', '.forge').out.trim();
    const others = desk.run('ls-files', '-u').out.trim();
    const isInTheWay = /would be overwritten|already exists, no checkout/.test(out) && /\.forge\//.test(out);
    if (unmerged !== '') this.tally.conflicts++;
    else if (isInTheWay) this.tally.inTheWay++;
    else this.tally.otherFailures++;
    if (unmerged !== '' || isInTheWay || others !== '')
      this.note(`${args.join(' ')} failed: ${out.slice(0, 400)}`);
    return false;
  }

  note(text: string): void {
    this.trail.push(`    ${text.replaceAll('\n', '\n    ')}`);
  }

  async check(desk: Desk): Promise<Verdict> {
    const before = this.oracle.inTree(desk);
    const refs = this.oracle.inRefs(desk);
    desk.processes = 0;
    const verdict = await verify(desk.context);
    this.tally.verifies++;
    this.tally.processes += desk.processes;
    this.tally.maxProcesses = Math.max(this.tally.maxProcesses, desk.processes);
    for (const { code: kind } of verdict.findings)
      this.tally.findings[kind] = (this.tally.findings[kind] ?? 0) + 1;
    this.judge(desk, verdict, before, refs);
    return verdict;
  }

  private judge(desk: Desk, verdict: Verdict, before: Set<string>, refs: Set<string>): void {
    const here = this.oracle.inTree(desk);
    const elsewhere = new Set(
      this.desks
        .filter((other) => other !== desk && (other.main ?? other) === (desk.main ?? desk))
        .flatMap((other) => [...this.oracle.inTree(other)]),
    );
    const named = new Set(verdict.findings.flatMap(({ ids }) => ids));
    const isJournalBad = verdict.findings.some(({ code: kind }) => kind === 'journal');
    for (const id of this.acknowledged.get(desk.name) ?? []) {
      if (here.has(id) || refs.has(id) || elsewhere.has(id) || named.has(id)) continue;
      if (this.discarded.has(id) || this.redacted.has(id)) continue;
      if (isJournalBad && this.flipped.has(id)) {
        // A damaged journal line whose record is nowhere is reported once.
        this.discarded.add(id);
        continue;
      }
      this.fail('losses', `${desk.name}: ${id} is nowhere and not reported`);
    }
    const history = this.oracle.inHistory(desk);
    for (const id of this.isEdited ? [] : history)
      if (!here.has(id) && !named.has(id) && !this.discarded.has(id) && !this.redacted.has(id))
        this.fail('losses', `${desk.name}: ${id} of HEAD's history is not here and not reported`);
    for (const { code: kind, ids } of verdict.findings)
      for (const id of kind === 'put_back' ? ids : [])
        if (history.has(id)) this.fail('alarms', `${desk.name}: ${id} was removed by a commit and put back`);
    for (const finding of verdict.findings) this.judgeFinding(desk, finding, { before, refs, elsewhere });
  }

  private judgeFinding(
    desk: Desk,
    { code: kind, ids, message }: Finding,
    known: Record<'before' | 'refs' | 'elsewhere', Set<string>>,
  ): void {
    const alarm = (why: string): void => this.fail('alarms', `${desk.name}: ${kind} (${message}): ${why}`);
    const { before, refs, elsewhere } = known;
    if (this.isEdited) return;
    if (kind === 'returned' && ids.every((id) => this.redacted.has(id))) return;
    if (meaningOf(kind).level === 'damage' || kind === 'foreign' || kind === 'returned')
      alarm('nobody edited anything');
    const standing = ids.filter((id) => before.has(id));
    if (kind === 'unknown') {
      const all = new Set([...this.acknowledged.values()].flatMap((own) => [...own]));
      if (ids.some((id) => all.has(id))) this.tally.unknown++;
      if (ids.some((id) => all.has(id))) this.note(`unknown at ${desk.name}: ${message}`);
    } else if (standing.length > 0) alarm(`${standing[0]} stands here`);
    if (kind === 'put_back') {
      this.tally.putBack += ids.length;
      const fine = ids.find((id) => refs.has(id) || elsewhere.has(id));
      if (fine) alarm(`${fine} was not missing`);
    }
    if (kind === 'removed_by_commit') {
      const history = this.oracle.inHistory(desk);
      const never = ids.find((id) => !history.has(id));
      if (never) alarm(`${never} never was in HEAD's history`);
    }
    if (kind === 'set_back') {
      const head = this.oracle.inCommit(desk, desk.git('rev-parse', 'HEAD'));
      const never = ids.find((id) => !head.has(id));
      if (never) alarm(`${never} is not in HEAD`);
    }
  }

  fail(counter: 'losses' | 'alarms', text: string): void {
    this.tally[counter]++;
    this.problems.push(`step ${this.tally.operations}: ${text}`);
    this.note(`FAILED ${text}`);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
