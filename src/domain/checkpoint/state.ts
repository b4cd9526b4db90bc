import { type Manifest, manifestIn, tagOf } from './checkpoint.js';

/** A checkpoint's tag as git has it. */
export interface TagFacts {
  name: string;
  isAnnotated: boolean;
  /** The commit that it leads to; null where it leads to something else. */
  commit: string | null;
  message: string;
}

/** A checkpoint's manifest in `.forge/`; null where its bytes are none. */
export interface FileFacts {
  name: string;
  bytes: Buffer;
  manifest: Manifest | null;
  problem?: string;
}

/**
 * `ok`: tag, commit and manifest say the same. `unverified`: a tag without a manifest in it, so forge did not make it.
 * `unknown`: without tag, and its commit is not in this repository.
 */
export type CheckpointState = 'ok' | 'moved' | 'missing' | 'tampered' | 'unverified' | 'unknown' | 'damaged';

export interface Checkpoint {
  name: string;
  tag: string;
  state: CheckpointState;
  /** Why it is not `ok`. */
  why?: string;
  /** What counts: the tag's, where it has one. */
  manifest: Manifest | null;
  timestamp: string | null;
  /** Whether `.forge/` here has the manifest. */
  hasFile: boolean;
}

/** Of a verification: one thing that is not what it was. */
export interface CheckpointFinding {
  code: Exclude<CheckpointState, 'ok'> | 'ledger' | 'evidence' | 'run';
  tag: string;
  message: string;
  hint: string;
}

/** What is known of one checkpoint. `decode` reads the manifest in a tag; null for what is none. */
export function judgeCheckpoint(
  name: string,
  { file, tag }: { file?: FileFacts | undefined; tag?: TagFacts | undefined },
  isKnown: (commit: string) => boolean,
  decode: (bytes: string) => Manifest | null,
): Checkpoint {
  const held = tag ? manifestIn(tag.message) : null;
  const inTag = held === null ? null : decode(held);
  const manifest = inTag ?? file?.manifest ?? null;
  const verdict = judge(name, { file, tag, held, inTag }, isKnown);
  const timestamp = manifest?.timestamp ?? null;
  return { name, tag: tagOf(name), ...verdict, manifest, timestamp, hasFile: file !== undefined };
}

interface Seen {
  file: FileFacts | undefined;
  tag: TagFacts | undefined;
  held: string | null;
  inTag: Manifest | null;
}

function judge(
  name: string,
  { file, tag, held, inTag }: Seen,
  isKnown: (commit: string) => boolean,
): Pick<Checkpoint, 'state' | 'why'> {
  if (file && !file.manifest) return { state: 'damaged', why: file.problem ?? 'its manifest cannot be read' };
  if (!tag) return withoutTag(name, file?.manifest as Manifest, isKnown);
  if (!tag.isAnnotated && file)
    return { state: 'moved', why: 'its tag is a lightweight one now: somebody made it anew' };
  // Nothing says that there ever was another.
  if (!tag.isAnnotated)
    return {
      state: 'unverified',
      why: 'its tag is a lightweight one: it was not made by forge, or made anew',
    };
  if (!inTag)
    return { state: 'unverified', why: 'its tag holds no manifest: it was not made by forge, or made anew' };
  if (inTag.commit !== tag.commit)
    return { state: 'moved', why: `its tag leads to ${short(tag.commit)}, not to ${short(inTag.commit)}` };
  if (inTag.tag !== tagOf(name))
    return { state: 'tampered', why: `its tag holds the manifest of ${inTag.tag}` };
  if (file && !file.bytes.equals(Buffer.from(held ?? '')))
    return { state: 'tampered', why: 'its manifest is not the one that its tag holds' };
  return { state: 'ok' };
}

function withoutTag(
  name: string,
  { tag, commit }: Manifest,
  isKnown: (commit: string) => boolean,
): Pick<Checkpoint, 'state' | 'why'> {
  if (tag !== tagOf(name)) return { state: 'tampered', why: `its manifest is that of ${tag}` };
  if (isKnown(commit)) return { state: 'missing', why: 'its tag is gone, or was not fetched' };
  return {
    state: 'unknown',
    why: `its commit ${short(commit)} is not in this repository: it is another one's, or was not fetched`,
  };
}

const short = (commit: string | null): string => commit?.slice(0, 12) ?? 'no commit';
