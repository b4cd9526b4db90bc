import { basename } from 'node:path';
import { recentCommits } from '../commit/recent.js';
import { makeRules } from '../commit/rules.js';
import { activeIssuesFile, doneIssuesFolder } from '../core/paths.js';
import { ID_PATTERN } from '../core/schema.js';
import { ACTIVE_ISSUES } from '../feature/issue.js';
import type { Feature } from '../feature/rules.js';
import type { LookOptions } from '../ledger/look.js';
import { type Context, readConfig } from '../project/project.js';
import { showFocus } from '../session/focus.js';
import { readRunning } from '../session/running.js';
import { type Remark, type Status, toStatus } from './component.js';
import { lookAtGit } from './git.js';
import {
  lookAtFeatures,
  lookAtKnowledge,
  lookAtLedgers,
  lookAtShortTerm,
  lookSafely,
  type StatusInput,
  storedFeatures,
} from './memory.js';
import { isOrphan, judgeLinear } from './rules.js';

export type { StatusInput } from './memory.js';

export interface StatusReport extends Status {
  task: string | null;
}

/** VIS-01. Whatever is damaged, this says so and does not fail. Nothing is put back, and nothing halts. */
export async function readStatus(
  context: Context,
  input: StatusInput = {},
  options: LookOptions = {},
): Promise<StatusReport> {
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
    safely(() => lookAtLedgers(context, options)),
    safely(() => lookAtShortTerm(context)),
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
  const commits = (await recentCommits(context, COMMITS)).slice(0, COMMITS);
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
