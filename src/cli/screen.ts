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

const PRINTABLE = /^[\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const COLOUR = /\u001b\[[0-9;]*m/;
const EVERY_COLOUR = new RegExp(COLOUR.source, 'g');
const INVISIBLE = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const JOINER = '\u200d';

/** Columns that a text takes: two for East Asian and emoji, none for what joins or marks another character. */
export function displayWidth(text: string): number {
  if (PRINTABLE.test(text)) return text.length;
  let width = 0;
  let isJoined = false;
  for (const char of text.replace(EVERY_COLOUR, '')) {
    if (!isJoined) width += charWidth(char);
    isJoined = char === JOINER;
  }
  return width;
}

const charWidth = (char: string): number =>
  PRINTABLE.test(char) ? 1 : INVISIBLE.test(char) ? 0 : WIDE.test(char) ? 2 : 1;

/** Where what belongs to a line goes on below it: behind its last gap between columns, a bullet or a time stamp. */
function hangingIndent(line: string, width: number): number {
  const plain = line.replace(EVERY_COLOUR, '');
  const lead = /^ */.exec(plain)?.[0].length ?? 0;
  const mark = /^ *(?:[-*●◐○✓✗→!>+x] |\d+[.)] |\[\d\d:\d\d\] )/.exec(plain)?.[0].length ?? lead + 2;
  const gaps = [...plain.slice(0, width).matchAll(/\S {2,}(?=\S)/g)].map(({ 0: gap, index }) =>
    displayWidth(plain.slice(0, index + gap.length)),
  );
  const usable = [...gaps, mark].filter((indent) => indent <= width / 2);
  return Math.max(0, ...usable);
}

interface Piece {
  text: string;
  width: number;
  isGap: boolean;
}

/** Breaks at spaces; a word that is wider than a line is cut. Colours go on over a break. */
export function wrapLine(line: string, width: number): string {
  if (displayWidth(line) <= width) return line;
  const indent = hangingIndent(line, width);
  const rows: string[] = [];
  let [row, used] = ['', 0];
  const next = (): void => {
    rows.push(row.trimEnd());
    [row, used] = [' '.repeat(indent), indent];
  };
  for (const piece of piecesOf(line, width - indent)) {
    if (used + piece.width > width) {
      next();
      if (piece.isGap) continue;
    }
    row += piece.text;
    used += piece.width;
  }
  return [...rows, row].filter((text, i) => i === 0 || text.trim() !== '').join('\n');
}

/** Words and the gaps between them; none is wider than a row. */
function piecesOf(line: string, max: number): Piece[] {
  return (line.match(/ +|[^ ]+/g) ?? []).flatMap((text) =>
    cutWord(text, max).map((part) => ({
      text: part,
      width: displayWidth(part),
      isGap: text.startsWith(' '),
    })),
  );
}

function cutWord(word: string, max: number): string[] {
  if (displayWidth(word) <= max) return [word];
  const parts: string[] = [];
  let part = '';
  for (const unit of word.split(new RegExp(`(${COLOUR.source})`)).flatMap(unitsOf)) {
    if (displayWidth(part) + displayWidth(unit) > max) {
      parts.push(part);
      part = '';
    }
    part += unit;
  }
  return [...parts, part];
}

/** A colour whole; else characters with what joins or marks them. */
const unitsOf = (text: string): string[] =>
  COLOUR.test(text) ? [text] : (text.match(/\P{M}(?:\p{M}|\u200d\P{M})*|\p{M}+/gu) ?? []);
