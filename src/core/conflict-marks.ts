/** What two branches made of the same thing, and what both came from, where that is known. In git's own words. */
export interface Sides<T> {
  ours: T;
  theirs: T;
  base: T | null;
}

type Side = keyof Sides<string>;

/** Lines (1-based) from the first marker of a conflict to the end of the first that is closed; null without one. */
export function conflictLines(text: string): { from: number; to: number } | null {
  const size = markerSize(text);
  if (size === null) return null;
  let from = 0;
  for (const [at, line] of text.split('\n').entries()) {
    const marker = markerOf(line, size);
    if (marker === '<') from ||= at + 1;
    else if (marker === '>' && from > 0) return { from, to: at + 1 };
  }
  return null;
}

/**
 * Seven, or what the attribute `conflict-marker-size` says. Git writes longer ones inside of what the branches have in
 * common, when that had a conflict itself: the first is of the conflict that counts.
 */
function markerSize(text: string): number | null {
  if (!text.includes('<<<<<<<')) return null;
  return /^(<{7,})(?: |\r?$)/m.exec(text)?.[1]?.length ?? null;
}

function markerOf(line: string, size: number): string | null {
  const [, marker, char] = /^(([<|=>])\2{6,})(?: |\r?$)/.exec(line) ?? [];
  return marker?.length === size && char !== undefined ? char : null;
}

/**
 * The versions that a text with conflict markers was made of, in any of git's styles (merge, diff3, zdiff3). The base is
 * what stands in the markers: zdiff3 leaves lines out of it, so it need not be the true one. Null where the markers do not
 * pair up, or stand in one another.
 */
export function sidesOf(text: string): Sides<string> | null {
  const size = markerSize(text);
  if (size === null) return null;
  const sides: Record<Side, string[]> = { ours: [], base: [], theirs: [] };
  let within: Side | null = null;
  let [hunks, based] = [0, 0];
  for (const line of text.split('\n')) {
    const marker = markerOf(line, size);
    const next: Side | '' | undefined = marker === null ? undefined : NEXT[`${within ?? ''}${marker}`];
    if (marker !== null && next === undefined) return null;
    if (marker === '<') hunks++;
    if (marker === '|') based++;
    if (next !== undefined) within = next === '' ? null : next;
    else if (within !== null) sides[within].push(line);
    else for (const side of Object.values(sides)) side.push(line);
  }
  if (within !== null || hunks === 0) return null;
  const whole = (lines: string[]): string => lines.join('\n');
  return {
    ours: whole(sides.ours),
    theirs: whole(sides.theirs),
    base: based === hunks ? whole(sides.base) : null,
  };
}

/** Where a marker leads from where one is; what is not here does not belong there. */
const NEXT: Readonly<Record<string, Side | ''>> = {
  '<': 'ours',
  'ours|': 'base',
  'ours=': 'theirs',
  'base=': 'theirs',
  'theirs>': '',
};
