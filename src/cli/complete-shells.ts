import { escapeControls } from '../core/text.js';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/** What was typed up to the cursor. */
export interface Typed {
  /** The words before the one at the cursor, without quotes. */
  words: string[];
  /** The one at the cursor, as far as it was typed, without quotes. */
  current: string;
  /** The same as it stands there. */
  raw: string;
  /** The quote that is open at the cursor. */
  quote: '' | "'" | '"';
}

/** A line split as bash splits it. Nothing is expanded; null where that would have to be known, or a backslash waits. */
export function splitLine(line: string): Typed | null {
  const words: string[] = [];
  let word: string | null = null;
  let start = 0;
  let quote: Typed['quote'] = '';
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    const isSpace = quote === '' && (char === ' ' || char === '\t');
    if (isSpace) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    if (word === null) start = at;
    word ??= '';
    if (char === quote) quote = '';
    else if (quote === '' && (char === '"' || char === "'")) quote = char;
    else if (char === '\\' && isEscape(quote, line.charAt(at + 1))) {
      if (++at === line.length) return null;
      word += line.charAt(at);
    } else word += char;
  }
  const raw = word === null ? '' : line.slice(start);
  if (quote !== "'" && /(?<!\\)[$`]/.test(raw.replace(/'[^']*'/g, ''))) return null;
  return { words, current: word ?? '', raw, quote };
}

const isEscape = (quote: Typed['quote'], next: string): boolean =>
  quote === '' || (quote === '"' && /["\\$`]/.test(next));

/** What no shell takes for anything but itself, wherever in a word it stands. */
const PLAIN = /[\w./:=@%+,\u00a1-\uffff-]/;

/**
 * A value as bash is to insert it for what was typed: that stays as it is, and the rest follows in the same quotes. Null
 * where these cannot hold it.
 */
export function bashWord(value: string, { current, raw, quote }: Typed): string | null {
  if (!value.startsWith(current)) return null;
  const rest = value.slice(current.length);
  if (quote === '') return raw + [...rest].map((char) => (PLAIN.test(char) ? char : `\\${char}`)).join('');
  return (quote === "'" ? /'/ : /["$`\\!]/).test(rest) ? null : raw + rest;
}

/** PowerShell takes four more characters for a single quote. */
export const powershellWord = (value: string): string =>
  /^[\w./:=+-]+$/.test(value) ? value : `'${value.replace(/['\u2018-\u201b]/g, '$&$&')}'`;

/** Nobody can type or see these, and they could make a terminal show something else. */
export const isShowable = (value: string): boolean =>
  value !== '' && !/[\t\n\u0085\u2028\u2029]/.test(value) && escapeControls(value) === value;
