import type { Hit } from './rule.js';

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

// Stack frames, log lines, JSON members, diff stats, lists, tables, prompts: what people rightly paste into notes.
const NO_CODE =
  /^(?:at .{1,300}[:(]\d{1,6}|File "[^"]{1,200}", line \d|"[^"]{1,100}" ?: ?|\[?\d{4}-\d\d-\d\d[T ]|\[[\w .:-]{1,30}\] |[\w./{}=> -]{1,160} \| {1,8}(?:\d|Bin)|[-*+•] |\d{1,3}[.)] |\||[$#>] |(?:error|warn|info|debug|note|warning|npm|PASS|FAIL|✓|✗|×)\b)/i;
const NEUTRAL = /^[{}()[\];,]{0,12}$/;
const CODE: readonly RegExp[] = [
  /[;{]$|^\}[ )\]};,]{0,6}(?:else|catch|finally|while)?|=> ?[({[]?$|^\}\)/,
  /^(?:export|import|from|const|let|var|function|class|interface|enum|struct|public|private|protected|static|func|fn|pub|impl|use|package|namespace|template|typedef|async|await|def|using|module|extends|override|final|abstract|void|int|char|bool|float|double|string|type) [\w{*<"'(&:$@]{1,60}.{0,300}[({=;:>,'"]/,
  /^(?:import|package|use|using|from|require|include) [\w.:/"'*{}-]{1,80}(?: import .{1,200})?;?$/,
  /^(?:with|if|for|while|switch|except|elif|else if|catch|until|match|when|unless|foreach)\b ?(?:\(|.{1,200}(?::|then|do|\{)$)/,
  /^(?:else|try|finally|do|begin|end|fi|done|esac|then|pass|break|continue|return|default)\b ?[:;{]?$/,
  /^(?:return|throw|raise|yield|await|assert|case|goto|echo|elsif|except|with|defer|del|new) .{1,200}[\w)\]}"':,(]$/,
  /^[\w.$[\]'"*&>-]{1,60}(?::? [\w<>[\], |]{1,60})? ?(?::=|[-+*/|&%]?=|<-|\?=) ?[^=]/,
  /^[\w.$:>-]{1,80}(?:<[\w, ]{1,40}>)?\([^()]{0,200}(?:\([^()]{0,100}\)[^()]{0,100}){0,4}\)?[,;){]{0,4}$/,
  /^(?:\/\/|\/\*|\*\/|#include|#define|#if|#endif|@\w{2,40}(?:\(|$)|#\[|<\/?\w{1,30}[ />])/,
  /^\.\w{1,40}\(|^\w{1,40}: [\w"'[{(].{0,160},$/,
];

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
