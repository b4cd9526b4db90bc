import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** What a person's terminal can show, and text made to fit it. Only at a terminal: what goes into a pipe stays as it is. */
export interface Screen {
  /** Columns. */
  width: number;
  unicode: boolean;
}

const DEFAULT_WIDTH = 80;

/** `columns` as the terminal says, 0 where it does not; nothing is broken where nobody asked it. */
export function screenOf(
  columns: number | undefined,
  env: NodeJS.ProcessEnv,
  platform: string = process.platform,
): Screen {
  return {
    width: (columns ?? Number.POSITIVE_INFINITY) || DEFAULT_WIDTH,
    unicode: hasUnicode(env, platform),
  };
}

/** Of an output; null where that is no terminal. */
export const screenAt = (
  output: { readonly isTerminal: boolean; readonly columns?: number | undefined },
  env: NodeJS.ProcessEnv,
): Screen | null => (output.isTerminal ? screenOf(output.columns, env) : null);

/** The Linux console has few glyphs, a Windows console without Windows Terminal none, and a locale may rule them out. */
export function hasUnicode(env: NodeJS.ProcessEnv, platform: string = process.platform): boolean {
  if (env.TERM === 'linux' || env.TERM === 'dumb') return false;
  if (platform === 'win32')
    return Boolean(env.WT_SESSION || env.ConEmuTask || env.TERM_PROGRAM || env.TERM?.startsWith('xterm'));
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}

/** One character each, so that columns stay aligned. */
const PLAIN_GLYPHS: Readonly<Record<string, string>> = {
  '\u00a0': ' ',
  '●': '+',
  '◐': '!',
  '○': 'x',
  '✓': '+',
  '✗': 'x',
  '→': '>',
  '…': '~',
  '·': '-',
  '–': '-',
  '×': 'x',
  '“': '"',
  '”': '"',
  '█': '#',
  '░': '.',
};
const GLYPH = new RegExp(`[${Object.keys(PLAIN_GLYPHS).join('')}]`, 'g');

/** Forge's own marks for a terminal without them; other text stays what it is. */
export const toPlainGlyphs = (text: string): string =>
  text.replace(GLYPH, (glyph) => PLAIN_GLYPHS[glyph] ?? glyph);

/** Each line within the screen, and with glyphs that it has; as it is where there is none. */
export function fitScreen(text: string, screen: Screen | null): string {
  if (!screen) return text;
  const lines = (screen.unicode ? text : toPlainGlyphs(text)).split('\n');
  return lines.map((line) => wrapLine(line, screen.width)).join('\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const COLOUR = /\u001b\[[0-9;]*m/g;
/** One column a character. Saves the library's first call, which takes 2 ms to compile its patterns. */
const NARROW = new RegExp(`^[\\x20-\\x7e${Object.keys(PLAIN_GLYPHS).join('')}]*$`);

/** Columns that a text takes: two for East Asian characters and emoji, none for colours and combining marks. */
export function displayWidth(text: string): number {
  const shown = text.replace(COLOUR, '');
  return NARROW.test(shown) ? shown.length : stringWidth(shown.normalize());
}

const MARK = /^ *(?:[-*●◐○✓✗→!>+x] |\d+[.)] |\[\d\d:\d\d\] )/;

/** Breaks at spaces; cuts a word that is wider than a line. The rest hangs below what it belongs to. */
export function wrapLine(line: string, width: number): string {
  if (displayWidth(line) <= width) return line;
  const { length, indent } = hangingIndent(line.replace(COLOUR, ''), width);
  // The same characters with the colours between them.
  const head = new RegExp(`^(?:(?:${COLOUR.source})*.){${length}}`, 'su').exec(line)?.[0] ?? '';
  const rows = wrapAnsi(line.slice(head.length), width - indent, { hard: true });
  return head + rows.replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/**
 * Where a line without colours goes on in the next row: behind its last gap between columns, a bullet or a time stamp.
 * `length` is in characters and `indent` in columns.
 */
function hangingIndent(line: string, width: number): { length: number; indent: number } {
  const lead = /^ */.exec(line)?.[0].length ?? 0;
  const mark = MARK.exec(line)?.[0].length;
  const gaps = [...line.slice(0, width).matchAll(/\S {2,}(?=\S)/g)].map(({ 0: gap, index }) =>
    line.slice(0, index + gap.length),
  );
  const places = [
    ...gaps.map((head) => ({ length: [...head].length, indent: displayWidth(head) })),
    mark === undefined ? { length: lead, indent: lead + 2 } : { length: mark, indent: mark },
  ];
  const usable = places.filter(({ indent }) => indent <= width / 2);
  return usable.reduce((best, place) => (place.indent > best.indent ? place : best), {
    length: 0,
    indent: 0,
  });
}

/** A bar on stderr for what takes more than a second; gone afterwards, and nothing where no person looks. */
export interface ProgressBar {
  show(done: number, total: number): void;
  end(): void;
}

const MAX_BAR = 30;

/** `screen`: of stderr; null where it is no terminal. */
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
      if (!screen || now - started < 1000 || now - shownAt < 100) return;
      shownAt = now;
      const line = barLine(label, total > 0 ? Math.min(1, done / total) : 1, screen.width - 1);
      write(`\r${screen.unicode ? line : toPlainGlyphs(line)}`);
    },
    end() {
      if (shownAt > 0) write('\r\u001b[K');
      shownAt = 0;
    },
  };
}

/** Never as wide as the terminal: a line that wraps could not be taken back. */
function barLine(label: string, part: number, room: number): string {
  const percent = `${Math.floor(part * 100)}%`;
  const width = Math.min(MAX_BAR, room - displayWidth(label) - ' '.length * 2 - '100%'.length);
  if (width < 3) return percent;
  const filled = Math.round(part * width);
  return `${label} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${percent}`;
}

/** Shows the last line of a running command at a terminal, and all of its output at the end if `isWanted`. */
export interface Tail {
  write(chunk: string): void;
  end(isWanted: boolean): void;
}

const KEPT_CHARACTERS = 64 * 1024;

/** `screen` is null if stderr is not a terminal. */
export function makeTail(screen: Screen | null, write: (text: string) => void): Tail {
  let kept = '';
  let left = 0;
  let shownAt = 0;
  return {
    write(chunk) {
      kept += chunk;
      left += Math.max(0, kept.length - KEPT_CHARACTERS);
      kept = kept.slice(-KEPT_CHARACTERS);
      const now = performance.now();
      if (!screen || now - shownAt < 100) return;
      const last = kept.slice(-1000).trimEnd().split('\n').at(-1) ?? '';
      if (last === '') return;
      shownAt = now;
      // A line that wraps could not be erased.
      write(`\r\u001b[K${wrapAnsi(last, screen.width - 1, { hard: true }).split('\n')[0]}`);
    },
    end(isWanted) {
      if (shownAt > 0) write('\r\u001b[K');
      shownAt = 0;
      if (isWanted && kept !== '') write(`${left > 0 ? '…' : ''}${kept}${kept.endsWith('\n') ? '' : '\n'}`);
      kept = '';
    },
  };
}
