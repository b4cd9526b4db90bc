// Other readings of a text, so that nothing passes the guard encoded, split or disguised.

export interface Span {
  start: number;
  end: number;
}

/** A text, and for each character the span of the original text that it comes from (absent: itself). */
interface Source {
  text: string;
  from?: Int32Array;
  to?: Int32Array;
}

/** A text with parts of it decoded, joined or normalized. */
export interface View extends Required<Source> {
  /** Where it differs from the text, in its own offsets and in order. A removal is an empty span. */
  changes: Span[];
}

interface Replacement {
  from: number;
  to: number;
  text: string;
}

/** The view with these replacements, which are sorted and do not overlap; undefined without any. */
function makeView({ text, from, to }: Source, replacements: readonly Replacement[]): View | undefined {
  if (replacements.length === 0) return undefined;
  const length = replacements.reduce(
    (sum, part) => sum - part.to + part.from + part.text.length,
    text.length,
  );
  const view: View = { text: '', from: new Int32Array(length), to: new Int32Array(length), changes: [] };
  const startOf = (at: number): number => from?.[at] ?? at;
  const endOf = (at: number): number => to?.[at] ?? at + 1;
  let done = 0;
  for (const part of [...replacements, { from: text.length, to: text.length, text: '' }]) {
    for (let at = done, to = view.text.length; at < part.from; at++, to++) {
      view.from[to] = startOf(at);
      view.to[to] = endOf(at);
    }
    view.text += text.slice(done, part.from);
    const start = view.text.length;
    view.text += part.text;
    view.from.fill(startOf(part.from), start, view.text.length);
    view.to.fill(endOf(part.to - 1), start, view.text.length);
    view.changes.push({ start, end: view.text.length });
    done = part.to;
  }
  view.changes.pop();
  return view;
}

/** The view with each match replaced. `replace` returns undefined to keep a match. */
function replaceIn(source: Source, pattern: RegExp, replace: (match: string) => string | undefined) {
  const replacements: Replacement[] = [];
  for (const { 0: match, index: from } of source.text.matchAll(pattern)) {
    const text = replace(match);
    if (text !== undefined) replacements.push({ from, to: from + match.length, text });
  }
  return makeView(source, replacements);
}

/** The span of the original text that a span of the view comes from. */
export const spanInSource = ({ from, to }: View, { start, end }: Span): Span => ({
  start: from[start] ?? 0,
  end: to[end - 1] ?? 0,
});

/** Whether a change is inside a span, so that the original text does not contain it. */
export const isJoined = ({ changes }: View, { start, end }: Span): boolean =>
  changes.some((change) => change.start > start && change.start < end);

/** Whether a change is inside a span or next to it, where it may have ended a word. */
export const touchesChange = ({ changes }: View, { start, end }: Span): boolean =>
  changes.some((change) => change.start <= end && change.end >= start);

/** How far from a change a name may be that makes it a secret. */
const REACH = 256;

/** The parts of a view to scan: its changes with their surroundings. */
export function rangesOf({ text, changes }: View): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (const { start, end } of changes) {
    const last = ranges.at(-1);
    if (last && start - REACH <= last[1]) last[1] = Math.min(text.length, end + REACH);
    else ranges.push([Math.max(0, start - REACH), Math.min(text.length, end + REACH)]);
  }
  return ranges;
}

/** Invisible inside a word: format characters (zero width, soft hyphen, direction, tags), variation selectors, joiners, fillers. */
const UNSEEN = /^(?:\p{Cf}|\p{Variation_Selector}|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0)$/u;

/** NFKC turns full-width, mathematical and circled letters into plain ones. */
const plainOf = (char: string): string => (UNSEEN.test(char) ? '' : char.normalize('NFKC'));

/** The text with plain characters and without invisible ones; undefined if it has only those. */
export function normalizeView(text: string): View | undefined {
  // Cheaper than a Unicode class, and most texts are ASCII.
  if (!/[\u0080-\uffff]/.test(text)) return undefined;
  return replaceIn({ text }, /\P{ASCII}/gu, (char) => {
    const made = plainOf(char);
    return made === char ? undefined : made;
  });
}

/** Tag characters are invisible ASCII. */
export function tagView(text: string): View | undefined {
  // The first half of each tag character.
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

/** Text has few control and non-ASCII bytes. Images, digests and keys differ within their first 24. */
function isText(text: string): boolean {
  let others = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if ((code < 32 || code > 126) && code !== 10 && code !== 13 && code !== 9) others += 1;
    if (i === 23 && others > 4) return false;
  }
  return others * 8 <= text.length;
}

/** The text that a run encodes, also as UTF-16 (`powershell -EncodedCommand`). */
function decode(run: string, encoding: 'hex' | 'base64'): string | undefined {
  const text = Buffer.from(run.replaceAll('\\n', ''), encoding).toString('latin1');
  if (isText(text)) return text;
  if (!text.startsWith('\0') && text[1] !== '\0') return undefined;
  const narrow = text.replace(/\0/g, '');
  return narrow.length * 2 <= text.length + 1 && isText(narrow) ? narrow : undefined;
}

/** Hex or base64: one run, or lines of the width at which encoders wrap. */
const RUN =
  /(?<![\w+/-])(?=[\w+/-]{16})(?:(?:[\w+/-]{48,100}(?:\r?\n|\\n)[ \t]{0,40}){1,400}[\w+/-]{1,100}|[\w+/-]{16,})={0,2}/g;
/** Git ids and digests match too, but do not decode to text. */
const HEX = /(?:[0-9a-f]{2}){12,}/gi;
/** A path or a name may end in a run, so its parts are tried too. */
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

/** Concatenated string literals: `"abc" + "def"`, `'abc' . 'def'`, `"abc" "def"`, `"abc" \`, also over line ends. */
const CONCATENATION = /["'`]\s{0,80}(?:(?:\+|\.{1,2}|&|\|\||<>|\\)\s{0,80})?["'`]/g;

/** The views with escapes decoded, runs decoded, and string literals joined. */
export const viewsOf = (source: Source): (View | undefined)[] => [
  /[%\\&]/.test(source.text) ? replaceIn(source, ESCAPE, readEscape) : undefined,
  decodedView(source),
  replaceIn(source, CONCATENATION, () => ''),
];

/** A line end inside one value, with a `\`, indentation, and a comment or quote marker. */
const LINE_END = /[ \t]{0,8}\\?\r?\n[ \t]{0,200}(?:(?:\/\/|[#>|*+])[ \t]{1,8})?/g;

/** Shorter words around a line end are prose. */
const LEAST_WRAPPED = 16;

function isWrapped(text: string, from: number, to: number): boolean {
  const left = /[^\s"'`]*$/.exec(text.slice(Math.max(0, from - LEAST_WRAPPED), from))?.[0] ?? '';
  const right = /^[^\s"'`]*/.exec(text.slice(to, to + LEAST_WRAPPED))?.[0] ?? '';
  return left !== '' && to < text.length && left.length + right.length >= LEAST_WRAPPED;
}

/** The text with wrapped lines joined. This also joins words of two lines, so only rules that recognize a form may use it. */
export function unwrapView(source: Source): View | undefined {
  const ends: Replacement[] = [];
  for (const { 0: end, index: from } of source.text.matchAll(LINE_END))
    if (isWrapped(source.text, from, from + end.length)) ends.push({ from, to: from + end.length, text: '' });
  return makeView(source, ends);
}
