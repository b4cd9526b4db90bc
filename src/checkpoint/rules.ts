import * as z from 'zod/mini';
import { unlessFailed, usage } from '../core/error.js';
import { TAG_FOLDER, tagOf } from '../core/paths.js';
import { decodeDocument, encodeDocument, type Format, isSameId } from '../core/schema.js';
import { compareIds, compareText, oneLine } from '../core/text.js';
import type { Feature } from '../feature/rules.js';
import type { TagFacts } from '../git/tags.js';
import { TIERS } from '../ledger/record.js';

export { TAG_FOLDER, tagOf };

const OBJECT_ID = /^[0-9a-f]{7,64}$/;
/** ISSUE-vN. With a remote, a random suffix follows, because another clone may reach the same N. */
const NAME = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})-v([1-9]\d{0,5})(?:\.[0-9a-f]{6})?$/;

/** The result of a command, and the git tree of everything but `.forge/` that it ran on. */
export const CheckEvidence = z.looseObject({
  command: z.string(),
  exit_code: z.nullable(z.number()),
  duration_ms: z.number(),
  output_sha256: z.string(),
  tree: z.string(),
  /** The features that it tests. */
  features: z.optional(z.array(z.string())),
});
export type CheckEvidence = z.infer<typeof CheckEvidence>;

const Heads = z.looseObject({ heads: z.array(z.string()), records: z.number() });

/** RFC-9060 §5.2, `git/checkpoints/<ISSUE>-vN.json`. Fields beyond the RFC may be missing, because others write it too. */
export const Manifest = z.looseObject({
  schema_version: z.string(),
  tag: z.string().check(z.refine((tag) => nameIn(tag) !== null, 'it is not checkpoint/ISSUE-vN')),
  commit: z.string().check(z.regex(OBJECT_ID)),
  timestamp: z.string(),
  verified_by: z.array(z.string()),
  features_passing: z.array(z.string()),
  linear_issues_closed: z.array(z.string()),
  can_rollback_to: z.boolean(),
  message: z.optional(z.string()),
  /** Of the commit. */
  tree: z.optional(z.string()),
  branch: z.optional(z.string()),
  session: z.optional(z.nullable(z.string())),
  /** The ledgers at one moment; the commit has all of it. */
  ledger: z.optional(z.partialRecord(z.enum(TIERS), Heads)),
  evidence: z.optional(z.array(CheckEvidence)),
});
export type Manifest = z.infer<typeof Manifest>;

export const CHECKPOINT: Format<Manifest> = { name: 'checkpoint', version: '1.0', schema: Manifest };

/** `checkpoint/X-v1` and `X-v1` are `X-v1`. Null if it is not a checkpoint name. */
export function nameIn(tag: string): string | null {
  const name = tag.startsWith(`${TAG_FOLDER}/`) ? tag.slice(TAG_FOLDER.length + 1) : tag;
  return NAME.test(name) && !name.includes('..') ? name : null;
}

/** The same for user input. Exit 2 if it is not a valid name. */
export function parseName(tag: string): string {
  const name = nameIn(tag);
  if (name !== null) return name;
  throw usage('checkpoint.name', `${JSON.stringify(oneLine(tag, 80))} is not a checkpoint name.`, {
    hint: 'forge checkpoint list',
  });
}

/** The part before `-vN`. */
export const issueOf = (name: string): string => NAME.exec(name)?.[1] ?? name;

/** The next free number, ignoring case: a file system may be case-insensitive. */
export function nextName(issue: string, taken: readonly string[]): string {
  const own = taken.filter((name) => isSameId(issueOf(name), issue));
  const versions = own.map((name) => Number(NAME.exec(name)?.[2] ?? 0));
  return `${issue}-v${Math.max(0, ...versions) + 1}`;
}

/** The issues all of whose features pass. */
export function closedIssues(features: readonly Feature[], passing: ReadonlySet<string>): string[] {
  const issues = new Set(features.flatMap(({ linear_issue }) => linear_issue ?? []));
  const open = new Set(
    features.flatMap(({ id, linear_issue }) => (passing.has(id) ? [] : (linear_issue ?? []))),
  );
  return [...issues].filter((issue) => !open.has(issue)).sort(compareText);
}

