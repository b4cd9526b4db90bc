import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** IDs whose part has landed: each must be shown by a test. Add to it with the part that makes them true. */
const landed: string[] = [
  ...range('LAY', 1, 9),
  ...range('SES', 1, 11),
  'SES-13',
  ...range('FEA', 1, 4),
  'KNO-01',
  'KNO-02',
  'KNO-03',
  ...range('KFR', 1, 14),
  ...range('LTM', 1, 19),
  ...range('GOV', 1, 4),
  ...range('GIT', 1, 7),
  ...range('B', 1, 69),
  ...range('B', 78, 88),
  ...range('B', 91, 94),
  ...range('B', 103, 108),
  'VIS-01',
  'AGT-01',
  'AGT-02',
  'AGT-04',
];

type Title = { title: string; counts: boolean };
type Row = { id: string; wording: string; cell: string };
type Files = Map<string, string[]>;
type Script = {
  collectIds(root: string): { shown: Files; named: Files };
  fillRows(doc: string, shown: Files): string;
  findIds(text: string): string[];
  findStale(doc: string, shown: Files): string[];
  formatFiles(files?: string[]): string;
  readRows(doc: string): Row[];
  readTitles(source: string): Title[];
};

// By URL: the script is plain JavaScript that the type checker has no declarations for.
const scriptUrl = new URL('../../scripts/requirements.mjs', import.meta.url).href;
const script: Script = await import(/* @vite-ignore */ scriptUrl);

const root = new URL('../../', import.meta.url);
const doc = readFileSync(new URL('docs/requirements.md', root), 'utf8');
const rows = script.readRows(doc);
const known = new Set(rows.map((row) => row.id));
const { shown, named } = script.collectIds(fileURLToPath(root));

describe('docs/requirements.md', () => {
  it('is fresh (node scripts/requirements.mjs)', () => {
    expect(script.findStale(doc, shown)).toEqual([]);
  });

  it('has a row for every ID that a test names', () => {
    const unknown = [...named].filter(([id]) => !known.has(id));
    expect(unknown.map(([id, files]) => `${id} in ${files.join(', ')}`)).toEqual([]);
  });

  it('has a test for every ID that has landed', () => {
    expect(landed.filter((id) => !known.has(id))).toEqual([]);
    expect(landed.filter((id) => !shown.has(id))).toEqual([]);
  });

  it('names each ID once, in one line that is short', () => {
    expect(rows.length).toBe(known.size);
    const tooLong = rows.filter(({ id, wording }) => wording.length > (id.startsWith('B-') ? 120 : 200));
    expect(tooLong.map(({ id, wording }) => `${id}: ${wording.length}`)).toEqual([]);
  });

  it('has no line that looks like a row and is not read as one', () => {
    const lines = doc.split(/\r?\n/).filter((line) => /^\|\s*[A-Z]+-\d/.test(line));
    expect(lines.length).toBe(rows.length);
  });
});

describe('scripts/requirements.mjs', () => {
  it.each([
    ['a plain call', `it('ZZZ-01 x', () => {})`],
    ['a table', `it.each([[')', 1], ["it('no')", 2]])('ZZZ-01 %s', () => {})`],
    ['a tagged table', `test.each\`a | b\n\${f(\`)\`)} | \${2}\`("ZZZ-01 $a", () => {})`],
    ['a condition', `describe.skipIf(process.platform === 'win32')(\n  'ZZZ-01 x', () => {})`],
    ['two modifiers', `it.concurrent.only(\`ZZZ-01 \${x}\`, () => {})`],
    ['a comment between', `it( // why\n 'ZZZ-01 x')`],
    ['a regular expression before', `const quote = /['"\`/]/;\nit('ZZZ-01 x')`],
    ['a division before', `const half = a / 2; it('ZZZ-01 x')`],
  ])('reads the title of %s', (_name, source) => {
    expect(idsOf(source)).toEqual(['ZZZ-01']);
  });

  it.each([
    ['a line comment', `// it('ZZZ-01 x')`],
    ['a block comment', `/* it('ZZZ-01 x') */`],
    ['a string', `const a = "it('ZZZ-01 x')"`],
    ['a template', "const a = `it('ZZZ-01 x')`"],
    ['a method named test', `/x/.test('ZZZ-01')`],
    ['another word', `commit('ZZZ-01 x')`],
  ])('reads no title from %s', (_name, source) => {
    expect(script.readTitles(source)).toEqual([]);
  });

  it('reads the titles inside a describe, and does not count what never runs', () => {
    const source = `describe('ZZZ-01', () => { it('ZZZ-02'); it.skip('ZZZ-03'); it.todo('ZZZ-04'); })`;
    const titles = script.readTitles(source);
    expect(titles.map(({ title, counts }) => [title, counts])).toEqual([
      ['ZZZ-01', true],
      ['ZZZ-02', true],
      ['ZZZ-03', false],
      ['ZZZ-04', false],
    ]);
  });

  it('finds IDs and nothing that only resembles one', () => {
    const text = 'ZZZ-01 ZZZ-01, B-7 (B-108) UTF-16 SHA-256 AZZZ-01 ZZZ-012 SX9-12';
    expect(script.findIds(text)).toEqual(['ZZZ-01', 'B-07', 'B-108']);
  });

  it('lists three files and counts the rest', () => {
    expect(script.formatFiles()).toBe('planned');
    expect(script.formatFiles(['a', 'b', 'c'])).toBe('a, b, c');
    expect(script.formatFiles(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c +2');
  });

  it('changes the third column alone', () => {
    const before =
      '# T\n\n| ID | what | shown by |\n|---|---|---|\n| ZZZ-01 | a \\| b | planned |\n| ZZZ-02 | c | old |\n';
    const files: Files = new Map([['ZZZ-01', ['x.test.ts']]]);
    expect(script.findStale(before, files)).toEqual([
      'ZZZ-01: "planned" should be "x.test.ts"',
      'ZZZ-02: "old" should be "planned"',
    ]);
    const after = script.fillRows(before, files);
    expect(after).toBe(before.replace('b | planned', 'b | x.test.ts').replace('old', 'planned'));
    expect(script.findStale(after, files)).toEqual([]);
  });
});

function idsOf(source: string): string[] {
  return script.readTitles(source).flatMap(({ title }) => script.findIds(title));
}

function range(group: string, first: number, last: number): string[] {
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return numbers.map((number) => `${group}-${String(number).padStart(2, '0')}`);
}
