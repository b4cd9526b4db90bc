import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

type Row = { id: string; wording: string; cell: string };
type Files = Map<string, string[]>;
type Script = {
  collectIds(root: string): { shown: Files; named: Files };
  findStale(doc: string, shown: Files): string[];
  readRows(doc: string): Row[];
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

  it('has a test for every ID', () => {
    expect([...known].filter((id) => !shown.has(id))).toEqual([]);
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
