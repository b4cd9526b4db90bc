import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Format } from '../core/schema.js';
import { AGENT_NAMES } from './agents.js';
import { dropJson, findInJson, isBareJson, putJson } from './edit-json.js';
import { dropBlock, dropTable, findBlockState, findTableState, putBlock, putTable } from './edit-text.js';
import { type Part, type PartState, SettingsProblem, stateOf } from './parts.js';

const Digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const Count = z.int().check(z.gte(0));

/** A run of inserted characters, in the text as it is now. */
const Insertion = z.looseObject({ offset: Count, length: Count });

/** A file as forge wrote it. Only offsets and lengths, so that a person's settings are in no other file. */
const FileRecord = z.looseObject({
  /** The digest before forge's first change. `none`: there was no file. `unknown`: forge was in it already. */
  before: z.union([z.enum(['none', 'unknown']), Digest]),
  /** The digest after forge's last change. */
  after: Digest,
  /** What to remove to get the text from before. Null: forge did not only insert text. */
  insertions: z.nullable(z.array(Insertion)),
});
export type FileRecord = z.infer<typeof FileRecord>;

/** The record of `forge agent install`, from which uninstall restores the exact bytes. */
export const Manifest = z.looseObject({
  schema_version: z.string(),
  agents: z.array(
    z.looseObject({
      agent: z.enum(AGENT_NAMES),
      command: z.string(),
      instructions: z.boolean(),
      allow: z.optional(z.boolean()),
      folder: z.optional(z.string()),
    }),
  ),
  /** By path, relative to the project's top folder or to the home folder. */
  files: z.record(z.string(), FileRecord),
});
export type Manifest = z.infer<typeof Manifest>;

export const MANIFEST: Format<Manifest> = { name: 'wiring', version: '1.0', schema: Manifest };

interface FileTask {
  /** Null: there is no file. */
  text: string | null;
  record: FileRecord | null;
  /** Everything the file has to contain, for every agent that stays wired. */
  wanted: readonly Part[];
  /** The parts of the agents being installed. */
  put: readonly Part[];
  /** The parts of the agents being removed, except what another agent still uses. */
  drop: readonly Part[];
}

/** The new state of a file. A null text: no file. A null record: the file contains nothing of forge. */
export interface FilePlan {
  text: string | null;
  record: FileRecord | null;
}

/**
 * Rewrites a file that is as it was before forge, or as forge left it, from its original text: so removing forge restores
 * the exact bytes. In a file that was edited since, only forge's own entries are touched.
 */
export function planFile(task: FileTask): FilePlan {
  const { text, record, wanted, put, drop } = task;
  const base = originalOf(task);
  if (base !== undefined) {
    if (wanted.length === 0) return { text: base, record: null };
    const after = wanted.reduce(putPart, base ?? '');
    const before = base === null ? 'none' : digestText(base);
    const insertions = insertionsIn(base ?? '', after);
    return { text: after, record: { before, after: digestText(after), insertions } };
  }
  const before = record?.before ?? 'unknown';
  const after = put.reduce(putPart, drop.reduce(dropPart, text as string));
  if (wanted.length > 0)
    return { text: after, record: { before, after: digestText(after), insertions: null } };
  const isForges = (before === 'none' || before === 'unknown') && drop[0] && isBare(after, drop[0]);
  return { text: isForges ? null : after, record: null };
}

export const digestText = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** The text without forge, null for no file. Undefined when it cannot be known. */
function originalOf({ text, record, put, drop }: FileTask): string | null | undefined {
  if (text === null) return null;
  if (!record) return [...put, ...drop].some((part) => dropPart(text, part) !== text) ? undefined : text;
  const digest = digestText(text);
  if (digest === record.before) return text;
  if (digest !== record.after || !record.insertions) return undefined;
  const base = record.insertions.reduceRight(
    (rest, { offset, length }) => rest.slice(0, offset) + rest.slice(offset + length),
    text,
  );
  if (record.before === 'none') return base === '' ? null : undefined;
  return digestText(base) === record.before ? base : undefined;
}

/** What to remove from `after` to get `before`. Null when text was replaced or removed. */
export function insertionsIn(before: string, after: string): FileRecord['insertions'] {
  const insertions: { offset: number; length: number }[] = [];
  let kept = 0;
  for (let offset = 0; offset < after.length; offset++) {
    const last = insertions.at(-1);
    if (kept < before.length && before[kept] === after[offset]) kept++;
    else if (last && last.offset + last.length === offset) last.length++;
    else insertions.push({ offset, length: 1 });
  }
  return kept === before.length ? insertions : null;
}

/** Forge's plugin names the command that wrote it. */
const isOwnFile = (text: string): boolean => text.includes('forge agent install');

function putPart(text: string, part: Part): string {
  if (part.kind === 'json') return putJson(text, part.agent, part);
  if (part.kind === 'toml') return putTable(text, part);
  if (part.kind === 'block') return putBlock(text, part.text);
  if (part.kind === 'lines') {
    const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    return text.includes(part.text) ? text : start + part.text;
  }
  if (text.trim() === '' || isOwnFile(text)) return part.text;
  const hint = 'Move it away, then run the command again.';
  throw new SettingsProblem("it is there already and is not forge's", null, hint);
}

function dropPart(text: string, part: Part): string {
  if (part.kind === 'json') return dropJson(text, part.agent, part);
  if (part.kind === 'toml') return dropTable(text, part);
  if (part.kind === 'block') return dropBlock(text);
  if (part.kind === 'lines') return text.replace(part.text, '');
  return isOwnFile(text) ? '' : text;
}

export function findPart(text: string, part: Part): PartState {
  if (part.kind === 'json') return findInJson(text, part.agent, part);
  if (part.kind === 'toml') return findTableState(text, part);
  if (part.kind === 'block') return findBlockState(text, part.text);
  if (part.kind === 'lines') return text.includes(part.text) ? 'wired' : 'missing';
  return stateOf(text, isOwnFile(text), part.text);
}

/** Whether a file that forge created contains nothing else. */
const isBare = (text: string, part: Part): boolean =>
  part.kind === 'json' ? isBareJson(text, part) : text.trim() === '';
