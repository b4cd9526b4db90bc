import type { Node } from 'jsonc-parser';
import { deletion, type Edit, insertion, lineEndOf } from './draft.js';
import { commaAfter, endOf, tailOf } from './json-tree.js';

/** How a file is laid out, by what stands in it. */
interface Look {
  lineEnd: string;
  /** One step of indentation. */
  unit: string;
  /** Everything on one line. */
  isInline: boolean;
}

function lookOf(text: string, root: Node): Look {
  const inner = text.slice(root.offset, endOf(root));
  return {
    lineEnd: lineEndOf(text),
    unit: /\n([ \t]+)\S/.exec(inner)?.[1] ?? '  ',
    isInline: (root.children?.length ?? 0) > 0 && !inner.includes('\n'),
  };
}

/** A value as it stands in a file; `indent` null: on one line. */
function printed(value: unknown, { unit, lineEnd }: Look, indent: string | null): string {
  if (indent === null) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll('\n', lineEnd + indent);
}

/** What a new file holds, or one with nothing but white space. */
export const formatSettings = (value: unknown, lineEnd = '\n'): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', lineEnd);

/** Puts a child behind the last one of an object (with its key) or array, laid out like the others. */
export function insertChild(text: string, root: Node, box: Node, value: unknown, key?: string): Edit[] {
  const look = lookOf(text, root);
  const last = box.children?.at(-1);
  const { end, hasComma, isComment } = tailOf(text, box);
  const close = endOf(box) - 1;
  const comma = last && !hasComma ? [insertion(endOf(last), ',')] : [];
  // Where a comma stood at the end one stands there again.
  const child = (indent: string | null): string =>
    (key === undefined ? '' : JSON.stringify(key) + (indent === null ? ':' : ': ')) +
    printed(value, look, indent) +
    (hasComma ? ',' : '');
  const isOpen = isComment || text.slice(end, close).includes('\n');
  if (!isOpen && (last || look.isInline))
    return [...comma, insertion(end, (end > box.offset + 1 ? ' ' : '') + child(null))];
  const outer = indentAt(text, isOpen ? close : box.offset);
  const indent = indentOf(text, box.children?.[0]) ?? outer + look.unit;
  const line = look.lineEnd + indent + child(indent);
  return [...comma, insertion(end, isOpen ? line : line + look.lineEnd + outer)];
}

/** Puts a value in another's place. */
export function replaceValue(text: string, root: Node, node: Node, value: unknown): Edit[] {
  const look = lookOf(text, root);
  const isInline = look.isInline || !text.slice(node.offset, endOf(node)).includes('\n');
  const inserted = printed(value, look, isInline ? null : indentAt(text, node.offset));
  return [{ offset: node.offset, removed: node.length, inserted }];
}

/** Takes a child out, with one comma and with the lines that it had for itself. */
export function removeChild(text: string, box: Node, child: Node): Edit[] {
  const [start, end] = [child.offset, endOf(child)];
  const comma = commaAfter(text, end);
  const isNext = comma !== null && text.slice(end, comma).trim() === '';
  const tail = isNext ? comma + 1 : end;
  const others =
    comma !== null ? (isNext ? [] : [deletion(comma, comma + 1)]) : commaBefore(text, box, child);
  return [...others, deletion(...span(text, start, tail, comma !== null))];
}

function span(text: string, start: number, tail: number, hasComma: boolean): [number, number] {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const isOwnLine = lineStart > 0 && text.slice(lineStart, start).trim() === '';
  const blank = /^[ \t]*/.exec(text.slice(tail))?.[0].length ?? 0;
  const atLineEnd = /^\r?\n/.test(text.slice(tail + blank));
  if (isOwnLine && atLineEnd) return [lineStart - (text[lineStart - 2] === '\r' ? 2 : 1), tail];
  const isLast = /^[\]}]/.test(text.slice(tail + blank));
  if (hasComma && !isLast) return [start, tail + blank];
  return [start - (/[ \t]*$/.exec(text.slice(lineStart, start))?.[0].length ?? 0), tail];
}

/** Of the last child the comma stands before it. */
function commaBefore(text: string, box: Node, child: Node): Edit[] {
  const before = box.children?.[(box.children?.indexOf(child) ?? 0) - 1];
  const comma = before ? commaAfter(text, endOf(before)) : null;
  return comma === null ? [] : [deletion(comma, comma + 1)];
}

/** True when nothing stands between the brackets, no comment either. */
export const isBlank = (text: string, box: Node): boolean =>
  text.slice(box.offset + 1, endOf(box) - 1).trim() === '';

/** The white space that the line of an offset begins with. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** That of a value which is the first in its line; null for any other. */
function indentOf(text: string, node: Node | undefined): string | null {
  if (!node) return null;
  const line = text.slice(text.lastIndexOf('\n', node.offset - 1) + 1, node.offset);
  return line.trim() === '' && line.length < node.offset ? line : null;
}
