import { featuresFile, knowledgeFile, memoryFolder, shownFrom } from '../core/paths.js';
import { decodeDocument } from '../core/schema.js';
import { FEATURES, type Feature } from '../feature/rules.js';
import { type Git, must } from '../git/client.js';
import { type HeadCommit, readBlob, readHead } from '../git/read.js';
import { type ChangedFile, holdsLedgers } from '../git/status.js';
import { KNOWLEDGE, readLearnings } from '../knowledge/rules.js';
import type { Context } from '../project/project.js';
import { ledgerHeads } from '../session/commit.js';
import { showFocus } from '../session/focus.js';
import { readProgressText } from '../session/progress.js';
import { parseProgress } from '../session/progress-rules.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { type KnownWork, linesSince } from './compose.js';

export interface Place {
  root: string;
  git: Git;
  files: readonly ChangedFile[];
  all: boolean;
}

/** What a commit made now can say of the work since the last one. */
export async function knownWork(context: Context, place: Place): Promise<KnownWork> {
  const { disk, layout } = context;
  const running = readRunning(context);
  const head = await readHead(place.git);
  const since = head?.at ?? null;
  const { features } = disk.requireDocument(FEATURES, featuresFile(layout)).value;
  const folder = shownFrom(place.root, memoryFolder(layout));
  return {
    focus: showFocus(context),
    features: features.map(({ id }) => id),
    session: running && { name: sessionName(running.id), goal: running.goal ?? null },
    done: running ? linesSince(parseProgress(readProgressText(context)), since) : [],
    learned: learnedSince(context, since ?? running?.started_at ?? null),
    updated: await updatedFeatures(context, place, features, head),
    files: place.files,
    parent: head,
    // Heads that it does not hold would be missed in every clone.
    ledger: (await holdsLedgers(place.git, folder, place.all)) ? ledgerHeads(context) : [],
  };
}

function learnedSince({ disk, layout }: Context, since: string | null): string[] {
  const { value } = disk.requireDocument(KNOWLEDGE, knowledgeFile(layout));
  const from = since === null ? 0 : Date.parse(since);
  return readLearnings(value).flatMap((entry) => {
    if (entry.kind === 'invariant') return [];
    const { learned_at: at } = entry as unknown as { learned_at: string };
    return Date.parse(at) >= from ? [entry.kind === 'success' ? entry.approach : entry.issue] : [];
  });
}

/** Features proven since the last commit, and every other change of status that this commit holds. */
async function updatedFeatures(
  { layout }: Context,
  { root, git, files }: Place,
  features: readonly Feature[],
  head: HeadCommit | null,
): Promise<string[]> {
  const path = shownFrom(root, featuresFile(layout));
  const isHeld = files.some((file) => file.path === path);
  const before = isHeld && head ? statusesIn(await readBlob(git, head.hash, path), path) : null;
  const since = head ? Date.parse(head.at) : 0;
  const changed = features.filter(({ id, status, verified_at }) => {
    if (status === 'passing' && verified_at && Date.parse(verified_at) >= since) return true;
    return before?.has(id) === true && before.get(id) !== status;
  });
  return changed.map(({ id, status }) => `features.json (${id} now ${status.replaceAll('_', ' ')})`);
}

/** A damaged file of an old commit is no reason not to make a new one. */
function statusesIn(blob: Buffer | null, path: string): Map<string, string> | null {
  try {
    const { features } = decodeDocument(FEATURES, blob as Buffer, path).value;
    return new Map(features.map(({ id, status }) => [id, status]));
  } catch {
    return null;
  }
}

/** Messages of the commits that a pull request of this branch would bring, oldest first; at most so many. */
export async function branchMessages(git: Git, base: string): Promise<string[]> {
  const args = [
    'log',
    '-z',
    '--reverse',
    '-500',
    '--no-merges',
    '--no-notes',
    '--encoding=UTF-8',
    '--format=%B',
  ];
  return (await must(git, [...args, '--end-of-options', `${base}..HEAD`, '--'])).split('\0').filter(Boolean);
}
