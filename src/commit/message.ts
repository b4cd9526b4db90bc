import { oneLine } from '../core/text.js';

/** `conventional`: subjects such as `feat: wire the form`, and lines of at most 100 characters, as commitlint asks for. */
export const STYLES = ['protocol', 'conventional'] as const;
export type CommitStyle = (typeof STYLES)[number];

export const SECTIONS = ['What', 'Why', 'Memory', 'Backtrace'] as const;
export type SectionName = (typeof SECTIONS)[number];

/** The commit protocol of RFC-9060 §5.1. */
export interface CommitMessage {
  /** The id of an issue or a feature, or `FORGE`. If empty, the subject has no brackets. */
  id: string;
  subject: string;
  /** A person or an agent typed the subject: the rules judge it whole. A chosen one is cut to fit. */
  isTyped?: boolean;
  /** Of an amended commit: the subject stays as it is. */
  isKept?: boolean;
  /** The conventional type of the work; `feat` if absent. */
  type?: string;
  /** The text outside of the sections, which an amended commit keeps. */
  other?: string;
  what: string[];
  why: string;
  learned: string[];
  updated: string[];
  backtrace: {
    /** A short hash, or `none`. */
    parent: string;
    parentNote?: string | undefined;
    linear: string;
    session: string;
  };
  /** Lines such as `Signed-off-by: …`. */
  trailers?: string[];
  /** The ledger state that this commit contains, for verification: `12 <head> <head>`. */
  ledger?: string[];
}

/** A line with its 1-based number in the raw text. */
export interface Line {
  text: string;
  line: number;
}

/** A `## ` heading. Its section has the lines from `from` up to, but not including, `to`. */
interface Section extends Line {
  from: number;
  to: number;
}

export type ParsedMessage = ReturnType<typeof parseLines>;

export const DEFAULT_COMMENT = '#';
const SCISSORS = ` ${'-'.repeat(24)} >8 ${'-'.repeat(24)}\n`;
const OWN_HEADING = /^##(?= +(?:What|Why|Memory|Backtrace)[ \t]*\r?$)/;
const HEADING = /^ {0,3}##[ \t]+(\S.*)$/;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
export const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)$/;

/**
 * The part that git keeps with `commit -v` or `cleanup=scissors`. Git matches only the exact line and only the first one.
 * The diff below it may remove a secret, so it must not be scanned.
 */
export function aboveScissors(file: Buffer, comment = DEFAULT_COMMENT): Buffer {
  const line = comment + SCISSORS;
  if (file.indexOf(line) === 0) return file.subarray(0, 0);
  const end = file.indexOf(`\n${line}`);
  return end < 0 ? file : file.subarray(0, end + 1);
}

/**
 * The lines that git will store. With `comment`, comment lines are dropped, but headings of the protocol stay, because
 * the commit-msg hook protects them.
 */
export function cleanMessage(text: string, comment?: string): Line[] {
  const lines = text
    .split('\n')
    .map((line, i): Line => ({ text: line.trimEnd(), line: i + 1 }))
    .filter((line) => comment === undefined || !line.text.startsWith(comment) || OWN_HEADING.test(line.text));
  const isText = (line: Line): boolean => line.text !== '';
  return lines.slice(Math.max(lines.findIndex(isText), 0), lines.findLastIndex(isText) + 1);
}

/** Indents headings by one space where git would drop them as comments. They are still headings for Markdown and forge. */
export const protectHeadings = (text: string, comment = DEFAULT_COMMENT): string =>
  '##'.startsWith(comment) ? text.replace(new RegExp(OWN_HEADING, 'gm'), ' ##') : text;

/** `end`: the number that an appended line would have. */
export function parseLines(lines: Line[]) {
  const starts = findHeadings(lines);
  const sections = starts.map((start, i): Section => {
    const { text, line } = lines[start] as Line;
    return { text: HEADING.exec(text)?.[1] ?? '', line, from: start + 1, to: starts[i + 1] ?? lines.length };
  });
  const end = (lines.at(-1)?.line ?? 0) + 1;
  return { lines, subject: lines[0] ?? { text: '', line: 1 }, sections, end };
}

/** The indexes of headings. Skips fenced code blocks; a fence that is never closed is text. */
function findHeadings(lines: readonly Line[]): number[] {
  const found: number[] = [];
  let hasFences = true;
  for (let i = 1; i < lines.length; i++) {
    const { text } = lines[i] as Line;
    if (HEADING.test(text)) found.push(i);
    const fence = hasFences ? FENCE.exec(text)?.[1] : undefined;
    if (fence === undefined) continue;
    const close = lines.findIndex(
      (line, j) => j > i && line.text.includes(fence) && line.text.trim() === FENCE.exec(line.text)?.[1],
    );
    if (close < 0) hasFences = false;
    else i = close;
  }
  return found;
}

