import type { Hit } from './rule.js';
import { CODE, NEUTRAL, NO_CODE } from './rules/code-lines.js';

/** A run of code this long in a note is a copy of a file, not a quotation. */
const MIN_LINES = 20;
const MIN_CODE = 12;
/** As many lines of other text in a row end a run. */
const MAX_GAP = 3;
const MAX_LINE = 400;

export const LONG_CODE: Pick<Hit, 'rule' | 'class' | 'what'> = {
  rule: 'proprietary-long-code',
  class: 'proprietary',
  what: 'long run of source code',
};

type Kind = 'code' | 'neutral' | 'other';

function kindOf(line: string): Kind {
  const text = line.slice(0, MAX_LINE).trim();
  if (NEUTRAL.test(text)) return 'neutral';
  if (NO_CODE.test(text)) return 'other';
  return CODE.some((pattern) => pattern.test(text)) ? 'code' : 'other';
}

/** Lines of a text that can only be code. */
export const countCode = (text: string): number =>
  text.split('\n').filter((line) => kindOf(line) === 'code').length;

interface Run {
  start: number;
  /** After the last line of code. */
  end: number;
  lines: number;
  code: number;
  other: number;
}

const isLong = (run: Run): boolean =>
  run.lines >= MIN_LINES && run.code >= MIN_CODE && run.code >= 2 * run.other;

/** Where source code of 20 lines or more stands in a free text, or null. One pass; a gap of other lines ends a run. */
export function findLongCode(text: string): { start: number; end: number } | null {
  let run: Run | null = null;
  let [gap, gapLines, at] = [0, 0, 0];
  for (const line of text.split('\n')) {
    const kind = kindOf(line);
    // A closing brace belongs to the code it ends, and begins none.
    if (kind === 'code' || (kind === 'neutral' && run && gap === 0 && line.trim() !== '')) {
      run ??= { start: at, end: at, lines: 0, code: 0, other: 0 };
      run.lines += gapLines + 1;
      if (kind === 'code') run.code++;
      run.other += gap;
      run.end = at + line.length;
      [gap, gapLines] = [0, 0];
    } else if (run) {
      gapLines++;
      if (kind === 'other') gap++;
      if (gap >= MAX_GAP && isLong(run)) break;
      if (gap >= MAX_GAP) [run, gap, gapLines] = [null, 0, 0];
    }
    at += line.length + 1;
  }
  return run && isLong(run) ? { start: run.start, end: run.end } : null;
}
