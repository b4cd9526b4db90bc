// Other ways to read a text, so that nothing passes the guard encoded, split or disguised.

export interface Span {
  start: number;
  end: number;
}

/** A text, and for each of its characters the stretch of the given text that it was read from (absent: itself). */
interface Source {
  text: string;
  from?: Uint32Array;
  to?: Uint32Array;
}

/** Another reading of a text: parts of it decoded, joined or made plain. */
export interface View extends Required<Source> {
  /** Where it differs from the text, in its own offsets and in order. Empty where something was left out. */
  changes: readonly Span[];
}

/** A stretch of a text and what is read in its place. */
interface Replacement {
  from: number;
  to: number;
  text: string;
}

/** The view in which the stretches, sorted and apart, are replaced; undefined without any. */
function makeView(source: Source, stretches: readonly Replacement[]): View | undefined {
  if (stretches.length === 0) return undefined;
  const { text: old } = source;
  const startOf = (at: number): number => source.from?.[at] ?? at;
  const endOf = (at: number): number => source.to?.[at] ?? at + 1;
  const size = stretches.reduce((sum, { from, to, text }) => sum + text.length - (to - from), old.length);
  const view = { from: new Uint32Array(size), to: new Uint32Array(size) };
  const changes: Span[] = [];
  let [text, done] = ['', 0];
  for (const stretch of [...stretches, { from: old.length, to: old.length, text: '' }]) {
    if (source.from && source.to) {
      view.from.set(source.from.subarray(done, stretch.from), text.length);
      view.to.set(source.to.subarray(done, stretch.from), text.length);
    } else
      for (let i = done, at = text.length; i < stretch.from; i++, at++) {
        view.from[at] = i;
        view.to[at] = i + 1;
      }
    text += old.slice(done, stretch.from);
    const change = { start: text.length, end: text.length + stretch.text.length };
    view.from.fill(startOf(stretch.from), change.start, change.end);
    view.to.fill(endOf(stretch.to - 1), change.start, change.end);
    text += stretch.text;
    done = stretch.to;
    changes.push(change);
  }
  return { text, ...view, changes: changes.slice(0, -1) };
}

/** The view in which each match is replaced; undefined leaves a match as it is. */
function replaceIn(
  source: Source,
  pattern: RegExp,
  replace: (match: string) => string | undefined,
): View | undefined {
  const stretches: Replacement[] = [];
  for (const { 0: match, index: from } of source.text.matchAll(pattern)) {
    const text = replace(match);
    if (text !== undefined) stretches.push({ from, to: from + match.length, text });
  }
  return makeView(source, stretches);
}

/** The span in the given text that a span of the view comes from. */
export const spanInSource = ({ from, to }: View, { start, end }: Span): Span => ({
  start: from[start] ?? 0,
  end: to[end - 1] ?? 0,
});

/** Whether a stretch was put together from more than one: then it stands nowhere in the text as it is. */
export const isJoined = ({ changes }: View, { start, end }: Span): boolean =>
  changes.some((change) => change.start > start && change.start < end);

/** Whether a change is part of a stretch or next to it, where it may have ended a word. */
export const touchesChange = ({ changes }: View, { start, end }: Span): boolean =>
  changes.some((change) => change.start <= end && change.end >= start);

/** How far from a change a name may stand that makes it a secret. */
const REACH = 256;

/** The parts of a view that are worth a look: its changes with their surroundings. */
export function rangesOf({ text, changes }: View): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (const { start, end } of changes) {
    const last = ranges.at(-1);
    if (last && start - REACH <= last[1]) last[1] = Math.min(text.length, end + REACH);
    else ranges.push([Math.max(0, start - REACH), Math.min(text.length, end + REACH)]);
  }
  return ranges;
}

/**
 * Characters that are invisible inside a word: format characters (zero width, soft hyphen, direction, tags), variation selectors,
 * joiners, and the fillers that show as nothing.
 */
const UNSEEN = /^(?:\p{Cf}|\p{Variation_Selector}|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0)$/u;

const plain = new Map<string, string>();

/** NFKC makes full-width, mathematical and circled letters plain. Cached, since few characters make up a text. */
function plainOf(char: string): string {
  const made = plain.get(char) ?? (UNSEEN.test(char) ? '' : char.normalize('NFKC'));
  if (plain.size < 4096) plain.set(char, made);
  return made;
}

/** The text with plain characters and no unseen ones; undefined if it is so already. */
export function normalizeView(text: string): View | undefined {
  // Cheaper to make than a class of Unicode's, and most texts end here.
  if (!/[\u0080-\uffff]/.test(text)) return undefined;
  return replaceIn({ text }, /\P{ASCII}/gu, (char) => {
    const made = plainOf(char);
    return made === char ? undefined : made;
  });
}

