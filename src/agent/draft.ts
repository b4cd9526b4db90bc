/** Why a file of an agent is left as it is. The routine says which file it is. */
export class WiringProblem extends Error {
  constructor(
    message: string,
    /** Where, as a 0-based UTF-16 offset. */
    readonly offset: number | null = null,
    /** What to type next. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** At an offset so many characters go and others come. */
export interface Edit {
  offset: number;
  removed: number;
  inserted: string;
}

/** A run of characters that was put into a text. What takes all of them out again needs no copy of the text. */
export interface Insertion {
  offset: number;
  length: number;
}

export const insertion = (offset: number, inserted: string): Edit => ({ offset, removed: 0, inserted });
export const deletion = (start: number, end: number): Edit => ({
  offset: start,
  removed: end - start,
  inserted: '',
});

/** Edits of one text, at offsets of that text; none overlaps another. */
function applyEdits(text: string, edits: readonly Edit[]): string {
  return byOffset(edits).reduceRight(
    (after, { offset, removed, inserted }) =>
      after.slice(0, offset) + inserted + after.slice(offset + removed),
    text,
  );
}

const byOffset = (edits: readonly Edit[]): Edit[] => edits.toSorted((a, b) => a.offset - b.offset);

/** The text as it was before these were put in. */
export const withoutInsertions = (text: string, insertions: readonly Insertion[]): string =>
  applyEdits(
    text,
    insertions.map(({ offset, length }) => deletion(offset, offset + length)),
  );

/** A text that is edited step by step. */
export class Draft {
  /** What was put in so far, in the text as it is now; null once something was taken out. */
  insertions: readonly Insertion[] | null = [];

  constructor(public text: string) {}

  apply(edits: readonly Edit[]): void {
    this.text = applyEdits(this.text, edits);
    const inOrder = byOffset(edits);
    // From the back, so that the offsets of the others stay right.
    for (const edit of inOrder.toReversed())
      this.insertions = this.insertions && moved(this.insertions, edit);
  }
}

function moved(insertions: readonly Insertion[], { offset, removed, inserted }: Edit): Insertion[] | null {
  if (removed > 0) return null;
  const { length } = inserted;
  const around = insertions.find((one) => one.offset <= offset && offset <= one.offset + one.length);
  const rest = insertions.filter((one) => one !== around);
  const shifted = rest.map((one) => (one.offset >= offset ? { ...one, offset: one.offset + length } : one));
  const grown = around ? { ...around, length: around.length + length } : { offset, length };
  return [...shifted, grown].sort((a, b) => a.offset - b.offset);
}

/** How a text ends its lines, by its first. */
export const lineEndOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n';

export const BOM = '\ufeff';

/** Puts lines at the end, behind an empty one; a text that ends without a line end still does. */
export function appendLines(draft: Draft, lines: readonly string[]): void {
  const { text } = draft;
  const end = lineEndOf(text);
  const body = lines.join(end);
  if (text === '' || text === BOM || text.endsWith(end + end))
    draft.apply([insertion(text.length, body + end)]);
  else if (text.endsWith('\n')) draft.apply([insertion(text.length, end + body + end)]);
  else draft.apply([insertion(text.length, end + end + body)]);
}

/** Takes lines out again (from the start of the first to before the end of the last), with the empty one before. */
export function removeLines(draft: Draft, start: number, end: number): void {
  const before = /(\r?\n)?(\r?\n)?$/.exec(draft.text.slice(0, start)) as RegExpExecArray;
  const [all, first = '', second = ''] = before;
  const behind = /^\r?\n/.exec(draft.text.slice(end))?.[0] ?? '';
  const isBlankBefore = second !== '' || start === first.length;
  const from = behind === '' ? start - all.length : isBlankBefore ? start - (second || first).length : start;
  draft.apply([deletion(from, end + behind.length)]);
}
