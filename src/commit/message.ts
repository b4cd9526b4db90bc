import { oneLine } from '../core/text.js';

export const SECTIONS = ['What', 'Why', 'Memory', 'Backtrace'] as const;
export type SectionName = (typeof SECTIONS)[number];

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

export interface Line {
  text: string;
  /** In the raw text, 1-based. */
  line: number;
}

/** A `## ` heading. The lines below it are those from `from` to before `to`. */
interface Section extends Line {
  from: number;
  to: number;
}

/** A message taken apart, with the places in the raw text. */
export interface Reading {
  lines: Line[];
  subject: Line;
  sections: Section[];
  /** Where the next line would be. */
  end: number;
}

export const DEFAULT_COMMENT = '#';
const SCISSORS = ` ${'-'.repeat(24)} >8 ${'-'.repeat(24)}\n`;
const OWN_HEADING = /^##(?= +(?:What|Why|Memory|Backtrace)[ \t]*\r?$)/;
const HEADING = /^ {0,3}##[ \t]+(\S.*)$/;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
export const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)$/;
/** A message with more is not read by anybody. */
const MAX_SECTIONS = 1000;

/**
 * What git keeps of a message file with `commit -v` or `cleanup=scissors`: the part above its scissors line. The rest is a
 * diff, which may remove a secret. Like git, match only the exact line, only the first one, and only with a line feed.
 */
export function aboveScissors(file: Buffer, comment = DEFAULT_COMMENT): Buffer {
  const line = comment + SCISSORS;
  if (file.indexOf(line) === 0) return file.subarray(0, 0);
  const feed = file.indexOf(`\n${line}`);
  return feed < 0 ? file : file.subarray(0, feed + 1);
}

/**
 * The lines that git will store: without white space at their ends, and without empty lines around them. `comment`: lines
 * that begin with it go, as with an editor, but headings of the protocol stay, because forge's hook protects them.
 */
export function cleanMessage(text: string, comment?: string): Line[] {
  const lines = text.split('\n').map((line, i): Line => ({ text: line.trimEnd(), line: i + 1 }));
  const kept =
    comment === undefined
      ? lines
      : lines.filter((line) => !line.text.startsWith(comment) || OWN_HEADING.test(line.text));
  const isText = ({ text: one }: Line): boolean => one !== '';
  return kept.slice(Math.max(kept.findIndex(isText), 0), kept.findLastIndex(isText) + 1);
}

/**
 * The same message with its headings one space in, where git could take them for comments: still headings for Markdown and
 * for forge, and git keeps them whatever its clean-up is.
 */
export const protectHeadings = (text: string, comment = DEFAULT_COMMENT): string =>
  '##'.startsWith(comment) ? text.replace(new RegExp(OWN_HEADING, 'gm'), ' ##') : text;

export function readMessage(lines: Line[]): Reading {
  const at = findHeadings(lines);
  const sections = at.map((from, i): Section => {
    const { text, line } = lines[from] as Line;
    return { text: HEADING.exec(text)?.[1] ?? '', line, from: from + 1, to: at[i + 1] ?? lines.length };
  });
  const end = (lines.at(-1)?.line ?? 0) + 1;
  return { lines, subject: lines[0] ?? { text: '', line: 1 }, sections, end };
}

/** The positions of headings. Lines inside a fenced code block are code; a fence that is never closed is text. */
function findHeadings(lines: readonly Line[]): number[] {
  const found: number[] = [];
  let fence = '';
  let fenced: number[] = [];
  for (let i = 1; i < lines.length && found.length + fenced.length < MAX_SECTIONS; i++) {
    const { text } = lines[i] as Line;
    if (text.includes('##')) {
      if (HEADING.test(text)) (fence === '' ? found : fenced).push(i);
    } else if (text.includes('```') || text.includes('~~~')) {
      const mark = FENCE.exec(text)?.[1] ?? '';
      if (fence === '') fence = mark;
      else if (mark.startsWith(fence) && text.trim() === mark) [fence, fenced] = ['', []];
    }
  }
  return [...found, ...fenced];
}

/** A squash may leave several sections with one name. They count as one. */
export const linesOf = ({ lines, sections }: Reading, name: SectionName): string[] =>
  sections.flatMap((section) =>
    section.text === name ? lines.slice(section.from, section.to).map(({ text }) => text) : [],
  );

