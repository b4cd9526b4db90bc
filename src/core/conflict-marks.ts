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
