/** Text laid out for a terminal of some width. No word is broken: one that is too long stands out. */

interface Indent {
  first: string;
  rest: string;
}

/** Words one after the other, as many as fit into a line. */
export function fill(text: string, width: number, { first, rest }: Indent = { first: '', rest: '' }): string {
  return fillWords(text.split(/\s+/).filter(Boolean), width, { first, rest }, '');
}

/** A command over several lines as a shell takes it: what stands in quotes stays together. */
export function fillCommand(command: string, width: number, indent: string): string {
  const words = command.match(/(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+/g) ?? [];
  return fillWords(words, width, { first: indent, rest: `${indent}  ` }, ' \\');
}

function fillWords(words: readonly string[], width: number, { first, rest }: Indent, end: string): string {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const [i, word] of words.entries()) {
    const reserve = i === words.length - 1 ? 0 : end.length;
    if (!isEmpty && line.length + 1 + word.length + reserve > width) {
      lines.push(line + end);
      line = rest;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line].join('\n');
}

/** Narrower than this nobody reads a column. */
const READABLE = 24;

/** Terms with what they mean: in two columns, or where these are too narrow below each other. */
export function rows(
  pairs: readonly (readonly [term: string, text: string])[],
  width: number,
  least = 0,
): string {
  const column = 2 + Math.max(least, ...pairs.map(([term]) => term.length)) + 2;
  const isNarrow = width - column < READABLE;
  return pairs
    .map(([term, text]) => {
      if (text === '') return `  ${term}`;
      if (isNarrow)
        return `${fillCommand(term, width, '  ')}\n${fill(text, width, { first: '      ', rest: '      ' })}`;
      return fill(text, width, { first: `  ${term}`.padEnd(column), rest: ' '.repeat(column) });
    })
    .join('\n');
}
