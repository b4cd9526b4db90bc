import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { BOM, WiringProblem } from './draft.js';

/** Of jsonc-parser's SyntaxKind, which is a const enum. */
const KIND = { openBrace: 1, closeBrace: 2, openBracket: 3, closeBracket: 4, comma: 5, lineComment: 12 };
const [FIRST_BLANK, LAST_BLANK, END] = [14, 15, 17];
const FIRST_COMMENT = 12;

/** Far more than any settings have; far less than what a parser that calls itself can take. */
const MAX_DEPTH = 100;

/** A file of settings as a tree, comments and trailing commas allowed; null when there is nothing in it. */
export function parseSettings(given: string): Node | null {
  const text = given.startsWith(BOM) ? ` ${given.slice(1)}` : given;
  checkDepth(text);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first) throw new WiringProblem(`it is no JSON (${wordOf(first)})`, first.offset, MEND);
  if (root && root.type !== 'object') throw new WiringProblem('it holds no JSON object', root.offset, MEND);
  return root ?? null;
}

const MEND = 'Mend the file, then run the command again.';

/** `PropertyNameExpected` → `property name expected` */
const wordOf = ({ error }: ParseError): string =>
  printParseErrorCode(error)
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .toLowerCase();

function checkDepth(text: string): void {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let kind = scanner.scan() as number; kind !== END; kind = scanner.scan()) {
    if (kind === KIND.openBrace || kind === KIND.openBracket) depth++;
    if (kind === KIND.closeBrace || kind === KIND.closeBracket) depth--;
    if (depth > MAX_DEPTH)
      throw new WiringProblem(`it is nested deeper than ${MAX_DEPTH}`, scanner.getTokenOffset());
  }
}

export const endOf = (node: Node): number => node.offset + node.length;

/** How far a path leads: the last value on it that is there, and the keys that are not. */
export interface Reached {
  node: Node;
  missing: readonly string[];
}

/** Walks a path of keys. A key that stands twice is refused: agents take the last one, editors show the first. */
export function reach(root: Node, path: readonly string[]): Reached {
  let node = root;
  for (const [depth, key] of path.entries()) {
    if (node.type !== 'object')
      throw new WiringProblem(
        `${named(path.slice(0, depth))} is no object, but ${node.type}`,
        node.offset,
        'Make it an object: {}',
      );
    const found = membersOf(node).filter((member) => member.children?.[0]?.value === key);
    if (found.length > 1)
      throw new WiringProblem(
        `${named(path.slice(0, depth + 1))} stands twice`,
        found[1]?.offset ?? 0,
        'Keep one of the two: agents take the last.',
      );
    const value = found[0]?.children?.[1];
    if (!value) return { node, missing: path.slice(depth) };
    node = value;
  }
  return { node, missing: [] };
}

export const membersOf = (node: Node): readonly Node[] =>
  node.type === 'object' ? (node.children ?? []) : [];

export const named = (path: readonly string[]): string => `"${path.join('.')}"`;

/** What stands between the last child of an object or array (or its bracket) and its end. */
export interface Tail {
  /** Behind the last thing that is no white space: a child, its comma, a comment, the bracket. */
  end: number;
  hasComma: boolean;
  /** The last thing is a comment to the end of its line. */
  isComment: boolean;
}

export function tailOf(text: string, box: Node): Tail {
  const last = box.children?.at(-1);
  const tail: Tail = { end: last ? endOf(last) : box.offset + 1, hasComma: false, isComment: false };
  for (const { kind, offset, length } of tokensFrom(text, tail.end)) {
    if (offset >= endOf(box) - 1) break;
    if (kind === FIRST_BLANK || kind === LAST_BLANK) continue;
    tail.end = offset + length;
    tail.hasComma ||= kind === KIND.comma;
    tail.isComment = kind === KIND.lineComment;
  }
  return tail;
}

/** Where the comma behind a value is; null when something else follows. */
export function commaAfter(text: string, end: number): number | null {
  for (const { kind, offset } of tokensFrom(text, end)) {
    if (kind === KIND.comma) return offset;
    if (kind < FIRST_COMMENT || kind > LAST_BLANK) return null;
  }
  return null;
}

function* tokensFrom(
  text: string,
  start: number,
): Generator<{ kind: number; offset: number; length: number }> {
  const scanner = createScanner(text, false);
  scanner.setPosition(start);
  for (let kind = scanner.scan() as number; kind !== END; kind = scanner.scan())
    yield { kind, offset: scanner.getTokenOffset(), length: scanner.getTokenLength() };
}
