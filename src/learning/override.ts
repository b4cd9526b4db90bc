import * as z from 'zod/mini';
import { usage } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import { type Decision, requireDecision } from '../ledger/audit.js';
import {
  type Body,
  type RecordRef,
  readMemory,
  requireMemory,
  storeAudit,
  storeRecords,
} from '../ledger/memory.js';
import { type Context, timestamp } from '../project/project.js';
import { readFreezes } from './consolidation.js';
import { SCOPES } from './evaluation.js';
import { closeInvestigations, readKnowledge } from './knowledge.js';
import { knowledgeId, normalisePattern, type Proven, weighEvidence } from './rules.js';

/** What an override did: the audit record, and the knowledge record that names it. */
export interface Overridden {
  audit: RecordRef;
  action: 'append' | 'invalidate' | 'freeze' | 'unfreeze';
  record?: RecordRef;
  knowledge_id?: string;
  pattern?: string;
  scope?: string;
}

const CorrectionInput = z.strictObject({
  pattern: z.string(),
  scope: z._default(z.enum(SCOPES), 'execution'),
  reason: z.optional(z.string()),
});

const LIST = { hint: 'forge memory promote' };

/** LTM-14: a human corrects knowledge. Settles an invalidation and contests of the same pattern. */
export async function appendCorrection(
  context: Context,
  raw: z.input<typeof CorrectionInput>,
): Promise<Overridden> {
  const { pattern, scope, reason } = checkInput(CorrectionInput, raw);
  const decision = requireDecision(context, 'Appending corrective knowledge', reason);
  checkText(pattern, { what: 'The pattern', lines: false });
  if (normalisePattern(pattern) === '')
    throw usage('pattern.empty', 'The pattern is empty.', { field: 'pattern' });
  const knowledge_id = knowledgeId(scope, pattern);
  return decide(context, { action: 'append', knowledge_id, pattern, scope }, decision, () => {
    const known = readKnowledge(context).get(knowledge_id);
    const evaluations = readMemory(context).records('evaluation');
    const weighed = weighEvidence(evaluations, { has: () => true }).get(knowledge_id);
    return {
      kind: 'correction',
      ...{ knowledge_id, pattern, evidence_cycles: [], confidence: 'high', scope },
      ...{ created_at: timestamp(context), evidence: [] },
      settles: [...(known?.contested ?? []), ...(known?.invalidated ?? [])],
      // The human knew what has contradicted it so far.
      contradicts: weighed?.against ?? [],
    };
  });
}

/** LTM-14: a human invalidates knowledge. The record stays, and readers show it as invalid. */
export async function invalidateKnowledge(
  context: Context,
  input: { knowledge: string; reason?: string },
): Promise<Overridden> {
  const decision = requireDecision(context, 'Invalidating knowledge', input.reason);
  const { knowledge_id, pattern, scope } = findKnown(context, input.knowledge);
  const about = { action: 'invalidate' as const, knowledge_id, pattern, scope };
  return decide(context, about, decision, () => ({ kind: 'invalidated', knowledge_id }));
}

/** Stores the audit record and the knowledge record that names it in one write. */
function decide(
  context: Context,
  about: Omit<Required<Overridden>, 'audit' | 'record'>,
  decision: Decision,
  draft: () => Omit<Body, 'tier'> & { kind: string },
): Overridden {
  requireMemory(context);
  // An audit record is permanent. The text is only in the knowledge, where it can be redacted (LTM-19).
  const { pattern: _, ...named } = about;
  return context.disk.withLock(() => {
    const body = draft();
    const [audit, record] = storeRecords(context, [
      { tier: 'audit', kind: 'override', ...named, ...decision },
      ({ ids }) => ({ ...body, tier: 'knowledge', audit: ids[0] }),
    ]) as [RecordRef, RecordRef];
    closeInvestigations(context);
    return { audit, record, ...about };
  });
}

/** Finds knowledge by its words, or by the start of its id or of its record's id. */
function findKnown(context: Context, name: string): Proven {
  const isId = /^[0-9a-f]{6,64}$/.test(name);
  const found = [...readKnowledge(context).values()].filter(({ knowledge_id, record, pattern }) =>
    isId
      ? knowledge_id.startsWith(name) || record.startsWith(name)
      : normalisePattern(pattern) === normalisePattern(name),
  );
  const [only] = found;
  if (only && found.length === 1) return only;
  const shown = JSON.stringify(oneLine(name, 80));
  throw only
    ? usage('knowledge.ambiguous', `${shown} is ambiguous: ${found.length} match. Name one by its id.`, LIST)
    : usage('knowledge.unknown', `No knowledge matches ${shown}.`, LIST);
}

/** LTM-14: consolidation waits until a human ends that. Recording continues. */
export async function freezeConsolidation(
  context: Context,
  input: { reason?: string; end?: boolean },
): Promise<Overridden> {
  const action = input.end ? 'unfreeze' : 'freeze';
  const what = input.end ? 'Unfreezing consolidation' : 'Freezing consolidation';
  const decision = requireDecision(context, what, input.reason);
  requireMemory(context);
  return context.disk.withLock(() => {
    const settles = input.end ? { settles: readFreezes(readMemory(context)) } : {};
    return { audit: storeAudit(context, { kind: 'override', action, ...settles, ...decision }), action };
  });
}
