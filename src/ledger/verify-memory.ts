import { decodeManifest } from '../checkpoint/read.js';
import { type Manifest, manifestIn } from '../checkpoint/rules.js';
import { shown, tagOf } from '../core/paths.js';
import { plural } from '../core/text.js';
import { readAnchorCommits, type Signature, verifyingGit, verifyTag } from '../git/signatures.js';
import { listTags } from '../git/tags.js';
import { knowAllowed } from '../guard/allow.js';
import { loadGuard, toFinding } from '../guard/guard.js';
import { describeForeignEdits, findForeignEdits } from '../project/edits.js';
import { type Context, warnFileSystem } from '../project/project.js';
import { type Finding, makeFinding } from './compare.js';
import { type Container, linesOf } from './container.js';
import { gitFolder, ledgerFolder } from './context.js';
import type { Graph } from './graph.js';
import {
  notesOf,
  type Problem,
  problemsOf,
  reportTiers,
  type Status,
  settleMemory,
  statusOf,
  type TierReport,
} from './integrity.js';
import { containerBytes } from './read.js';
import { isRecordId, recordId, type Tier } from './record.js';

export interface Integrity {
  status: Status;
  tiers: TierReport[];
  notes: string[];
  problems: Problem[];
  /** Ids of records that were nowhere and were put back. */
  restored: string[];
  /** With `signatures`: who vouched for what. */
  signatures?: SignatureReport[];
}

/** LTM-04: everything. Puts back what was written here and is nowhere; the rest is reported. */
export async function verifyMemory(
  context: Context,
  input: { tier?: Tier; scan?: boolean; signatures?: boolean } = {},
): Promise<Integrity> {
  warnFileSystem(context);
  const verdict = await settleMemory(context);
  const { graph } = verdict.snapshot;
  const signed = input.signatures ? await readSignatures(context, graph) : null;
  const secrets = input.scan ? await scanRecords(context, graph.containers) : [];
  const more = [...(signed?.problems ?? []), ...secrets];
  return {
    status: statusOf(context, verdict, more),
    tiers: reportTiers(context, verdict).filter(({ tier }) => (input.tier ?? tier) === tier),
    notes: [...notesOf(verdict), ...describeForeignEdits(await findForeignEdits(context))],
    problems: [...problemsOf(verdict), ...more.map(({ level: _, ...problem }) => problem)],
    restored: verdict.findings.filter(({ code }) => code === 'put_back').flatMap(({ ids }) => ids),
    ...(signed ? { signatures: signed.signatures } : {}),
  };
}

/** LTM-13: what the guard would refuse today in stored records. The place, never the value. */
async function scanRecords(context: Context, containers: readonly Container[]): Promise<Finding[]> {
  knowAllowed(context);
  const guard = await loadGuard(context.world.env, context);
  const found = new Map<string, Finding>();
  for (const { name } of containers) {
    context.signal?.throwIfAborted();
    const file = shown(context.layout, `${ledgerFolder(context.layout)}/${name}`);
    for (const { bytes, number, offset } of linesOf(containerBytes(context, name))) {
      const hits = guard.scanBytes('.json', bytes);
      if (hits.length === 0) continue;
      const id = recordId(bytes);
      const guarded = hits.map((hit) => toFinding(context, file, { ...hit, line: number }));
      const more = guarded.length > 1 ? ` and ${guarded.length - 1} more` : '';
      const [first] = guarded;
      const message = `its ${first?.field} holds ${first?.what}${more} (rule ${first?.rule}, fingerprint ${first?.fingerprint})`;
      const hint = `forge memory redact ${id.slice(0, 12)} --reason "TEXT"   # and revoke what it was`;
      const place = { file: name, line: number, offset, ids: [id] };
      found.set(id, makeFinding('secret', message, { ...place, hint, guard: guarded }));
    }
  }
  return [...found.values()];
}

/** What one session-end commit or checkpoint tag vouches for. */
export interface SignatureReport extends Signature {
  kind: 'commit' | 'tag';
  commit: string;
  /** Of a tag: `checkpoint/X-v1`. */
  ref?: string;
  /** How many ledger heads it names. */
  heads: number;
  /** Those of a good signature that this ledger should have and does not. */
  missing: string[];
}

/** LTM-18: asks git about each commit and checkpoint tag of HEAD's history that names ledger heads, and looks for these. */
async function readSignatures(
  context: Context,
  graph: Graph,
): Promise<{ signatures: SignatureReport[]; problems: Finding[] }> {
  if (!context.git) return { signatures: [], problems: [] };
  const git = await verifyingGit(context.git);
  const signatures: SignatureReport[] = [];
  const add = (facts: Omit<SignatureReport, 'heads' | 'missing'>, heads: readonly string[]): void => {
    const missing = facts.status === 'good' ? heads.filter((head) => !graph.hasAnywhere(head)) : [];
    signatures.push({ ...facts, heads: heads.length, missing });
  };
  for (const { anchors, ...commit } of await readAnchorCommits(git, gitFolder(context)))
    add({ kind: 'commit', ...commit }, anchors.flatMap(headsIn));
  for (const { ref, manifest } of await reachableManifests(context))
    add({ kind: 'tag', commit: manifest.commit, ref, ...(await verifyTag(git, ref)) }, headsOf(manifest));
  return { signatures, problems: signatures.flatMap(describe) };
}

/** `12 <head> <head>`: the largest number, and the heads. */
const headsIn = (value: string): string[] => value.trim().split(/\s+/).filter(isRecordId);

const headsOf = ({ ledger = {} }: Manifest): string[] =>
  Object.values(ledger).flatMap((tier) => tier?.heads ?? []);

/** Checkpoints that HEAD leads to: the heads of others belong to other branches. */
async function reachableManifests(context: Context): Promise<{ ref: string; manifest: Manifest }[]> {
  const { git } = context;
  if (!git) return [];
  const merged = await git(['tag', '--merged', 'HEAD']);
  const here = new Set(merged.stdout.split('\n'));
  return (await listTags(git)).flatMap(({ name, commit, message }) => {
    const held = manifestIn(message);
    const manifest = held === null ? null : decodeManifest(held);
    const isWhole = manifest !== null && manifest.commit === commit && here.has(tagOf(name));
    return isWhole ? [{ ref: tagOf(name), manifest }] : [];
  });
}

function describe({ kind, ref, commit, status, signer, missing }: SignatureReport): Finding[] {
  const name = kind === 'tag' ? `tag ${ref}` : `commit ${commit.slice(0, 12)}`;
  if (status === 'bad') {
    const hint = kind === 'tag' ? `git verify-tag ${ref}` : `git verify-commit ${commit}`;
    const message = `${name} was changed after it was signed, or its key was revoked`;
    return [makeFinding('signature_bad', message, { hint, ids: missing })];
  }
  if (missing.length === 0) return [];
  const message = `${plural(missing.length, 'signed head')} of ${name}, signed by ${signer}, ${missing.length === 1 ? 'is' : 'are'} missing, so the ledger was rewritten`;
  return [makeFinding('signed_missing', message, { ids: missing, hint: 'forge memory repair' })];
}
