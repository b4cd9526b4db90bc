import { oneLine } from '../core/text.js';
import { cleanMessage } from './clean.js';
import { ITEM, isHeading, linesOf, readMessage } from './protocol.js';

/** The commit protocol of RFC-9060 §5.1. */
export interface CommitMessage {
  /** An issue's or feature's id; `FORGE` without one. Empty: the subject has no brackets. */
  id: string;
  subject: string;
  what: string[];
  why: string;
  learned: string[];
  updated: string[];
  backtrace: {
    /** Short hash, or `none`. */
    parent: string;
    parentNote?: string;
    linear: string;
    session: string;
  };
  /** `Signed-off-by: …` and the like. */
  trailers?: string[];
  /** Heads of the ledgers as they are in the commit: `execution 12 <id>`. Verification looks for them. */
  ledger?: string[];
}

const item = (text: string): string => oneLine(text, 500);

/** Paragraphs keep their lines, but none may pose as a heading of the protocol. */
const prose = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line) => (/^ {0,3}#/.test(line) ? `    ${line.trim()}` : line.trimEnd()))
    .join('\n');

/** The message as it is stored; commits made with it need `--cleanup=verbatim` or plumbing, as `##` looks like a comment. */
export function formatCommitMessage(message: CommitMessage): string {
  const { backtrace } = message;
  const memory = [
    ...message.learned.map((text) => `- Learned: ${item(text)}`),
    ...message.updated.map((text) => `- Updated: ${item(text)}`),
  ];
  const note = backtrace.parentNote ? ` (${item(backtrace.parentNote)})` : '';
  const trailers = [
    ...(message.trailers ?? []),
    ...(message.ledger ?? []).map((head) => `Forge-Ledger: ${head}`),
  ];
  return `${[
    oneLine(message.id === '' ? message.subject : `[${message.id}] ${message.subject}`, 72),
    `## What\n${message.what.map((text) => `- ${item(text)}`).join('\n')}`,
    `## Why\n${prose(message.why)}`,
    `## Memory\n${memory.length > 0 ? memory.join('\n') : '- Learned: none'}`,
    `## Backtrace\n- Parent: ${backtrace.parent}${note}\n- Linear: ${backtrace.linear}\n- Session: ${backtrace.session}`,
    ...(trailers.length > 0 ? [trailers.join('\n')] : []),
  ].join('\n\n')}\n`;
}

const SUBJECT = /^\[([A-Za-z0-9][A-Za-z0-9._-]*)\] (.+)$/;

/** What a message says, as far as it follows the protocol; null when not even its first line does. */
export function parseCommitMessage(text: string): CommitMessage | null {
  const reading = readMessage(cleanMessage(text, 'verbatim'));
  const subject = SUBJECT.exec(reading.subject.text);
  if (!subject) return null;
  return {
    id: subject[1] ?? '',
    subject: subject[2] ?? '',
    what: bullets(linesOf(reading, 'What')),
    why: textOf(linesOf(reading, 'Why')),
    ...readFields(bullets(linesOf(reading, 'Memory')), bullets(linesOf(reading, 'Backtrace'))),
  };
}

/** What a message of any form says. Git may have dropped its headings: then its items and fields tell what they are. */
export function parseAnyMessage(text: string): CommitMessage {
  const [first = '', ...all] = text.trim().replaceAll('\r\n', '\n').split('\n');
  const { lines, trailers } = splitTrailers(all);
  const strict = parseCommitMessage([first, ...lines].join('\n'));
  if (strict && strict.what.length > 0) return { ...strict, trailers };
  const items = bullets(lines);
  const own = lines.filter((line) => !isHeading(line) && !ITEM.test(line));
  return {
    id: strict?.id ?? '',
    subject: strict?.subject ?? first.trim(),
    what: items.filter((item) => !FIELD.test(item)),
    why: textOf(own),
    ...readFields(items, items),
    trailers,
  };
}

const FIELD = /^(?:Learned|Updated|Parent|Linear|Session):/;
const TRAILER = /^[A-Za-z][\w-]*: \S/;

/** The last paragraph, where each of its lines is a trailer. The ledgers' heads are left out: they are of that commit. */
function splitTrailers(lines: readonly string[]): { lines: string[]; trailers: string[] } {
  const start = lines.lastIndexOf('') + 1;
  const last = lines.slice(start);
  if (start === 0 || !last.every((line) => TRAILER.test(line))) return { lines: [...lines], trailers: [] };
  return { lines: lines.slice(0, start), trailers: last.filter((line) => !line.startsWith('Forge-Ledger:')) };
}

function readFields(
  memory: readonly string[],
  backtrace: readonly string[],
): Pick<CommitMessage, 'learned' | 'updated' | 'backtrace'> {
  const trace = new Map(backtrace.map((line) => splitField(line)));
  const [parent, parentNote] = splitNote(trace.get('Parent') ?? '');
  return {
    learned: fieldValues(memory, 'Learned').filter((value) => value !== 'none'),
    updated: fieldValues(memory, 'Updated'),
    backtrace: {
      parent,
      ...(parentNote === undefined ? {} : { parentNote }),
      linear: trace.get('Linear') ?? '',
      session: trace.get('Session') ?? '',
    },
  };
}

const textOf = (lines: readonly string[]): string => lines.join('\n').trim();

const bullets = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => ITEM.exec(line)?.[1]?.trim() ?? []);

function splitField(line: string): [string, string] {
  const colon = line.indexOf(':');
  return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

/** By hand: of a message that somebody wrote nobody knows how many brackets it opens. */
function splitNote(text: string): [string, string?] {
  const open = text.indexOf(' (');
  return open < 0 || !text.endsWith(')') ? [text] : [text.slice(0, open), text.slice(open + 2, -1)];
}

const fieldValues = (lines: readonly string[], name: string): string[] =>
  lines
    .map(splitField)
    .filter(([key, value]) => key === name && value !== '')
    .map(([, value]) => value);
