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
import { type Container, linesOf } from './container.js';
import { gitFolder, ledgerFolder } from './context.js';
import type { Graph } from './graph.js';
import {
  messagesOf,
  type Problem,
  problemsOf,
  reportTiers,
  type Status,
  settleMemory,
  statusOf,
  type TierReport,
} from './integrity.js';
import { ledgerOf } from './memory.js';
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
  const problems = [...problemsOf(context, verdict), ...(signed?.problems ?? []), ...secrets];
  return {
    status: statusOf(context, verdict, problems),
    tiers: reportTiers(context, verdict).filter(({ tier }) => (input.tier ?? tier) === tier),
    notes: [...messagesOf(verdict, 'note'), ...describeForeignEdits(await findForeignEdits(context))],
    problems,
    restored: verdict.findings.filter(({ kind }) => kind === 'put_back').flatMap(({ ids }) => ids),
    ...(signed ? { signatures: signed.signatures } : {}),
  };
}

/** LTM-13: what the guard would refuse today in stored records. The place, never the value. */
async function scanRecords(context: Context, containers: readonly Container[]): Promise<Problem[]> {
  knowAllowed(context);
  const guard = await loadGuard(context.world.env, context);
  const ledger = ledgerOf(context);
  const found = new Map<string, Problem>();
  for (const { name } of containers) {
    context.signal?.throwIfAborted();
    const file = shown(context.layout, `${ledgerFolder(context.layout)}/${name}`);
    for (const { bytes, number, offset } of linesOf(containerBytes(ledger, name))) {
      const hits = guard.scanBytes('.json', bytes);
      if (hits.length === 0) continue;
      const id = recordId(bytes);
      const named = hits.map((hit) => toFinding(context, file, { ...hit, line: number }));
      const more = named.length > 1 ? ` and ${named.length - 1} more` : '';
      const [first] = named;
      found.set(id, {
        ...{ code: 'secret', file, line: number, offset, last_good: null, ids: [id], guard: named },
        message: `its ${first?.field} holds ${first?.what}${more} (rule ${first?.rule}, fingerprint ${first?.fingerprint})`,
        hint: `forge memory redact ${id.slice(0, 12)} --reason "…"  (and revoke what it was)`,
      });
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
): Promise<{ signatures: SignatureReport[]; problems: Problem[] }> {
  if (!context.git) return { signatures: [], problems: [] };
  const git = await verifyingGit(context.git);
  const signatures: SignatureReport[] = [];
  const add = (facts: Omit<SignatureReport, 'heads' | 'missing'>, heads: readonly string[]): void => {
    const missing = facts.status === 'good' ? heads.filter((head) => !graph.hasAnywhere(head)) : [];
    signatures.push({ ...facts, heads: heads.length, missing });
  };
  for (const { anchors, ...commit } of await readAnchorCommits(git, gitFolder(ledgerOf(context))))
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

function describe(report: SignatureReport): Problem[] {
  const { kind, ref, commit, status, signer, missing } = report;
  const name = kind === 'tag' ? `tag ${ref}` : `commit ${commit.slice(0, 12)}`;
  const problem = { file: '', line: 0, offset: 0, last_good: null, ids: missing };
  if (status === 'bad') {
    const message = `${name} was changed after it was signed, or its key was revoked`;
    const hint = kind === 'tag' ? `git verify-tag ${ref}` : `git verify-commit ${commit}`;
    return [{ ...problem, code: 'signature_bad', message, hint }];
  }
  if (missing.length === 0) return [];
  const message = `${plural(missing.length, 'signed head')} of ${name}, signed by ${signer}, ${missing.length === 1 ? 'is' : 'are'} missing, so the ledger was rewritten`;
  return [{ ...problem, code: 'signed_missing', message, hint: 'forge memory repair' }];
}
