import { columns, type Style } from '../cli/style.js';
import { oneLine, plural } from '../core/text.js';
import type { Diagnosis, Fix, Fixed } from '../index.js';

/** A merge of thousands of records is not for reading: --json has all of it. */
const MAX_CHOICES = 40;

/** What --fix is about to do. */
export const renderPlan = (fixes: readonly Fix[], style: Style): string =>
  fixes.map((fix) => fixLines(style.strong('will'), fix, style)).join('\n\n');

export function renderFixed({ findings, fixes }: Diagnosis & Partial<Fixed>, style: Style): string {
  const made = (fixes ?? []).map((fix) => fixBlock(fix, style));
  if (fixes && fixes.length === 0) made.push('Nothing can be put right without you.');
  const rest = findings.map((finding) => block(finding, style));
  const isFine = findings.length === 0 && !fixes?.some(({ done }) => !done);
  if (isFine) return [...(fixes?.length ? made : []), `${style.good('✓')} Nothing is wrong.`].join('\n\n');
  return [...made, ...rest].join('\n\n');
}

function fixBlock(fix: Fixed['fixes'][number], style: Style): string {
  const { done, problem } = fix;
  if (done) return fixLines(style.good('✓ done:'), fix, style);
  if (problem === undefined) return fixLines(style.warn('would'), fix, style);
  return `${style.bad('✗')} ${fix.what}\n    ${style.dim('failed')}  ${problem}`;
}

function fixLines(mark: string, fix: Omit<Fix, 'token'>, style: Style): string {
  const shown = fix.choices.slice(0, MAX_CHOICES).map((choice) => choiceRow(choice, style));
  const more = fix.choices.length - shown.length;
  return [
    `${mark} ${style.strong(fix.what)}`,
    ...(shown.length > 0 ? [columns(shown, '    ')] : []),
    ...(more > 0 ? [`    … ${plural(more, 'more choice')}: --json shows all`] : []),
    `    ${style.dim('undo')}  ${style.command(fix.undo)}`,
  ].join('\n');
}

/** `F-1 status  ours passing  theirs failing  → failing  (why)` */
function choiceRow({ id, field, ours, theirs, value, why }: Fix['choices'][number], style: Style): string[] {
  const name = [...(id === null ? [] : [oneLine(id, 40)]), ...(field === null ? [] : [field])].join(' ');
  if (field === null) return [name, value === undefined ? style.warn('taken out') : style.good('stays'), why];
  return [
    name,
    `→ ${brief(value)}`,
    `${style.dim('ours')} ${brief(ours)}  ${style.dim('theirs')} ${brief(theirs)}  (${why})`,
  ];
}

const brief = (value: unknown): string =>
  value === undefined ? '–' : oneLine(typeof value === 'string' ? value : JSON.stringify(value), 40);

const MARKS = {
  blocking: ({ bad }: Style) => bad('✗'),
  degraded: ({ warn }: Style) => warn('!'),
  advisory: ({ dim }: Style) => dim('·'),
};

function block(
  { severity, observed, expected, why, commands }: Diagnosis['findings'][number],
  style: Style,
): string {
  const rows = [
    [style.dim('expected'), expected],
    [style.dim('why'), why],
    ...commands.map((line, i) => [i === 0 ? style.dim('type') : '', style.command(line)]),
  ];
  return `${MARKS[severity](style)} ${style.strong(observed)}  (${severity})\n${columns(rows, '    ')}`;
}
