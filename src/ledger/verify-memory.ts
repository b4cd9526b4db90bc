import { shown } from '../core/paths.js';
import { knowAllowed } from '../guard/allow.js';
import { loadGuard, toFinding } from '../guard/guard.js';
import { type Context, warnFileSystem } from '../project/project.js';
import { type Container, linesOf } from './container.js';
import { ledgerFolder } from './context.js';
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
import { recordId, type Tier } from './record.js';
import { readSignatures, type SignatureReport } from './signatures.js';

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
    notes: messagesOf(verdict, 'note'),
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