/** The last `- Name: value` of a section; null without one. */
export function fieldOf({ lines, sections }: Reading, section: SectionName, name: string): Line | null {
  for (const { text: heading, from, to } of sections.toReversed())
    for (let i = to - 1; i >= from && heading === section; i--) {
      const { text, line } = lines[i] as Line;
      const item = text.includes(`${name}:`) ? ITEM.exec(text)?.[1] : undefined;
      const value = item?.startsWith(`${name}:`) ? item.slice(name.length + 1).trim() : '';
      if (value !== '') return { line, text: value };
    }
  return null;
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
export function formatCommitMessage({ id, subject, why, backtrace, ...message }: CommitMessage): string {
  const list = (texts: readonly string[]): string => texts.map((text) => `- ${item(text)}`).join('\n');
  const memory = [
    ...message.learned.map((text) => `Learned: ${text}`),
    ...message.updated.map((text) => `Updated: ${text}`),
  ].map(item);
  const note = backtrace.parentNote ? ` (${item(backtrace.parentNote)})` : '';
  const trailers = [
    ...(message.trailers ?? []),
    ...(message.ledger ?? []).map((head) => `Forge-Ledger: ${head}`),
  ];
  return `${[
    oneLine(id === '' ? subject : `[${id}] ${subject}`, 72),
    `## What\n${list(message.what)}`,
    `## Why\n${prose(why)}`,
    `## Memory\n${list(memory.length > 0 ? memory : ['Learned: none'])}`,
    `## Backtrace\n- Parent: ${backtrace.parent}${note}\n- Linear: ${backtrace.linear}\n- Session: ${backtrace.session}`,
    ...(trailers.length > 0 ? [trailers.join('\n')] : []),
  ].join('\n\n')}\n`;
}

const SUBJECT = /^\[([A-Za-z0-9][A-Za-z0-9._-]*)\] (.+)$/;
const FIELD = /^(?:Learned|Updated|Parent|Linear|Session):/;
const TRAILER = /^[A-Za-z][\w-]*: \S/;

/** What a message says, as far as it follows the protocol; null when not even its first line does. */
export function parseCommitMessage(text: string): CommitMessage | null {
  const reading = readMessage(cleanMessage(text));
  const subject = SUBJECT.exec(reading.subject.text);
  if (!subject) return null;
  return {
    id: subject[1] ?? '',
    subject: subject[2] ?? '',
    what: bullets(linesOf(reading, 'What')),
    why: linesOf(reading, 'Why').join('\n').trim(),
    ...readFields([...linesOf(reading, 'Memory'), ...linesOf(reading, 'Backtrace')]),
  };
}

/** What a message of any form says. Git may have dropped its headings: then its items and fields tell what they are. */
export function parseAnyMessage(text: string): CommitMessage {
  const [first = '', ...all] = text.trim().replaceAll('\r\n', '\n').split('\n');
  const { lines, trailers } = splitTrailers(all);
  const strict = parseCommitMessage([first, ...lines].join('\n'));
  if (strict && strict.what.length > 0) return { ...strict, trailers };
  const isHeading = (line: string): boolean => OWN_HEADING.test(line.trimStart());
  const own = lines.filter((line) => !isHeading(line) && !ITEM.test(line));
  return {
    id: strict?.id ?? '',
    subject: strict?.subject ?? first.trim(),
    what: bullets(lines).filter((line) => !FIELD.test(line)),
    why: own.join('\n').trim(),
    ...readFields(lines),
    trailers,
  };
}

/** The last paragraph, where each of its lines is a trailer. The ledgers' heads are left out: they are of that commit. */
function splitTrailers(lines: readonly string[]): { lines: string[]; trailers: string[] } {
  const start = lines.lastIndexOf('') + 1;
  const last = lines.slice(start);
  if (start === 0 || !last.every((line) => TRAILER.test(line))) return { lines: [...lines], trailers: [] };
  return { lines: lines.slice(0, start), trailers: last.filter((line) => !line.startsWith('Forge-Ledger:')) };
}

function readFields(lines: readonly string[]): Pick<CommitMessage, 'learned' | 'updated' | 'backtrace'> {
  const fields = bullets(lines).map((line): [string, string] => {
    const colon = line.indexOf(':');
    return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  const values = (name: string): string[] =>
    fields.flatMap(([key, value]) => (key === name && value !== '' ? [value] : []));
  const parent = values('Parent').at(-1) ?? '';
  // Not a regular expression: a message may open any number of brackets.
  const open = parent.endsWith(')') ? parent.indexOf(' (') : -1;
  return {
    learned: values('Learned').filter((value) => value !== 'none'),
    updated: values('Updated'),
    backtrace: {
      parent: open < 0 ? parent : parent.slice(0, open),
      ...(open < 0 ? {} : { parentNote: parent.slice(open + 2, -1) }),
      linear: values('Linear').at(-1) ?? '',
      session: values('Session').at(-1) ?? '',
    },
  };
}

const bullets = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => ITEM.exec(line)?.[1]?.trim() ?? []);
