import { plural } from '../core/text.js';
import type { Place, Problem } from '../ledger/rules/problem.js';
import { byNumber, type LedgerRecord } from '../ledger/rules/record.js';
import { ENOUGH, isEvidenceFor } from './evidence.js';
import { knowledgeId } from './pattern.js';
import { textsOf } from './proven.js';

interface Claim {
  id: string;
  n: number;
  kind: string;
  knowledge_id: string;
  /** The evaluations that it names, each once. */
  evidence: string[];
  /** The human's decision that it names. */
  audit: string;
  /** The cycles that those evaluations which are here are of. */
  cycles: Map<string, unknown>;
  isDecided: boolean;
  /** Another record names the same decision. */
  isRepeated: boolean;
  place: Place;
  /** Why it was not earned, once that is clear. */
  flaw: string | null;
}

/** What is in the ledgers, whether it can still be read or not. */
interface Presence {
  evaluation: { has(id: string): boolean; isVoid(id: string): boolean };
  execution: { has(id: string): boolean };
  audit: { has(id: string): boolean };
  /** Of knowledge records: void, or reset. */
  isSettled(id: string): boolean;
}

export interface Judged {
  /** What the evidence that is here says otherwise. */
  unearned: (Problem & { id: string })[];
  /** What nobody can tell, for the evidence is not here; without what other records settle. */
  unproven: (Problem & { id: string })[];
  /** All that readers must not build on. */
  doubtful: string[];
}

const DECIDED: Readonly<Record<string, string>> = { correction: 'append', invalidated: 'invalidate' };
const SHOWN: ReadonlySet<unknown> = new Set(['knowledge', 'reinstated']);

/**
 * Whether knowledge was earned: every promotion names evaluations of three cycles that show the pattern, and every word
 * of a human's the audit record of it. Claims have to be added before what they name.
 */
export class EarnedPromotions {
  private readonly claims: Claim[] = [];
  private readonly byName = new Map<string, Claim[]>();

  addClaim(record: LedgerRecord, id: string, place: Place): void {
    const { kind, n } = record;
    if (!SHOWN.has(kind) && DECIDED[kind] === undefined) return;
    const evidence = SHOWN.has(kind) ? [...new Set(textsOf(record.evidence))] : [];
    const knowledge_id = String(record.knowledge_id);
    const audit = DECIDED[kind] === undefined ? '' : String(record.audit);
    const flaw = flawOf(record, evidence.length);
    const claim = { id, n, kind, knowledge_id, evidence, audit, place, flaw };
    this.claims.push({ ...claim, cycles: new Map(), isDecided: false, isRepeated: false });
    const last = this.claims.at(-1) as Claim;
    for (const name of audit === '' ? evidence : [audit])
      this.byName.set(name, [...(this.byName.get(name) ?? []), last]);
  }

  addEvaluation(record: LedgerRecord, id: string): void {
    for (const claim of this.byName.get(id) ?? [])
      if (isEvidenceFor(record, claim.knowledge_id)) claim.cycles.set(id, record.execution);
      else claim.flaw ??= `the evaluation ${id.slice(0, 12)}… that it names is no evidence for it`;
  }

  addAudit(record: LedgerRecord, id: string): void {
    // One decision makes one record: another that names it says it once more, which nobody did.
    const named = this.byName.get(id) ?? [];
    const { kind, action, knowledge_id } = record;
    const isOf = (claim: Claim): boolean =>
      kind === 'override' && action === DECIDED[claim.kind] && knowledge_id === claim.knowledge_id;
    for (const claim of named)
      if (!isOf(claim))
        claim.flaw ??= `the audit record ${id.slice(0, 12)}… that it names is of another decision`;
    for (const [i, claim] of named.filter(isOf).sort(byNumber).entries()) {
      claim.isDecided = true;
      claim.isRepeated = i > 0;
    }
  }

  judge(presence: Presence): Judged {
    const open = this.claims.filter(({ id }) => !presence.isSettled(id));
    const found = open.map((claim) => ({ claim, ...weigh(claim, presence) }));
    const wrong = found.filter(({ flaw }) => flaw !== null);
    const doubtful = found.filter(({ flaw, lack }) => flaw !== null || lack !== null);
    const sound = found.filter(({ flaw, lack, claim }) => !flaw && !lack && claim.kind !== 'reinstated');
    const isSound = new Set(sound.map(({ claim }) => claim.knowledge_id));
    // Where another record says the same rightly, or a human has decided, nothing hangs on this one.
    const told = doubtful.filter(
      ({ flaw, claim }) => flaw === null && !(isText(claim) && isSound.has(claim.knowledge_id)),
    );
    return {
      unearned: wrong.map(({ claim, flaw }) => describe(claim, 'unearned', `was not earned: ${flaw}`)),
      unproven: told.map(({ claim, lack }) => describe(claim, 'unproven', `is not proven: ${lack}`)),
      doubtful: doubtful.map(({ claim }) => claim.id),
    };
  }
}

const isText = ({ kind }: { kind: string }): boolean => kind === 'knowledge' || kind === 'correction';

function flawOf(record: LedgerRecord, evidence: number): string | null {
  const { kind, knowledge_id, scope, pattern } = record;
  if (isText(record) && knowledge_id !== knowledgeId(String(scope), String(pattern)))
    return 'its knowledge_id is not that of its pattern';
  return SHOWN.has(kind) && evidence < ENOUGH
    ? `it names ${evidence} evaluations as evidence; ${ENOUGH} are needed`
    : null;
}

/** What was redacted was looked at when it was there; what is elsewhere nobody here has seen, and what is void shows nothing. */
function weigh(claim: Claim, presence: Presence): { flaw: string | null; lack: string | null } {
  const { flaw, audit, isDecided, isRepeated, evidence, cycles } = claim;
  if (flaw !== null) return { flaw, lack: null };
  if (audit !== '') {
    if (isRepeated) return { flaw, lack: 'another record names the same decision' };
    const isHere = isDecided || presence.audit.has(audit);
    return { flaw, lack: isHere ? null : 'the audit record of the decision is not here' };
  }
  const shown = new Set<unknown>();
  let missing = 0;
  for (const id of evidence) {
    const cycle = cycles.get(id);
    if (presence.evaluation.isVoid(id)) missing++;
    else if (!cycles.has(id) && presence.evaluation.has(id)) shown.add(id);
    else if (typeof cycle === 'string' && presence.execution.has(cycle)) shown.add(cycle);
    else if (typeof cycle === 'string' || !cycles.has(id)) missing++;
  }
  if (shown.size >= ENOUGH) return { flaw, lack: null };
  return missing > 0
    ? { flaw, lack: `${plural(missing, 'evaluation')} that it names, or their cycles, are not here or void` }
    : { flaw: `its evidence is of ${plural(shown.size, 'cycle')}; ${ENOUGH} are needed`, lack: null };
}

const describe = (
  { id, place }: Claim,
  code: 'unearned' | 'unproven',
  what: string,
): Problem & { id: string } => ({
  id,
  code,
  message: `this knowledge ${what}`,
  ...place,
  last_good: null,
});
