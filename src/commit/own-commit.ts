import {
  doneIssueFile,
  focusFile,
  kfrFile,
  progressFile,
  sessionFile,
  shown,
  shownFrom,
} from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { changeActive, readActive } from '../feature/store.js';
import { UNIT, type Unit } from '../feature/tasks.js';
import type { Git } from '../git/client.js';
import { changedFiles } from '../git/commit.js';
import { commitAt, readBlob, readLog } from '../git/read.js';
import type { Found } from '../guard/document.js';
import { loadGuard, newHits, refuseFound } from '../guard/guard.js';
import { readScannable } from '../guard/scan-tree.js';
import { journaledLines } from '../ledger/memory.js';
import { doneIds } from '../linear/issue.js';
import { type Context, orWarn } from '../project/project.js';
import { parseMessage } from './message.js';

// Checks and records before the commits that forge makes itself.

/** LTM-13: exit 5 if a session end would archive or commit something forbidden. Ignores what HEAD already contains. */
export async function guardCommit(context: Context): Promise<void> {
  const { layout, disk, repository, git } = context;
  const guard = await loadGuard(context.world.env, context);
  const refuse = (name: string, found: readonly Found[]): void => {
    if (found.length > 0) refuseFound(context, name, found, true);
  };
  for (const path of [progressFile(layout), focusFile(layout), kfrFile(layout), sessionFile(layout)]) {
    const bytes = disk.read(path);
    if (bytes) refuse(shown(layout, path), guard.scanBytes(path, bytes));
  }
  if (!repository || !git) return;
  const written = journaledLines(context);
  for (const name of await changedFiles(git, shownFrom(repository.root, layout.dir))) {
    const path = `${repository.root}/${name}`;
    const isLedger = name.endsWith('.jsonl');
    const read = readScannable(path, isLedger ? Number.MAX_SAFE_INTEGER : undefined);
    // A link, a binary file, or deleted meanwhile.
    if ('skipped' in read) continue;
    const known = isLedger ? await atHead(git, name) : '';
    const fresh = isLedger ? withoutKnownLines(read.text, known, written) : read.text;
    const found = guard.scanBytes(name, Buffer.from(fresh));
    if (found.length === 0) continue;
    const before = Buffer.from(await atHead(git, name));
    refuse(shown(layout, path), newHits(found, guard.scanBytes(name, before)));
  }
}

const atHead = async (git: Git, name: string): Promise<string> =>
  (await readBlob(git, `HEAD:${name}`))?.toString('utf8') ?? '';

/** Empties lines that HEAD contains or that forge itself wrote, so line numbers stay. Ledger files indent records. */
function withoutKnownLines(text: string, before: string, written: ReadonlySet<string>): string {
  const known = new Set(before.split('\n'));
  return text
    .split('\n')
    .map((line) => (known.has(line) || written.has(line.trimStart()) ? '' : line))
    .join('\n');
}

/** Whether an issue of this id is active or done here. */
export const isIssue = (context: Context, id: string): boolean =>
  readActive(context).some(({ linear_id }) => linear_id === id) ||
  context.disk.exists(doneIssueFile(context.layout, id));

/**
 * LIN-04: records the commits that name an issue in its `git_refs`. Those that a rebase or an amend replaced stay.
 * Runs just before forge commits `.forge/`, so nothing is left uncommitted. Failures are warnings.
 */
export async function linkCommits(context: Context): Promise<void> {
  const { git, disk } = context;
  if (!git || disk.dryRun) return;
  const what = 'Commits were not added to the issues they name';
  await orWarn(
    context,
    what,
    () => link(context, git),
    ({ kind }) => kind !== 'secret',
  );
}

async function link(context: Context, git: Git): Promise<void> {
  const { disk, layout } = context;
  const issues = readActive(context);
  const active = new Set(issues.map(({ linear_id }) => linear_id));
  const past = doneIds(context).filter((id) => !active.has(id));
  const known = new Set([...active, ...past]);
  if (known.size === 0 || (await commitAt(git, 'HEAD')) === null) return;
  const named = await commitsByIssue(git, known);
  const done = past
    .filter((id) => named.has(id))
    .map((id) => disk.requireDocument(UNIT, doneIssueFile(layout, id)));
  /** Returns the same object if nothing changes. */
  const update = (unit: Unit): Unit => {
    const before = unit.git_refs?.commits ?? [];
    const fresh = (named.get(unit.linear_id) ?? []).filter((hash) => !before.includes(hash));
    if (fresh.length === 0) return unit;
    return { ...unit, git_refs: { branch: null, ...unit.git_refs, commits: [...before, ...fresh] } };
  };
  disk.withLock(() => {
    changeActive(context, (all) => all.map(update));
    for (const { path, value, bytes } of done) {
      const unit = update(value);
      if (unit !== value) disk.replace(path, encodeDocument(unit), bytes);
    }
  });
}

/** More commits than are made between two session ends. */
const MAX_COMMITS = 1000;
const WORD = /[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/g;

/** For each issue, the commits that name it as a word of the subject or as `Linear` of the Backtrace; oldest first. */
async function commitsByIssue(git: Git, known: ReadonlySet<string>): Promise<Map<string, string[]>> {
  const named = new Map<string, string[]>();
  for (const { hash, subject, message, parents } of (await readLog(git, MAX_COMMITS)).reverse()) {
    if (parents > 1) continue;
    const { linear } = parseMessage(message).backtrace;
    for (const id of new Set([...(subject.slice(0, 1000).match(WORD) ?? []), linear]))
      if (known.has(id)) named.set(id, [...(named.get(id) ?? []), hash]);
  }
  return named;
}
