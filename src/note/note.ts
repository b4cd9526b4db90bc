import * as z from 'zod/mini';
import { refused, usage } from '../core/error.js';
import { kfrFile, promotionFile } from '../core/paths.js';
import { checkInput, encodeDocument, type Format, findTwin } from '../core/schema.js';
import { checkText, noSuch, oneLine, sha256 } from '../core/text.js';
import { queueEvent } from '../events/outbox.js';
import { installGuard } from '../guard/guard.js';
import { readKfr } from '../kfr/kfr.js';
import { closeEntries, Entry, KFR, NO_KFR, settling } from '../kfr/rules.js';
import {
  type Draft,
  derive,
  findKeyed,
  type Identified,
  mayHave,
  readMemory,
  readRecords,
  storeRecords,
} from '../ledger/memory.js';
import { textsIn } from '../ledger/record.js';
import {
  type Context,
  hasPromotion,
  madeBy,
  type Observed,
  observerOf,
  refuseHalted,
  requireSupervisor,
  timestamp,
} from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { requireOwn, sessionHere } from '../session/running.js';

/** A Memory Note: durable, and the target of KFR promotion (KNO-02). */
export interface Note {
  id: string;
  text: string;
  at: string;
  session: string | null;
  from?: string;
  /** The file of another tool that it was imported from. */
  source?: string;
  /** Its section there, if the text does not begin with the heading: a task's id, or '' without a heading. */
  section?: string;
  by?: 'agent';
  removes?: string[];
  /** Nothing was added: a note with this text stands already. */
  duplicate?: true;
}

const NoteInput = z.strictObject({ text: z.string(), replaces: z.optional(z.string()) });

/** A builder's is stored by its cycle. `replaces`: the id of a note that no longer holds, or the start of it. */
export async function addNote(context: Context, raw: z.infer<typeof NoteInput>): Promise<Note | Observed> {
  const observe = observerOf(context, 'memory');
  const { text: given, replaces } = checkInput(NoteInput, raw);
  const text = checkText(given, { what: 'The note' });
  if (replaces !== undefined) requireSupervisor(context, 'memory');
  if (observe) return observe([text], [], 'note');
  const twin = mayHave(context, 'note', text) && readNotes(context).find((note) => note.text === text);
  if (twin && replaces === undefined) return { ...twin, duplicate: true };
  const removes = replaces === undefined ? {} : { removes: [showNote(context, { id: replaces }).id] };
  const at = timestamp(context);
  // Read before the note is stored: a failure after that would report that nothing was kept.
  const session = sessionHere(context);
  const draft = { text, at, ...removes, ...madeBy(context) };
  const id = storeRecords(context, [{ tier: 'note', kind: 'note', ...draft }])[0]?.id ?? '';
  queueEvent(context, 'learning', id, { kind: 'note', id, title: text }, session);
  return { id, text, at, session, ...madeBy(context), ...removes };
}

/** Begins as `forge help gate` shows, or ends with a question mark. */
const FOR_SOMEBODY = /^(?:(?:question|answer) for |for a person\b|for [\w ]+: )|\?\s*$/i;

export const isForSomebody = ({ text }: Pick<Note, 'text'>): boolean => FOR_SOMEBODY.test(text);

/** Oldest first. `waiting`: only those that are for somebody. */
export async function listNotes(
  context: Context,
  { waiting = false }: { waiting?: boolean | undefined } = {},
): Promise<{ notes: Note[]; warnings: string[] }> {
  const notes = derive(context, 'notes', () => readNotes(context));
  return { notes: waiting ? notes.filter(isForSomebody) : notes, warnings: context.warnings };
}

export const readNotes = (context: Context): Note[] => readRecords(context, 'note').map(toNote);

function toNote({ id, record }: Identified): Note {
  const { text, at, session, from, by, source, section, removes } = record;
  return {
    ...{ id, text: String(text ?? ''), at: at ?? '', session: session ?? null },
    ...(typeof from === 'string' ? { from } : {}),
    ...(typeof source === 'string' ? { source } : {}),
    ...(typeof section === 'string' ? { section } : {}),
    ...(by === 'agent' ? { by } : {}),
    ...(removes === undefined ? {} : { removes: textsIn(removes) }),
  };
}

