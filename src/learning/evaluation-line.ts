import type { Piece } from '../ledger/rules/record.js';

/** Items with commas between them, in brackets. An item stands there once, as it may be long. */
const list = (open: string, item: string, close: string): string =>
  `${open}(?:${item}(?:,(?!${close})|(?=${close})))*${close}`;

const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const ESCAPE = String.raw`\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})`;
const PLAIN = String.raw`[^"\\\x00-\x1f]*`;
const TEXT = `"${PLAIN}(?:${ESCAPE}${PLAIN})*"`;
const SCALAR = `(?:${TEXT}|${NUMBER}|true|false|null)`;

/** A JSON value without white space, at most so many brackets deep. */
function value(depth: number): string {
  if (depth === 0) return SCALAR;
  const item = value(depth - 1);
  return `(?:${SCALAR}|${list('\\[', item, '\\]')}|${list('\\{', `${TEXT}:${item}`, '\\}')})`;
}

/** Fields that decide what a line says: each stands once, and where forge writes it. */
const DECISIVE =
  'v|tier|n|prev|seen|redacted|pad|at|kind|cycle|execution|classification|environment_valid|governance_violations|patterns';
/** Any other fields. With an escape in its name, one could be any. */
const others = (depth: number): string => `(?:,"(?!(?:${DECISIVE})")${PLAIN}":${value(depth)})*`;
/** As deep as `evidence` is. V8 does not optimise what is written in more than 20 KB. */
const DEPTH = 3;

const START = '{"v":1,"tier":"evaluation","n":';
const BEFORE_PREV = ',"prev":"';
const BEFORE_AT = '","seen":[],"at":"';
const ID_LENGTH = 64;
/** As forge writes times: 2026-03-01T10:00:00.000Z */
export const TIME_LENGTH = 24;

const literally = (text: string): string => text.replace(/[{}[\]]/g, '\\$&');
const WHOLE = String.raw`[1-9]\d{0,14}`;

/** A group that goes on to the end tells by its length where it begins. */
const PLAIN_CYCLE = new RegExp(
  [
    `${literally(START)}${WHOLE}${BEFORE_PREV}[^"]*${literally(BEFORE_AT)}[-:.0-9TZ]{${TIME_LENGTH}}"`,
    `${others(0)},"kind":"cycle"${others(0)},"cycle":(${WHOLE}${others(0)},"execution":"([^"]*"`,
    `${others(0)},"classification":(?:"(${PLAIN})"|null),"environment_valid":(true|false|null)`,
    `,"governance_violations":\\[\\]${others(DEPTH)}`,
    `,"patterns":(${list('\\[', list('\\{', `${TEXT}:${SCALAR}`, '\\}'), '\\]')})\\}))\n`,
  ].join(''),
  'y',
);

/** A match remembers its way back, so long lines are left to JSON.parse. */
const MAX_LENGTH = 8192;

/** The record of a cycle that broke no rule. */
export interface PlainCycle {
  n: number;
  cycle: number;
  classification: string | undefined;
  environment_valid: boolean | null;
  governance_violations: readonly string[];
  /** A list of flat objects, as JSON. */
  patterns: string;
  /** Where its values begin. What stands in place of the two ids is for the caller to check. */
  prevAt: number;
  timeAt: number;
  executionAt: number;
}

const NONE: readonly string[] = [];

/**
 * Reads a line that is exactly as forge writes it for most cycles, in a third of the time of JSON.parse; null for any
 * other. The LF of the line stands at `end`.
 */
export function matchPlainCycle(
  { bytes, text, isAscii }: Piece,
  start: number,
  end: number,
): PlainCycle | null {
  // In anything else, a character of the text would not be one of the line.
  const isPlain = isAscii || !/[\x80-\xff]/.test(text.slice(start, end));
  if (end - start > MAX_LENGTH || !isPlain) return null;
  PLAIN_CYCLE.lastIndex = start;
  const match = PLAIN_CYCLE.exec(text);
  if (!match || PLAIN_CYCLE.lastIndex !== end + 1) return null;
  const prevAt = endOfNumber(bytes, start + START.length) + BEFORE_PREV.length;
  const executionAt = end - (match[2] as string).length;
  if (bytes[prevAt + ID_LENGTH] !== QUOTE || bytes[executionAt + ID_LENGTH] !== QUOTE) return null;
  const environment = match[4];
  return {
    n: numberAt(bytes, start + START.length),
    cycle: numberAt(bytes, end - (match[1] as string).length),
    classification: match[3],
    environment_valid: environment === 'null' ? null : environment === 'true',
    governance_violations: NONE,
    patterns: match[5] as string,
    prevAt,
    timeAt: prevAt + ID_LENGTH + BEFORE_AT.length,
    executionAt,
  };
}

const QUOTE = 0x22;
const isDigit = (byte: number | undefined): byte is number =>
  byte !== undefined && byte >= 0x30 && byte <= 0x39;

function endOfNumber(line: Buffer, from: number): number {
  let at = from;
  while (isDigit(line[at])) at++;
  return at;
}

/** The number in these digits: faster than to make a string of them first. */
export function numberAt(line: Buffer, from: number): number {
  let number = 0;
  for (let at = from, byte = line[at]; isDigit(byte); byte = line[++at]) number = number * 10 + byte - 0x30;
  return number;
}
