import { createHash } from 'node:crypto';
import { join, relative, sep } from 'node:path';

/** Every path that forge makes is made here. RFC-9060 §2.1. */
export interface Layout {
  /** The repository's (or project's) top folder. */
  root: string;
  /** `<root>/.forge` */
  dir: string;
  /** Machine-local state of this worktree: `<git dir>/forge`, or `.forge/local` without git. */
  state: string;
  /** Machine-local state shared by all worktrees: `<git common dir>/forge`, or `.forge/local`. */
  shared: string;
}

export const FORGE_FOLDER = '.forge';

/**
 * Locks and other machine-local state live in the git dir: git never shows them and no clean-up takes them. A git dir
 * that does not provably belong to this folder is not written to.
 */
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

/** How a path is shown and named in messages: from the root, with forward slashes. */
export const shown = (layout: Layout, path: string): string => shownFrom(layout.root, path);

/** A path from another folder, as git wants it. */
export function shownFrom(folder: string, path: string): string {
  // Nearly all of them; each append asks.
  const inside = path.startsWith(folder + sep) && !path.includes('..');
  const name = inside ? path.slice(folder.length + 1) : relative(folder, path);
  return sep === '/' ? name : name.replaceAll('\\', '/');
}

/** Every command asks for dozens of paths: nothing of them is looked at again. */
function within(...parts: string[]): (layout: Layout) => string {
  const end = parts.map((part) => sep + part).join('');
  return ({ dir }) => dir + end;
}

/** Where a template of that path lands. */
export const templateTarget = (layout: Layout, path: string): string => join(layout.dir, path);

export const configFile = within('config.toml');
export const initScript = within('init.sh');
/** A file for each feature and each learning; the two `.json` files beside them are views for people and tools. */
export const featuresFolder = within('memory', 'long-term', 'features.d');
export const featureFile = (layout: Layout, id: string): string => join(featuresFolder(layout), `${id}.json`);
export const learnedFolder = within('memory', 'long-term', 'learned.d');
export const knowledgeFile = within('memory', 'long-term', 'knowledge.json');
export const featuresFile = within('memory', 'long-term', 'features.json');
/** A view as forge wrote it last: what differs from it was edited by somebody else. */
export const viewCopy = (layout: Layout, view: string): string =>
  join(layout.state, 'views', view.slice(view.lastIndexOf(sep) + 1));
/** Digests of the files that agents rely on, as forge last wrote them. */
export const writtenFile = (layout: Layout): string => join(layout.state, 'written.json');
export const architectureFile = within('memory', 'long-term', 'architecture.md');
export const progressFile = within('memory', 'short-term', 'progress.txt');
export const focusFile = within('memory', 'short-term', 'focus.json');
/** Working memory of the running session. No clone brings it: git ignores `local/`. */
export const kfrFile = within('local', 'kfr.json');
/** The shell compares these times before it starts forge: newer than working memory means there is no news. */
export const [KFR, TOLD, PROMPTED] = ['kfr.json', 'told', 'prompted'] as const;
export const toldFile = within('local', TOLD);
export const promptedFile = within('local', PROMPTED);
/** What agents found with their tools, a file for each session, and words of what is known, for the shell to look for. */
/** The search index, which a reader may delete at any time, and the file that says which one forge made here. */
export const recallFile = within('local', 'recall.db');
export const recallStampFile = (layout: Layout): string => join(layout.state, 'recall');
export const findingsFolder = within('local', 'findings');
export const findingsFile = (layout: Layout, session: string): string =>
  join(findingsFolder(layout), `${session}.jsonl`);
export const KNOWN = 'known';
export const knownFile = within('local', KNOWN);
/** Working memory that an interrupted session left here. */
export const leftKfrFolder = within('local', 'kfr');
export const leftKfrFile = (layout: Layout, id: string): string => join(leftKfrFolder(layout), `${id}.json`);
export const sessionFile = within('memory', 'short-term', 'session.json');
export const sessionsFolder = within('memory', 'sessions');
/** Machine-local files and views, which no commit should have. */
export const localPaths = (layout: Layout): string[] => [
  join(layout.dir, 'local'),
  join(layout.dir, 'memory', 'short-term'),
  featuresFile(layout),
  knowledgeFile(layout),
];
export const activeIssuesFile = within('linear', 'active.json');

/** Manifests of checkpoints. */
export const checkpointsFolder = within('git', 'checkpoints');
export const checkpointFile = (layout: Layout, name: string): string =>
  join(checkpointsFolder(layout), `${name}.json`);

export const doneIssuesFolder = within('linear', 'history');
/** A unit that is done. */
export const doneIssueFile = (layout: Layout, id: string): string =>
  join(doneIssuesFolder(layout), `${id}.json`);

/** Forms for new issues, and what has to be sent to Linear. */
export const formsFolder = within('linear', 'templates');
export const linearQueueFile = (layout: Layout): string => join(layout.shared, 'linear-queue.json');
export const skillsFolder = within('skills');

export const artifactsFolder = within('memory', 'artifacts');
export const memoryFolder = within('memory');

