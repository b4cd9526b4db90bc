/** A stretch of a view and where it comes from. Copied: character for character. Otherwise: the whole for any part. */
interface Piece {
  at: number;
  from: number;
  to: number;
  isCopy: boolean;
}

export interface Span {
  start: number;
  end: number;
}

/**
 * Another reading of a text: parts of it decoded, joined or made plain. Knows for each of its characters the stretch of
 * the text that it was read from.
 */
export interface View {
  text: string;
  pieces: readonly Piece[];
  /** Where it differs from the text, in its own offsets and in order. Empty where something was left out. */
  changes: readonly Span[];
  /** The view that it was made from, where that was not the text itself. */
  base?: View;
}

/** A stretch of a text and what is read in its place. */
export interface Replacement {
  from: number;
  to: number;
  text: string;
}

/** The view in which the stretches, sorted and apart, are replaced; undefined without any. */
export function makeView(source: string, stretches: readonly Replacement[], base?: View): View | undefined {
  if (stretches.length === 0) return undefined;
  const pieces: Piece[] = [];
  const changes: Span[] = [];
  let text = '';
  let done = 0;
  const add = (part: string, from: number, to: number, isCopy: boolean) => {
    if (part !== '') pieces.push({ at: text.length, from, to, isCopy });
    text += part;
  };
  for (const stretch of stretches) {
    add(source.slice(done, stretch.from), done, stretch.from, true);
    changes.push({ start: text.length, end: text.length + stretch.text.length });
    add(stretch.text, stretch.from, stretch.to, false);
    done = stretch.to;
  }
  add(source.slice(done), done, source.length, true);
  return { text, pieces, changes, ...(base === undefined ? {} : { base }) };
}

/** The view in which each match is replaced; undefined leaves a match as it is. */
export function replaceIn(
  source: string,
  pattern: RegExp,
  replace: (match: string) => string | undefined,
  base?: View,
): View | undefined {
  const stretches: Replacement[] = [];
  for (const { 0: match, index: from } of source.matchAll(pattern)) {
    const text = replace(match);
    if (text !== undefined) stretches.push({ from, to: from + match.length, text });
  }
  return makeView(source, stretches, base);
}

/** The place of the last item whose offset is at most `offset`; -1 if there is none. */
function lastAt<T>(items: readonly T[], offset: number, offsetOf: (item: T) => number): number {
  let low = -1;
  let high = items.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsetOf(items[middle] as T) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

const pieceAt = ({ pieces }: View, offset: number): Piece =>
  pieces[
    Math.max(
      0,
      lastAt(pieces, offset, (piece) => piece.at),
    )
  ] ?? { at: 0, from: 0, to: 0, isCopy: true };

/** The span in the given text that a span of the view comes from. */
export function spanInSource(view: View, { start, end }: Span): Span {
  const first = pieceAt(view, start);
  const last = pieceAt(view, end - 1);
  const span = {
    start: first.isCopy ? first.from + (start - first.at) : first.from,
    end: last.isCopy ? last.from + (end - last.at) : last.to,
  };
  return view.base === undefined ? span : spanInSource(view.base, span);
}

/** Whether a stretch was put together from more than one: then it stands nowhere in the text as it is. */
export const isJoined = (view: View, { start, end }: Span): boolean =>
  pieceAt(view, start) !== pieceAt(view, end - 1);

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

/** Whether a change is part of a stretch or next to it, where it may have ended a word. */
export function touchesChange({ changes }: View, { start, end }: Span): boolean {
  const last = changes[lastAt(changes, end, (change) => change.start)];
  return last !== undefined && last.end >= start;
}
