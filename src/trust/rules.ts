import { createHash } from 'node:crypto';
import { compareText } from '../core/text.js';

/**
 * The commands that `[cycle]` lets forge run by itself, as a person would type and approve them. The setting may
 * have come with a clone.
 */
export const CYCLE_COMMANDS = {
  commit: 'forge commit --all',
  checkpoint: 'forge checkpoint create',
} as const;

/** Something in the repository that a person must approve: code to run, or an invariant for agents to obey. */
export interface Runnable {
  kind: 'file' | 'command' | 'rule';
  /** The file's path in the repository, or where the command or the rule stands (`feature F-1`). */
  name: string;
  content: string;
}

/** What a person approved, with the bytes, so that a later change can be shown. */
export interface Approval extends Record<string, unknown> {
  kind: Runnable['kind'];
  name: string;
  digest: string;
  content: string;
  at: string;
  /** `entered` through forge on this machine, or `approved` at a terminal. */
  how: 'entered' | 'approved';
}

type TrustState = 'trusted' | 'changed' | 'new';

export interface TrustItem extends Runnable {
  digest: string;
  state: TrustState;
  /** What was approved before it changed. */
  before?: string;
}

/**
 * A command is approved by its words, wherever it stands; a file by its path and bytes: the same bytes elsewhere
 * may mean something else.
 */
export function digestRunnable({ kind, name, content }: Runnable): string {
  const place = kind === 'file' ? name : '';
  return createHash('sha256').update(`${kind}\u0000${place}\u0000${content}`).digest('hex');
}

/** One digest of everything that would run in the repository with this ledger, in any order. */
export function digestAll(ledger: string, runnables: readonly Runnable[]): string {
  const digests = [...new Set(runnables.map(digestRunnable))].sort(compareText);
  return createHash('sha256')
    .update([ledger, ...digests].join('\n'))
    .digest('hex');
}

/** The value of FORGE_TRUST that lets these run: one digest each, so that adding one changes no other. */
export const trustValue = (ledger: string, runnables: readonly Runnable[]): string =>
  [...new Set(runnables.map((each) => digestAll(ledger, [each])))].sort(compareText).join(',');

/** Which of these a value of FORGE_TRUST approves: each by its own digest, or all by theirs. */
export function approvedBy(
  value: string,
  ledger: string,
  all: readonly Runnable[],
): (one: Runnable) => boolean {
  const digests = new Set(value.split(/[\s,]+/).filter(Boolean));
  if (digests.size === 0) return () => false;
  return digests.has(digestAll(ledger, all)) ? () => true : (one) => digests.has(digestAll(ledger, [one]));
}

/** Where each stands against the approvals. */
export function judgeTrust(runnables: readonly Runnable[], approvals: readonly Approval[]): TrustItem[] {
  const digests = new Set(approvals.map((approval) => approval.digest));
  return runnables.map((runnable) => {
    const digest = digestRunnable(runnable);
    if (digests.has(digest)) return { ...runnable, digest, state: 'trusted' };
    const before = approvals.findLast(({ kind, name }) => kind === runnable.kind && name === runnable.name);
    // An invariant has no name of its own, so another one is new.
    return before && runnable.kind !== 'rule'
      ? { ...runnable, digest, state: 'changed', before: before.content }
      : { ...runnable, digest, state: 'new' };
  });
}

/** The lines that differ, as `-old` and `+new`, with one line of context around them. */
export function diffLines(before: string, after: string): string[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail++;
  const context = head > 0 ? [` ${a[head - 1]}`] : [];
  const removed = a.slice(head, a.length - tail).map((line) => `-${line}`);
  const added = b.slice(head, b.length - tail).map((line) => `+${line}`);
  const after1 = tail > 0 ? [` ${a[a.length - tail]}`] : [];
  return [...context, ...removed, ...added, ...after1];
}
