import type { CommitRules } from './rules.js';

/** Why a message need not follow the protocol. */
export type Exemption = 'merge' | 'cherry-pick' | 'revert' | 'rebase' | 'fixup' | 'pattern';

/** What is known besides the text. */
export interface Circumstances {
  /** The git operation under way, by its state file; git wrote that message, or another commit has passed with it. */
  operation?: 'merge' | 'cherry-pick' | 'revert' | 'rebase' | undefined;
  /** How many parents a commit of a range has. */
  parents?: number | undefined;
}

const FIXUP = /^(fixup|squash|amend)! /;
const REVERT = /^(Revert|Reapply) "/;
const REVERTED = /^This reverts commit [0-9a-f]{7,64}\b/;

/** The state files of the git dir, in this order; the first that is there names the operation. */
export const STATE_FILES: readonly (readonly [file: string, operation: Circumstances['operation']])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
];

export const isRevert = (subject: string): boolean => REVERT.test(subject);

/** A merge never by its text, which anyone can write; a revert only where the text names the commit as well. */
export function exemptionOf(
  lines: readonly string[],
  { operation, parents = 1 }: Circumstances,
  rules: CommitRules,
): Exemption | null {
  const subject = lines[0] ?? '';
  if (operation) return operation;
  if (parents > 1) return 'merge';
  if (FIXUP.test(subject)) return 'fixup';
  if (isRevert(subject) && lines.some((line) => REVERTED.test(line))) return 'revert';
  return rules.isExempt(subject) ? 'pattern' : null;
}
