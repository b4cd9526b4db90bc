import { advisory, blocking, degraded, type Symptom } from '../status/symptom.js';

/** A file of `.forge/` that two branches changed. */
export interface ConflictFacts {
  /** As it is shown. */
  file: string;
  /** Where its first conflict stands; null where no marker does. */
  lines: { from: number; to: number } | null;
  /**
   * forge can merge it; git merged it and left ids (`problem`) that stand twice; somebody merged it and git has not been
   * told; it is a ledger; it belongs to this machine and should not be in git; or a person has to.
   */
  state: 'mergeable' | 'twice' | 'resolved' | 'ledger' | 'local' | 'hand';
  /** Why a person has to; of one that can be merged, why it does not look like it. */
  problem?: string;
  commands: string[];
}

export const diagnoseConflicts = (conflicts: readonly ConflictFacts[]): Symptom[] =>
  conflicts.flatMap(diagnose);

function diagnose({ file, lines, state, problem, commands }: ConflictFacts): Symptom[] {
  const where = lines ? ` (lines ${lines.from} to ${lines.to})` : '';
  const what = `${file} has a merge conflict${where}`;
  const because = problem === undefined ? what : `${what}: ${problem}`;
  switch (state) {
    case 'mergeable':
      return problem === undefined
        ? blocking(what, 'one version of it', 'commands that read it stop there', 'forge doctor --fix')
        : blocking(
            because,
            'what both sides mean',
            'git add would drop the other side',
            'forge doctor --fix',
          );
    case 'twice':
      return blocking(
        `${file} has ids that stand twice: ${problem}`,
        'one record of each',
        'both branches added them, and git put both there',
        'forge doctor --fix',
      );
    case 'resolved':
      return degraded(
        `${file} has no conflict marker, but git waits to be told that it is resolved`,
        'a file that git may commit',
        'neither the merge nor the end of a session can commit it',
        ...commands,
      );
    case 'ledger':
      return blocking(
        what,
        'the records of both sides',
        'nothing is recorded until it can be read',
        ...commands,
      );
    case 'local':
      return blocking(
        what,
        'a file of this machine alone',
        'git should not have it: see .forge/.gitignore',
        ...commands,
      );
    case 'hand':
      return (lines ? blocking : advisory)(
        because,
        'one version of it',
        'what it should say only a person can tell',
        ...commands,
      );
  }
}
