import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { currentCheckpoint, readManifests } from '../checkpoint/read.js';
import { isOwnSubject } from '../commit/message.js';
import { makeRules } from '../commit/rules.js';
import { ForgeError, unlessFailed } from '../core/error.js';
import { configFile, progressFile, shown, shownFrom } from '../core/paths.js';
import { decodeUtf8 } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { claimsIn, passedWithLostCode } from '../feature/feature.js';
import { byHand, countStatuses, type Feature, isUnprovenPass, proofOf } from '../feature/rules.js';
import { readActive, readFeatures } from '../feature/store.js';
import { selectNext } from '../feature/tasks.js';
import { type LoggedCommit, readDistance, readLog } from '../git/read.js';
import { findRemote } from '../git/remote.js';
import { operationInProgress } from '../git/repository.js';
import { readTreeStatus } from '../git/status.js';
import { describePause } from '../guard/fingerprint.js';
import { readKfr } from '../kfr/kfr.js';
import { listKnowledge } from '../knowledge/knowledge.js';
import { describeUnreviewed } from '../ledger/audit.js';
import { describeFinding, meaningOf } from '../ledger/compare.js';
import { damageOf, verifyReadOnly } from '../ledger/integrity.js';
import { ACCEPT, describeSize, readSize } from '../ledger/memory.js';
import { hasKey } from '../linear/client.js';
import { doneIds, readQueue } from '../linear/issue.js';
import {
  type Context,
  findTracked,
  hasRecovery,
  mainBranch,
  readConfig,
  readHalt,
} from '../project/project.js';
import { entryTimes, isAbout } from '../session/rules.js';
import { readRunning, showFocus } from '../session/running.js';
import { archivedIds } from '../session/store.js';
import { describeMissing } from '../trust/trust.js';
import {
  isOrphan,
  judgeFeatures,
  judgeGit,
  judgeKnowledge,
  judgeLinear,
  judgeProgress,
  neutral,
  type Remark,
  red,
  type Status,
  toComponent,
  worstOf,
  yellow,
} from './rules.js';

/** VIS-01. Reports damage instead of failing. Restores nothing and halts nothing. */
export async function readStatus(context: Context): Promise<Status> {
  const safely = async (check: () => Remark[] | Promise<Remark[]>): Promise<Remark[]> => {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      return [red(error.message.replace(/\.$/, ''), error.hint ?? 'forge doctor')];
    }
  };
  let list: Feature[] | undefined;
  const features = (): Feature[] => {
    list ??= readFeatures(context);
    return list;
  };
  // git first: it runs while the files are read.
  const [git, knowledge, ledger, shortTerm, featureList, linear] = await Promise.all([
    safely(() => checkGit(context)),
    safely(() => checkKnowledge(context)),
    safely(() => checkLedger(context)),
    safely(() => checkShortTerm(context)),
    safely(() => checkFeatures(context, features())),
    safely(() => checkLinear(context, features)),
  ]);
  const components = [
    toComponent('long-term', [...knowledge, ...ledger]),
    toComponent('short-term', shortTerm),
    toComponent('features', featureList),
    toComponent('git', git),
    toComponent('linear', linear),
  ];
  const worst = worstOf(components.map(({ color }) => color));
  // Another component reports a damaged file.
  return { components, worst, task: unlessFailed(null, () => taskOf(context, features())) };
}

function checkKnowledge(context: Context): Remark[] {
  // Most commands read the settings first.
  readConfig(context);
  const { learnings } = listKnowledge(context);
  const times = learnings.flatMap(({ learned_at }) => learned_at ?? []);
  const missing = describeMissing(context);
  return [
    ...judgeKnowledge(times, context.world.now()),
    ...(missing === null ? [] : [yellow(missing, 'forge trust')]),
  ];
}

const VERIFY = 'forge memory verify';
/** `memory verify` shows every finding. */
const MAX_FINDINGS = 3;

