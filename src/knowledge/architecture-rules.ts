import { oneLine } from '../core/text.js';

/** The part of `architecture.md` that forge reads. People write it. Lines are 1-based. */
export interface Architecture {
  sections: { title: string; level: number; line: number }[];
  /** One per list item of a section "Invariants". Nested items are on separate lines, after `  - `. */
  invariants: { text: string; line: number }[];
}

/** An invariant is a sentence: the rest of a longer line is ignored. Characters. */
const MAX_LINE = 2000;
const MAX_SHOWN = 400;
/** For one invariant, with its nested items. */
const MAX_PARTS = 20;

const FENCE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const ITEM = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?(.*))?$/;

interface Item {
  line: number;
  indent: number;
  parts: { depth: number; text: string }[];
}

/** Reads any text and never throws. Knows headings with `#`, lists, code fences and comments. */
export function readArchitecture(text: string): Architecture {
  const sections: Architecture['sections'] = [];
  const items: Item[] = [];
  let fence: string | null = null;
  /** Level of the section "Invariants" that is being read. */
  let within: number | null = null;
  let item: Item | null = null;
  let isAfterBlank = true;
  for (const [i, whole] of withoutComments(text.replace(/\r\n?/g, '\n')).split('\n').entries()) {
    const line = whole.slice(0, MAX_LINE);
    const marks = FENCE.exec(line)?.[1];
    if (fence !== null || marks !== undefined) {
      if (fence === null) fence = marks ?? null;
      else if (marks?.startsWith(fence) && line.trim() === marks) fence = null;
      continue;
    }
    const [heading, found, indent] = [HEADING.exec(line), ITEM.exec(line), indentOf(line)];
    if (heading) {
      const level = heading[1]?.length ?? 1;
      const title = oneLine((heading[2] ?? '').trim().replace(/(?<=^|\s)#+$/, ''), 120).trim();
      sections.push({ title, level, line: i + 1 });
      item = null;
      if (within === null || level <= within) within = isInvariants(title) ? level : null;
    } else if (RULE.test(line)) item = null;
    else if (found && item && indent > item.indent + 1) {
      const depth = Math.floor((indent - item.indent) / 2);
      item.parts.push({ depth: Math.min(depth, (item.parts.at(-1)?.depth ?? 0) + 1), text: found[1] ?? '' });
    } else if (found && (item || indent < 4)) {
      item = { line: i + 1, indent, parts: [{ depth: 0, text: found[1] ?? '' }] };
      if (within !== null) items.push(item);
    } else if (item && isAfterBlank && indent === 0 && line.trim() !== '') item = null;
    else if (item) continueItem(item, line.trim());
    isAfterBlank = line.trim() === '';
  }
  const invariants = items.map(({ line, parts }) => ({ line, text: textOf(parts) }));
  return { sections, invariants: invariants.filter((each) => each.text !== '') };
}

function continueItem({ parts }: Item, text: string): void {
  const last = parts.at(-1);
  if (last && text !== '' && last.text.length < MAX_LINE) last.text += ` ${text}`;
}

/** Keeps line numbers. An unclosed comment is text. */
function withoutComments(text: string): string {
  const [before = '', ...rest] = text.split('<!--');
  const kept = rest.map((part) => {
    const end = part.indexOf('-->');
    if (end < 0) return `<!--${part}`;
    return '\n'.repeat(part.slice(0, end).split('\n').length - 1) + part.slice(end + 3);
  });
  return before + kept.join('');
}

const indentOf = (line: string): number => /^[ \t]*/.exec(line)?.[0].replaceAll('\t', '    ').length ?? 0;

/** "Invariants", "3. System invariants (never break)", "Invariants of the store"; not "Why invariants matter". */
function isInvariants(title: string): boolean {
  const plain = title.normalize('NFKC').toLowerCase();
  const words = plain.replace(/\(.*\)/, '').match(/\p{L}+/gu) ?? [];
  if (words.length > 5) return false;
  return words[0] === 'invariants' || /^invariants?$/.test(words.at(-1) ?? '');
}

function textOf(parts: Item['parts']): string {
  const lines = parts.slice(0, MAX_PARTS).flatMap(({ depth, text }) => {
    const shown = oneLine(text, MAX_SHOWN);
    if (shown === '') return [];
    return depth === 0 ? [shown] : [`${'  '.repeat(depth)}- ${shown}`];
  });
  return [...lines, ...(parts.length > MAX_PARTS ? ['  - …'] : [])].join('\n');
}
