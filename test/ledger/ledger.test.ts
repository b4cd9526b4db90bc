import { describe, expect, it } from 'vitest';
import {
  formatRecord,
  genesisLine,
  type LedgerRecord,
  ledgerId,
  paddingLines,
  parseLine,
  recordId,
} from '../../src/ledger/rules/record.js';

const ledger = ledgerId('evaluation', 'a'.repeat(40));
const record: LedgerRecord = {
  v: 1,
  tier: 'evaluation',
  n: 2,
  prev: recordId('x'),
  seen: [],
  at: '2026-03-01T10:00:00.000Z',
  session: null,
  actor: 'supervisor',
  kind: 'cycle',
};

/** The record's line, with further fields of its own. */
const write = (own: Record<string, unknown> = {}): string => {
  const { v, tier, n, prev, seen, ...body } = record;
  return formatRecord({ v, tier, n, prev, seen, ledger }, { ...body, ...own });
};

describe('a ledger line', () => {
  it('is read back as the record it was written from', () => {
    const parsed = parseLine(write({ text: 'two\nlines \u2028 and a tab\t' }));
    expect(parsed).toMatchObject({
      kind: 'record',
      record: { ...record, text: 'two\nlines \u2028 and a tab\t' },
    });
  });

  it('never has a line feed inside', () => {
    expect(write({ text: 'a\nb\r\n' })).not.toMatch(/[\n\r]/);
  });

  it('keeps its links whatever fields of their names a record brings', () => {
    expect(JSON.parse(write({ tier: 'audit', n: 99, prev: 'x', seen: 1, ledger: 'y' }))).toEqual(
      JSON.parse(write()),
    );
  });

  it('may be padding, which anyone can make again; what only looks like it is none', () => {
    const line = paddingLines(200, 'token').toString().trimEnd();
    expect(line.length).toBeGreaterThan(200);
    expect(parseLine(line).kind).toBe('padding');
    expect(parseLine(line.replace('"}', 'x"}'))).toMatchObject({ kind: 'bad' });
    expect(parseLine(line.replace(/"pad":"./, '"pad":"z'))).toMatchObject({ kind: 'bad' });
    expect(parseLine('{"v":1,"pad":"smuggled"}')).toMatchObject({ kind: 'bad' });
  });

  it('has the SHA-256 of its bytes as its id, as sha256sum prints it', () => {
    expect(recordId('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('begins a ledger with the same bytes for everyone who shares the root commit', () => {
    expect(genesisLine('audit', ledgerId('audit', 'f'.repeat(40)))).toBe(
      genesisLine('audit', ledgerId('audit', 'f'.repeat(40))),
    );
    expect(ledgerId('audit', 'f')).not.toBe(ledgerId('notes', 'f'));
    expect(parseLine(genesisLine('audit', ledger)).kind).toBe('record');
  });

  const { prev: _prev, ...withoutPrev } = record;
  it.each([
    ['', 'it is blank'],
    ['<<<<<<< HEAD', 'it is a merge conflict marker'],
    ['=======', 'it is a merge conflict marker'],
    ['>>>>>>> main', 'it is a merge conflict marker'],
    ['\u0000\u0000\u0000', 'it is filled with zeros'],
    ['version https://git-lfs.github.com/spec/v1', 'it is a Git LFS pointer'],
    [`${write()}${write()}`, '2 records are glued together'],
    ['{"v":1', 'it is not JSON'],
    ['[]', 'it is not a JSON object'],
    ['{"v":2}', 'its version is 2, this forge knows 1'],
    [JSON.stringify({ ...record, n: 0 }), 'its "n" is no whole number'],
    [JSON.stringify({ ...record, n: 1.5 }), 'its "n" is no whole number'],
    [JSON.stringify(withoutPrev), 'its "prev" is no record id'],
    [JSON.stringify({ ...record, prev: 'ABC' }), 'its "prev" is no record id'],
    ...[recordId('x').toUpperCase(), `${recordId('x')}a`, `${'a'.repeat(63)}g`, `é${'a'.repeat(63)}`].map(
      (prev): [string, string] => [JSON.stringify({ ...record, prev }), 'its "prev" is no record id'],
    ),
    [JSON.stringify({ ...record, seen: ['x'] }), 'its "seen" is no list of record ids'],
    [
      JSON.stringify({ ...record, seen: Array(65).fill(recordId('x')) }),
      'its "seen" is no list of record ids',
    ],
    [JSON.stringify({ ...record, tier: 'other' }), 'its tier is "other"'],
    [JSON.stringify({ ...record, prev: null }), 'it is a first record without its ledger id'],
    [JSON.stringify({ ...record, redacted: 'no' }), 'its "redacted" is no record id'],
  ])('is refused when it is %j: %s', (line, reason) => {
    expect(parseLine(line)).toEqual({ kind: 'bad', reason });
  });
});