/** The tag has a description and the manifest, byte for byte, so a change to either one shows. */
export const tagMessage = (manifest: Manifest): string =>
  `${manifest.message ?? `Checkpoint ${manifest.tag}`}\n\n${encodeDocument(manifest)}`;

/** The manifest's bytes in a tag's message, without a trailing signature. Null if there is no manifest. */
export function manifestIn(message: string): string | null {
  const text = `${message}\n`;
  const start = text.lastIndexOf('\n{\n') + 1;
  const end = text.indexOf('\n}\n', start);
  return start > 0 && end > 0 ? text.slice(start, end + 3) : null;
}

/** Null if it is not a manifest. */
export const decodeManifest = (text: string): Manifest | null =>
  unlessFailed(null, () => decodeDocument(CHECKPOINT, Buffer.from(text), 'the tag'));

type Dated = Pick<Checkpoint, 'name' | 'timestamp'>;

/** Newest first. All times have the same text format. */
export const byTime = (a: Dated, b: Dated): number =>
  compareText(b.timestamp ?? '', a.timestamp ?? '') || compareIds(b.name, a.name);

/** A checkpoint's manifest in `.forge/`; null if the bytes are not a manifest. */
export interface FileFacts {
  name: string;
  bytes: Buffer;
  manifest: Manifest | null;
  problem?: string;
}

/**
 * `ok`: tag, commit and manifest agree. `unverified`: a tag without a manifest in it, so forge did not make it.
 * `damaged`: the file cannot be read, or differs from the tag's manifest.
 */
type CheckpointState = 'ok' | 'moved' | 'missing' | 'damaged' | 'unverified';

export interface CheckpointRow {
  tag: string;
  commit: string | null;
  timestamp: string | null;
  features_passing: string[];
  /** Whether it is `ok`, and its manifest allows it. */
  can_rollback_to: boolean;
  state: CheckpointState;
  why?: string | undefined;
}

export interface Checkpoint extends CheckpointRow {
  name: string;
  /** The authoritative manifest: the tag's, or else the file's. */
  manifest: Manifest | null;
  /** Whether `.forge/` here has the manifest. */
  hasFile: boolean;
}

/** One difference that a verification found. */
export interface CheckpointFinding {
  code: Exclude<CheckpointState, 'ok'> | 'ledger' | 'evidence' | 'run';
  tag: string;
  message: string;
  hint: string;
}

export function judgeCheckpoint(
  name: string,
  { file, tag }: { file?: FileFacts | undefined; tag?: TagFacts | undefined },
): Checkpoint {
  const held = tag ? manifestIn(tag.message) : null;
  const inTag = held === null ? null : decodeManifest(held);
  const manifest = inTag ?? file?.manifest ?? null;
  const judge = (): [state: CheckpointState, why?: string] => {
    if (file && !file.manifest) return ['damaged', file.problem ?? 'its manifest cannot be read'];
    if (tag && !(tag.isAnnotated && inTag))
      return ['unverified', 'its tag holds no manifest: it was not made by forge, or made anew'];
    if (manifest && manifest.tag !== tagOf(name))
      return ['damaged', `its manifest is that of ${manifest.tag}`];
    if (!tag) return ['missing', "its tag is gone, was not fetched, or is another repository's"];
    if (manifest?.commit !== tag.commit)
      return ['moved', `its tag leads to ${short(tag.commit)}, not to ${short(manifest?.commit ?? null)}`];
    if (file && !file.bytes.equals(Buffer.from(held ?? '')))
      return ['damaged', 'its manifest is not the one that its tag holds'];
    return ['ok'];
  };
  const [state, why] = judge();
  return {
    ...{ name, tag: tagOf(name), manifest, hasFile: file !== undefined },
    commit: manifest?.commit ?? null,
    timestamp: manifest?.timestamp ?? null,
    features_passing: manifest?.features_passing ?? [],
    can_rollback_to: state === 'ok' && manifest?.can_rollback_to === true,
    state,
    why,
  };
}

const short = (commit: string | null): string => commit?.slice(0, 12) ?? 'no commit';
