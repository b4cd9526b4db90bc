import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** What a terminal can show. Output to a pipe is not changed. */
export interface Screen {
  width: number;
  unicode: boolean;
}

const DEFAULT_WIDTH = 80;

/** Null if the output is not a terminal. Only then are its columns read, which loads Node's stream. */
export function screenAt(
  output: { readonly isTerminal: boolean; readonly columns?: number | undefined },
  env: NodeJS.ProcessEnv,
): Screen | null {
  if (!output.isTerminal) return null;
  return { width: (output.columns ?? Number.POSITIVE_INFINITY) || DEFAULT_WIDTH, unicode: hasUnicode(env) };
}

/** The Linux console has few glyphs, and the locale may exclude them. */
export function hasUnicode(env: NodeJS.ProcessEnv): boolean {
  if (env.TERM === 'linux' || env.TERM === 'dumb') return false;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}

/** One character each, so that columns stay aligned. */
const PLAIN_GLYPHS: Readonly<Record<string, string>> = {
  ...{ '\u00a0': ' ', '●': '+', '◐': '!', '○': 'x', '✓': '+', '✗': 'x', '→': '>', '…': '~' },
  ...{ '·': '-', '–': '-', '×': 'x', '“': '"', '”': '"', '█': '#', '░': '.' },
};
const GLYPH = new RegExp(`[${Object.keys(PLAIN_GLYPHS).join('')}]`, 'g');

/** Replaces forge's own marks by ASCII. Other text stays as it is. */
export const toPlainGlyphs = (text: string): string =>
  text.replace(GLYPH, (glyph) => PLAIN_GLYPHS[glyph] ?? glyph);

export function fitScreen(text: string, screen: Screen | null): string {
  if (!screen) return text;
  const lines = (screen.unicode ? text : toPlainGlyphs(text)).split('\n');
  return lines.map((line) => wrapLine(line, screen.width)).join('\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with one
const COLOR = /\u001b\[[0-9;]*m/g;

/** In columns: two for East Asian characters and emoji, none for colors and combining marks. */
export const displayWidth = (text: string): number => stringWidth(text.replace(COLOR, '').normalize());

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

/** `screen` is null if stderr is not a terminal. */
export function makeProgressBar(
  label: string,
  screen: Screen | null,
  write: (text: string) => void,
): ProgressBar {
  const started = performance.now();
  let shownAt = 0;
  return {
    show(done, total) {
      const now = performance.now();
      if (!screen || now - started < 1000 || now - shownAt < PACE) return;
      shownAt = now;
      const line = barLine(label, total > 0 ? Math.min(1, done / total) : 1, screen.width - 1);
      write(`\r${screen.unicode ? line : toPlainGlyphs(line)}`);
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

/** Shows the last line of a running command at a terminal, and its output at the end if `isWanted`. */
export interface Tail {
  write(chunk: string): void;
  end(isWanted: boolean): void;
}

const KEPT_CHARACTERS = 64 * 1024;

/** `screen` is null if stderr is not a terminal. */
export function makeTail(screen: Screen | null, write: (text: string) => void): Tail {
  let kept = '';
  let isCut = false;
  let shownAt = 0;
  return {
    write(chunk) {
      isCut ||= kept.length + chunk.length > KEPT_CHARACTERS;
      kept = (kept + chunk).slice(-KEPT_CHARACTERS);
      const now = performance.now();
      const last = kept.slice(-1000).trimEnd().split('\n').at(-1) ?? '';
      if (!screen || last === '' || now - shownAt < PACE) return;
      shownAt = now;
      // A line that wraps could not be erased.
      write(`${ERASE}${wrapAnsi(last, screen.width - 1, { hard: true }).split('\n')[0]}`);
    },
    end(isWanted) {
      if (shownAt > 0) write(ERASE);
      shownAt = 0;
      if (isWanted && kept !== '') write(`${isCut ? '…' : ''}${kept}${kept.endsWith('\n') ? '' : '\n'}`);
      kept = '';
    },
  };
}
