import type { Sides } from '../core/conflict-marks.js';
import { entryTimes, parseProgress, writeProgress } from '../session/progress-rules.js';
import { type Choice, keyText } from './merge-fields.js';

interface Entry {
  /** Minutes since 1970. */
  at: number;
  text: string;
}

interface Side {
  entries: Entry[];
  next: string | undefined;
}

/**
 * Both sides' lines, each once, by day and time; each side's own order stays. Null where something stands there that is
 * no line of progress, or a line of no day: it would be lost.
 */
export function mergeProgress({ ours, theirs }: Sides<string>): { text: string; choices: Choice[] } | null {
  const [one, other] = [readSide(ours, theirs), readSide(theirs, ours)];
  if (!one || !other) return null;
  const entries = interleave(one.entries, other.entries);
  const next = later(one, other) ?? one.next ?? other.next;
  const lines = [one, other].map((side) => side.entries.length) as [number, number];
  const choices: Choice[] = [
    {
      field: 'lines',
      ours: lines[0],
      theirs: lines[1],
      value: entries.length,
      why: `both: ${entries.length - lines[0]} more than ours`,
    },
    { field: 'next', ours: one.next, theirs: other.next, value: next, why: 'of whoever wrote last' },
  ]
    .filter((choice) => choice.ours !== choice.theirs || choice.ours !== choice.value)
    .map((choice) => ({ id: null, ...choice }));
  return { text: writeProgress(entries, next), choices };
}

/** Null where the file holds more than what is read as progress. A file without a date is of the other's. */
function readSide(text: string, other: string): Side | null {
  const { lines, next } = parseProgress(text);
  const times = entryTimes(text, parseProgress(other).date);
  if (times.length !== lines.length) return null;
  const entries = lines.map((line, i) => ({ at: times[i] as number, text: line.text }));
  const kept = new Set(writeProgress(entries, next).split('\n'));
  return text.split('\n').every((line) => kept.has(line.replace(/\r$/, ''))) ? { entries, next } : null;
}

function interleave(one: readonly Entry[], other: readonly Entry[]): Entry[] {
  const [left, right] = [new Rest(one), new Rest(other)];
  const made: Entry[] = [];
  for (let [a, b] = [left.first(), right.first()]; a && b; [a, b] = [left.first(), right.first()]) {
    const [aLater, bLater] = [right.has(a), left.has(b)];
    const takeLeft = aLater === bLater ? a.at <= b.at : bLater;
    const [from, to] = takeLeft ? [left, right] : [right, left];
    const taken = from.take();
    // What both have is said once, where the two sides have it in another order as well.
    to.drop(taken);
    made.push(taken);
  }
  return [...made, ...left.all(), ...right.all()];
}

/** The entries of one side that are still to come. */
class Rest {
  private readonly counts = new Map<string, number>();
  private readonly dropped = new Map<string, number>();
  private position = 0;

  constructor(private readonly entries: readonly Entry[]) {
    for (const entry of entries) add(this.counts, entry, 1);
  }

  has(entry: Entry): boolean {
    return (this.counts.get(keyText(entry)) ?? 0) > 0;
  }

  first(): Entry | undefined {
    let entry = this.entries[this.position];
    for (; entry && (this.dropped.get(keyText(entry)) ?? 0) > 0; entry = this.entries[++this.position])
      add(this.dropped, entry, -1);
    return entry;
  }

  take(): Entry {
    const entry = this.first() as Entry;
    this.position++;
    add(this.counts, entry, -1);
    return entry;
  }

  /** One that is like it, wherever it stands. */
  drop(entry: Entry): void {
    if (!this.has(entry)) return;
    add(this.counts, entry, -1);
    add(this.dropped, entry, 1);
  }

  all(): Entry[] {
    const left: Entry[] = [];
    while (this.first()) left.push(this.take());
    return left;
  }
}

function add(counts: Map<string, number>, entry: Entry, count: number): void {
  counts.set(keyText(entry), (counts.get(keyText(entry)) ?? 0) + count);
}

function later(one: Side, other: Side): string | undefined {
  const time = ({ entries }: Side): number => entries.at(-1)?.at ?? 0;
  return time(other) > time(one) ? other.next : one.next;
}
