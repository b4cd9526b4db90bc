import { decodeManifest } from '../checkpoint/read.js';
import { type Manifest, manifestIn } from '../checkpoint/rules.js';
import { tagOf } from '../core/paths.js';
import { plural } from '../core/text.js';
import { readAnchorCommits, type Signature, verifyingGit, verifyTag } from '../git/signatures.js';
import { listTags } from '../git/tags.js';
import type { Context } from '../project/project.js';
import { gitFolder } from './context.js';
import type { Graph } from './graph.js';
import type { Problem } from './integrity.js';
import { ledgerOf } from './memory.js';
import { isRecordId } from './record.js';

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
export async function readSignatures(
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
  const place = { file: '', line: 0, offset: 0, last_good: null, ids: missing };
  if (status === 'bad')
    return [
      {
        ...{
          ...place,
          code: 'signature_bad',
          message: `${name} was changed after it was signed, or its key was revoked`,
        },
        hint: kind === 'tag' ? `git verify-tag ${ref}` : `git verify-commit ${commit}`,
      },
    ];
  if (missing.length === 0) return [];
  const message = `${plural(missing.length, 'signed head')} of ${name}, signed by ${signer}, ${missing.length === 1 ? 'is' : 'are'} missing, so the ledger was rewritten`;
  return [{ ...place, code: 'signed_missing', message, hint: 'forge memory repair' }];
}
