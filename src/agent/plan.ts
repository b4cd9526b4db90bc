import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { Format } from '../core/schema.js';
import { AGENT_NAMES } from './agents.js';
import { dropBlock, findBlockState, putBlock } from './edit-block.js';
import { dropJson, findInJson, isBareJson, putJson } from './edit-json.js';
import { dropTable, findTableState, putTable } from './edit-toml.js';
import { type Found, isOwnFile, type Part, SettingsProblem } from './parts.js';

const Digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const Count = z.int().check(z.gte(0));

/** A run of characters that was inserted, in the text as it is now. */
const Insertion = z.looseObject({ offset: Count, length: Count });

/** A file as forge wrote it. Offsets and lengths only, so that a person's settings are in no other file. */
const FileRecord = z.looseObject({
  /** The digest before forge's first change; `none`: there was no file. `unknown`: forge was in it already. */
  before: z.union([z.enum(['none', 'unknown']), Digest]),
  /** The last state; during a change also the next one. Null: forge replaced or removed text, not only inserted. */
  left: z
    .array(z.looseObject({ sha256: Digest, insertions: z.nullable(z.array(Insertion)) }))
    .check(z.maxLength(2)),
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
  /** By path, from the project's top folder or from the home folder. */
  files: z.record(z.string(), FileRecord),
});
export type Manifest = z.infer<typeof Manifest>;

export const MANIFEST: Format<Manifest> = { name: 'wiring', version: '1.0', schema: Manifest };

export interface FileTask {
  /** Null: there is no file. */
  text: string | null;
  record: FileRecord | null;
  /** Everything that the file is to hold, for every agent that is wired then. */
  wanted: readonly Part[];
  /** The parts of the agents that are being installed. */
  put: readonly Part[];
  /** The parts of the agents that are being removed, except what another agent still uses. */
  drop: readonly Part[];
}

/** What a file becomes. A null text: no file. A null record: the file holds nothing of forge. */
export interface FilePlan {
  text: string | null;
  record: FileRecord | null;
}

/**
 * A file as it was before forge, or as forge left it, is written anew from its original text, so that removing forge
 * restores the exact bytes. In a file that was edited since, only forge's own entries are touched.
 */
export function planFile(task: FileTask): FilePlan {
  const { text, record, wanted, put, drop } = task;
  const base = originalOf(task);
  if (base !== undefined) {
    if (wanted.length === 0) return { text: base, record: null };
    const after = wanted.reduce(putPart, base ?? '');
    const before = base === null ? 'none' : digestText(base);
    return { text: after, record: recordOf(before, after, insertionsIn(base ?? '', after)) };
  }
  const before = record?.before ?? 'unknown';
  const after = put.reduce(putPart, drop.reduce(dropPart, text as string));
  if (wanted.length > 0) return { text: after, record: recordOf(before, after, null) };
  const [first] = drop;
  const isForges = (before === 'none' || before === 'unknown') && first !== undefined;
  return { text: isForges && isBare(after, first) ? null : after, record: null };
}

export const digestText = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

type Left = FileRecord['left'][number];

const recordOf = (before: string, text: string, insertions: Left['insertions']): FileRecord => ({
  before,
  left: [{ sha256: digestText(text), insertions }],
});

/** The text without forge, null for no file; undefined when it cannot be known. */
function originalOf({ text, record, put, drop }: FileTask): string | null | undefined {
  if (text === null) return null;
  if (!record) return [...put, ...drop].some((part) => dropPart(text, part) !== text) ? undefined : text;
  const digest = digestText(text);
  if (digest === record.before) return text;
  const insertions = record.left.find(({ sha256 }) => sha256 === digest)?.insertions;
  if (!insertions) return undefined;
  const base = insertions.reduceRight(
    (rest, { offset, length }) => rest.slice(0, offset) + rest.slice(offset + length),
    text,
  );
  if (record.before === 'none') return base === '' ? null : undefined;
  return digestText(base) === record.before ? base : undefined;
}

/** What has to be removed from `after` to get `before`; null when text was replaced or removed. */
export function insertionsIn(before: string, after: string): Left['insertions'] {
  const insertions: { offset: number; length: number }[] = [];
  let kept = 0;
  for (let offset = 0; offset < after.length; offset++) {
    const isKept = kept < before.length && before[kept] === after[offset];
    const last = insertions.at(-1);
    if (isKept) kept++;
    else if (last && last.offset + last.length === offset) last.length++;
    else insertions.push({ offset, length: 1 });
  }
  return kept === before.length ? insertions : null;
}

function putPart(text: string, part: Part): string {
  if (part.kind === 'json') return putJson(text, part.agent, part);
  if (part.kind === 'toml') return putTable(text, part);
  if (part.kind === 'block') return putBlock(text, part.text);
  if (part.kind === 'lines') return text.includes(part.text) ? text : addLines(text, part.text);
  if (text.trim() === '' || isOwnFile(text)) return part.text;
  throw new SettingsProblem(
    "it is there already and is not forge's",
    null,
    'Move it away, then run the command again.',
  );
}

function dropPart(text: string, part: Part): string {
  if (part.kind === 'json') return dropJson(text, part.agent, part);
  if (part.kind === 'toml') return dropTable(text, part);
  if (part.kind === 'block') return dropBlock(text);
  if (part.kind === 'lines') return text.replace(part.text, '');
  return isOwnFile(text) ? '' : text;
}

const addLines = (text: string, lines: string): string =>
  text === '' || text.endsWith('\n') ? text + lines : `${text}\n${lines}`;

/** What a file holds of a part. */
export function findPart(text: string, part: Part): Found[] {
  if (part.kind === 'json') return findInJson(text, part.agent, part);
  if (part.kind === 'toml') return [findTableState(text, part)];
  if (part.kind === 'lines')
    return [{ state: text.includes(part.text) ? 'wired' : 'missing', isServer: false, commands: [] }];
  const whole = (): Found['state'] =>
    text === part.text ? 'wired' : isOwnFile(text) ? 'changed' : 'missing';
  const state = part.kind === 'block' ? findBlockState(text, part.text) : whole();
  return [{ state, isServer: false, commands: [] }];
}

/** True when a file that forge created holds nothing else any more. */
const isBare = (text: string, part: Part): boolean =>
  part.kind === 'json' ? isBareJson(text, part) : text.trim() === '';