/** `memory/sessions/<id>.json` */
export const archiveFile = (layout: Layout, id: string): string => join(sessionsFolder(layout), `${id}.json`);

export const lockFile = within('local', 'lock');
/** Files as they were when `forge doctor --fix` merged them. */
export const conflictsFolder = (layout: Layout): string => join(layout.state, 'conflicts');
export const keptConflict = (layout: Layout, name: string): string => join(conflictsFolder(layout), name);
/** What must be finished at the next start (session end in the middle). */
export const intentFile = (layout: Layout): string => join(layout.state, 'intent.json');
/** An entry of working memory that is becoming a note. */
export const promotionFile = (layout: Layout): string => join(layout.state, 'promotion.json');
/** The ids and texts of what requires resolution: named when the files of a session are lost. */
export const openFile = (layout: Layout): string => join(layout.state, 'open.json');
/** When forge was last used in this worktree. */
export const activityFile = (layout: Layout): string => join(layout.state, 'activity');
/** Why writing is halted until a human acts. */
export const haltFile = (layout: Layout): string => join(layout.state, 'halt.json');
/** Cycles that could not be recorded and are tried again. */
export const pendingFolder = (layout: Layout): string => join(layout.state, 'pending');
export const pendingFile = (layout: Layout, key: string): string =>
  join(pendingFolder(layout), `${key}.json`);
/** HEAD at the last session start, with git's hooks. */
export const notedFile = (layout: Layout): string => join(layout.state, 'noted.json');
/** The working tree when an agent's turn was last recorded. */
export const recordedFile = (layout: Layout): string => join(layout.state, 'recorded.json');
/** Conversations of agents that a hook told of. */
export const conversationsFolder = (layout: Layout): string => join(layout.state, 'agents');
export const conversationFile = (layout: Layout, id: string): string =>
  join(conversationsFolder(layout), `${id}.json`);
/** What went wrong in hooks of agents, where nothing may be said. */
export const hookLog = (layout: Layout): string => join(layout.state, 'hooks.log');
/** What `forge agent install` wrote into files of this project. */
export const wiringFile = (layout: Layout): string => join(layout.state, 'wiring.json');
/** How many cycles wait for consolidation: a cache. */
export const windowFile = (layout: Layout): string => join(layout.state, 'window.json');
/** The governed cycle that is under way in this worktree, and where a loop stands. */
export const cycleFile = (layout: Layout): string => join(layout.state, 'cycle.json');
export const loopFile = (layout: Layout): string => join(layout.state, 'loop.json');
/** Which session ids were given out in this repository, and their lock. */
export const sessionIdsFile = (layout: Layout): string => join(layout.shared, 'session-ids.json');
export const sessionIdsLock = (layout: Layout): string => join(layout.shared, 'session-ids.lock');
/** The key of this repository's fingerprints of what the guard refused. */
export const saltFile = (layout: Layout): string => join(layout.shared, 'salt');
/** What the guard found here lately: which text a fingerprint means, and how often it was refused. */
export const refusalsFile = (layout: Layout): string => join(layout.shared, 'guard-findings.json');
/** The message of a commit that is being made, or was refused. */
export const commitMessageFile = (layout: Layout): string => join(layout.state, 'COMMIT_MSG');
/** Texts of architecture.md that an editor is open on, or that were not taken over. */
export const architectureDrafts = (layout: Layout): string => join(layout.state, 'edit');
export const architectureDraft = (layout: Layout, token: string): string =>
  join(architectureDrafts(layout), `architecture-${token}.md`);
/** Where a checkpoint looks at the working tree from; a random word is added. */
export const checkpointTrees = (layout: Layout, token: string): string =>
  join(layout.state, `checkpoint-${token}`);
/** What all git hooks of this repository run, and what installing them did. */
export const hookScript = (layout: Layout): string => join(layout.shared, 'hook');
export const hooksRecordFile = (layout: Layout): string => join(layout.shared, 'hooks.json');
/** A rollback that is under way, and has to be completed; and what is needed for it, a random word added. */
export const recoverFile = (layout: Layout): string => join(layout.state, 'recover.json');
/** Who is at it. */
export const recoverClaim = (layout: Layout): string => join(layout.state, 'recover-claim.json');
export const recoverFolder = (layout: Layout): string => join(layout.state, 'recover-bench');
/** A folder to look at the working tree from; a random word is added. */
export const treeFolder = (layout: Layout): string => join(layout.state, 'tree');

const stateFile =
  (folder: string) =>
  (stateHome: string, identity: string): string =>
    join(stateHome, folder, `${createHash('sha256').update(identity).digest('hex').slice(0, 32)}.json`);

/** Approvals for one repository, in the person's own state folder. */
export const trustFile = stateFile('trust');
/** What `forge agent install --user` wrote, for one home folder. */
export const userWiringFile = stateFile('wiring');

/** Where the tags of checkpoints are, below `refs/tags/`. */
export const TAG_FOLDER = 'checkpoint';

export const tagOf = (name: string): string => `${TAG_FOLDER}/${name}`;
