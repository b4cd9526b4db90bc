import { leaveOut, type View } from './view.js';

/** `"abc" + "def"`, `'abc' . 'def'`, `"abc" "def"`, `"abc" \`, also over line ends. */
const CONCATENATION = /["'`]\s{0,80}(?:(?:\+|\.{1,2}|&|\|\||<>|\\)\s{0,80})?["'`]/g;

/** A line end with what may stand about it inside of one value: a `\`, the indentation, a mark of comment or quote. */
const LINE_END = /[ \t]{0,8}\\?\r?\n[ \t]{0,200}(?:(?:\/\/|[#>|*+])[ \t]{1,8})?/g;

/** String literals that a program puts together, as one. */
export function concatenationView(text: string, base?: View): View | undefined {
  if (!/["'`]/.test(text)) return undefined;
  return leaveOut(text, CONCATENATION, base);
}

/** Lines as one, for what was wrapped. Words of two lines run together here: only for rules that this cannot fool. */
export function lineView(text: string, base?: View): View | undefined {
  return text.includes('\n') ? leaveOut(text, LINE_END, base) : undefined;
}
