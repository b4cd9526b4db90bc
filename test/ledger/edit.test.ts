import { describe, expect, it } from 'vitest';
import { describeEdits, type EditedFile, type LooseRecord } from '../../src/ledger/rules/edit.js';
import { type MissingRecord, markOf } from '../../src/ledger/rules/finding.js';
import type { Unreadable } from '../../src/ledger/rules/problem.js';

const FILE = '.forge/memory/execution.d/a.jsonl';

/** Record `n` of a chain, called by a letter, on a line of 100 bytes. */
const at = (id: string, n: number, prev: string | null, line: number): LooseRecord => {
  const offset = (line - 1) * 100;
  return { id, n, prev, mark: markOf({ n, prev }), file: FILE, line, offset, end: offset + 100 };
};
const gone = (id: string, n: number, prev: string | null): MissingRecord => ({
  ...{ id, n, prev, mark: markOf({ n, prev }), tier: 'execution', source: 'journal', file: '', commit: '' },
});
const unreadable = (line: number, code = 'edited', message = 'it is not JSON'): Unreadable => ({
  ...{ code, message, file: FILE, line, offset: 0, last_good: null, length: 1, sha256: '' },
});

/** `known` and `strangers` stand in the file, `missing` does not. */
function found(
  known: LooseRecord[],
  strangers: LooseRecord[],
  missing: MissingRecord[],
  bad: Unreadable[] = [],
) {
  const here = new Map([...known, ...strangers].map((record) => [record.id, record]));
  const edited: EditedFile = {
    tier: 'execution',
    file: FILE,
    differs: false,
    missing,
    strangers,
    unreadable: bad,
    here,
  };
  return describeEdits(edited).map(({ code, line, offset, last_good }) => [
    code,
    line,
    offset,
    last_good?.line ?? null,
  ]);
}

const A = at('a', 2, null, 1);
const D = at('d', 5, 'c', 4);
const [b, c] = [gone('b', 3, 'a'), gone('c', 4, 'b')];

describe('what was done to a file by hand', () => {
  it('B-26 records that stand nowhere were removed, from the line behind the last good one', () => {
    expect(found([A], [], [c, b])).toEqual([['removed', 2, 100, 1]]);
    expect(found([], [], [gone('a', 2, null)])).toEqual([['removed', 1, 0, null]]);
  });

  it('B-25 each record in whose place another stands was edited', () => {
    expect(found([A, D], [at('x', 3, 'a', 2), at('y', 4, 'b', 3)], [b, c])).toEqual([
      ['edited', 2, 100, 1],
      ['edited', 3, 200, 1],
    ]);
  });

  it.each([
    ['its number', at('x', 9, 'a', 2)],
    ['its parent', at('x', 3, 'z', 2)],
    ['both', at('x', 9, 'z', 2)],
  ])('B-25 also when %s was what was changed', (_, stranger) => {
    expect(found([A, D], [stranger], [b])).toEqual([['edited', 2, 100, 1]]);
  });

  it('B-28 records that follow each other were rewritten, forked at the first', () => {
    expect(found([A], [at('x', 3, 'a', 2), at('y', 4, 'x', 3)], [b, c])).toEqual([['rewritten', 2, 100, 1]]);
  });

  it('B-25 what stood in a line that cannot be read is that line’s finding', () => {
    expect(found([A, D], [], [b], [unreadable(2)])).toEqual([]);
    expect(found([A, D], [], [b, c], [unreadable(2)])).toEqual([['removed', 2, 100, 1]]);
    expect(found([A, D], [], [b, c], [unreadable(2, 'glued', '2 records are glued together')])).toEqual([]);
  });
});
