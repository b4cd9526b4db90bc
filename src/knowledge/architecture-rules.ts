import { oneLine } from '../core/text.js';

/** What forge reads of `architecture.md`, which people write. Lines are 1-based. */
export interface Architecture {
  sections: { title: string; level: number; line: number }[];
  /** One a list item of a section "Invariants"; items below it stand on lines of their own, after `  - `. */
  invariants: { text: string; line: number }[];
}

/** Longer lines are read as far as that: an invariant is a sentence. Characters. */
const MAX_LINE = 2000;
const MAX_SHOWN = 400;

/** Any text; never throws. Markdown's headings (both kinds), lists, code fences and comments are known, no more. */
export function readArchitecture(text: string): Architecture {
  const reader = new Reader();
  for (const { line, number } of proseLines(text)) reader.read(line, number);
  return reader.end();
}

const MARKER = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;

/** Outside of code fences, which count as blank, and of comments. */
function* proseLines(text: string): Generator<{ line: string; number: number }> {
  let fence: string | null = null;
  let isComment = false;
  for (const [i, whole] of text.split(/\r\n|\n|\r/).entries()) {
    const line = whole.slice(0, MAX_LINE);
    const content = line.replace(MARKER, '').trimStart();
    const marks = /^(`{3,}|~{3,})/.exec(content)?.[0] ?? '';
    let prose = '';
    if (fence !== null) {
      if (marks.startsWith(fence) && content.trimEnd() === marks) fence = null;
    } else if (isComment) {
      isComment = !whole.includes('-->');
    } else if (marks !== '') {
      fence = marks;
    } else if (content.startsWith('<!--') && !content.includes('-->')) {
      isComment = true;
    } else {
      prose = withoutComments(line);
    }
    yield { line: prose, number: i + 1 };
  }
}

function withoutComments(line: string): string {
  let [kept, at] = ['', 0];
  for (;;) {
    const open = line.indexOf('<!--', at);
    const close = open < 0 ? -1 : line.indexOf('-->', open + 4);
    if (close < 0) return kept + line.slice(at);
    kept += line.slice(at, open);
    at = close + 3;
  }
}

const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;

interface Item {
  line: number;
  parts: { depth: number; text: string }[];
}

class Reader {
  private readonly sections: Architecture['sections'] = [];
  private readonly items: Item[] = [];
  /** Level of the section "Invariants" that is being read. */
  private within: number | null = null;
  /** The list item that lines may still belong to, and how far it and those around it are indented. */
  private item: Item | null = null;
  private indents: number[] = [];
  private isAfterBlank = true;
  /** A line of plain text, which an underline makes a heading. */
  private plain: string | null = null;

  read(line: string, number: number): void {
    const { plain } = this;
    this.plain = null;
    const heading = HEADING.exec(line);
    if (line.trim() === '') this.isAfterBlank = true;
    else if (heading) this.open(line.slice(heading[0].length), heading[1]?.length ?? 1, number);
    else if (plain !== null && UNDERLINE.test(line)) this.open(plain, line.includes('=') ? 1 : 2, number - 1);
    else if (RULE.test(line)) this.item = null;
    else if (MARKER.test(line) && !this.isCode(line)) this.begin(line, number);
    else this.goOn(line);
    if (line.trim() !== '') this.isAfterBlank = false;
  }

  end(): Architecture {
    const invariants = this.items.map(({ line, parts }) => ({ line, text: textOf(parts) }));
    return { sections: this.sections, invariants: invariants.filter(({ text }) => text !== '') };
  }

  private open(words: string, level: number, line: number): void {
    const title = oneLine(withoutClosing(words), 120);
    this.sections.push({ title, level, line });
    this.item = null;
    if (this.within === null || level <= this.within) this.within = isInvariants(title) ? level : null;
  }

  /** Indented that far where no item is open, it is no list. */
  private isCode(line: string): boolean {
    return this.item === null && widthOf(line) >= 4;
  }

  private begin(line: string, number: number): void {
    const indent = widthOf(line);
    const text = line.replace(MARKER, '').replace(/^\[[ xX]\][ \t]+/, '');
    // What is hardly indented is no list below the last one.
    const isTop = this.item === null || indent <= (this.indents[0] ?? 0) + 1;
    while (this.indents.length > 0 && (isTop || (this.indents.at(-1) ?? 0) >= indent)) this.indents.pop();
    if (isTop) {
      this.item = { line: number, parts: [] };
      if (this.within !== null) this.items.push(this.item);
    }
    this.item?.parts.push({ depth: this.indents.length, text });
    this.indents.push(indent);
  }

  /** Text goes on with its item, until it stands apart from it. */
  private goOn(line: string): void {
    if (this.item === null || (this.isAfterBlank && widthOf(line) === 0)) {
      this.item = null;
      this.plain = line;
      return;
    }
    const last = this.item.parts.at(-1);
    if (last && last.text.length < MAX_LINE) last.text += ` ${line.trim()}`;
  }
}

const widthOf = (line: string): number => /^[ \t]*/.exec(line)?.[0].replaceAll('\t', '    ').length ?? 0;

/** `## Title ##` */
function withoutClosing(words: string): string {
  const text = words.trim();
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return end === 0 || /\s/.test(text[end - 1] ?? '') ? text.slice(0, end) : text;
}

/** "Invariants", "3. System invariants (never break)", "Invariants of the store"; not "Why invariants matter". */
function isInvariants(title: string): boolean {
  const words =
    title
      .normalize('NFKC')
      .toLowerCase()
      .replace(/\(.*\)/, '')
      .match(/\p{L}+/gu) ?? [];
  if (words.length > 5) return false;
  return words[0] === 'invariants' || /^invariants?$/.test(words.at(-1) ?? '');
}

/** Of what stands below an item. */
const MAX_PARTS = 20;

function textOf(parts: Item['parts']): string {
  const lines = parts.slice(0, MAX_PARTS).flatMap(({ depth, text }) => {
    const shown = oneLine(text, MAX_SHOWN);
    if (shown === '') return [];
    return depth === 0 ? [shown] : [`${'  '.repeat(depth)}- ${shown}`];
  });
  return [...lines, ...(parts.length > MAX_PARTS ? ['  - …'] : [])].join('\n');
}
