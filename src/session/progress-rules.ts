/**
 * `short-term/progress.txt`, RFC-9060 §3.2: a header, `[HH:MM] text` lines (UTC), and a NEXT line that stays last.
 * A line `=== DATE ===` precedes an entry of another day than the previous one.
 * Further lines of a text are indented below its stamp, so that none of them can pose as another entry.
 */
export const NO_SESSION_TEXT = 'No session is running. Start one with: forge start\n';

const STAMP = /^\[(\d{2}:\d{2})\] (.*)$/s;
const INDENT = ' '.repeat('[00:00] '.length);
const DAY = /^=== (?:FORGE Session )?(\d{4}-\d{2}-\d{2}) ===$/;
const NEXT = 'NEXT: ';
const NEXT_INDENT = ' '.repeat(NEXT.length);
const CHECKPOINT = 'CHECKPOINT: ';

export interface ProgressLine {
  time: string;
  text: string;
}

export interface Progress {
  /** The header's date; null without a session. */
  date: string | null;
  lines: ProgressLine[];
  next?: string;
}

const hourMinute = (at: Date): string => at.toISOString().slice(11, 16);
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
const sessionHeader = (at: Date): string => `=== FORGE Session ${dayOf(at)} ===\n(times in UTC)\n\n`;
const dayHeader = (at: Date): string => `\n=== ${dayOf(at)} ===\n\n`;
const indented = (text: string, indent: string): string => text.replaceAll('\n', `\n${indent}`);

/** The lines that forge itself writes at a start. */
export const OPENING = /^(Started - branch: |Active issues: \d+$)/;

/** A new session's file. */
export function startProgress(at: Date, branch: string, activeIssues: number): string {
  const first = formatEntry(at, `Started - branch: ${branch}`);
  return `${sessionHeader(at)}${first}${formatEntry(at, `Active issues: ${activeIssues}`)}`;
}

function formatEntry(at: Date, text: string): string {
  return `[${hourMinute(at)}] ${indented(text, INDENT)}\n`;
}

export function addEntry(file: string, at: Date, text: string, checkpoint = false): string {
  const { body, next } = split(file);
  return join(
    `${body}${dayBefore(body, at)}${formatEntry(at, `${checkpoint ? CHECKPOINT : ''}${text}`)}`,
    next,
  );
}

/** The lines between a body and a new entry that make the entry's day known. */
function dayBefore(body: string, at: Date): string {
  const last = body.split('\n').reduce((day, line) => DAY.exec(line)?.[1] ?? day, '');
  if (last === dayOf(at)) return '';
  if (last !== '') return dayHeader(at);
  return (body === '' ? '' : '\n') + sessionHeader(at);
}

/** When each entry below a day was written, in minutes since 1970, in the order of the file. */
export function entryTimes(file: string): number[] {
  let day = '';
  return file.split('\n').flatMap((line) => {
    day = DAY.exec(line)?.[1] ?? day;
    const time = Date.parse(`${day}T${STAMP.exec(line)?.[1]}:00Z`);
    return day === '' || Number.isNaN(time) ? [] : [time / 60_000];
  });
}

export function setNext(file: string, text: string): string {
  return join(split(file).body, text);
}

export function parseProgress(file: string): Progress {
  const { body, next } = split(file);
  const lines: ProgressLine[] = [];
  for (const line of body.split('\n')) {
    const stamped = STAMP.exec(line);
    const last = lines.at(-1);
    if (stamped) lines.push({ time: stamped[1] ?? '', text: stamped[2] ?? '' });
    else if (last && line.startsWith(INDENT)) last.text += `\n${line.slice(INDENT.length)}`;
  }
  const date = /^=== FORGE Session (\d{4}-\d{2}-\d{2}) ===/m.exec(body)?.[1] ?? null;
  return { date, lines, ...(next === undefined ? {} : { next }) };
}

/** The lines that `startProgress` writes. A file with only these holds no work. */
const START_LINES = 2;

export function holdsWork(file: string): boolean {
  const { date, lines, next } = parseProgress(file);
  return date !== null && (lines.length > START_LINES || next !== undefined);
}

interface Parts {
  body: string;
  next?: string;
}

/** Removes the NEXT block, wherever it is. The last one counts. */
function split(file: string): Parts {
  const body: string[] = [];
  let next: string[] | undefined;
  let inNext = false;
  // An editor may have saved it with CRLF. forge itself accepts no text with a CR.
  for (const line of file.replaceAll('\r\n', '\n').replace(/\n+$/, '').split('\n')) {
    if (line.startsWith(NEXT)) next = [line.slice(NEXT.length)];
    else if (inNext && line.startsWith(NEXT_INDENT)) next?.push(line.slice(NEXT_INDENT.length));
    else body.push(line);
    inNext = line.startsWith(NEXT) || (inNext && line.startsWith(NEXT_INDENT));
  }
  const text = body.join('\n').replace(/\n+$/, '');
  return { body: text === '' ? '' : `${text}\n`, ...(next ? { next: next.join('\n') } : {}) };
}

function join(body: string, next: string | undefined): string {
  return next === undefined ? body : `${body}\n${NEXT}${indented(next, NEXT_INDENT)}\n`;
}
