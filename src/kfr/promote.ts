import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { ForgeError, refused, usage } from '../core/error.js';
import { kfrFile, promotionFile } from '../core/paths.js';
import { encodeDocument, type Format } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { queueEvent } from '../events/outbox.js';
import { installGuard } from '../guard/guard.js';
import { type Draft, findKeyed, type RecordRef, requireMemory, storeRecords } from '../ledger/memory.js';
import type { Note } from '../note/note.js';
import {
  type Context,
  hasPromotion,
  madeBy,
  type Observed,
  observerOf,
  timestamp,
} from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { requireRunning } from '../session/running.js';
import { readKfr } from './kfr.js';
import { closeEntries, Entry, KFR, NO_KFR, settling } from './rules.js';

/** The intent of a promotion, which must be completed: before it the entry is only in the KFR, afterward only a note. */
const PromotionIntent = z.looseObject({
  schema_version: z.string(),
  op: z.literal('kfr.promote'),
  session: z.string(),
  entry: Entry,
  at: z.string(),
});
type PromotionIntent = z.infer<typeof PromotionIntent>;
const INTENT: Format<PromotionIntent> = { name: 'promotion', version: '1.0', schema: PromotionIntent };

/** KFR-10, AGN-025 §8: turns an entry into a durable note and removes it from the KFR, in one step. */
/** A builder's becomes an observation of its cycle. */
export async function promoteEntry(context: Context, { id }: { id: string }): Promise<Note | Observed> {
  const observe = observerOf(context, 'memory');
  requireMemory(context);
  return context.disk.withLock(() => {
    const { disk, layout } = context;
    const { id: session } = requireRunning(context);
    const entry = findEntry(context, id);
    if (observe) {
      const observed = observe([entry.text]);
      leaveKfr(context, { session, entry, at: timestamp(context) });
      return observed;
    }
    const intent: PromotionIntent = {
      schema_version: INTENT.version,
      op: 'kfr.promote',
      session,
      entry,
      at: timestamp(context),
    };
    disk.replace(promotionFile(layout), encodeDocument(intent));
    return complete(context, intent);
  });
}

function findEntry(context: Context, id: string): Entry {
  const { entries } = readKfr(context);
  const entry = entries.find((candidate) => candidate.id === id);
  if (!entry)
    throw usage('kfr.unknown', `There is no entry ${JSON.stringify(oneLine(id, 40))}.`, {
      hint: `forge kfr list   # active: ${entries.map((candidate) => candidate.id).join(', ') || 'none'}`,
    });
  if (entry.requires_resolution)
    throw refused('gate.closed', `${id} (${entry.kind}) requires resolution and cannot be promoted.`, {
      hint: `${settling('resolve', id)}   # then note the answer`,
    });
  return entry;
}

/** A note that can never be written (its text is refused) must not block later commands. */
function storeNote(context: Context, draft: Draft): RecordRef | undefined {
  try {
    return storeRecords(context, [draft])[0];
  } catch (error) {
    if (error instanceof ForgeError && FINAL.includes(error.kind))
      context.disk.remove(promotionFile(context.layout));
    throw error;
  }
}

const FINAL: readonly string[] = ['secret', 'usage', 'refused'];

/** Each step can be repeated after a crash: the note has a key, and the intent is removed last. */
function complete(context: Context, { session, entry, at }: PromotionIntent): Note {
  const { disk, layout } = context;
  const { id, text } = entry;
  const key = createHash('sha256').update(`kfr\u0000${session}\u0000${id}`).digest('hex');
  const known = findKeyed(context, new Set([key])).get(key)?.records[0];
  const stored =
    known ??
    storeNote(context, { tier: 'note', kind: 'note', text, at, session, from: id, key, ...madeBy(context) });
  leaveKfr(context, { session, entry, at });
  const noteId = stored?.id ?? '';
  queueEvent(context, 'learning', noteId, { kind: 'note', id: noteId, title: text }, session);
  disk.remove(promotionFile(layout));
  return { id: noteId, text, at, session, from: id, ...madeBy(context) };
}

function leaveKfr(
  { disk, layout }: Context,
  { session, entry: { id }, at }: Pick<PromotionIntent, 'session' | 'entry' | 'at'>,
): void {
  const before = disk.readDocument(KFR, kfrFile(layout), NO_KFR);
  if (before.value.session !== session || before.value.entries.every((other) => other.id !== id)) return;
  const after = closeEntries(before.value, new Set([id]), 'promoted', at);
  disk.replace(kfrFile(layout), encodeDocument(after), before.bytes);
}

/** Completes an interrupted promotion before anything else reads notes or the KFR. */
export async function finishPromotion(context: Context): Promise<void> {
  const { disk } = context;
  if (disk.dryRun || !hasPromotion(context)) return;
  await installGuard(context);
  requireMemory(context);
  disk.withLock(() => {
    const intent = readIntent(context);
    if (!intent) return;
    complete(context, intent);
    context.warnings.push(
      `The promotion of ${intent.entry.id} (${sessionName(intent.session)}) had been cut off; it is completed now.`,
    );
  });
}

const readIntent = ({ disk, layout }: Context): PromotionIntent | null =>
  disk.readDocument(INTENT, promotionFile(layout), null).value;
