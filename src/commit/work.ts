import { featureFile, memoryFolder, shownFrom } from '../core/paths.js';
import { decodeDocument } from '../core/schema.js';
import { FEATURE, type Feature } from '../feature/rules.js';
import { readFeatures } from '../feature/store.js';
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

export interface Place {
  root: string;
  git: Git;
  files: readonly ChangedFile[];
  all: boolean;
  /** The commit that the new one follows; default: HEAD. */
  parent?: string;
}

/** What a commit made now can say of the work since the last one. */
export async function knownWork(context: Context, place: Place): Promise<KnownWork> {
  const { layout } = context;
  const running = readRunning(context);
  const head = await readHead(place.git, place.parent);
  const since = head?.at ?? null;
  const features = readFeatures(context);
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
    earlier: head ? (await messagesOfMinute(place.git, head)).map(parseAnyMessage) : [],
    // Heads that it does not hold would be missed in every clone.
    ledger: (await holdsLedgers(place.git, folder, place.all)) ? ledgerHeads(context) : [],
    isBare: readConfig(context).commit.rules_off.includes('subject'),
  };
}

const MESSAGES = ['log', '-z', '--no-notes', '--no-show-signature', '--encoding=UTF-8', '--format=%B'];

/** The messages of a commit, and of those before it that were made in the same minute. */
async function messagesOfMinute(git: Git, { hash, at, message }: HeadCommit): Promise<string[]> {
  const start = Math.floor(Date.parse(at) / 60_000) * 60;
  const args = [...MESSAGES, '-100', `--since=@${start - 1}`, hash, '--'];
  return [message, ...(await must(git, args)).split('\0').filter(Boolean)];
}

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
  const changed: Feature[] = [];
  for (const feature of features) {
    const { id, status, verified_at } = feature;
    const path = shownFrom(root, featureFile(layout, id));
    const isHeld = head !== null && files.some((file) => file.path === path);
    if (status === 'passing' && verified_at && Date.parse(verified_at) >= since) changed.push(feature);
    else if (isHeld && isOther(await readBlob(git, head.hash, path), path, status)) changed.push(feature);
  }
  return changed.map(({ id, status }) => `features.json (${id} now ${status.replaceAll('_', ' ')})`);
}

/** A damaged file of an old commit is no reason not to make a new one. */
function isOther(blob: Buffer | null, path: string, status: string): boolean {
  try {
    return blob !== null && decodeDocument(FEATURE, blob, path).value.status !== status;
  } catch {
    return false;
  }
}

/** Messages of the commits that a pull request of this branch would bring, oldest first; at most so many. */
export async function branchMessages(git: Git, base: string): Promise<string[]> {
  const args = [...MESSAGES, '--reverse', '-500', '--no-merges'];
  return (await must(git, [...args, '--end-of-options', `${base}..HEAD`, '--'])).split('\0').filter(Boolean);
}
