import { makeView, type Replacement, replaceIn, type View } from './view.js';

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
export function escapeView(text: string, base?: View): View | undefined {
  if (!/[%\\&]/.test(text)) return undefined;
  return replaceIn(text, ESCAPE, readEscape, base);
}

const isPrintable = (code: number): boolean =>
  (code >= 32 && code < 127) || code === 10 || code === 13 || code === 9;

/** Text has at most a few other bytes; images, digests and keys are found out by their first 24. */
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

/** `[\w+/-]` by its code. */
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w+/-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

const LEAST_RUN = 16;

/**
 * Whether there is the least of what can be hex or base64, 16 in a row. By hand: a pattern would begin anew at each
 * character. A character that is in no run is none of the next 16, so most of them need not be looked at.
 */
export function hasRun(text: string): boolean {
  for (let start = 0; start + LEAST_RUN <= text.length; ) {
    let at = start + LEAST_RUN - 1;
    while (at >= start && IN_RUN[text.charCodeAt(at)] === 1) at--;
    if (at < start) return true;
    start = at + 1;
  }
  return false;
}

/** Both for a text that has a run. */
export const hexView = (text: string, base?: View): View | undefined =>
  replaceIn(text, HEX_RUN, (run) => readBytes(Buffer.from(run, 'hex')), base);

/** One run, or lines of the width at which encoders wrap with a rest. */
const BASE64_RUN = /(?:(?:[\w+/-]{48,100}(?:\r?\n|\\n)[ \t]{0,40}){1,400}[\w+/-]{1,100}|[\w+/-]{16,})={0,2}/g;

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

export function base64View(text: string, base?: View): View | undefined {
  const stretches = [...text.matchAll(BASE64_RUN)].flatMap(({ 0: run, index }) => decodeRun(run, index));
  return makeView(text, stretches, base);
}
