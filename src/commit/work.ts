import { featureFile, memoryFolder, shownFrom } from '../core/paths.js';
import { decodeDocument } from '../core/schema.js';
import type { Feature } from '../feature/rules.js';
import { FEATURE, readFeatures } from '../feature/store.js';
import { type Git, must } from '../git/client.js';
import { type HeadCommit, readBlob, readHead } from '../git/read.js';
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
import { parseAnyMessage } from './message.js';

interface Place {
  root: string;
  git: Git;
  files: readonly ChangedFile[];
  all: boolean;
  /** The commit that the new one follows; default: HEAD. */
  parent?: string;
}

/** What a commit made now can say of the work since the last one. */
export async function knownWork(context: Context, place: Place): Promise<KnownWork> {
  const { root, git, files, all } = place;
  const running = readRunning(context);
  const head = await readHead(git, place.parent);
  const since = head?.at ?? null;
  const features = readFeatures(context);
  const folder = shownFrom(root, memoryFolder(context.layout));
  return {
    focus: showFocus(context),
    features: features.map(({ id }) => id),
    session: running && { name: sessionName(running.id), goal: running.goal ?? null },
    done: running ? linesSince(parseProgress(readProgressText(context)), since) : [],
    learned: learnedSince(context, since ?? running?.started_at ?? null),
    updated: await updatedFeatures(context, place, features, head),
    files,
    parent: head,
    earlier: head ? (await logMessages(git, '-5', head.hash)).map(parseAnyMessage) : [],
    // Heads that it does not hold would be missed in every clone.
    ledger: (await holdsLedgers(git, folder, all)) ? ledgerHeads(context) : [],
    isBare: readConfig(context).commit.rules_off.includes('subject'),
  };
}

const MESSAGES = ['log', '-z', '--no-notes', '--no-show-signature', '--encoding=UTF-8', '--format=%B'];

async function logMessages(git: Git, ...args: string[]): Promise<string[]> {
  return (await must(git, [...MESSAGES, ...args, '--'])).split('\0').filter(Boolean);
}

/** Messages of the commits that a pull request of this branch would bring, oldest first; at most 500. */
export const branchMessages = (git: Git, base: string): Promise<string[]> =>
  logMessages(git, '--reverse', '-500', '--no-merges', '--end-of-options', `${base}..HEAD`);

function learnedSince(context: Context, since: string | null): string[] {
  const from = since === null ? 0 : Date.parse(since);
  return listKnowledge(context).learnings.flatMap((entry) => {
    if (entry.kind === 'invariant' || !(Date.parse(entry.learned_at) >= from)) return [];
    return [entry.kind === 'success' ? entry.approach : entry.issue];
  });
}

/** Features proven since the last commit, and every other change of status that this commit holds. */
async function updatedFeatures(
  { layout }: Context,
  { root, git, files }: Place,
  features: readonly Feature[],
  head: HeadCommit | null,
): Promise<string[]> {
  const since = head ? Date.parse(head.at) : 0;
  const isUpdated = async ({ id, status, verified_at }: Feature): Promise<boolean> => {
    if (status === 'passing' && verified_at && Date.parse(verified_at) >= since) return true;
    const path = shownFrom(root, featureFile(layout, id));
    if (!head || !files.some((file) => file.path === path)) return false;
    try {
      const before = await readBlob(git, head.hash, path);
      return before !== null && decodeDocument(FEATURE, before, path).status !== status;
    } catch {
      // A damaged file of an old commit must not block a new one.
      return false;
    }
  };
  const updated = await Promise.all(features.map(isUpdated));
  return features
    .filter((_, i) => updated[i])
    .map(({ id, status }) => `features.json (${id} now ${status.replaceAll('_', ' ')})`);
}
