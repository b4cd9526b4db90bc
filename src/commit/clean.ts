/**
 * A message as git will store it. `commit-msg` runs before git's own clean-up, so a check of the raw file would be a check
 * of something else: with an editor git drops each line that begins with the comment character, headings as well.
 *
 * `strip` is git's way with an editor, `whitespace` without one (and with scissors), `verbatim` what is stored already.
 */
export type Cleanup = 'strip' | 'whitespace' | 'verbatim';

export interface CleanMessage {
  /** Without white space at their ends. */
  lines: string[];
  /** Of each line, its number in the raw text, 1-based; null: none was left out. */
  numbers: number[] | null;
  /** Headings that git takes for comments. */
  dropped: { line: number; text: string }[];
}

const DEFAULT_COMMENT = '#';
const DASHES = '-'.repeat(24);
const SCISSORS = ` ${DASHES} >8 ${DASHES}`;
const HEADING_LIKE = /^## +(What|Why|Memory|Backtrace)$/;

/**
 * What git keeps of a message file with `commit -v` or `cleanup=scissors`: the part above its scissors line. The rest is a
 * diff, which may remove a secret. Like git, match only the exact line, only the first one, and only with a line feed.
 */
export function aboveScissors(file: Buffer, comment = DEFAULT_COMMENT): Buffer {
  const line = `${comment}${SCISSORS}\n`;
  if (file.indexOf(line) === 0) return file.subarray(0, 0);
  const feed = file.indexOf(`\n${line}`);
  return feed < 0 ? file : file.subarray(0, feed + 1);
}

export function cleanMessage(text: string, cleanup: Cleanup, comment = DEFAULT_COMMENT): CleanMessage {
  if (cleanup === 'verbatim') return asItStands(text);
  const message = { lines: [] as string[], numbers: [] as number[], dropped: [] as CleanMessage['dropped'] };
  let blanks = 0;
  // By hand: what 5 MB of line feeds leave need not be held.
  for (let start = 0, number = 1; start < text.length; number++) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    const line = withoutEnd(text, start, end);
    start = end + 1;
    if (cleanup === 'strip' && line.startsWith(comment)) {
      if (HEADING_LIKE.test(line)) message.dropped.push({ line: number, text: line });
    } else if (line === '') blanks++;
    else {
      // One for each run of them, and none in front.
      if (blanks > 0 && message.lines.length > 0) keep(message, '', number - 1);
      blanks = 0;
      keep(message, line, number);
    }
  }
  return message;
}

/** A range has many of these. */
function asItStands(text: string): CleanMessage {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    if (isBlank(line.charCodeAt(line.length - 1))) lines[i] = withoutEnd(line, 0, line.length);
  }
  return { lines, numbers: null, dropped: [] };
}

/** Whether git would keep other lines with an editor than without. */
export function hasComments(text: string, comment = DEFAULT_COMMENT): boolean {
  return text.startsWith(comment) || text.includes(`\n${comment}`);
}

function keep(
  { lines, numbers }: { lines: string[]; numbers: number[] },
  line: string,
  number: number,
): void {
  lines.push(line);
  numbers.push(number);
}

/** What git takes for white space; a regular expression tries each run of it again from each of its characters. */
function withoutEnd(text: string, start: number, end: number): string {
  let last = end;
  while (last > start && isBlank(text.charCodeAt(last - 1))) last--;
  return text.slice(start, last);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0d;

/** The whole text of a cleaned message. */
export const textOf = ({ lines }: CleanMessage): string => `${lines.join('\n')}\n`;

/**
 * The same message with its headings one space in, where git could take them for comments: still headings for Markdown and for
 * forge, and git keeps them whatever its clean-up is.
 */
export function protectHeadings(text: string, comment = DEFAULT_COMMENT): string {
  if (!'##'.startsWith(comment)) return text;
  return text.replace(/^##(?= +(?:What|Why|Memory|Backtrace)[ \t]*\r?$)/gm, ' ##');
}

/** What `commit.cleanup` says; undefined where git decides by whether there is an editor. */
export function cleanupOf(setting: string | undefined): Cleanup | undefined {
  if (setting === 'strip' || setting === 'verbatim') return setting;
  return setting === 'whitespace' || setting === 'scissors' ? 'whitespace' : undefined;
}
