import { plural } from '../core/text.js';
import { notReachable } from '../git/memory.js';
import { readAnchorCommits, type Signature, verifyingGit, verifyTag } from '../git/signatures.js';
import type { Context } from '../project/project.js';
import { BRANCHES, recordsLacking, taggedManifests } from './checkpoint-anchors.js';
import type { GitFacts, Look } from './facts.js';
import type { Finding } from './rules/finding.js';
import { isRecordId, TIERS, type Tier } from './rules/record.js';

/** What one session-end commit or checkpoint tag vouches for. */
export interface SignatureReport extends Signature {
  kind: 'commit' | 'tag';
  commit: string;
  /** Of a tag: `checkpoint/X-v1`. */
  ref?: string;
  /** How many ledger heads it names. */
  heads: number;
  /** Those of a good signature that these ledgers should have and do not. */
  missing: string[];
}

interface Head {
  tier: Tier;
  head: string;
  /** The largest number in the ledger; 0 where only the head is named. */
  n: number;
}

interface Vouched {
  report: SignatureReport;
  missing: Head[];
}

/** Asks git about the signature of every commit and checkpoint tag that names ledger heads, and looks for these heads. */
export async function verifySignatures(
  context: Context,
  look: Look | null,
): Promise<{ signatures: SignatureReport[]; findings: Finding[] }> {
  const vouched = look ? await readVouched(context, look) : [];
  const bad = vouched.filter(({ report }) => report.status === 'bad');
  return {
    signatures: vouched.map(({ report }) => report),
    findings: [...bad.map(({ report }) => describeBad(report)), ...describeMissing(vouched)],
  };
}

/** Signed heads that are nowhere: a repair names them as lost. */
export const missingSignedHeads = async (
  context: Context,
  look: Look | null,
): Promise<(Head & { commit: string })[]> =>
  (look ? await readVouched(context, look) : []).flatMap(({ report: { commit }, missing }) =>
    missing.map((head) => ({ ...head, commit })),
  );

async function readVouched(context: Context, look: Look): Promise<Vouched[]> {
  if (!context.git || !look.git) return [];
  const git = await verifyingGit(context.git);
  const vouched: Vouched[] = [];
  for (const { anchors, ...commit } of await readAnchorCommits(git, look.git.folder))
    vouched.push(await vouch(context, look, { kind: 'commit', ...commit }, anchors.flatMap(parseAnchor)));
  for (const { ref, commit, heads } of await readTags(context, look.git))
    vouched.push(
      await vouch(context, look, { kind: 'tag', commit, ref, ...(await verifyTag(git, ref)) }, heads),
    );
  return vouched;
}

/** A head counts where the signed commit has its record: a message may also name heads of the branch before a switch. */
async function vouch(
  context: Context,
  { scans, git }: Look,
  facts: Omit<SignatureReport, 'heads' | 'missing'>,
  heads: readonly Head[],
): Promise<Vouched> {
  const gone = heads.filter(({ tier, head }) => !scans[tier].graph.has(head));
  // A sparse checkout leaves records out.
  const counts = facts.status === 'good' && gone.length > 0 && git?.leftOut.size === 0;
  const ids = gone.map(({ head }) => head);
  const others = counts ? await recordsLacking(context, facts.commit, ids) : new Set(ids);
  const missing = gone.filter(({ head }) => !others.has(head));
  return { report: { ...facts, heads: heads.length, missing: missing.map(({ head }) => head) }, missing };
}

/** `execution 12 <head>` */
function parseAnchor(value: string): Head[] {
  const [, name, n, head = ''] = /^([a-z]+) (\d+) ([0-9a-f]{64})$/.exec(value.trim()) ?? [];
  const tier = TIERS.find((known) => known === name);
  return tier && isRecordId(head) ? [{ tier, head, n: Number(n) }] : [];
}

/**
 * Checkpoints that HEAD leads to, and those of this branch that no branch leads to any more: their heads belong into
 * these ledgers. Others belong to other branches, and are not missed here.
 */
async function readTags(
  { git }: Context,
  { branch }: GitFacts,
): Promise<{ ref: string; commit: string; heads: Head[] }[]> {
  if (!git) return [];
  const tags = await taggedManifests(git);
  const commits = [...new Set(tags.map(({ manifest }) => manifest.commit))];
  const elsewhere = new Set(await notReachable(git, commits, ['HEAD']));
  const alone = new Set(await notReachable(git, [...elsewhere], BRANCHES));
  return tags.map(({ ref, manifest: { commit, ledger = {}, branch: made } }) => {
    const isHere = !elsewhere.has(commit) || (made === branch && alone.has(commit));
    const heads = TIERS.flatMap((tier) =>
      (ledger[tier]?.heads ?? []).filter(isRecordId).map((head) => ({ tier, head, n: 0 })),
    );
    return { ref, commit, heads: isHere ? heads : [] };
  });
}

const nameOf = ({ kind, commit, ref }: SignatureReport): string =>
  kind === 'tag' ? `tag ${ref}` : `commit ${commit.slice(0, 12)}`;

const NOWHERE = { file: '', line: 0, offset: 0, last_good: null };

const describeBad = (report: SignatureReport): Finding => ({
  ...NOWHERE,
  code: 'signature_bad',
  tier: 'audit',
  message: `${nameOf(report)} was changed after it was signed, or its key was revoked`,
  hint: report.kind === 'tag' ? `git verify-tag ${report.ref}` : `git verify-commit ${report.commit}`,
});

/** One finding for each ledger: a rewrite misses every head that was ever signed. */
function describeMissing(vouched: readonly Vouched[]): Finding[] {
  return TIERS.flatMap((tier) => {
    const all = vouched.flatMap(({ report, missing }) =>
      missing.filter((head) => head.tier === tier).map((head) => ({ ...head, report })),
    );
    const [first] = all;
    if (!first) return [];
    const { report, head, n } = first;
    const count = new Set(all.map(({ head: id }) => id)).size;
    const number = n > 0 ? `record ${n} ` : '';
    return {
      ...NOWHERE,
      code: 'signed_missing' as const,
      tier,
      message: `${plural(count, 'signed head')} of the ${tier} ledger ${count === 1 ? 'is' : 'are'} missing, so the ledger was rewritten: ${nameOf(report)}, signed by ${report.signer}, names ${number}(${head.slice(0, 12)}…)`,
      hint: 'forge memory repair --reason "…"  (restores what git has, and names the rest as lost)',
    };
  });
}
