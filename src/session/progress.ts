import { refused } from '../core/error.js';
import { progressFile, shown } from '../core/paths.js';
import { decodeUtf8 } from '../core/schema.js';
import { checkText } from '../core/text.js';
import type { Context } from '../project/project.js';
import { addEntry, NO_SESSION_TEXT, type ProgressLine, parseProgress, setNext } from './progress-rules.js';
import { sessionName } from './rules.js';
import { requireRunning } from './running.js';

/** The live progress.txt, or the existing text without a session. */
export function readProgressText({ disk, layout }: Context): string {
  const path = progressFile(layout);
  const bytes = disk.read(path);
  return bytes ? decodeUtf8(bytes, shown(layout, path)) : NO_SESSION_TEXT;
}

/** Appends `[HH:MM] text` (UTC) to the running session's progress (SES-04). */
export function addProgress(
  context: Context,
  input: { text: string; checkpoint?: boolean },
): { line: string } {
  const text = checkText(input.text, { what: 'The progress text' });
  const at = context.world.now();
  const after = editProgress(context, (file) => addEntry(file, at, text, input.checkpoint));
  const last = parseProgress(after).lines.at(-1) as ProgressLine;
  return { line: `[${last.time}] ${last.text}` };
}

/** Sets the NEXT line, which stays the last one. */
export function setNextStep(context: Context, input: { text: string }): { line: string } {
  const text = checkText(input.text, { what: 'The NEXT text' });
  editProgress(context, (file) => setNext(file, text));
  return { line: `NEXT: ${text}` };
}

export function editProgress(context: Context, change: (file: string) => string): string {
  const { disk, layout } = context;
  return disk.withLock(() => {
    requireRunning(context);
    const after = change(readProgressText(context));
    disk.replace(progressFile(layout), Buffer.from(after, 'utf8'));
    return after;
  });
}

export interface ShownProgress {
  session: string | null;
  /** The day it began (UTC). */
  date: string;
  lines: ProgressLine[];
  next?: string;
}

export function showProgress(context: Context): ShownProgress {
  const { date, lines, next } = parseProgress(readProgressText(context));
  if (date === null) throw refused('session.none', 'No session is running.', { hint: 'forge start' });
  const session = sessionName(requireRunning(context).id);
  return { session, date, lines, ...(next === undefined ? {} : { next }) };
}
