import { basename } from 'node:path';
import { recentCommits } from '../commit/recent.js';
import { makeRules } from '../commit/rules.js';
import { ForgeError } from '../core/error.js';
import { activeIssuesFile, doneIssuesFolder, progressFile, shown } from '../core/paths.js';
import { decodeUtf8, ID_PATTERN } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { withRescue } from '../doctor/rescue.js';
import { claimsIn } from '../feature/feature.js';
import { byHand, countStatuses, type Feature, isUnprovenPass } from '../feature/rules.js';
import { readFeatures } from '../feature/store.js';
import { ACTIVE_ISSUES, selectNext } from '../feature/tasks.js';
import { readKfr } from '../kfr/kfr.js';
import { listKnowledge } from '../knowledge/knowledge.js';
import { describeSize, readSize } from '../learning/growth.js';
import { describeFinding } from '../ledger/compare.js';
import { damageOf, glanceAtMemory, problemsOf } from '../ledger/integrity.js';
import { readHalt } from '../project/halt.js';
import { type Context, readConfig } from '../project/project.js';
import { findTracked } from '../project/tracked.js';
import { showFocus } from '../session/focus.js';
import { entryTimes } from '../session/progress-rules.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { type Remark, red, type Status, toStatus, yellow } from './component.js';
import { lookAtGit } from './git.js';
import { damaged, isOrphan, judgeFeatures, judgeKnowledge, judgeLinear, judgeProgress } from './rules.js';

export interface StatusInput {
  /** For a prompt: no good version is looked for of what is damaged. */
  brief?: boolean;
}

/** Reports a file that forge refuses to read instead of failing. */
async function lookSafely(
  context: Context,
  { brief }: StatusInput,
  look: () => Remark[] | Promise<Remark[]>,
): Promise<Remark[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    const told = brief ? error : ((await withRescue(context, error)) as ForgeError);
    return damaged({ message: told.message, hint: told.details.hint }, 'forge doctor');
  }
}

function lookAtKnowledge(context: Context): Remark[] {
  const { learnings } = listKnowledge(context);
  const learned = learnings.flatMap((entry) => (entry.kind === 'invariant' ? [] : [entry.learned_at]));
  return judgeKnowledge(learned, context.world.now());
}

const VERIFY = 'forge memory verify';
/** Damage is told in full by verify. */
const TOLD = 3;

/** Whether memory is halted, and whether its ledgers are what they were. Nothing where all is well. */
async function lookAtLedger(context: Context): Promise<Remark[]> {
  const halt = readHalt(context.disk);
  if (halt)
    return [red(`memory is halted: ${oneLine(halt.reasons[0] ?? 'it was found damaged', 300)}`, VERIFY)];
  const verdict = await glanceAtMemory(context);
  const damage = damageOf(verdict).map(describeFinding);
  const bytes = verdict.snapshot.listed.reduce((sum, { size }) => sum + size, 0);
  const size = describeSize(readSize(context, bytes));
  const others = problemsOf(verdict).map(describeFinding);
  return [
    ...verdict.halts.map(({ reasons }) => red(`an open breach: ${oneLine(reasons[0] ?? '', 300)}`, VERIFY)),
    ...damage.map((text) => red(oneLine(text, 400), VERIFY)).slice(0, TOLD),
    ...others
      .filter((text) => !damage.includes(text))
      .map((text) => yellow(oneLine(text, 400), VERIFY))
      .slice(0, TOLD),
    ...(size === null ? [] : [yellow(size, 'forge memory stats')]),
  ];
}

/** The other files of a session are read, too: one that is damaged keeps a session from going on. */
async function lookAtShortTerm(context: Context, brief: boolean): Promise<Remark[]> {
  const { disk, layout, world } = context;
  showFocus(context);
  readKfr(context);
  const path = progressFile(layout);
  const running = readRunning(context);
  const bytes = disk.read(path);
  const entries = bytes && entryTimes(decodeUtf8(bytes, shown(layout, path)));
  const tracked = brief ? null : await findTracked(context);
  return [
    ...judgeProgress({ session: running && sessionName(running.id), entries }, world.now()),
    ...(tracked ? [yellow(tracked.message, tracked.fix)] : []),
  ];
}

