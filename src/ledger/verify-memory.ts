import { decodeManifest, manifestIn } from '../checkpoint/rules.js';
import { shown, tagOf } from '../core/paths.js';
import { plural } from '../core/text.js';
import { listTags, readAnchorCommits, type Signature, verifyingGit, verifyTag } from '../git/tags.js';
import { knowAllowed } from '../guard/allow.js';
import { loadGuard, toFinding } from '../guard/guard.js';
import { describeForeignEdits, findForeignEdits } from '../project/edits.js';
import { type Context, warnFileSystem } from '../project/project.js';
import { warnUnreviewed } from './audit.js';
import { type Finding, makeFinding } from './compare.js';
import { type Container, linesOf } from './container.js';
import { gitFolder, ledgerFolder } from './files.js';
import type { Graph } from './graph.js';
import {
  notesOf,
  problemsOf,
  reportTiers,
  type Status,
  statusOf,
  type TierReport,
  verifyAndRepair,
  verifyReadOnly,
} from './integrity.js';
import { readSize } from './memory.js';
import { containerBytes } from './read.js';
import { isRecordId, recordId, type Tier } from './record.js';
import type { Verdict } from './verify.js';

export interface Integrity {
  status: Status;
  tiers: TierReport[];
  notes: string[];
  problems: Finding[];
  /** Ids of records that had gone missing and were put back. */
  restored: string[];
  /** Ids of records that were written here, are nowhere now, and were not put back. */
  missing: string[];
  /** With `signatures`: who vouched for what. */
  signatures?: SignatureReport[];
}

/** LTM-04: verifies all of memory. Puts back what was written here and is nowhere, and reports the rest. */
export async function verifyMemory(
  context: Context,
  input: { tier?: Tier; scan?: boolean; signatures?: boolean } = {},
): Promise<Integrity> {
  warnFileSystem(context);
  const verdict = await verifyAndRepair(context);
  warnUnreviewed(context, verdict.waiting);
  const { graph } = verdict.snapshot;
  // Git answers both while the other one runs.
  const [signatures, edits] = await Promise.all([
    input.signatures ? readSignatures(context, graph) : null,
    findForeignEdits(context),
  ]);
  const secrets = input.scan ? await scanRecords(context, graph.containers) : [];
  const more = [...(signatures?.flatMap(describeSignature) ?? []), ...secrets];
  return {
    status: statusOf(context, [...verdict.findings, ...more]),
    tiers: reportTiers(context, verdict).filter(({ tier }) => (input.tier ?? tier) === tier),
    notes: [...notesOf(verdict), ...describeForeignEdits(edits)],
    problems: [...problemsOf(verdict), ...more],
    restored: idsOf(verdict, 'put_back'),
    missing: idsOf(verdict, ...MISSING),
    ...(signatures ? { signatures } : {}),
  };
}

const MISSING = ['missing', 'disappeared'];

const idsOf = ({ findings }: Verdict, ...codes: readonly string[]): string[] =>
  findings.filter(({ code }) => codes.includes(code)).flatMap(({ ids }) => ids);

/** LTM-13: finds what the guard would refuse today in stored records. Reports the place, never the value. */
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
      const hint = `forge memory redact ${id.slice(0, 12)} --reason "TEXT"   # and revoke the secret`;
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
  /** Heads that a good signature names and this ledger lacks. */
  missing: string[];
}

/** LTM-18: has git verify each commit and checkpoint tag of HEAD's history that names ledger heads. */
async function readSignatures(context: Context, graph: Graph): Promise<SignatureReport[]> {
  if (!context.git) return [];
  const git = await verifyingGit(context.git);
  const [commits, tags] = await Promise.all([
    readAnchorCommits(git, gitFolder(context)),
    listTags(context.git, true),
  ]);
  const reports: SignatureReport[] = [];
  const add = (facts: Omit<SignatureReport, 'heads' | 'missing'>, heads: readonly string[]): void => {
    const missing = facts.status === 'good' ? heads.filter((head) => !graph.has(head)) : [];
    reports.push({ ...facts, heads: heads.length, missing });
  };
  // A trailer is `12 <head> <head>`: the largest number, and the heads.
  for (const { anchors, ...commit } of commits)
    add({ kind: 'commit', ...commit }, anchors.join(' ').split(/\s+/).filter(isRecordId));
  for (const { name, commit, message } of tags) {
    const manifest = decodeManifest(manifestIn(message) ?? '');
    if (manifest === null || manifest.commit !== commit) continue;
    const heads = Object.values(manifest.ledger ?? {}).flatMap((tier) => tier?.heads ?? []);
    const ref = tagOf(name);
    add({ kind: 'tag', commit: manifest.commit, ref, ...(await verifyTag(git, ref)) }, heads);
  }
  return reports;
}

function describeSignature({ kind, ref, commit, status, signer, missing }: SignatureReport): Finding[] {
  const name = kind === 'tag' ? `tag ${ref}` : `commit ${commit.slice(0, 12)}`;
  if (status === 'bad') {
    const hint = kind === 'tag' ? `git verify-tag ${ref}` : `git verify-commit ${commit}`;
    const message = `${name} was changed after it was signed, or its key was revoked`;
    return [makeFinding('signature_bad', message, { hint, ids: missing })];
  }
  if (missing.length === 0) return [];
  const message = `the ledger was rewritten: it lacks ${plural(missing.length, 'head')} of ${name}, signed by ${signer}`;
  return [makeFinding('signed_missing', message, { ids: missing, hint: 'forge memory repair' })];
}

export type MemoryStats = Awaited<ReturnType<typeof memoryStats>>;

/** `missing`: how many records were written here and are nowhere now. */
export async function memoryStats(context: Context) {
  const verdict = await verifyReadOnly(context);
  const { listed, graph } = verdict.snapshot;
  const { bytes, growth } = readSize(context, listed);
  const tiers = reportTiers(context, verdict).map(({ containers: _, heads, ...tier }) => ({
    ...tier,
    heads: heads.length,
  }));
  const missing = idsOf(verdict, ...MISSING).length;
  const status = statusOf(context, verdict.findings);
  return { status, missing, tiers, bytes, files: graph.containers.length, growth };
}
