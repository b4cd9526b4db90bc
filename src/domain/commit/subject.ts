import { checkMessage } from './check.js';
import { isRevert } from './exempt.js';
import type { CommitRules, RuleName } from './rules.js';

/** What is told from the first line alone. */
const RULES: ReadonlySet<RuleName> = new Set(['subject', 'id', 'description', 'subject-length']);

/**
 * Whether a commit's subject alone shows that the commit does not follow the protocol. Reverts are told by it, though anybody
 * can write one: the rest of the message is not known here.
 */
export function breaksProtocol(
  { subject, parents }: { subject: string; parents: number },
  rules: CommitRules,
): boolean {
  if (isRevert(subject)) return false;
  const { problems } = checkMessage(new TextEncoder().encode(subject), rules, { stored: true, parents });
  return problems.some(({ rule }) => RULES.has(rule));
}
