import { basename, dirname, join, relative, sep } from 'node:path';
import { sha256 } from './text.js';

/** The folders of an opened `.forge/` (RFC-9060 §2.1). All paths that forge makes are in this file. */
export interface Layout {
  /** The top folder of the repository or project. */
  root: string;
  dir: string;
  /** Machine-local state of this worktree: `<git dir>/forge`, or `.forge/local` without git. */
  state: string;
  /** Machine-local state of all worktrees: `<git common dir>/forge`, or `.forge/local`. */
  shared: string;
}

export const FORGE_FOLDER = '.forge';

/** Git never shows or cleans its git dir. One that does not provably belong to this folder is not written to. */
export function layoutOf(
  root: string,
  git: { gitDir: string; commonDir: string; kind: string } | null,
): Layout {
  const dir = join(root, FORGE_FOLDER);
  const own = git !== null && git.kind !== 'elsewhere';
  return {
    root,
    dir,
    state: own ? join(git.gitDir, 'forge') : join(dir, 'local'),
    shared: own ? join(git.commonDir, 'forge') : join(dir, 'local'),
  };
}

/** A path in messages: from the root, with forward slashes. */
export const shown = (layout: Layout, path: string): string => shownFrom(layout.root, path);

/** A path from another folder, as git wants it. */
export function shownFrom(folder: string, path: string): string {
  const inside = path.startsWith(folder + sep) && !path.includes('..');
  const name = inside ? path.slice(folder.length + 1) : relative(folder, path);
  return sep === '/' ? name : name.replaceAll('\\', '/');
}

type Place = (layout: Layout) => string;
/** A file `<name>.json` in a folder. */
const named =
  (folder: Place) =>
  (layout: Layout, name: string): string =>
    join(folder(layout), `${name}.json`);

const inForge = (...parts: string[]): Place => {
  const end = parts.map((part) => sep + part).join('');
  return ({ dir }) => dir + end;
};

export const templateTarget = (layout: Layout, path: string): string => join(layout.dir, path);
export const configFile = inForge('config.toml');
export const initScript = inForge('init.sh');
export const memoryFolder = inForge('memory');
/** One file for each feature, learning and active issue. The `.json` files beside them are views. */
export const featuresFolder = inForge('memory', 'long-term', 'features.d');
export const featureFile = named(featuresFolder);
export const learnedFolder = inForge('memory', 'long-term', 'learned.d');
export const knowledgeFile = inForge('memory', 'long-term', 'knowledge.json');
export const featuresFile = inForge('memory', 'long-term', 'features.json');
export const architectureFile = inForge('memory', 'long-term', 'architecture.md');
export const progressFile = inForge('memory', 'short-term', 'progress.txt');
export const focusFile = inForge('memory', 'short-term', 'focus.json');
export const sessionFile = inForge('memory', 'short-term', 'session.json');
export const sessionsFolder = inForge('memory', 'sessions');
export const archiveFile = named(sessionsFolder);
export const activeIssuesFolder = inForge('linear', 'active.d');
export const activeIssuesFile = inForge('linear', 'active.json');
export const doneIssuesFolder = inForge('linear', 'history');
export const doneIssueFile = named(doneIssuesFolder);
export const checkpointsFolder = inForge('git', 'checkpoints');
export const checkpointFile = named(checkpointsFolder);
export const skillsFolder = inForge('skills');
export const artifactsFolder = inForge('memory', 'artifacts');
export const formsFolder = inForge('linear', 'templates');

export const lockFile = inForge('local', 'lock');
export const kfrFile = inForge('local', 'kfr.json');
/** Agents' hooks compare the times of these files in the shell, before they start forge. */
export const [KFR, TOLD, KNOWN] = ['kfr.json', 'told', 'known'] as const;
export const toldFile = inForge('local', TOLD);
/** Findings of agents, one file for each session, and words of known ones for the shell to search. */
export const findingsFolder = inForge('local', 'findings');
export const findingsFile = (layout: Layout, session: string): string =>
  join(findingsFolder(layout), `${session}.jsonl`);
export const knownFile = inForge('local', KNOWN);
/** The briefing and the observations of the command of a cycle, while it runs. */
export const builderFolder = inForge('local', 'cycle');
/** How the last cycles of open tasks failed. */
export const triesFile = inForge('local', 'tries.json');
/** The search index, which a reader may delete at any time. `recallStampFile` says which one forge made here. */
export const recallFile = inForge('local', 'recall.db');