/** Empty if memory is intact and not halted. */
async function checkLedger(context: Context): Promise<Remark[]> {
  const halt = readHalt(context.disk);
  if (halt) return [red(`memory is halted: ${oneLine(halt.reasons[0] ?? 'damage was found', 300)}`, VERIFY)];
  const verdict = await verifyReadOnly(context);
  const damage = damageOf(verdict).map(describeFinding);
  const others = verdict.findings
    .filter(({ code }) => code === 'disappeared' || ['finding', 'returned'].includes(meaningOf(code).level))
    .map(describeFinding);
  const size = describeSize(readSize(context, verdict.snapshot.listed));
  return [
    ...verdict.halts.map(({ reasons }) => red(`an open breach: ${oneLine(reasons[0] ?? '', 300)}`, VERIFY)),
    ...damage.slice(0, MAX_FINDINGS).map((text) => red(oneLine(text, 400), VERIFY)),
    ...others.slice(0, MAX_FINDINGS).map((text) => yellow(oneLine(text, 400), VERIFY)),
    ...verdict.waiting.slice(0, 1).map((review) => yellow(describeUnreviewed(review), ACCEPT)),
    ...(size === null ? [] : [yellow(size, 'forge memory stats')]),
  ];
}

/** Reads every file of the session: a damaged one keeps the session from going on. */
async function checkShortTerm(context: Context): Promise<Remark[]> {
  const { disk, layout, world } = context;
  showFocus(context);
  readKfr(context);
  const path = progressFile(layout);
  const bytes = disk.read(path);
  const entries = bytes && entryTimes(decodeUtf8(bytes, shown(layout, path)));
  const progress = readRunning(context)
    ? judgeProgress(entries, world.now())
    : [neutral('no session is running')];
  const tracked = await findTracked(context);
  const pause = describePause(context);
  return [
    ...(pause ? [red(pause.why, pause.fix)] : []),
    ...progress,
    ...(tracked ? [yellow(tracked.message, tracked.fix)] : []),
  ];
}

function checkFeatures(context: Context, features: readonly Feature[]): Remark[] {
  const claims = new Set(claimsIn(context, features));
  const judged = features.map((feature) =>
    claims.has(feature) ? { ...feature, status: 'in_progress' as const } : feature,
  );
  const { task } = selectNext(judged, []);
  const chosen = judged.find(({ id }) => id === task?.id);
  return judgeFeatures({
    counts: countStatuses(judged),
    failing: judged.filter(({ status }) => status === 'failing').map(({ id }) => id),
    claims: [...claims].map(({ id }) => id),
    unproven: features.filter(isUnprovenPass).map(({ id }) => id),
    byHand: byHand(judged),
    // Before the work and without tests there is nothing to verify.
    next: chosen?.tests?.length && chosen.status !== 'not_implemented' ? proofOf(chosen) : 'forge next',
  });
}

/** Runs one `git status` that leaves out `.forge/`. */
async function checkGit(context: Context): Promise<Remark[]> {
  const { repository, git, layout } = context;
  if (!repository || !git)
    return [
      yellow('there is no git repository: no commits, no checkpoints', 'git init   # then: forge init'),
    ];
  const [tree, newest, remote] = await Promise.all([
    readTreeStatus(git, shownFrom(repository.root, layout.dir)),
    currentCheckpoint(context),
    findRemote(repository, git),
  ]);
  const main = !remote && !tree.upstream ? null : await mainBranch(context, remote);
  let upstream = main === tree.branch ? tree.upstream : null;
  if (!upstream && remote && main) {
    const distance = await readDistance(git, `refs/remotes/${remote}/${main}`);
    upstream = distance && { name: `${remote}/${main}`, ...distance };
  }
  const checkpoint = newest?.tag ?? null;
  // The features component reports damage.
  const lost = tree.files.length === 0 && tree.head ? passedWithLostCode(context).catch(() => null) : null;
  return judgeGit({
    ...tree,
    upstream,
    checkpoint,
    operation: operationInProgress(repository),
    isRecovering: hasRecovery(context),
    lost: await lost,
    hasWork: checkpoint === null && hasWork(context),
  });
}

/** On the first day there is nothing to go back to yet. */
function hasWork(context: Context): boolean {
  if (readManifests(context).length > 0) return true;
  const features = archivedIds(context).length > 0 ? unlessFailed([], () => readFeatures(context)) : [];
  return features.some(({ status }) => status === 'passing');
}