/** By its id or the start of it; exit 2 when none or several are meant. */
export function showNote(context: Context, { id }: { id: string }): Note {
  const isMeant = (one: { id: string }): boolean => /^[0-9a-f]{4,64}$/.test(id) && one.id.startsWith(id);
  const [found, ...more] = readNotes(context).filter(isMeant);
  if (found && more.length === 0) return found;
  const gone = found ? undefined : readMemory(context).removedNotes().find(isMeant);
  const what = found ? `means ${more.length + 1} notes` : gone ? 'was removed or replaced' : 'is not a note';
  const hint = gone ? `forge memory show ${gone.id.slice(0, 12)}` : 'forge note list';
  throw usage('note.unknown', `${JSON.stringify(oneLine(id, 80))} ${what}.`, { hint });
}

/** Takes a note out of the briefing, the lists and recall. Its record stays in the ledger. */
export function removeNote(context: Context, { id }: { id: string }): { removed: Note } {
  requireSupervisor(context, 'memory');
  const removed = showNote(context, { id });
  storeRecords(context, [{ tier: 'note', kind: 'removed', removes: [removed.id], ...madeBy(context) }]);
  return { removed };
}

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

/**
 * KFR-10, AGN-025 §8: turns an entry into a durable note and removes it from the KFR, in one step. A builder's is stored by
 * its cycle.
 */
export async function promoteEntry(context: Context, { id }: { id: string }): Promise<Note | Observed> {
  const observe = observerOf(context, 'memory');
  return context.disk.withLock(() => {
    const { disk, layout } = context;
    const intent: PromotionIntent = {
      schema_version: INTENT.version,
      op: 'kfr.promote',
      session: requireOwn(context).id,
      entry: findEntry(context, id),
      at: timestamp(context),
    };
    if (observe) {
      const observed = observe([intent.entry.text], [], 'note');
      leaveKfr(context, intent);
      return observed;
    }
    disk.replace(promotionFile(layout), encodeDocument(intent));
    return complete(context, intent);
  });
}

function findEntry(context: Context, id: string): Entry {
  const { entries } = readKfr(context);
  const entry = findTwin(entries, id);
  const ids = entries.map((one) => one.id).join(', ') || 'none';
  if (!entry) throw noSuch('entry', id, `forge kfr list   # active: ${ids}`, 'kfr');
  if (entry.requires_resolution)
    throw refused('gate.closed', `${id} (${entry.kind}) requires resolution and cannot be promoted.`, {
      hint: `${settling('resolve', id)}   # then note the answer`,
    });
  return entry;
}

/** Each step can be repeated after a crash: the note has a key, and the intent is removed last. */
function complete(context: Context, intent: PromotionIntent): Note {
  const { session, at, entry } = intent;
  const { text, id: from } = entry;
  const key = sha256(`kfr\u0000${session}\u0000${from}`);
  const draft: Draft = { tier: 'note', kind: 'note', text, at, session, from, key, ...madeBy(context) };
  const [known] = findKeyed(context, new Set([key])).get(key)?.records ?? [];
  const id = (known ?? storeRecords(context, [draft])[0])?.id ?? '';
  leaveKfr(context, intent);
  queueEvent(context, 'learning', id, { kind: 'note', id, title: text }, session);
  context.disk.remove(promotionFile(context.layout));
  return { id, text, at, session, from, ...madeBy(context) };
}

function leaveKfr({ disk, layout }: Context, { session, entry: { id }, at }: PromotionIntent): void {
  const before = disk.readDocument(KFR, kfrFile(layout), NO_KFR);
  if (before.value.session !== session || before.value.entries.every((other) => other.id !== id)) return;
  const after = closeEntries(before.value, new Set([id]), 'promoted', at);
  disk.replace(kfrFile(layout), encodeDocument(after), before.bytes);
}

/** Completes an interrupted promotion before anything else reads notes or the KFR. */
export async function finishPromotion(context: Context): Promise<void> {
  const { disk, layout } = context;
  if (disk.dryRun || !hasPromotion(context)) return;
  await installGuard(context);
  refuseHalted(context);
  disk.withLock(() => {
    const { value: intent } = disk.readDocument(INTENT, promotionFile(layout), null);
    if (!intent) return;
    complete(context, intent);
    context.warnings.push(
      `The promotion of ${intent.entry.id} (${sessionName(intent.session)}) had been cut off; it is completed now.`,
    );
  });
}
