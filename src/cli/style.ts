import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import { describeAge } from '../core/clock.js';

/** Colors by meaning. Without color every function returns its text. */
export interface Style {
  /** The columns of the terminal; null elsewhere. */
  width: number | null;
  /** `3 min ago` at a terminal; elsewhere, and for a time long ago, the time itself. */
  time(at: string): string;
  /** `2026-03-01 10:00`: local at a terminal, UTC elsewhere. */
  stamp(at: string): string;
  strong(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  warn(text: string): string;
  bad(text: string): string;
  command(text: string): string;
}

const plain = (text: string): string => text;
const COLORLESS = { strong: plain, dim: plain, good: plain, warn: plain, bad: plain, command: plain };

const inUtc = (at: string): string => at.slice(0, 16).replace('T', ' ');

function inLocal(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return inUtc(at);
  return inUtc(new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString());
}

/** `width` and `now` are given for a terminal. chalk is loaded only for color. */
export async function makeStyle(
  color: boolean,
  { width = null, now }: { width?: number | null; now?: () => Date } = {},
): Promise<Style> {
  const stamp = now ? inLocal : inUtc;
  const time = (at: string): string => (now && describeAge(at, now())) ?? stamp(at);
  if (!color) return { ...COLORLESS, width, time, stamp };
  const { Chalk } = await import('chalk');
  const { bold, dim, green, yellow, red, cyan } = new Chalk({ level: 1 });
  return {
    ...{ width, time, stamp },
    ...{ strong: bold, dim, good: green, warn: yellow, bad: red, command: cyan },
  };
}

/** A sentence with its times as the rest of the output shows them. */
export const withStamps = (text: string, { stamp }: Style): string =>
  text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => stamp(at));

/** By --color, NO_COLOR, FORCE_COLOR, TERM=dumb, and whether the stream is a terminal. */
export function wantsColor(choice: string, env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (choice === 'always') return true;
  if (choice === 'never' || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTerminal && env.TERM !== 'dumb';
}

/** Aligns the columns of rows. The last column is not padded, and no cell to more than `max`. */
export function columns(rows: readonly (readonly string[])[], indent = '', max = 999): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, displayWidth(cell));
  const pad = (cell: string, i: number): string =>
    cell + ' '.repeat(Math.max(0, Math.min(widths[i] ?? 0, max) - displayWidth(cell)));
  return rows
    .map((row) => indent + row.map((cell, i) => (i === row.length - 1 ? cell : pad(cell, i))).join('  '))
    .join('\n');
}

const DEFAULT_WIDTH = 80;

/** Columns. Null if the output is not a terminal. Only then are its columns read, which loads Node's stream. */
export const widthOf = (output: {
  readonly isTerminal: boolean;
  readonly columns?: number | undefined;
}): number | null =>
  output.isTerminal ? (output.columns ?? Number.POSITIVE_INFINITY) || DEFAULT_WIDTH : null;

/** A command to copy, which only the terminal may break. */
const COMMAND =
  /(?:^ *|→ |: |\S {2,})(?:(?:forge|git|cp|mv|rm|sh|env|export|npm|npx|CI=1) [\w-]|cd \S|find \.)/;

/** Breaks lines that are too long. Null: output to a pipe is not changed. A panel is drawn again, so its lines all fit. */
export const fitScreen = (text: string, width: number | null, isPanel = false): string =>
  width === null
    ? text
    : text
        .split('\n')
        .map((line) => (COMMAND.test(line.replace(COLOR, '')) && !isPanel ? line : wrapLine(line, width)))
        .join('\n');

// biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
const COLOR = /\u001b\[[0-9;]*m/g;

/** In columns: two for East Asian characters and emoji, none for colors and combining marks. */
export const displayWidth = (text: string): number =>
  /^[ -~]*$/.test(text) ? text.length : stringWidth(text.replace(COLOR, '').normalize());

/** A bullet or a time stamp at the start, or a gap between columns. */
const HEAD = /^ *(?:[-*●◐○✓✗→!>+x] |\d+[.)] |\[\d\d:\d\d\] )|\S {2,}(?=\S)/g;