function taskOf(context: Context, features: readonly Feature[]): string | null {
  if (!readRunning(context)) return null;
  const ids = [...features.map(({ id }) => id), ...readActive(context).map(({ linear_id }) => linear_id)];
  return ids.find((id) => isAbout(showFocus(context), id)) ?? null;
}

const COMMITS = 10;

/** Commits before forge was set up could not name its issues. */
async function commitsSinceSetup({ git, repository, layout }: Context): Promise<LoggedCommit[]> {
  if (!git || !repository) return [];
  const commits = await readLog(git, COMMITS);
  const oldest = commits.at(-1)?.hash;
  if (oldest === undefined) return [];
  const config = shownFrom(repository.root, configFile(layout));
  const added = ['log', '-1', '--diff-filter=A', '--format=%H', 'HEAD', `^${oldest}^@`, '--', config];
  const setup = (await git(added)).stdout.trim();
  const at = commits.findIndex(({ hash }) => hash === setup);
  return at < 0 ? commits : commits.slice(0, at);
}

async function checkLinear(context: Context, features: () => Feature[]): Promise<Remark[]> {
  // forge's own investigations are not issues in Linear.
  const isIssueOfLinear = (id: string): boolean => !id.startsWith('INVESTIGATE-');
  const active = readActive(context).filter(({ linear_id }) => isIssueOfLinear(linear_id));
  const known = new Set([
    ...active.map(({ linear_id }) => linear_id),
    ...doneIds(context).filter(isIssueOfLinear),
    ...unlessFailed([], () => features().flatMap(({ linear_issue }) => linear_issue ?? [])),
  ]);
  if (known.size === 0) return [neutral('not set up')];
  const { isIssue } = makeRules(readConfig(context).commit);
  const commits = (await commitsSinceSetup(context)).filter(({ subject }) => !isOwnSubject(subject));
  const orphans = commits.filter((commit) => isOrphan(commit, { known, isIssue }));
  return judgeLinear({
    syncError: (hasKey(context.world.env) && readQueue(context).error) || null,
    active: active.length,
    orphans: orphans.map(({ short, subject }) => `${short} ${subject}`),
    commits: commits.length,
  });
}

/** RFC-9060 §8.2: what a folder of `.forge/` holds. */
export type FolderKind = 'long-term' | 'short-term' | 'artifacts' | 'linear' | 'git' | 'other';

export interface TreeNode {
  name: string;
  kind: FolderKind;
  /** Of a file: its size in bytes. */
  bytes?: number;
  children?: TreeNode[];
  /** How many entries of a folder are left out. */
  more?: number;
}

const MAX_ENTRIES = 200;
const MAX_DEPTH = 6;

const KINDS: readonly [pattern: RegExp, kind: FolderKind][] = [
  [/^memory\/(long-term|ledger|sessions|knowledge|note)/, 'long-term'],
  [/^memory\/(execution|evaluation|audit)\.jsonl$/, 'long-term'],
  [/^(memory\/short-term|local)(\/|$)/, 'short-term'],
  [/^memory\/artifacts(\/|$)/, 'artifacts'],
  [/^linear(\/|$)/, 'linear'],
  [/^git(\/|$)/, 'git'],
];

/** `path`: from `.forge/`, with forward slashes. */
export const kindOf = (path: string): FolderKind =>
  KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? 'other';

/** VIS-02: the names and sizes in `.forge/`. Reads no content and follows no link. */
export const readTree = ({ layout }: Context): TreeNode => ({
  name: '.forge',
  kind: 'other',
  ...listFolder(layout.dir, '', 0),
});

function listFolder(folder: string, prefix: string, depth: number): Pick<TreeNode, 'children' | 'more'> {
  const entries = readdirSync(folder, { withFileTypes: true }).sort(
    (a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1),
  );
  const children = entries.slice(0, MAX_ENTRIES).map((entry): TreeNode => {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    const node = { name: entry.name, kind: kindOf(path) };
    if (entry.isDirectory())
      return depth < MAX_DEPTH ? { ...node, ...listFolder(join(folder, entry.name), path, depth + 1) } : node;
    return { ...node, bytes: lstatSync(join(folder, entry.name), { throwIfNoEntry: false })?.size ?? 0 };
  });
  const more = entries.length - children.length;
  return { children, ...(more > 0 ? { more } : {}) };
}
