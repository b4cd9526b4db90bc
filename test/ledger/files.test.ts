import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_RECORD_BYTES, recordId } from '../../src/ledger/rules/record.js';
import { scanContainer } from '../../src/ledger/store/files.js';
import { makeFolder } from '../support/project.js';

type Seen = [kind: string, text: string, line: number, offset: number];

function scan(path: string, size: number): Seen[] {
  const seen: Seen[] = [];
  scanContainer(path, size, {
    line: (bytes, line, offset) => seen.push(['line', bytes.toString('latin1'), line, offset]),
    long: (line, offset, { length, sha256 }) => seen.push(['long', `${length} ${sha256}`, line, offset]),
    tail: (bytes, line, offset) => seen.push(['tail', bytes.toString('latin1'), line, offset]),
  });
  return seen;
}

describe('reading a container', () => {
  it('B-31 splits at LF only: CR, U+2028 and blank lines are content', () => {
    const path = join(makeFolder(), 'a.jsonl');
    writeFileSync(path, 'one\r\n\ntwo\u2028\nrest');
    const size = Buffer.byteLength('one\r\n\ntwo\u2028\nrest');
    expect(scan(path, size).map(([kind, , line, offset]) => [kind, line, offset])).toEqual([
      ['line', 1, 0],
      ['line', 2, 5],
      ['line', 3, 6],
      ['tail', 4, 13],
    ]);
  });

  it('gives every line with its number and offset, however the chunks fall', () => {
    const path = join(makeFolder(), 'a.jsonl');
    const lengths = fc.array(fc.oneof(fc.nat(40), fc.integer({ min: 1_000_000, max: 1_048_576 })), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(lengths, fc.boolean(), (sizes, closed) => {
        const lines = sizes.map((size, i) => String.fromCharCode(97 + (i % 26)).repeat(size));
        const text = lines.map((line) => `${line}\n`).join('') + (closed ? '' : 'torn');
        writeFileSync(path, text);
        let offset = 0;
        const expected: Seen[] = lines.map((line, i) => {
          const at = offset;
          offset += line.length + 1;
          return ['line', line, i + 1, at];
        });
        if (!closed) expected.push(['tail', 'torn', lines.length + 1, offset]);
        expect(scan(path, text.length)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('B-32 passes over a line that is too long without holding it, and goes on behind it', () => {
    const path = join(makeFolder(), 'a.jsonl');
    const long = 'x'.repeat(MAX_RECORD_BYTES * 5 + 1);
    writeFileSync(path, `a\n${long}\nb\n`);
    expect(scan(path, long.length + 5)).toEqual([
      ['line', 'a', 1, 0],
      ['long', `${long.length} ${recordId(long)}`, 2, 2],
      ['line', 'b', 3, 3 + long.length],
    ]);
  });

  it('B-56 reads no further than it was told', () => {
    const path = join(makeFolder(), 'a.jsonl');
    writeFileSync(path, 'one\ntwo\nhalf of a li');
    expect(scan(path, 8)).toEqual([
      ['line', 'one', 1, 0],
      ['line', 'two', 2, 4],
    ]);
  });
});
