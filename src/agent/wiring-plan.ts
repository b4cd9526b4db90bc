import { createHash } from 'node:crypto';
import { Draft, insertion, WiringProblem, withoutInsertions } from './draft.js';
import { beginningOf, dropParts, dropStale, isBare, lookFor, type Part, putParts } from './edit-fixture.js';
import type { FileRecord } from './manifest.js';
import { isOwnFile } from './own.js';

/** A file that an agent reads, and what is to be in it. */
export interface FileTask {
  /** Null: there is none. */
  text: string | null;
  record: FileRecord | null;
  /** All that is to be in it, of every agent that is wired. */
  wanted: readonly Part[];
  /** What the agents that are being installed have in it. */
  put: readonly Part[];
  /** What those that are being taken out have in it, and others do not. */
  drop: readonly Part[];
  /** Folders that would have to be made for it. */
  folders: readonly string[];
}

/** What the file is to become. */
export interface FilePlan {
  /** Null: the file goes. */
  text: string | null;
  /** Null: forge has nothing in it any more. */
  record: FileRecord | null;
}

export const digestText = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/**
 * A file that is as it was before forge came, or as forge left it, is made anew from what was there before, so that
 * taking forge out gives the very bytes. In any other only forge's own entries are touched.
 */
export function planFile(task: FileTask): FilePlan {
  const base = baseOf(task);
  return base === undefined ? planEdited(task, task.text as string) : planAnew(task, base);
}

function planAnew({ wanted, record, folders }: FileTask, base: string | null): FilePlan {
  if (wanted.length === 0) return { text: base, record: null };
  requireOwnFile(base, wanted);
  const draft = new Draft(base ?? '');
  if (draft.text.trim() === '') draft.apply([insertion(draft.text.length, beginningOf(wanted))]);
  putParts(draft, wanted);
  const before = base === null ? 'none' : digestText(base);
  return { text: draft.text, record: recordOf(draft, before, record?.folders ?? folders, draft.insertions) };
}

const recordOf = (
  { text }: Draft,
  before: string,
  folders: readonly string[],
  insertions: Draft['insertions'],
): FileRecord => ({
  before,
  folders: [...folders],
  left: [{ sha256: digestText(text), insertions: insertions?.map((one) => ({ ...one })) ?? null }],
});

/** The text without anything of forge's, null for no file; undefined where that cannot be told. */
function baseOf({ text, record, put, drop }: FileTask): string | null | undefined {
  if (text === null) return null;
  if (!record) return [...put, ...drop].some((part) => isThere(text, part)) ? undefined : text;
  const digest = digestText(text);
  if (digest === record.before) return text;
  const insertions = record.left.find(({ sha256 }) => sha256 === digest)?.insertions;
  if (!insertions) return undefined;
  const base = withoutInsertions(text, insertions);
  if (record.before === 'none') return base === '' ? null : undefined;
  return digestText(base) === record.before ? base : undefined;
}

/** Hooks at events that are not used any more count as well. */
function isThere(text: string, part: Part): boolean {
  if (lookFor(text, part).state !== 'missing') return true;
  const draft = new Draft(text);
  dropParts(draft, [part]);
  return draft.text !== text;
}

/** A whole file of forge's takes no other's place. */
function requireOwnFile(base: string | null, wanted: readonly Part[]): void {
  const whole = wanted.find(({ fixture }) => fixture.kind === 'file');
  if (!whole || base === null || base.trim() === '' || isOwnFile(whole.agent, base)) return;
  throw new WiringProblem(
    "it is there already and is not forge's",
    null,
    'Move it away, then run the command again.',
  );
}

function planEdited({ record, put, drop, wanted }: FileTask, text: string): FilePlan {
  requireOwnFile(record ? null : text, put);
  const draft = new Draft(text);
  dropParts(draft, drop);
  dropStale(draft, put);
  putParts(draft, put);
  const before = record?.before ?? 'unknown';
  if (wanted.length > 0)
    return { text: draft.text, record: recordOf(draft, before, record?.folders ?? [], null) };
  const isBegun = before === 'none' || before === 'unknown';
  const isGone = isBegun && drop.length > 0 && isBare(draft.text, drop);
  return { text: isGone ? null : draft.text, record: null };
}