/** Tag characters are ASCII that nobody sees: read as what they stand for. */
export function tagView(text: string): View | undefined {
  // Half of each tag character.
  if (!text.includes('\udb40')) return undefined;
  return replaceIn({ text }, /[\u{e0020}-\u{e007e}]/gu, (char) =>
    String.fromCharCode((char.codePointAt(0) ?? 0) - 0xe0000),
  );
}

const ESCAPE =
  /%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\u\{[0-9a-f]{1,6}\}|\\x[0-9a-f]{2}|\\[nrt"'/\\]|&#(?:x[0-9a-f]{1,6}|[0-9]{1,7});|&(?:amp|quot|lt|gt);/gi;

const NAMED: Record<string, string> = {
  ...{ '\\n': '\n', '\\r': '\r', '\\t': '\t', '&amp;': '&', '&quot;': '"', '&lt;': '<', '&gt;': '>' },
};

function readEscape(written: string): string {
  const named = NAMED[written.toLowerCase()];
  if (named !== undefined) return named;
  if (/^\\[^ux]/i.test(written)) return written.slice(1);
  const isDecimal = /^&#[0-9]/.test(written);
  const code = Number.parseInt(written.replace(/[^0-9a-f]/gi, ''), isDecimal ? 10 : 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}

/** Text has at most a few other bytes; images, digests and keys show by their first 24. */
function isText(text: string): boolean {
  let others = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if ((code < 32 || code > 126) && code !== 10 && code !== 13 && code !== 9) others += 1;
    if (i === 23 && others > 4) return false;
  }
  return others * 8 <= text.length;
}

/** The text that a run encodes. As UTF-16, ASCII has a zero beside each character (`powershell -EncodedCommand`). */
function decode(run: string, encoding: 'hex' | 'base64'): string | undefined {
  const text = Buffer.from(run.replaceAll('\\n', ''), encoding).toString('latin1');
  if (isText(text)) return text;
  if (!text.startsWith('\0') && text[1] !== '\0') return undefined;
  const narrow = text.replace(/\0/g, '');
  return narrow.length * 2 <= text.length + 1 && isText(narrow) ? narrow : undefined;
}

/** Hex or base64: one run, or lines of the width at which encoders wrap with a rest. */
const RUN =
  /(?<![\w+/-])(?:(?:[\w+/-]{48,100}(?:\r?\n|\\n)[ \t]{0,40}){1,400}[\w+/-]{1,100}|[\w+/-]{16,})={0,2}/g;
/** Git ids and digests are such runs too, and decode to no text. */
const HEX = /(?:[0-9a-f]{2}){12,}/gi;
/** A path or a name may end in a run: then its parts are tried. */
const PART = /[A-Za-z0-9]{16,}={0,2}/g;

function decodedView(source: Source): View | undefined {
  const found: Replacement[] = [];
  const tryParts = (run: string, at: number, pattern: RegExp, encoding: 'hex' | 'base64'): boolean => {
    const before = found.length;
    for (const { 0: part, index } of run.matchAll(pattern)) {
      const text = decode(part, encoding);
      if (text !== undefined) found.push({ from: at + index, to: at + index + part.length, text });
    }
    return found.length > before;
  };
  for (const { 0: run, index } of source.text.matchAll(RUN))
    if (!tryParts(run, index, HEX, 'hex') && !tryParts(run, index, /.+/gs, 'base64'))
      if (/[^A-Za-z0-9=]/.test(run)) tryParts(run, index, PART, 'base64');
  return makeView(source, found);
}

/** String literals that a program puts together: `"abc" + "def"`, `'abc' . 'def'`, `"abc" "def"`, `"abc" \`, also over line ends. */
const CONCATENATION = /["'`]\s{0,80}(?:(?:\+|\.{1,2}|&|\|\||<>|\\)\s{0,80})?["'`]/g;

/** Decoded and joined; not wrapped lines, and not what is about single characters. */
export const viewsOf = (source: Source): (View | undefined)[] => [
  /[%\\&]/.test(source.text) ? replaceIn(source, ESCAPE, readEscape) : undefined,
  decodedView(source),
  replaceIn(source, CONCATENATION, () => ''),
];

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
export function unwrapView(source: Source): View | undefined {
  const ends: Replacement[] = [];
  for (const { 0: end, index: from } of source.text.matchAll(LINE_END))
    if (isWrapped(source.text, from, from + end.length)) ends.push({ from, to: from + end.length, text: '' });
  return makeView(source, ends);
}
