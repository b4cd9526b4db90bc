import { makeView, type Replacement, replaceIn, type View } from './view.js';

// Other ways to read a text, so that nothing passes the guard encoded, split or disguised.

/**
 * Characters that are invisible inside a word: format characters (zero width, soft hyphen, direction, tags), variation selectors,
 * joiners, and the fillers that show as nothing.
 */
const isUnseen = (char: string): boolean =>
  /^(?:\p{Cf}|\p{Variation_Selector}|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0)$/u.test(char);

const plain = new Map<string, string>();

/** NFKC makes full-width, mathematical and circled letters plain. Cached, since few characters make up a text. */
function plainOf(char: string): string {
  const known = plain.get(char);
  if (known !== undefined) return known;
  const made = isUnseen(char) ? '' : char.normalize('NFKC');
  if (plain.size < 4096) plain.set(char, made);
  return made;
}

/** The text with plain characters and no unseen ones; undefined if it is so already. */
export function normalizeView(text: string): View | undefined {
  // Cheaper to make than a class of Unicode's, and most texts end here.
  if (!/[\u0080-\uffff]/.test(text)) return undefined;
  return replaceIn(text, /\P{ASCII}/gu, (char) => {
    const made = plainOf(char);
    return made === char ? undefined : made;
  });
}

/** Tag characters are ASCII that nobody sees: read as what they stand for. */
export function tagView(text: string): View | undefined {
  // Half of each tag character.
  if (!text.includes('\udb40')) return undefined;
  return replaceIn(text, /[\u{e0020}-\u{e007e}]/gu, (char) =>
    String.fromCharCode((char.codePointAt(0) ?? 0) - 0xe0000),
  );
}

