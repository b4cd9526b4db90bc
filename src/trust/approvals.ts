import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { stateHome } from '../core/environment.js';
import { makeFolder, PRIVATE, readPlain, replaceFiles } from '../core/files.js';
import { MAX_STATE_BYTES } from '../core/json.js';
import { withLock } from '../core/lock.js';
import { trustFile } from '../core/paths.js';
import { decodeDocument, encodeDocument, type Format } from '../core/schema.js';
import { compareText, sha256 } from '../core/text.js';
import { identityOf } from '../git/repository.js';
import { type Context, timestamp } from '../project/project.js';

/** What `[cycle]` lets forge run by itself, as commands to approve, because the setting may come with a clone. */
export const CYCLE_COMMANDS = {
  commit: 'forge commit --all',
  checkpoint: 'forge checkpoint create',
} as const;

const Kind = z.enum(['file', 'command', 'rule', 'url']);

/** Something in the repository that a person must approve: code to run, an address, or an invariant for agents to obey. */
export type Runnable = ReturnType<typeof runnable>;

/**
 * `name`: the file's path in the repository, or the place of the command or rule (`feature F-1`). A command is approved by
 * its words, wherever it is. A file is approved by its path and bytes.
 */
export const runnable = (kind: z.infer<typeof Kind>, name: string, content: string) => ({
  ...{ kind, name, content },
  digest: sha256(`${kind}\u0000${kind === 'file' ? name : ''}\u0000${content}`),
});

export const toUrl = (url: string): Runnable => runnable('url', '[events] url', url);

/** What a person approved. The content is kept so that a later change can be shown. */
export const Approval = z.looseObject({
  kind: Kind,
  name: z.string(),
  digest: z.string(),
  content: z.string(),
  at: z.string(),
});
export type Approval = z.infer<typeof Approval>;

export interface TrustItem extends Runnable {
  /** `missing`: an invariant that a person approved, and that nobody states now. */
  state: 'trusted' | 'changed' | 'new' | 'missing';
  /** What was approved before it changed. */
  before?: string;
}

/** One digest of all runnables in the repository with this ledger, in any order. */
export const digestAll = (ledger: string, runnables: readonly Runnable[]): string =>
  sha256([ledger, ...sorted(runnables.map(({ digest }) => digest))].join('\n'));

const sorted = (digests: readonly string[]): string[] => [...new Set(digests)].sort(compareText);

/** The value of FORGE_TRUST that approves these: one digest each, so that another one changes none of them. */
export const trustValue = (ledger: string, runnables: readonly Runnable[]): string =>
  sorted(runnables.map((each) => digestAll(ledger, [each]))).join(',');

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

/** The state of each against the approvals. */
export function judgeTrust(runnables: readonly Runnable[], approvals: readonly Approval[]): TrustItem[] {
  const approved = new Set(approvals.map(({ digest }) => digest));
  const present = new Set(runnables.map(({ digest }) => digest));
  // A feature has several tests: one that is still here was not changed into another one.
  const gone = approvals.filter(({ digest }) => !present.has(digest));
  return runnables.map((one) => {
    if (approved.has(one.digest)) return { ...one, state: 'trusted' };
    const before = gone.findLast(({ kind, name }) => kind === one.kind && name === one.name);
    // All invariants have the same name, so another text is a new one.
    if (!before || one.kind === 'rule') return { ...one, state: 'new' };
    return { ...one, state: 'changed', before: before.content };
  });
}

/** The approved invariants that are not among these. */
export function missingRules(runnables: readonly Runnable[], approvals: readonly Approval[]): TrustItem[] {
  const digests = new Set(runnables.map(({ digest }) => digest));
  const missing = approvals.filter(({ kind, digest }) => kind === 'rule' && !digests.has(digest));
  return missing.map(({ kind, name, content, digest }) => {
    return { kind, name, content, digest, state: 'missing' };
  });
}

/** The lines that differ, as `-old` and `+new`, with one line of context around them. */
export function diffLines(before: string, after: string): string[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const least = Math.min(a.length, b.length);
  let head = 0;
  while (head < least && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < least - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const end = a.length - tail;
  const marked = (sign: string, lines: string[]): string[] => lines.map((line) => sign + line);
  return [
    ...marked(' ', a.slice(Math.max(head - 1, 0), head)),
    ...marked('-', a.slice(head, end)),
    ...marked('+', b.slice(head, b.length - tail)),
    ...marked(' ', a.slice(end, end + 1)),
  ];
}

export const identityHere = ({ layout, repository }: Context): string => identityOf(layout.root, repository);

const Approvals = z.looseObject({
  schema_version: z.string(),
  identity: z.string(),
  approvals: z.array(Approval),
});
const APPROVALS: Format<z.infer<typeof Approvals>> = { name: 'trust', version: '1.0', schema: Approvals };

export const approvalsFile = (context: Context): string =>
  trustFile(stateHome(context.world.env), identityHere(context));

/** The approvals for this repository; none when the file is missing or names another one. */
export function readApprovals(context: Context): Approval[] {
  const path = approvalsFile(context);
  const bytes = readPlain(path, MAX_STATE_BYTES);
  const found = bytes && decodeDocument(APPROVALS, bytes, path);
  return found?.identity === identityHere(context) ? found.approvals : [];
}

export function approvedHere(context: Context): (runnable: Runnable) => boolean {
  const known = new Set(readApprovals(context).map(({ digest }) => digest));
  return ({ digest }) => known.has(digest);
}

/** Adds approvals, readable by this person only. Durable on return. */
export function approve(context: Context, runnables: readonly Runnable[]): void {
  if (runnables.length === 0) return;
  const at = timestamp(context);
  changeApprovals(context, (before) => {
    const known = new Set(before.map(({ digest }) => digest));
    const added = runnables.filter(({ digest }) => !known.has(digest)).map((one) => ({ ...one, at }));
    return [...before, ...added];
  });
}

/** Removes approvals of what a person removed. */
export function forget(context: Context, runnables: readonly Runnable[]): void {
  const gone = new Set(runnables.map(({ digest }) => digest));
  if (gone.size > 0) changeApprovals(context, (before) => before.filter(({ digest }) => !gone.has(digest)));
}

function changeApprovals(context: Context, change: (before: Approval[]) => Approval[]): void {
  if (context.disk.dryRun) return;
  const path = approvalsFile(context);
  makeFolder(dirname(path), PRIVATE);
  withLock(join(dirname(path), 'lock'), context.world, () => {
    const before = readApprovals(context);
    const approvals = change(before);
    if (approvals.length === before.length) return;
    const after = { schema_version: APPROVALS.version, identity: identityHere(context), approvals };
    replaceFiles([{ path, bytes: encodeDocument(after), mode: 0o600 }]);
  });
}

/** B-74: an address may come with a clone, so forge connects to it only after a person approved it. */
export const isUrlApproved = (context: Context, url: string): boolean => approvedHere(context)(toUrl(url));
