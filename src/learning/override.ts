import * as z from 'zod/mini';
import { refused, usage } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import { type RecordRef, storeAudit, storeRecords } from '../ledger/append.js';
import { requireDecision } from '../ledger/human.js';
import { requireMemory } from '../ledger/integrity.js';
import { type Context, timestamp } from '../project/project.js';
import { readFreezes } from './consolidation.js';
import { SCOPES } from './evaluation.js';
import { readEvaluations } from './evaluation-read.js';
import { weighEvidence } from './evidence.js';
import { closeInvestigations } from './investigation.js';
import { knowledgeId, normalisePattern } from './pattern.js';
import type { Proven } from './proven.js';
import { readKnowledge } from './read-earned.js';

/** What an override did: the audit record, and the record that it brought into the knowledge ledger. */
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

/** LTM-14: a human says what is true. It settles an invalidation of the same pattern, and contests of it. */
export async function appendCorrection(
  context: Context,
  raw: z.input<typeof CorrectionInput>,
): Promise<Overridden> {
  const { pattern, scope, reason } = checkInput(CorrectionInput, raw);
  const decision = requireDecision(context, 'Appending corrective knowledge', reason);
  checkText(pattern, { what: 'The pattern', lines: false });
  if (normalisePattern(pattern) === '')
    throw usage('pattern.empty', 'The pattern says nothing.', { field: 'pattern' });
  const { around } = await requireMemory(context);
  const knowledge_id = knowledgeId(scope, pattern);
  return context.disk.withLock(() => {
    const known = readKnowledge(context).get(knowledge_id);
    if (known?.status === 'valid')
      throw refused('knowledge.known', `That is known and valid already (${knowledge_id.slice(0, 12)}).`, {
        hint: 'forge memory promote',
      });
    // The words stand in the knowledge ledger alone: an audit record is kept for good (LTM-19).
    const about = { action: 'append', knowledge_id, scope };
    const audit = storeAudit(context, around, { kind: 'override', ...about, ...decision });
    const [record] = storeRecords(context, around, 'knowledge', [
      {
        kind: 'correction',
        knowledge_id,
        pattern,
        evidence_cycles: [],
        confidence: 'high',
        scope,
        created_at: timestamp(context),
        evidence: [],
        audit: audit.id,
        settles: [...(known?.contested ?? []), ...(known?.invalidated ?? [])],
        // What spoke against it until now was known to the human.
        contradicts: findAgainst(context, knowledge_id),
      },
    ]);
    closeInvestigations(context);
    return { audit, action: 'append', knowledge_id, pattern, scope, ...(record ? { record } : {}) };
  });
}

function findAgainst(context: Context, knowledge_id: string): string[] {
  const evaluations = readEvaluations(context);
  const against = weighEvidence(evaluations).get(knowledge_id)?.against ?? [];
  return against.map((row) => evaluations.ids.get(row));
}

/** LTM-14: a human says that something is not true any more. The record stays; readers show it as invalid. */
export async function invalidateKnowledge(
  context: Context,
  input: { knowledge: string; reason?: string },
): Promise<Overridden> {
  const decision = requireDecision(context, 'Invalidating knowledge', input.reason);
  const { around } = await requireMemory(context);
  return context.disk.withLock(() => {
    const { knowledge_id, pattern, scope, status } = findKnown(context, input.knowledge);
    if (status === 'invalid')
      throw refused('knowledge.invalid', `${knowledge_id.slice(0, 12)} is invalid already.`, {
        hint: 'forge memory promote',
      });
    const about = { action: 'invalidate' as const, knowledge_id, scope };
    const audit = storeAudit(context, around, { kind: 'override', ...about, ...decision });
    const [record] = storeRecords(context, around, 'knowledge', [
      { kind: 'invalidated', knowledge_id, audit: audit.id },
    ]);
    closeInvestigations(context);
    return { audit, ...about, pattern, ...(record ? { record } : {}) };
  });
}

/** By its words, its id or that of the record that `memory log` shows, or the start of one. */
function findKnown(context: Context, name: string): Proven {
  const known = [...readKnowledge(context).values()];
  const isId = /^[0-9a-f]{6,64}$/.test(name);
  const found = known.filter(({ knowledge_id, record, pattern }) =>
    isId
      ? knowledge_id.startsWith(name) || record.startsWith(name)
      : normalisePattern(pattern) === normalisePattern(name),
  );
  const [only] = found;
  if (only && found.length === 1) return only;
  const shown = JSON.stringify(oneLine(name, 80));
  throw only
    ? usage(
        'knowledge.ambiguous',
        `${shown} means ${found.length} pieces of knowledge; name one by its id.`,
        {
          hint: 'forge memory promote',
        },
      )
    : usage('knowledge.unknown', `Nothing that is known is called ${shown}.`, {
        hint: 'forge memory promote',
      });
}

/** LTM-14: consolidation waits until a human ends that. Recording goes on. */
export async function freezeConsolidation(
  context: Context,
  input: { reason?: string; end?: boolean },
): Promise<Overridden> {
  const action = input.end ? 'unfreeze' : 'freeze';
  const what = input.end ? 'Unfreezing consolidation' : 'Freezing consolidation';
  const decision = requireDecision(context, what, input.reason);
  const { around } = await requireMemory(context);
  return context.disk.withLock(() => {
    const freezes = readFreezes(context);
    if (input.end && freezes.length === 0)
      throw refused('consolidation.running', 'Consolidation is not frozen.', {
        hint: 'forge memory promote',
      });
    if (!input.end && freezes.length > 0)
      throw refused('consolidation.frozen', 'Consolidation is frozen already.', {
        hint: 'forge memory override unfreeze --reason "…"',
      });
    const settles = input.end ? { settles: freezes } : {};
    const audit = storeAudit(context, around, { kind: 'override', action, ...settles, ...decision });
    return { audit, action };
  });
}
