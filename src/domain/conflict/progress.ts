import { type Progress, parseProgress, writeProgress } from '../session/progress.js';
import { type Choice, keyText } from './fields.js';
import type { Sides } from './sides.js';

/**
 * Both sides' lines, each once, by time; each side's own order stays, past midnight as well. Null where something stands
 * there that is no line of progress: it would be lost.
 */
export function mergeProgress({ ours, theirs }: Sides<string>): { text: string; choices: Choice[] } | null {
  if (!isWhole(ours) || !isWhole(theirs)) return null;
  const [one, other] = [parseProgress(ours), parseProgress(theirs)];
  const lines = interleave(one.lines, other.lines);
  const next = later(one, other) ?? one.next ?? other.next;
  const date = one.date ?? other.date;
  const added = lines.length - one.lines.length;
  const choices: Choice[] = [
    {
      field: 'lines',
      ours: one.lines.length,
      theirs: other.lines.length,
      value: lines.length,
      why: `both: ${added} more than ours`,
    },
    { field: 'next', ours: one.next, theirs: other.next, value: next, why: 'of whoever wrote last' },
  ]
    .filter((choice) => choice.ours !== choice.theirs || choice.ours !== choice.value)
    .map((choice) => ({ id: null, ...choice }));
  return { text: writeProgress({ date, lines, ...(next === undefined ? {} : { next }) }), choices };
}

/** Nothing but what is read as progress. */
function isWhole(text: string): boolean {
  const kept = new Set(writeProgress(parseProgress(text)).split('\n'));
  return text.split('\n').every((line) => kept.has(line.replace(/\r$/, '')));
}

function interleave(one: Progress['lines'], other: Progress['lines']): Progress['lines'] {
  const [left, right] = [counted(one), counted(other)];
  const made: Progress['lines'] = [];
  let [i, j] = [0, 0];
  const takeLeft = (): void => take(one[i++], left);
  const takeRight = (): void => take(other[j++], right);
  const take = (line: Progress['lines'][number] | undefined, rest: Map<string, number>): void => {
    if (!line) return;
    made.push(line);
    rest.set(keyText(line), (rest.get(keyText(line)) ?? 0) - 1);
  };
  while (i < one.length && j < other.length) {
    const [a, b] = [one[i] as Progress['lines'][number], other[j] as Progress['lines'][number]];
    if (keyText(a) === keyText(b)) {
      takeLeft();
      right.set(keyText(b), (right.get(keyText(b)) ?? 0) - 1);
      j++;
    } else if ((right.get(keyText(a)) ?? 0) > 0 && !((left.get(keyText(b)) ?? 0) > 0)) takeRight();
    else if ((left.get(keyText(b)) ?? 0) > 0 || a.time <= b.time) takeLeft();
    else takeRight();
  }
  return [...made, ...one.slice(i), ...other.slice(j)];
}

/** How often each line is still to come. */
function counted(lines: Progress['lines']): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(keyText(line), (counts.get(keyText(line)) ?? 0) + 1);
  return counts;
}

function later(one: Progress, other: Progress): string | undefined {
  const time = ({ lines }: Progress): string => lines.at(-1)?.time ?? '';
  return time(other) > time(one) ? other.next : one.next;
}
