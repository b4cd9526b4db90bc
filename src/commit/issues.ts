import type { Unit } from '../feature/issue.js';
import { cleanMessage } from './clean.js';
import { fieldOf, readMessage } from './read.js';

/** A commit, and its whole message. */
export interface Told {
  hash: string;
  message: string;
}

const WORD = /[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/g;
/** Nobody names an issue further behind. */
const MAX_SUBJECT = 1000;

/** The known issues that a message names: as a whole word of its subject, or as `Linear` of its Backtrace. */
function issuesNamed(message: string, known: ReadonlySet<string>): string[] {
  const { subject, sections } = readMessage(cleanMessage(message, 'verbatim'));
  const words = subject.text.slice(0, MAX_SUBJECT).match(WORD) ?? [];
  const backtrace = sections.findLast(({ name }) => name === 'Backtrace');
  const issue = backtrace && fieldOf(backtrace, 'Linear');
  return [...new Set([...words, ...(issue ? [issue.text] : [])])].filter((word) => known.has(word));
}

/** Of each known issue the commits that name it, in the order given. */
export function commitsByIssue(commits: readonly Told[], known: ReadonlySet<string>): Map<string, string[]> {
  const named = new Map<string, string[]>();
  for (const { hash, message } of commits)
    for (const id of issuesNamed(message, known)) named.set(id, [...(named.get(id) ?? []), hash]);
  return named;
}

/** LIN-04: a unit whose `git_refs` has these commits too, and those that are gone no more; itself where nothing changes. */
export function withCommits<T extends Unit>(unit: T, named: readonly string[], gone: ReadonlySet<string>): T {
  const before = commitsOf(unit);
  const kept = before.filter((hash) => !gone.has(hash));
  const fresh = named.filter((hash) => !before.includes(hash));
  if (kept.length === before.length && fresh.length === 0) return unit;
  return { ...unit, git_refs: { branch: null, ...unit.git_refs, commits: [...kept, ...fresh] } };
}

export const commitsOf = ({ git_refs }: Unit): string[] => git_refs?.commits ?? [];