/** A squash may repeat a section. Repeated sections count as one. */
export const linesOf = ({ lines, sections }: ParsedMessage, ...names: SectionName[]): Line[] =>
  sections.flatMap(({ text, from, to }) =>
    names.some((name) => name === text) ? lines.slice(from, to) : [],
  );

/** The values of the items `- Name: value`. */
const valuesOf = (lines: readonly Line[], name: string): Line[] =>
  lines.flatMap(({ text, line }) => {
    const item = ITEM.exec(text)?.[1];
    const value = item?.startsWith(`${name}:`) ? item.slice(name.length + 1).trim() : '';
    return value === '' ? [] : [{ text: value, line }];
  });

/** The last `- Name: value` of a section; null without one. */
export const fieldOf = (message: ParsedMessage, section: SectionName, name: string): Line | null =>
  valuesOf(linesOf(message, section), name).at(-1) ?? null;

/** Subjects of forge's own commits, which say nothing about the work. */
const OWN =
  /^(?:\[[^\]]*\] |chore: )?(?:session end: |checkpoint \S+$|save memory$|memory at a checkpoint$|roll back to |undo the rollback|take back the last undo$)/i;

export const isOwnSubject = (subject: string): boolean => OWN.test(subject);

const MAX_LINE = 100;

/** commitlint accepts a capital at the start of an abbreviation only. */
function conventionalSubject({ subject, type = 'feat' }: CommitMessage): string {
  if (/^[a-z]+(?:\([^()]*\))?!?: \S/.test(subject)) return subject;
  // `[BUG] `, which forms ask for.
  const title = subject.replace(/^\[[A-Za-z]+\] +/, '');
  const text = title.replace(/^\p{Lu}(?!\p{Lu})/u, (first) => first.toLowerCase());
  return `${isOwnSubject(subject) ? 'chore' : type}: ${text}`;
}