/** Breaks at spaces. Continuation rows are indented to the last column, bullet or time stamp in the left half. */
export function wrapLine(line: string, width: number): string {
  if (displayWidth(line) <= width) return line;
  const plain = line.replace(COLOR, '');
  const heads = [...plain.matchAll(HEAD)]
    .map(({ 0: match, index }) => plain.slice(0, index + match.length))
    .filter((head) => displayWidth(head) <= width / 2);
  const margin = plain.length - plain.trimStart().length;
  const head = heads.at(-1) ?? ' '.repeat(margin + 2 <= width / 2 ? margin : 0);
  const indent = heads.length > 0 ? displayWidth(head) : head.length + 2;
  // The same characters with the colors between them.
  const painted = new RegExp(`^(?:(?:${COLOR.source})*.){${[...head].length}}`, 'su').exec(line)?.[0] ?? '';
  const rows = wrapAnsi(line.slice(painted.length), width - indent, { hard: true });
  return painted + rows.replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** Breaks a plain text at spaces. Its rows are aligned behind `head`. */
export const wrapBehind = (head: string, text: string, width: number): string =>
  head + wrapAnsi(text, width - head.length).replaceAll('\n', `\n${' '.repeat(head.length)}`);

const ERASE = '\r\u001b[K';
/** ms between two changes of what is shown. */
const PACE = 100;

/** A bar on stderr for work that takes more than a second; erased at the end. */
export interface ProgressBar {
  show(done: number, total: number): void;
  end(): void;
}

const MAX_BAR = 30;

/** `width` is null if stderr is not a terminal. */
export function makeProgressBar(
  label: string,
  width: number | null,
  write: (text: string) => void,
): ProgressBar {
  const started = performance.now();
  let shownAt = 0;
  return {
    show(done, total) {
      const now = performance.now();
      if (width === null || now - started < 1000 || now - shownAt < PACE) return;
      shownAt = now;
      write(`\r${barLine(label, total > 0 ? Math.min(1, done / total) : 1, width - 1)}`);
    },
    end() {
      if (shownAt > 0) write(ERASE);
      shownAt = 0;
    },
  };
}

/** Narrower than the terminal: a line that wraps could not be erased. */
function barLine(label: string, part: number, room: number): string {
  const percent = `${Math.floor(part * 100)}%`;
  const width = Math.min(MAX_BAR, room - displayWidth(label) - '  100%'.length);
  if (width < 3) return percent;
  const filled = Math.round(part * width);
  return `${label} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${percent}`;
}

/** Shows the last line of a running command at a terminal, and the end of its output when it ends, if `isWanted`. */
export interface Tail {
  write(chunk: string): void;
  end(isWanted: boolean): void;
}

const KEPT_CHARACTERS = 64 * 1024;
const KEPT_LINES = 80;

/** `width` is null if stderr is not a terminal. `erase` removes the line. */
export function makeTail(width: number | null, write: (text: string) => void): Tail & { erase(): void } {
  let kept = '';
  let isCut = false;
  let shownAt = 0;
  const erase = (): void => {
    if (shownAt > 0) write(ERASE);
    shownAt = 0;
  };
  return {
    erase,
    write(chunk) {
      isCut ||= kept.length + chunk.length > KEPT_CHARACTERS;
      kept = (kept + chunk).slice(-KEPT_CHARACTERS);
      const now = performance.now();
      const last = kept.slice(-1000).trimEnd().split('\n').at(-1) ?? '';
      if (width === null || last === '' || now - shownAt < PACE) return;
      shownAt = now;
      // A line that wraps could not be erased.
      write(`${ERASE}${wrapAnsi(last, width - 1, { hard: true }).split('\n')[0]}`);
    },
    end(isWanted) {
      erase();
      const lines = kept.replace(/\n$/, '').split('\n');
      const more = isCut || lines.length > KEPT_LINES ? '… (--verbose shows all)\n' : '';
      if (isWanted && kept !== '') write(`${more}${lines.slice(-KEPT_LINES).join('\n')}\n`);
      kept = '';
      isCut = false;
    },
  };
}
