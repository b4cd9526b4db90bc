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
 * Another reading of a text: parts of it decoded, joined or made plain. Knows for each of its characters the stretch
 * of the text that it was read from.
 */
export interface View {
  text: string;
  pieces: readonly Piece[];
  /** The view that it was made from, where that was not the text itself. */
  base?: View;
}

/** A stretch of a text and what is read in its place. */
export interface Replacement {
  from: number;
  to: number;
  text: string;
}

/** The view in which the stretches, sorted and apart, are replaced; undefined where there are none. */
export function makeView(source: string, stretches: readonly Replacement[], base?: View): View | undefined {
  if (stretches.length === 0) return undefined;
  const pieces: Piece[] = [];
  let text = '';
  let done = 0;
  const add = (part: string, from: number, to: number, isCopy: boolean) => {
    if (part !== '') pieces.push({ at: text.length, from, to, isCopy });
    text += part;
  };
  for (const stretch of stretches) {
    add(source.slice(done, stretch.from), done, stretch.from, true);
    add(stretch.text, stretch.from, stretch.to, false);
    done = stretch.to;
  }
  add(source.slice(done), done, source.length, true);
  return base === undefined ? { text, pieces } : { text, pieces, base };
}

/** The view in which each match is left out. Where it all comes from is found out when it is asked for: most texts have no hit. */
export function leaveOut(source: string, pattern: RegExp, base?: View): View | undefined {
  const text = source.replace(pattern, '');
  if (text.length === source.length) return undefined;
  let whole: View | undefined;
  const view = {
    text,
    get pieces() {
      whole ??= replaceIn(source, pattern, () => '');
      return whole?.pieces ?? [];
    },
  };
  return base === undefined ? view : Object.assign(view, { base });
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

function pieceAt(view: View, offset: number): Piece {
  let low = 0;
  let high = view.pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((view.pieces[middle]?.at ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return view.pieces[low] ?? { at: 0, from: 0, to: 0, isCopy: true };
}

/** Where a stretch of the view stands in the text that was given. */
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
