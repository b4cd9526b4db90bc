import * as z from 'zod/mini';
import { usage } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import { queueEvent } from '../events/outbox.js';
import { type Identified, readRecords, requireMemory, storeRecords } from '../ledger/memory.js';
import { type Context, madeBy, type Observed, observerOf, timestamp } from '../project/project.js';
import { readRunning } from '../session/running.js';

/** A Memory Note: durable, and the target of KFR promotion (KNO-02). */
export interface Note {
  id: string;
  text: string;
  at: string;
  session: string | null;
  from?: string;
  /** The file of another tool that it was imported from. */
  source?: string;
  /** Written by an agent. */
  by?: 'agent';
}

export const NoteInput = z.strictObject({ text: z.string() });

/** A builder's becomes an observation of its cycle. */
export async function addNote(context: Context, raw: z.infer<typeof NoteInput>): Promise<Note | Observed> {
  const observe = observerOf(context, 'memory');
  const text = checkText(checkInput(NoteInput, raw).text, { what: 'The note' });
  if (observe) return observe([text]);
  requireMemory(context);
  const at = timestamp(context);
  // Read before the note is stored: a failure after that would report that nothing was kept.
  const session = readRunning(context)?.id ?? null;
  const [stored] = storeRecords(context, [{ tier: 'note', kind: 'note', text, at, ...madeBy(context) }]);
  const id = stored?.id ?? '';
  queueEvent(context, 'learning', id, { kind: 'note', id, title: text }, session);
  return { id, text, at, session, ...madeBy(context) };
}

/** Oldest first. */
export async function listNotes(context: Context): Promise<{ notes: Note[]; warnings: string[] }> {
  return { notes: readNotes(context), warnings: context.warnings };
}

const readNotes = (context: Context): Note[] => readRecords(context, 'note').map(toNote);

function toNote({ id, record }: Identified): Note {
  const { text, at, session, from, by, source } = record;
  return {
    id,
    text: String(text ?? ''),
    at: at ?? '',
    session: session ?? null,
    ...(typeof from === 'string' ? { from } : {}),
    ...(typeof source === 'string' ? { source } : {}),
    ...(by === 'agent' ? { by } : {}),
  };
}

/** By its id or the start of it; exit 2 when none or several are meant. */
export function showNote(context: Context, { id }: { id: string }): Note {
  const matches = /^[0-9a-f]{4,64}$/.test(id)
    ? readNotes(context).filter((note) => note.id.startsWith(id))
    : [];
  const [found] = matches;
  if (found && matches.length === 1) return found;
  const what = matches.length > 1 ? `means ${matches.length} notes` : 'is not a note';
  throw usage('note.unknown', `${JSON.stringify(oneLine(id, 80))} ${what}.`, { hint: 'forge note list' });
}