/** Breaks at spaces. The lines after the first are indented, so that they belong to their list item. */
function breakLine(line: string, indent = ''): string {
  const lines: string[] = [];
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > MAX_LINE)
      lines.push(last === undefined ? word : indent + word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

const item = (text: string): string => oneLine(text, 500);

/** Keeps the line breaks of paragraphs. Indents headings, so that none can pose as a heading of the protocol. */
const prose = (text: string): string =>
  text
    .trim()
    .split('\n')
    .map((line) => (/^ {0,3}#/.test(line) ? `    ${line.trim()}` : line.trimEnd()))
    .join('\n');

/**
 * The message as it is stored, with the sections that `[commit]` asks for. Without any, the reason is plain text. A commit
 * needs `--cleanup=verbatim`, because git takes `##` for a comment.
 */
export function formatCommitMessage(
  message: CommitMessage,
  { style, sections }: { style: CommitStyle; sections: readonly string[] } = {
    style: 'protocol',
    sections: SECTIONS,
  },
): string {
  const { id, subject, why, backtrace } = message;
  const isConventional = style === 'conventional';
  const line = (text: string, indent = ''): string => (isConventional ? breakLine(text, indent) : text);
  const list = (texts: readonly string[]): string =>
    texts.map((text) => line(`- ${item(text)}`, '  ')).join('\n');
  const isFixup = FIXUP.test(subject);
  const named = id === '' || isFixup ? subject : `[${id}] ${subject}`;
  const title = isConventional && !message.isKept && !isFixup ? conventionalSubject(message) : named;
  const memory = [
    ...message.learned.map((text) => `Learned: ${text}`),
    ...message.updated.map((text) => `Updated: ${text}`),
  ];
  const note = backtrace.parentNote ? ` (${item(backtrace.parentNote)})` : '';
  const trailers = [
    ...(message.trailers ?? []),
    // One head a line, continued as git continues trailers: commitlint allows 100 characters.
    ...(message.ledger ?? []).map((state) => `Forge-Ledger: ${state.replace(/(?<= \w+) /g, '\n ')}`),
  ];
  const texts: Record<SectionName, string> = {
    What: list(message.what),
    Why: prose(why)
      .split('\n')
      .map((text) => line(text))
      .join('\n'),
    Memory: list(memory.length > 0 ? memory : ['Learned: none']),
    Backtrace: `- Parent: ${backtrace.parent}${note}\n- Linear: ${backtrace.linear}\n- Session: ${backtrace.session}`,
  };
  const asked = SECTIONS.filter((name) => sections.includes(name));
  return `${[
    oneLine(title, message.isTyped ? Number.POSITIVE_INFINITY : 72),
    ...(message.other ? [message.other] : []),
    // The subject of a commit of forge's own says too little.
    ...(asked.length > 0 ? [] : [texts.Why, isOwnSubject(subject) ? texts.What : ''].filter(Boolean)),
    ...asked.map((name) => `## ${name}\n${texts[name]}`),
    ...(trailers.length > 0 ? [trailers.join('\n')] : []),
  ].join('\n\n')}\n`;
}

/** Git's autosquash finds these by how their subject begins. */
export const FIXUP = /^(?:fixup|squash|amend)! /;
const BROKEN_ITEM = /^- .*(?:\n {2}[^\s*+-].*)+/gm;
const SUBJECT = /^\[([A-Za-z0-9][A-Za-z0-9._-]*)\] (.+)$/;
const FIELD = /^(?:Learned|Updated|Parent|Linear|Session):/;
const TRAILER = /^[A-Za-z][\w-]*: \S/;

/**
 * The content of any message. `id` is empty when the subject has none. Git may have dropped the headings; then list
 * items and field names decide what a line is.
 */
export function parseMessage(text: string): CommitMessage {
  // Items that formatCommitMessage broke are one line again.
  const whole = text
    .trim()
    .replaceAll('\r\n', '\n')
    .replace(BROKEN_ITEM, (lines) => lines.replaceAll('\n  ', ' '));
  const [first = '', ...rest] = whole.split('\n');
  const { body, trailers } = splitTrailers(rest);
  const message = parseLines(cleanMessage([first, ...body].join('\n')));
  const [, id = '', subject = first.trim()] = SUBJECT.exec(message.subject.text) ?? [];
  const hasSections = linesOf(message, 'What').some(isItem) || message.sections.some(isWhy);
  const below = message.lines.slice(1);
  const fields = hasSections ? linesOf(message, 'Memory', 'Backtrace') : below;
  const values = (name: string): string[] => valuesOf(fields, name).map((line) => line.text);
  const [, parent = '', parentNote] = /^(.*?)(?: \((.*)\))?$/.exec(values('Parent').at(-1) ?? '') ?? [];
  const isHeading = ({ text }: Line): boolean => OWN_HEADING.test(text.trimStart());
  const loose = below.filter((line) => !isHeading(line) && !isItem(line));
  const inSections = new Set(linesOf(message, ...SECTIONS));
  const others = hasSections ? below.filter((line) => !isHeading(line) && !inSections.has(line)) : [];
  // The check refuses other headings.
  const other = others.map((line) => line.text.replace(HEADING, '$1:')).join('\n');
  return {
    id,
    subject,
    ...(other.trim() === '' ? {} : { other: other.replace(/\n{3,}/g, '\n\n').trim() }),
    what: itemsIn(hasSections ? linesOf(message, 'What') : below).filter(
      (line) => hasSections || !FIELD.test(line),
    ),
    why: (hasSections ? linesOf(message, 'Why') : loose)
      .map((line) => line.text)
      .join('\n')
      .trim(),
    learned: values('Learned').filter((value) => value !== 'none'),
    updated: values('Updated'),
    backtrace: {
      ...{ parent, parentNote },
      ...{ linear: values('Linear').at(-1) ?? '', session: values('Session').at(-1) ?? '' },
    },
    ...(trailers.length > 0 ? { trailers } : {}),
  };
}

const isItem = ({ text }: Line): boolean => ITEM.test(text);
const isWhy = ({ text }: Section): boolean => text === 'Why';
const itemsIn = (lines: readonly Line[]): string[] =>
  lines.flatMap(({ text }) => ITEM.exec(text)?.[1]?.trim() ?? []);

/** The last paragraph if each of its lines is a trailer. Ledger heads are dropped: they belong to that commit alone. */
function splitTrailers(lines: string[]): { body: string[]; trailers: string[] } {
  const start = lines.lastIndexOf('') + 1;
  const last = lines
    .slice(start)
    .join('\n')
    .replace(/\n[ \t]+/g, ' ')
    .split('\n');
  if (start === 0 || !last.every((line) => TRAILER.test(line))) return { body: lines, trailers: [] };
  return { body: lines.slice(0, start), trailers: last.filter((line) => !line.startsWith('Forge-Ledger:')) };
}