const ESCAPE =
  /%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\u\{[0-9a-f]{1,6}\}|\\x[0-9a-f]{2}|\\[nrt"'/\\]|&#(?:x[0-9a-f]{1,6}|[0-9]{1,7});|&(?:amp|quot|lt|gt);/gi;

const NAMED: Record<string, string> = {
  '\\n': '\n',
  '\\r': '\r',
  '\\t': '\t',
  '&amp;': '&',
  '&quot;': '"',
  '&lt;': '<',
  '&gt;': '>',
};

function readEscape(written: string): string {
  const named = NAMED[written.toLowerCase()];
  if (named !== undefined) return named;
  if (/^\\[^ux]/i.test(written)) return written.slice(1);
  const isDecimal = /^&#[0-9]/.test(written);
  const code = Number.parseInt(written.replace(/[^0-9a-f]/gi, ''), isDecimal ? 10 : 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}

/** Percent-encoding and the escapes of JSON, JavaScript and HTML as the characters that they stand for. */
const escapeView = (text: string, base?: View): View | undefined =>
  /[%\\&]/.test(text) ? replaceIn(text, ESCAPE, readEscape, base) : undefined;

const isPrintable = (code: number): boolean =>
  (code >= 32 && code < 127) || code === 10 || code === 13 || code === 9;

/** Text has at most a few other bytes; images, digests and keys show by their first 24. */
function isText(text: string): boolean {
  let others = 0;
  for (let i = 0; i < text.length; i += 1) {
    if (!isPrintable(text.charCodeAt(i))) others += 1;
    if (i === 23 && others > 4) return false;
  }
  return others * 8 <= text.length;
}

/** As UTF-16, ASCII has a zero beside each character (`powershell -EncodedCommand`). */
function readBytes(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1');
  if (isText(text)) return text;
  if (!text.startsWith('\0') && text[1] !== '\0') return undefined;
  const narrow = text.replace(/\0/g, '');
  return narrow.length * 2 <= text.length + 1 && isText(narrow) ? narrow : undefined;
}

/** Git ids and digests are runs too, and decode to no text. */
const HEX_RUN = /(?:[0-9a-f]{2}){12,}/gi;
const LEAST_HEX = 24;

function hexView(text: string, base?: View): View | undefined {
  const found: Replacement[] = [];
  for (let start = nextRun(text, 0); start >= 0; start = nextRun(text, endOfRun(text, start))) {
    const end = endOfRun(text, start);
    if (end - start < LEAST_HEX) continue;
    for (const { 0: run, index } of text.slice(start, end).matchAll(HEX_RUN)) {
      const made = readBytes(Buffer.from(run, 'hex'));
      if (made !== undefined) found.push({ from: start + index, to: start + index + run.length, text: made });
    }
  }
  return makeView(text, found, base);
}

/** One run, or lines of the width at which encoders wrap with a rest. */
const BASE64_RUN = /(?:(?:[\w+/-]{48,100}(?:\r?\n|\\n)[ \t]{0,40}){1,400}[\w+/-]{1,100}|[\w+/-]{16,})={0,2}/y;

/** A path or a name may end in a run: then its parts are tried. */
const BASE64_PART = /[A-Za-z0-9]{16,}={0,2}/g;

const readBase64 = (run: string): string | undefined =>
  readBytes(Buffer.from(run.replaceAll('\\n', ''), 'base64'));

function decodeRun(run: string, from: number): Replacement[] {
  const whole = readBase64(run);
  if (whole !== undefined) return [{ from, to: from + run.length, text: whole }];
  if (!/[^A-Za-z0-9=]/.test(run)) return [];
  return [...run.matchAll(BASE64_PART)].flatMap(({ 0: part, index }) => {
    const text = readBase64(part);
    return text === undefined ? [] : [{ from: from + index, to: from + index + part.length, text }];
  });
}

function base64View(text: string, base?: View): View | undefined {
  const found: Replacement[] = [];
  for (let start = nextRun(text, 0); start >= 0; start = nextRun(text, BASE64_RUN.lastIndex)) {
    BASE64_RUN.lastIndex = start;
    const [run] = BASE64_RUN.exec(text) as RegExpExecArray;
    found.push(...decodeRun(run, start));
  }
  return makeView(text, found, base);
}

/** `"abc" + "def"`, `'abc' . 'def'`, `"abc" "def"`, `"abc" \`, also over line ends. */
const CONCATENATION = /["'`]\s{0,80}(?:(?:\+|\.{1,2}|&|\|\||<>|\\)\s{0,80})?["'`]/g;

/** String literals that a program puts together, as one. */
const concatenationView = (text: string, base?: View): View | undefined =>
  /["'`]/.test(text) ? replaceIn(text, CONCATENATION, () => '', base) : undefined;

/** The views of a text, but for those that are about single characters and wrapped lines. */
export const viewsOf = (text: string, base?: View): (View | undefined)[] => [
  escapeView(text, base),
  ...(nextRun(text, 0) < 0 ? [] : [hexView(text, base), base64View(text, base)]),
  concatenationView(text, base),
];

/** `[\w+/-]` by its code. */
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w+/-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

const LEAST_RUN = 16;

/** Where the next 16 characters of hex or base64 begin, or -1. By hand: a pattern would begin anew at each character. */
export function nextRun(text: string, from: number): number {
  for (let start = from; start + LEAST_RUN <= text.length; ) {
    let at = start + LEAST_RUN - 1;
    while (at >= start && IN_RUN[text.charCodeAt(at)] === 1) at--;
    if (at < start) return start;
    start = at + 1;
  }
  return -1;
}

function endOfRun(text: string, start: number): number {
  let end = start;
  while (IN_RUN[text.charCodeAt(end)] === 1) end++;
  return end;
}

/** A line end with what may stand around it inside one value: a `\`, the indentation, a mark of comment or quote. */
const LINE_END = /[ \t]{0,8}\\?\r?\n[ \t]{0,200}(?:(?:\/\/|[#>|*+])[ \t]{1,8})?/g;

/** Shorter words on both sides of a line end are prose. */
const LEAST_WRAPPED = 16;

const isWordChar = (char: string | undefined): boolean => char !== undefined && !/[\s"'`]/.test(char);

function isWrapped(text: string, from: number, to: number): boolean {
  let length = 0;
  for (let at = from - 1; length < LEAST_WRAPPED && isWordChar(text[at]); at--) length++;
  if (length === 0) return false;
  for (let at = to; length < LEAST_WRAPPED && isWordChar(text[at]); at++) length++;
  return length >= LEAST_WRAPPED;
}

/** Lines as one, for what was wrapped. Words of two lines run together here: only for rules that this cannot fool. */
export function unwrapView(text: string, base?: View): View | undefined {
  if (!text.includes('\n')) return undefined;
  const ends: Replacement[] = [];
  for (const { 0: end, index: from } of text.matchAll(LINE_END))
    if (isWrapped(text, from, from + end.length)) ends.push({ from, to: from + end.length, text: '' });
  return makeView(text, ends, base);
}