/** The features as stored. */
const storedFeatures = (context: Context): Feature[] => readFeatures(context);

export function lookAtFeatures(context: Context, features: readonly Feature[]): Remark[] {
  const claims = new Set(claimsIn(context, features));
  const unproven = features.filter(isUnprovenPass);
  const believed = features.map((feature) =>
    claims.has(feature) ? { ...feature, status: 'in_progress' as const } : feature,
  );
  return judgeFeatures({
    counts: countStatuses(believed),
    claims: [...claims].map(({ id }) => id),
    unproven: unproven.map(({ id }) => id),
    byHand: byHand(believed),
    next: nextCommand(believed),
  });
}

/** A feature without tests can be proved by nothing yet. */
function nextCommand(features: readonly Feature[]): string {
  const { task } = selectNext(features, []);
  const tests = features.find(({ id }) => id === task?.id)?.tests ?? [];
  return task && tests.length > 0 ? `forge done ${task.id}` : 'forge next';
}

export interface StatusReport extends Status {
  task: string | null;
}

/** VIS-01. Whatever is damaged, this says so and does not fail. Nothing is put back, and nothing halts. */
export async function readStatus(context: Context, input: StatusInput = {}): Promise<StatusReport> {
  const safely = (look: Parameters<typeof lookSafely>[2]): Promise<Remark[]> =>
    lookSafely(context, input, look);
  let list: Feature[] | undefined;
  const read = (): Feature[] => {
    list ??= storedFeatures(context);
    return list;
  };
  const branch = branchSetting(context);
  // Git first: it works while the rest is read.
  const asked = safely(() => lookAtGit(context, branch));
  const [knowledge, ledgers, shortTerm, features, git, linear] = await Promise.all([
    safely(() => lookAtKnowledge(context)),
    safely(() => lookAtLedger(context)),
    safely(() => lookAtShortTerm(context, input.brief ?? false)),
    safely(() => lookAtFeatures(context, read())),
    asked,
    safely(() => lookAtLinear(context, read)),
  ]);
  const status = toStatus({
    'long-term': [...knowledge, ...ledgers],
    'short-term': shortTerm,
    features,
    git,
    linear,
  });
  return { ...status, task: taskOf(context) };
}

/** The default branch as the settings have it; '' where they do not say, or cannot be read, which is told elsewhere. */
function branchSetting(context: Context): string {
  try {
    return readConfig(context).git.default_branch;
  } catch {
    return '';
  }
}

/** The id of what the running session works on; null without one, or where that cannot be read. */
function taskOf(context: Context): string | null {
  try {
    const task = readRunning(context) ? showFocus(context).task : null;
    const id = task?.split(': ')[0] ?? '';
    return id !== task && ID_PATTERN.test(id) ? id : null;
  } catch {
    return null;
  }
}

const COMMITS = 10;

/** Forge's own investigations are no issues of Linear's. */
const isOwn = (id: string): boolean => id.startsWith('INVESTIGATE-');

async function lookAtLinear(context: Context, read: () => Feature[]): Promise<Remark[]> {
  const { disk, layout } = context;
  const { issues } = disk.readDocument(ACTIVE_ISSUES, activeIssuesFile(layout), { issues: [] }).value;
  const active = issues.map(({ linear_id }) => linear_id).filter((id) => !isOwn(id));
  const done = disk.list(doneIssuesFolder(layout)).filter((name) => name.endsWith('.json'));
  const known = new Set([
    ...active,
    ...done.map((name) => basename(name, '.json')).filter((id) => !isOwn(id)),
    ...issuesOf(read),
  ]);
  if (known.size === 0) return judgeLinear({ isUsed: false, active: 0, orphans: [], commits: 0 });
  const { isIssue } = makeRules(readConfig(context).commit);
  const commits = await recentCommits(context, COMMITS);
  const orphans = commits.filter((commit) => isOrphan(commit, { known, isIssue }));
  return judgeLinear({
    isUsed: true,
    active: active.length,
    orphans: orphans.map(({ short, subject }) => `${short} ${subject}`),
    commits: commits.length,
  });
}

/** A list that cannot be read is told of with the features. */
function issuesOf(read: () => Feature[]): string[] {
  try {
    return read().flatMap(({ linear_issue }) => linear_issue ?? []);
  } catch {
    return [];
  }
}