/** Machine-local files and views, which belong in no commit. */
export const localPaths = (layout: Layout): string[] => [
  join(layout.dir, 'local'),
  join(layout.dir, 'memory', 'short-term'),
  featuresFile(layout),
  knowledgeFile(layout),
  activeIssuesFile(layout),
];

const within =
  (folder: 'state' | 'shared', name: string): Place =>
  (layout) =>
    join(layout[folder], name);
const inState = (name: string): Place => within('state', name);
const inShared = (name: string): Place => within('shared', name);

/** A view as forge wrote it last, to detect edits. */
export const viewCopy = (layout: Layout, view: string): string => join(layout.state, 'views', basename(view));
/** Digests of the files that agents rely on, as forge last wrote them. */
export const writtenFile = inState('written.json');
/**
 * Copies of the files of memory that forge wrote here, in case git takes them away. A linked worktree's are not in its own
 * git dir, which goes with it.
 */
export const keptFolder = ({ state, shared }: Layout): string =>
  join(shared, state === shared ? 'kept' : KEPT_LINKED + basename(dirname(state)));
/** What comes before the name of a linked worktree. */
export const KEPT_LINKED = 'kept-wt-';
/** Files as they were before `forge doctor --fix` merged them. */
export const conflictsFolder = inState('conflicts');
export const keptConflict = (layout: Layout, name: string): string => join(conflictsFolder(layout), name);
export const promotionFile = inState('promotion.json');
/** Open entries of working memory, which are named if its file is lost. */
export const openFile = inState('open.json');
export const recallStampFile = inState('recall');
/** When forge was last used in this worktree. */
export const activityFile = inState('activity');
export const haltFile = inState('halt.json');
/** Cycles that could not be recorded and are tried again. */
export const pendingFolder = inState('pending');
export const pendingFile = named(pendingFolder);
/** HEAD at the last session start, with git's hooks. */
export const notedFile = inState('noted.json');
/** The working tree when an agent's turn was last recorded. */
export const recordedFile = inState('recorded.json');
export const conversationsFolder = inState('agents');
export const conversationFile = named(conversationsFolder);
/** Failures of agents' hooks, which must print nothing. */
export const hookLog = inState('hooks.log');
export const cycleFile = inState('cycle.json');
export const loopFile = inState('loop.json');
export const commitMessageFile = inState('COMMIT_MSG');
/** A text of architecture.md that forge refused. */
export const architectureDraft = (layout: Layout, token: string): string =>
  join(layout.state, 'edit', `architecture-${token}.md`);
export const checkpointTrees = (layout: Layout, token: string): string =>
  join(layout.state, `checkpoint-${token}`);
/** An unfinished rollback, its process, and its temporary files; the temporary indexes of cycles. */
export const recoverFile = inState('recover.json');
export const recoverClaim = inState('recover-claim.json');
export const recoverFolder = inState('recover-bench');
export const treeFolder = inState('tree');

export const sessionIdsFile = inShared('session-ids.json');
export const sessionIdsLock = inShared('session-ids.lock');
/** Events that wait to be sent, claims of tasks on this machine, and what was heard from other machines. */
export const outboxFolder = inShared('outbox');
export const claimsFile = inShared('claims.json');
export const claimsLock = inShared('claims.lock');
export const heardFile = inShared('heard.json');
export const linearQueueFile = inShared('linear-queue.json');
/** Lines for `git filter-repo --replace-text`, which remove redacted records from git's history. */
export const replacementsFile = inShared('replacements.txt');
/** The key of this repository's fingerprints. */
export const saltFile = inShared('salt');
/** Recent findings of the guard: the text of a fingerprint, and how often it was refused. */
export const refusalsFile = inShared('guard-findings.json');
/** The script of all git hooks, and the record of their installation. */
export const hookScript = inShared('hook');
export const hooksRecordFile = inShared('hooks.json');

export const trustFile = (stateHome: string, identity: string): string =>
  join(stateHome, 'trust', `${sha256(identity).slice(0, 32)}.json`);

/** Tags of checkpoints are below `refs/tags/checkpoint/`. */
export const TAG_FOLDER = 'checkpoint';
export const tagOf = (name: string): string => `${TAG_FOLDER}/${name}`;
