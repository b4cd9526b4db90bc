import { memoryFolder, shown, shownFrom } from '../core/paths.js';
import { gitError } from '../git/client.js';
import { type ChangedFile, changedMemory, leftOut, memoryTree, type SetBack } from '../git/memory.js';
import { operationInProgress, readBranch } from '../git/state.js';
import type { Context } from '../project/project.js';
import type { Cut } from './cut.js';
import type { Breach } from './rules/breach.js';
import type { Finding, MissingRecord } from './rules/finding.js';
import type { Tier } from './rules/record.js';
import type { Scanned } from './store/scan.js';

/** What git says about the memory folder; null without a repository or a commit. */
export interface GitFacts {
  folder: string;
  head: string;
  branch: string | null;
  tree: Map<string, string>;
  /** Tracked memory files that are not HEAD's. */
  changed: ChangedFile[];
  leftOut: Set<string>;
  /** Files that are staged as they stand and in no commit yet; looked up when records are missing. */
  staged: Set<string>;
  /** Changed files, as shown, that git itself brought to where they are; looked up when records of HEAD are missing. */
  setBack: Map<string, SetBack>;
  /** The operation that git is in the middle of. */
  operation: string | null;
}

export interface BrokenAnchor {
  tier: Tier;
  commit: string;
  head: string;
  n: number;
  /** The checkpoint that names it, where it is no commit's message. */
  checkpoint?: string;
}

/** Everything a judgement needs. */
export interface Look {
  cut: Cut;
  git: GitFacts | null;
  scans: Record<Tier, Scanned>;
  /** Acknowledged records that are not in the working tree, by id. */
  missing: Map<string, MissingRecord>;
  /** Ids of the journal and of files that differ from HEAD: written through forge, or committed. */
  knownIds: Set<string>;
  /** Heads that a commit message or a checkpoint names and that are nowhere. */
  brokenAnchors: BrokenAnchor[];
  /** Critical records of the audit ledger that no human has acknowledged. */
  breaches: Breach[];
  /** Knowledge whose evidence is not here, or not all of it: no damage. */
  unproven: Finding[];
  /** Records of the knowledge ledger that readers must not build on. */
  doubtful: string[];
  notes: string[];
  /** Branches that are no more, and whose records are all here. */
  settled: string[];
}

/** Asks git about the memory folder; exit 6 where it refuses to work. */
export async function gitFacts(context: Context): Promise<GitFacts | null> {
  const { git, repository, layout } = context;
  if (!git || !repository) return null;
  const folder = shownFrom(repository.root, memoryFolder(layout));
  const asked = ['rev-parse', '-q', '--verify', 'HEAD^{commit}'];
  const { code, stdout, stderr } = await git(asked);
  // Silent on an unborn branch. A git that refuses to work is not the same as no commit.
  if (code !== 0 && stderr.trim() !== '') throw gitError(asked, stderr);
  const head = stdout.trim();
  if (head === '') return null;
  const operation = operationInProgress(repository);
  const [branch, tree, changed, sparse] = await Promise.all([
    readBranch(repository, git),
    memoryTree(git, head, folder),
    changedMemory(git, { repository, folder }),
    leftOut(git, folder),
  ]);
  return {
    folder,
    head,
    branch,
    tree,
    changed,
    leftOut: sparse,
    staged: new Set(),
    setBack: new Map(),
    operation,
  };
}

/** Git's path, from the repository's top, as forge shows it. */
export function fromTop({ repository, layout }: Context, path: string): string {
  return shown(layout, `${repository?.root ?? layout.root}/${path}`);
}
