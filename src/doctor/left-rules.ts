import { plural } from '../core/text.js';
import { advisory, degraded, type Symptom } from '../status/symptom.js';

/** What something left behind that did not come to its end, or is at it still. */
export interface LeftFacts {
  /** Locks that somebody holds, or may hold, and nobody here can tell. */
  locks: readonly { file: string; who: string }[];
  /** Git's own lock of the index, which no git of these minutes made; as it is shown. */
  indexLock: string | null;
  /** The git operation that is under way. */
  operation: string | null;
  /** A session's end that was cut off; checkpoints; cycles that wait to be recorded. */
  ending: boolean;
  checkpoints: number;
  pending: number;
  /** The history of this clone is cut off. */
  isShallow: boolean;
  /** Machine-local files that git has, and the command that takes them out. */
  tracked: { message: string; fix: string } | null;
  /** Files of `.forge/` that git has, and the working tree has not. */
  deleted: readonly string[];
  /** Files of the ledgers that no commit has, while no session runs that would commit them. */
  uncommitted: readonly string[];
}

export const diagnoseLeft = (facts: LeftFacts): Symptom[] => [
  ...checkLocks(facts),
  ...checkCutOff(facts),
  ...checkOperation(facts),
  ...checkHistory(facts),
];

function checkLocks({ locks, indexLock }: LeftFacts): Symptom[] {
  return [
    ...locks.flatMap(({ file, who }) =>
      degraded(
        `${file} is held by ${who}, of whom nothing can be told from here`,
        'a lock that is held for moments',
        'whoever writes here waits, and gives up',
        `ls -l ${file}`,
        `rm ${file}   (if it is gone for good)`,
      ),
    ),
    ...(indexLock === null
      ? []
      : degraded(
          `${indexLock} has been there for minutes`,
          'a lock that git holds for moments',
          'no git command can stage or commit, and no session can end',
          'ps -C git',
          `rm ${indexLock}   (if no git is at work)`,
        )),
  ];
}

function checkCutOff({ ending, checkpoints, pending }: LeftFacts): Symptom[] {
  return [
    ...(ending
      ? degraded(
          'the end of a session was cut off',
          'sessions that are archived whole',
          'its archive is completed by the next start',
          'forge session start',
        )
      : []),
    ...(checkpoints > 0
      ? degraded(
          `${plural(checkpoints, 'checkpoint was', 'checkpoints were')} cut off`,
          'checkpoints that are there, or are not',
          'the next session start, or checkpoint, completes them or leaves nothing of them',
          'forge session start',
        )
      : []),
    ...(pending > 0
      ? degraded(
          `${plural(pending, 'cycle waits', 'cycles wait')} to be recorded`,
          'cycles that are in the ledger',
          'until the next one is recorded, they are on this machine alone',
          'forge memory stats',
        )
      : []),
  ];
}

function checkOperation({ operation, isShallow }: LeftFacts): Symptom[] {
  return [
    ...(operation === null
      ? []
      : advisory(
          `${operation} is in progress`,
          'a branch that stands still',
          'a session that ends meanwhile is archived, but not committed',
          'git status',
        )),
    ...(isShallow
      ? advisory(
          'the history of this clone is cut off',
          'all commits',
          'what older commits have cannot be put back, nor verified against them',
          'git fetch --unshallow',
        )
      : []),
  ];
}

function checkHistory({ tracked, deleted, uncommitted }: LeftFacts): Symptom[] {
  const some = (files: readonly string[]): string =>
    `${files.slice(0, 3).join(', ')}${files.length > 3 ? ', …' : ''}`;
  return [
    ...(tracked === null
      ? []
      : degraded(
          tracked.message,
          'files that stay on one machine',
          'each clone gets them, and they conflict; forge does not take them for its own',
          tracked.fix,
        )),
    ...(deleted.length === 0
      ? []
      : degraded(
          `${plural(deleted.length, 'file')} of .forge/ that git has ${deleted.length === 1 ? 'is' : 'are'} gone: ${some(deleted)}`,
          'the files that were committed',
          'what stood in them is missed by whoever reads it',
          // Of nothing else: what changed since the commit stands in no commit.
          deleted.length === 1
            ? `git restore -- ${deleted[0]}`
            : 'git ls-files -z --deleted -- .forge | xargs -0 git restore --',
        )),
    ...(uncommitted.length === 0
      ? []
      : advisory(
          `records are in no commit yet: ${some(uncommitted)}`,
          'records that are committed',
          'until then they are on this disk alone (the end of a session commits them)',
          'git add .forge && forge commit -m "Keep what was recorded" --why "it is on this disk alone"',
        )),
  ];
}
