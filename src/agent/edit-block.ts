import { appendLines, type Draft, lineEndOf, removeLines, WiringProblem } from './draft.js';
import type { Fixture, Found } from './wiring-rules.js';

export type Block = Fixture & { kind: 'block' };

const BEGIN = '<!-- forge:begin -->';
const END = '<!-- forge:end -->';

interface Place {
  start: number;
  /** Before the end of its last line. */
  end: number;
}

/** Puts the text between forge's two marks: where they are, or at the end. */
export function putBlock(draft: Draft, { text }: Block): void {
  const place = findBlock(draft.text);
  const lines = linesOf(text);
  if (!place) {
    appendLines(draft, lines);
    return;
  }
  const inserted = lines.join(lineEndOf(draft.text));
  if (draft.text.slice(place.start, place.end) === inserted) return;
  draft.apply([{ offset: place.start, removed: place.end - place.start, inserted }]);
}

export function dropBlock(draft: Draft): void {
  const place = findBlock(draft.text);
  if (place) removeLines(draft, place.start, place.end);
}

export function lookForBlock(text: string, fixture: Block): Found {
  const place = findBlock(text);
  if (!place) return { state: 'missing', value: undefined };
  const value = text.slice(place.start, place.end);
  const isWired = value === linesOf(fixture.text).join(lineEndOf(text));
  return { state: isWired ? 'wired' : 'changed', value };
}

const linesOf = (text: string): string[] => [BEGIN, ...text.trim().split('\n'), END];

function findBlock(text: string): Place | null {
  const [begins, ends] = [marks(text, BEGIN), marks(text, END)];
  const [begin, end] = [begins[0], ends[0]];
  const extra = begins[1] ?? ends[1];
  const name = (at: number): string => (begins.includes(at) ? BEGIN : END);
  const refuse = (at: number, what: string): never => {
    throw new WiringProblem(`${name(at)} ${what}`, at, 'Leave one pair of the marks, or none.');
  };
  if (extra !== undefined) refuse(extra, 'stands twice');
  if (begin === undefined && end === undefined) return null;
  if (begin === undefined || end === undefined) return refuse((begin ?? end) as number, 'stands alone');
  if (end < begin) return refuse(end, 'stands before its beginning');
  return { start: begin, end: end + END.length };
}

/** Where a mark has a line for itself. */
const marks = (text: string, mark: string): number[] =>
  [...text.matchAll(new RegExp(`(?<=^\\ufeff?)${mark}(?=[ \\t]*\\r?$)`, 'gm'))].map(({ index }) => index);
