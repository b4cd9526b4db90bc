import * as z from 'zod/mini';
import { encodeDocument, type Format } from '../document.js';
import { usage } from '../error.js';
import type { Feature } from '../feature/feature.js';
import { TIERS } from '../ledger/ledger.js';
import { compareIds, compareText, oneLine } from '../text.js';
import { TAG_FOLDER, tagOf } from './tag.js';

export { TAG_FOLDER, tagOf };

const OBJECT_ID = /^[0-9a-f]{7,64}$/;
const NAME = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})-v([1-9]\d{0,5})$/;

/** What a command showed, and on what: the git tree of everything but `.forge/`. */
export const CheckEvidence = z.looseObject({
  command: z.string(),
  exit_code: z.nullable(z.number()),
  duration_ms: z.number(),
  output_sha256: z.string(),
  tree: z.string(),
});
export type CheckEvidence = z.infer<typeof CheckEvidence>;

const Heads = z.looseObject({ heads: z.array(z.string()), records: z.number() });

/** RFC-9060 §5.2, `git/checkpoints/<ISSUE>-vN.json`. What the RFC does not have may be missing: others write it too. */
export const Manifest = z.looseObject({
  schema_version: z.string(),
  tag: z.string().check(z.refine((tag) => nameIn(tag) !== null, 'it is not checkpoint/NAME-vN')),
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

/** `checkpoint/X-v1` and `X-v1` are `X-v1`; null for what is no checkpoint's name. */
export function nameIn(tag: string): string | null {
  const name = tag.startsWith(`${TAG_FOLDER}/`) ? tag.slice(TAG_FOLDER.length + 1) : tag;
  return NAME.test(name) && !name.includes('..') ? name : null;
}

/** The same for what somebody typed: exit 2 for what cannot be one. */
export function parseName(tag: string): string {
  const name = nameIn(tag);
  if (name !== null) return name;
  throw usage('checkpoint.name', `${JSON.stringify(oneLine(tag, 80))} is no checkpoint's name.`, {
    hint: 'forge checkpoint list',
  });
}

/** What stands before `-vN`. */
export const issueOf = (name: string): string => NAME.exec(name)?.[1] ?? name;

/** The next free one, whatever the case: a disk may not tell two cases apart. */
export function nextName(issue: string, taken: readonly string[]): string {
  const own = taken.filter((name) => issueOf(name).toLowerCase() === issue.toLowerCase());
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

/** The tag says in words what it is, and holds the manifest byte for byte: each shows what is done to the other. */
export const tagMessage = (manifest: Manifest): string =>
  `${manifest.message ?? `Checkpoint ${manifest.tag}`}\n\n${encodeDocument(manifest)}`;

/** The manifest's bytes in a tag's message; a signature may stand behind them. Null where there is none. */
export function manifestIn(message: string): string | null {
  const text = `${message}\n`;
  const start = text.lastIndexOf('\n{\n') + 1;
  const end = text.indexOf('\n}\n', start);
  return start > 0 && end > 0 ? text.slice(start, end + 3) : null;
}

/** Newest first. Times are texts of one form. */
export function byTime(
  a: { name: string; timestamp: string | null },
  b: { name: string; timestamp: string | null },
): number {
  return compareText(b.timestamp ?? '', a.timestamp ?? '') || compareIds(b.name, a.name);
}
