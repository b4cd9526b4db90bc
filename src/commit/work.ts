import { featureFile, memoryFolder, shownFrom } from '../core/paths.js';
import { readFeatures } from '../feature/store.js';
import { type Git, must } from '../git/client.js';
import { readHead } from '../git/read.js';
import { type ChangedFile, holdsLedgers } from '../git/status.js';
import { listKnowledge } from '../knowledge/knowledge.js';
import { type Context, readConfig } from '../project/project.js';
import { ledgerHeads } from '../session/commit.js';
import { showFocus } from '../session/focus.js';
import { readProgressText } from '../session/progress.js';
import { parseProgress } from '../session/progress-rules.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { type KnownWork, linesSince } from './compose.js';
import { parseMessage } from './message.js';

interface CommitPlan {
  root: string;
  git: Git;
  files: readonly ChangedFile[];
  /** As `git commit -a`. */
  all: boolean;
  /** The parent of the new commit; default: HEAD. */
  parent?: string;
}

/** The work since the last commit, as far as forge knows it. */
export async function readWork(context: Context, plan: CommitPlan): Promise<KnownWork> {
  const { root, git, files, all } = plan;
  const { layout } = context;
  const running = readRunning(context);
  const head = await readHead(git, plan.parent);
  const since = head?.at ?? null;
  const paths = new Set(files.map(({ path }) => path));
  const features = readFeatures(context);
  const updated = features.filter(
    ({ id, status, verified_at }) =>
      paths.has(shownFrom(root, featureFile(layout, id))) ||
      (status === 'passing' &&
        verified_at &&
        (since === null || Date.parse(verified_at) >= Date.parse(since))),
  );
  const holdsHeads = await holdsLedgers(git, shownFrom(root, memoryFolder(layout)), all);
  return {
    focus: showFocus(context),
    features: features.map(({ id }) => id),
    session: running && { name: sessionName(running.id), goal: running.goal ?? null },
    done: running ? linesSince(parseProgress(readProgressText(context)), since) : [],
    learned: learnedSince(context, since ?? running?.started_at ?? null),
    updated: updated.map(({ id, status }) => `features.json (${id} now ${status.replaceAll('_', ' ')})`),
    files,
    parent: head,
    earlier: head ? (await readMessages(git, '-5', head.hash)).map(parseMessage) : [],
    // Verification in other clones would miss heads that the commit does not contain.
    ledger: holdsHeads ? ledgerHeads(context) : [],
    isBare: readConfig(context).commit.rules_off.includes('subject'),
  };
}

const MESSAGES = ['log', '-z', '--no-notes', '--no-show-signature', '--encoding=UTF-8', '--format=%B'];

async function readMessages(git: Git, ...args: string[]): Promise<string[]> {
  return (await must(git, [...MESSAGES, ...args, '--'])).split('\0').filter(Boolean);
}

/** The messages of the commits in this branch's pull request, oldest first; at most 500. */
export const branchMessages = (git: Git, base: string): Promise<string[]> =>
  readMessages(git, '--reverse', '-500', '--no-merges', '--end-of-options', `${base}..HEAD`);

function learnedSince(context: Context, since: string | null): string[] {
  const from = since === null ? 0 : Date.parse(since);
  return listKnowledge(context).learnings.flatMap((entry) => {
    if (entry.kind === 'invariant' || !(Date.parse(entry.learned_at) >= from)) return [];
    return [entry.kind === 'success' ? entry.approach : entry.issue];
  });
}
