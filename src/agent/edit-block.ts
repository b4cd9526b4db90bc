import { appendLines, type Found, lineEndOf, removeLines, SettingsProblem } from './parts.js';

const BEGIN = '<!-- forge:begin -->';
const END = '<!-- forge:end -->';

const linesOf = (text: string): string[] => [BEGIN, ...text.trim().split('\n'), END];

/** Puts the text between forge's two marks: where they are, or at the end. */
export function putBlock(text: string, content: string): string {
  const place = findBlock(text);
  if (!place) return appendLines(text, linesOf(content));
  return text.slice(0, place.start) + linesOf(content).join(lineEndOf(text)) + text.slice(place.end);
}

export function dropBlock(text: string): string {
  const place = findBlock(text);
  return place ? removeLines(text, place.start, place.end) : text;
}

export function findBlockState(text: string, content: string): Found['state'] {
  const place = findBlock(text);
  if (!place) return 'missing';
  const isWired = text.slice(place.start, place.end) === linesOf(content).join(lineEndOf(text));
  return isWired ? 'wired' : 'changed';
}

/** From the first mark to the end of the second; null without marks. */
function findBlock(text: string): { start: number; end: number } | null {
  const [begins, ends] = [marks(text, BEGIN), marks(text, END)];
  const [begin, end] = [begins[0], ends[0]];
  const refuse = (at: number, what: string): never => {
    const name = begins.includes(at) ? BEGIN : END;
    throw new SettingsProblem(`${name} ${what}`, at, 'Leave one pair of the marks, or none.');
  };
  const extra = begins[1] ?? ends[1];
  if (extra !== undefined) refuse(extra, 'stands twice');
  if (begin === undefined && end === undefined) return null;
  if (begin === undefined || end === undefined) return refuse((begin ?? end) as number, 'stands alone');
  if (end < begin) return refuse(end, 'stands before its beginning');
  return { start: begin, end: end + END.length };
}

/** Where a mark is alone in its line. */
const marks = (text: string, mark: string): number[] =>
  [...text.matchAll(new RegExp(`(?<=^\\ufeff?)${mark}(?=[ \\t]*\\r?$)`, 'gm'))].map(({ index }) => index);
