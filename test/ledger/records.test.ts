import { describe, expect, it } from 'vitest';
import { type Container, formatContainer, parseContainer } from '../../src/ledger/container.js';
import { Graph, openDamage, openHalts } from '../../src/ledger/graph.js';
import {
  byNumber,
  formatRecord,
  formatTombstone,
  genesisLine,
  isRecordId,
  isTombstoneOf,
  type LedgerRecord,
  ledgerId,
  MAX_RECORD_BYTES,
  MAX_SEEN,
  numberIn,
  parseLine,
  recordId,
  summaryOf,
  textIn,
} from '../../src/ledger/record.js';

const LEDGER = ledgerId('a1b2');
const HEX = 'ab'.repeat(32);

interface Given {
  n: number;
  seg?: string;
  prev?: string | null;
  seen?: string[];
  tier?: string;
  kind?: string;
  [field: string]: unknown;
}

const lineOf = ({ n, seg = '0000000a', prev = null, seen = [], tier = 'note', ...body }: Given): string =>
  formatRecord(
    { v: 1, tier: tier as 'note', n, seg, prev, seen, ...(prev === null ? { ledger: LEDGER } : {}) },
    { kind: 'note', ...body },
  );

/** A file of one chain; each line names the one before it. */
function chain(seg: string, given: readonly Omit<Given, 'seg' | 'prev'>[], from: string | null = null) {
  const lines: string[] = [];
  for (const one of given) {
    const prev = lines.length === 0 ? from : recordId(lines.at(-1) as string);
    lines.push(lineOf({ ...one, seg, prev } as Given));
  }
  return { lines, ids: lines.map((line) => recordId(line)), file: fileOf(seg, lines) };
}

function fileOf(seg: string, lines: readonly string[], prefix = 'solo'): Container {
  const name = `${prefix}-${seg}.jsonl`;
  return parseContainer(name, formatContainer(name, lines));
}

describe('a line of the ledger', () => {
  it('LTM-03 is read as it was written, and its id is the SHA-256 of its bytes', () => {
    const line = lineOf({
      n: 3,
      seen: [HEX],
      text: 'tokens expire',
      at: '2026-03-01T10:00:00Z',
      session: null,
    });
    expect(parseLine(line)).toEqual({
      type: 'record',
      record: {
        ...{ v: 1, tier: 'note', n: 3, seg: '0000000a', prev: null, seen: [HEX], ledger: LEDGER },
        ...{ at: '2026-03-01T10:00:00Z', session: null, kind: 'note', text: 'tokens expire' },
      },
    });
    expect(Object.keys(JSON.parse(line))).toEqual(
      'v tier n seg prev seen ledger at session kind text'.split(' '),
    );
    expect(recordId('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(recordId(Buffer.from(line))).toBe(recordId(line));
  });

  it('LTM-03 a body cannot replace its place in the ledger', () => {
    const line = lineOf({ n: 3, v: 2, ledger: HEX, tier: 'note', text: 'x' });
    expect(JSON.parse(line)).toMatchObject({ v: 1, n: 3, ledger: LEDGER });
  });

  it('LTM-02 has at most 1 MiB', () => {
    const empty = Buffer.byteLength(lineOf({ n: 1, text: '' }));
    const fits = lineOf({ n: 1, text: 'x'.repeat(MAX_RECORD_BYTES - empty) });
    expect(Buffer.byteLength(fits)).toBe(MAX_RECORD_BYTES);
    expect(() => lineOf({ n: 1, text: 'x'.repeat(MAX_RECORD_BYTES - empty + 1) })).toThrow(
      `The record has ${MAX_RECORD_BYTES + 1} bytes; ${MAX_RECORD_BYTES} are allowed.`,
    );
    // Bytes count, not characters.
    expect(() => lineOf({ n: 1, text: 'ü'.repeat(MAX_RECORD_BYTES / 2) })).toThrowError(
      expect.objectContaining({
        kind: 'usage',
        code: 'record.too_large',
        hint: 'Keep the long part in a file and record its digest.',
      }),
    );
  });

  const good = {
    ...{ v: 1, tier: 'note', n: 1, seg: '0123456f', prev: null, seen: [HEX], ledger: HEX, kind: 'note' },
  };
  const { ledger: _, ...followed } = { ...good, prev: HEX };

  it('LTM-04 needs a ledger id only at the start of a chain', () => {
    expect(parseLine(JSON.stringify(good)).type).toBe('record');
    expect(parseLine(JSON.stringify(followed)).type).toBe('record');
    expect(parseLine(JSON.stringify({ ...good, seen: Array(MAX_SEEN).fill(HEX) })).type).toBe('record');
  });

  it.each<[string, object | string | null]>([
    ['version 2; this forge reads 1', { v: 2 }],
    ['"n" is not a positive whole number', { n: 0 }],
    ['"n" is not a positive whole number', { n: 1.5 }],
    ['"n" is not a positive whole number', { n: '1' }],
    ['"seg" is not 8 hex digits', { seg: 12345678 }],
    ['"seg" is not 8 hex digits', { seg: '0123456' }],
    ['"seg" is not 8 hex digits', { seg: '0123456ff' }],
    ['"seg" is not 8 hex digits', { seg: '0123456G' }],
    ['"prev" is not a record id', { prev: 'ab' }],
    ['"prev" is not a record id', { prev: 7 }],
    ['"prev" is not a record id', { prev: undefined }],
    ['"seen" is not a list of record ids', { seen: HEX }],
    ['"seen" is not a list of record ids', { seen: [HEX, 'ab'] }],
    ['"seen" is not a list of record ids', { seen: Array(MAX_SEEN + 1).fill(HEX) }],
    ['a first record without its ledger id', { ledger: undefined }],
    ['a first record without its ledger id', { ledger: 'x' }],
    ['unknown tier "secret"', { tier: 'secret' }],
    ['"kind" is missing', { kind: undefined }],
    ['"kind" is missing', { kind: 1 }],
    ['"redacted" is not a record id', { redacted: 'ab' }],
    ['not a JSON object', '[1]'],
    ['not a JSON object', 'null'],
    ['not a JSON object', '7'],
    ['a blank line', '  '],
    ['a merge conflict marker', '<<<<<<< HEAD'],
    ['a merge conflict marker', '======='],
    ['a merge conflict marker', '>>>>>>> other'],
    ['a merge conflict marker', '||||||| base'],
    ['filled with zeros', '\0\0\0'],
    ['a Git LFS pointer', 'version https://git-lfs.github.com/spec/v1'],
    ['not JSON', '{"v":1'],
    ['not JSON', 'x <<<<<<< HEAD'],
    ['not JSON', '<<<<<<<HEAD'],
    ['not JSON', 'x version https://git-lfs'],
    ['not JSON', '\0\0x'],
  ])('LTM-04 names what is wrong: %s (%j)', (reason, change) => {
    const text = typeof change === 'string' ? change : JSON.stringify({ ...good, ...change });
    expect(parseLine(text)).toEqual({ type: 'bad', reason });
  });

  it('LTM-19 a tombstone keeps the links and loses the content', () => {
    const line = formatTombstone(HEX, { v: 1, tier: 'note', n: 4, seg: '0000000a', prev: HEX, seen: [] });
    expect(line).toBe(`{"v":1,"redacted":"${HEX}","n":4,"seg":"0000000a","prev":"${HEX}","seen":[]}`);
    expect(parseLine(line)).toEqual({ type: 'tombstone', tombstone: JSON.parse(line) });
    expect([isTombstoneOf(HEX, line), isTombstoneOf('cd'.repeat(32), line)]).toEqual([true, false]);
    const first = formatTombstone(HEX, {
      ...{ v: 1, tier: 'note', n: 1, seg: '0000000a', prev: null, seen: [], ledger: LEDGER },
    });
    expect(parseLine(first)).toMatchObject({ type: 'tombstone', tombstone: { ledger: LEDGER } });
  });

  it('LTM-17 two people who both run init write the same line', () => {
    const { name, line } = genesisLine(LEDGER);
    expect(name).toBe(`init-${LEDGER.slice(0, 8)}.jsonl`);
    expect(parseLine(line)).toMatchObject({
      type: 'record',
      record: { kind: 'genesis', tier: 'audit', n: 1 },
    });
    expect(genesisLine(LEDGER)).toEqual({ name, line });
    expect(ledgerId('a1b2')).not.toBe(ledgerId('a1b3'));
    for (const other of [HEX.toUpperCase(), HEX.slice(1), `${HEX.slice(1)}\n`, `x${HEX.slice(1)}`, 7])
      expect([other, isRecordId(other)]).toEqual([other, false]);
    expect(isRecordId(HEX)).toBe(true);
  });

  it('LTM-02 a field may hold anything, and only a text or a number is read as one', () => {
    expect(['x', 7, null, ['x']].map(textIn)).toEqual(['x', null, null, null]);
    expect(['7', 7, null, [7]].map(numberIn)).toEqual([null, 7, null, null]);
  });

  it('LTM-01 is ordered by number, then by id', () => {
    const order = [
      { n: 2, id: 'a' },
      { n: 1, id: 'b' },
      { n: 1, id: 'a' },
      { n: 1, id: 'a' },
    ].sort(byNumber);
    expect(order.map(({ n, id }) => `${n}${id}`)).toEqual(['1a', '1a', '1b', '2a']);
  });

  it.each<[string, object]>([
    ['T-1 SUCCESS exit 0', { task_id: 'T-1', classification: 'SUCCESS', exit_code: 0 }],
    ['2 promoted 1 contested', { promoted: ['a', 'b'], contested: ['c'], reinstated: [] }],
    ['nothing new', { promoted: [], contested: [] }],
    ['1 reinstated', { promoted: [], reinstated: ['a'] }],
    ['', { contested: [] }],
    ['cache the token', { pattern: 'cache the token', knowledge_id: HEX }],
    [HEX.slice(0, 12), { knowledge_id: HEX }],
    ['reset because', { action: 'reset', reason: 'because' }],
    ['of texts', { task_id: 7, feature: ['A'], text: 'of texts' }],
    [
      'F-1 passed, F-2 failed, F-3 not run',
      {
        runs: [
          { feature: 'F-1', exit_code: 0 },
          { feature: 'F-2', exit_code: 1 },
          { feature: 'F-3', not_run: 'no test' },
        ],
      },
    ],
    ['', { runs: 'none' }],
  ])('LTM-15 is summarized as %j', (summary, fields) => {
    expect(summaryOf({ kind: 'x', ...fields } as LedgerRecord)).toBe(summary);
  });
});

describe('the graph of records', () => {
  const one = chain('00000001', [{ n: 1 }, { n: 2 }, { n: 3 }]);
  const two = chain('00000002', [
    { n: 3, seen: [one.ids[1] as string] },
    { n: 4, seen: [one.ids[2] as string] },
  ]);

  it('LTM-03 knows each record, its heads, its largest number and its ledger', () => {
    const graph = new Graph([one.file, two.file]);
    expect([graph.count(), graph.maxN(), graph.maxCycle(), graph.ledger()]).toEqual([5, 4, 0, LEDGER]);
    expect([graph.has(one.ids[2] as string), graph.has(HEX)]).toEqual([true, false]);
    expect(graph.heads()).toEqual([two.ids[1]]);
    expect(new Graph([one.file]).heads()).toEqual([one.ids[2]]);
    expect(new Graph([one.file]).maxN()).toBe(3);
    const empty = new Graph([fileOf('0000000e', [])]);
    expect([empty.count(), empty.maxN(), empty.heads(), empty.ledger()]).toEqual([0, 0, [], null]);
    expect(new Graph([]).heads()).toEqual([]);
    expect([new Graph([]).ledger(), new Graph([]).maxN()]).toEqual([null, 0]);
    const three = chain('00000003', [{ n: 9, tier: 'execution', kind: 'cycle', cycle: 7 }]);
    for (const files of [
      [one.file, three.file],
      [three.file, one.file],
    ])
      expect(new Graph(files).heads()).toEqual([one.ids[2], three.ids[0]].sort());
    expect(new Graph([one.file, three.file]).maxCycle()).toBe(7);
  });

  it('LTM-17 a chain in two files, of which one is longer, has one head', () => {
    const short = fileOf('00000001', one.lines.slice(0, 2), 'other');
    expect(new Graph([short, one.file]).heads()).toEqual([one.ids[2]]);
    expect(new Graph([one.file, short]).heads()).toEqual([one.ids[2]]);
    const graph = new Graph([short, one.file]);
    expect(graph.checkLinks()).toEqual([]);
    expect(graph.count()).toBe(3);
    const last = one.ids[2] as string;
    const chains = ['00000001', '00000002', '0000000f'];
    expect(chains.map((seg) => new Graph([short, one.file, two.file]).has(last, seg))).toEqual([
      ...[true, false, false],
    ]);
  });

  it('LTM-06 a record depends on those before it in its chain and on those it names', () => {
    const graph = new Graph([one.file, two.file]);
    const sorted = (ids: Iterable<string>): string[] => [...ids].sort();
    const [a, b, c] = one.ids as [string, string, string];
    const [d, e] = two.ids as [string, string];
    expect(sorted(graph.ancestorsOf([b]))).toEqual(sorted([a, b]));
    expect(sorted(graph.ancestorsOf([d]))).toEqual(sorted([a, b, d]));
    expect(sorted(graph.ancestorsOf([e]))).toEqual(sorted([a, b, c, d, e]));
    expect(sorted(graph.ancestorsOf([a, d]))).toEqual(sorted([a, b, d]));
    expect(sorted(graph.ancestorsOf([HEX]))).toEqual([]);
  });

  it('LTM-16 finds the record that follows another', () => {
    const graph = new Graph([one.file, two.file]);
    expect(graph.holderOf('00000001', null)).toMatchObject({ id: one.ids[0], index: 0 });
    expect(graph.holderOf('00000001', one.ids[1] as string)).toMatchObject({ id: one.ids[2], index: 2 });
    expect(graph.holderOf('00000001', one.ids[2] as string)).toBeNull();
    expect(graph.holderOf('00000001', HEX)).toBeNull();
    expect(graph.holderOf('0000000f', null)).toBeNull();
    const short = fileOf('00000001', one.lines.slice(0, 2), 'other');
    expect(new Graph([short, one.file]).holderOf('00000001', one.ids[1] as string)?.container.name).toBe(
      'solo-00000001.jsonl',
    );
  });

  it('LTM-04 two records in one place of a chain are a fork, and name the file', () => {
    const other = fileOf(
      '00000001',
      [
        one.lines[0] as string,
        lineOf({
          n: 2,
          seg: '00000001',
          prev: one.ids[0] as string,
          text: 'another',
        }),
      ],
      'other',
    );
    expect(new Graph([one.file, other]).checkLinks()).toEqual([
      { file: 'other-00000001.jsonl', id: other.ids[1], reason: 'another record has the same place' },
    ]);
  });

  it('LTM-04 a number must be above those of the records that it names', () => {
    const parent = one.ids[2] as string;
    const same = chain('00000002', [{ n: 3, seen: [parent] }]);
    expect(new Graph([one.file, same.file]).checkLinks()).toEqual([
      { file: 'solo-00000002.jsonl', id: same.ids[0], reason: `"n" is 3, not above that of ${parent}` },
    ]);
    const above = chain('00000002', [{ n: 4, seen: [parent, HEX] }]);
    expect(new Graph([one.file, above.file]).checkLinks()).toEqual([]);
    // Also a record that others follow.
    const early = chain('00000002', [{ n: 2, seen: [HEX, one.ids[1] as string] }]);
    expect(new Graph([one.file, early.file]).checkLinks()).toMatchObject([
      { id: early.ids[0], reason: `"n" is 2, not above that of ${one.ids[1]}` },
    ]);
    expect(new Graph([one.file, two.file]).checkLinks()).toEqual([]);
  });

  it('LTM-14 LTM-13 damage and halts wait until a human acknowledges or repairs them', () => {
    const audit = { tier: 'audit' };
    const damage = chain('00000004', [
      { n: 1, ...audit, kind: 'damage', reason: 'a file was edited' },
      { n: 2, ...audit, kind: 'finding', halts: true, reasons: ['a secret', 'another'] },
      { n: 3, ...audit, kind: 'finding', halts: false, reason: 'no halt' },
    ]);
    const [broken, secret] = damage.ids as [string, string];
    const open = new Graph([damage.file]);
    expect(openDamage(open)).toEqual([{ id: broken, reasons: ['a file was edited'] }]);
    expect(openHalts(open)).toEqual([{ id: secret, reasons: ['a secret', 'another'] }]);
    const answers = chain('00000005', [
      { n: 4, ...audit, kind: 'acknowledged', subjects: [broken] },
      { n: 5, ...audit, kind: 'repaired', subjects: [secret, 7] },
      { n: 6, ...audit, kind: 'repaired', subjects: 'none' },
    ]);
    const settled = new Graph([damage.file, answers.file]);
    expect([openDamage(settled), openHalts(settled)]).toEqual([[], []]);
    expect(settled.subjects('acknowledged')).toEqual(new Set([broken]));
    expect(settled.subjects('repaired')).toEqual(new Set([secret]));
    const kinds = settled.audit('damage', 'repaired').map(({ record }) => record.kind);
    expect(kinds).toEqual(['damage', 'repaired', 'repaired']);
    expect(settled.audit()).toHaveLength(6);
    const noted = chain('00000006', [{ n: 9, ...audit, kind: 'noted', subjects: [broken] }]);
    expect(openDamage(new Graph([damage.file, noted.file]))).toHaveLength(1);
  });

  it('LTM-19 knows which records were redacted', () => {
    const [first, second] = one.lines as [string, string];
    const { v: _v, tier, ...links } = JSON.parse(second);
    const gone = formatTombstone(one.ids[1] as string, { v: 1, tier, ...links });
    const graph = new Graph([fileOf('00000001', [first, gone, one.lines[2] as string])]);
    expect(graph.tombstones()).toEqual(new Set([one.ids[1]]));
    expect([graph.has(one.ids[1] as string), graph.count()]).toEqual([true, 3]);
  });

  it('LTM-17 the ledger is the one of the first record, also when its file is missing', () => {
    const genesisOf = (ledger: string): Container => {
      const { name, line } = genesisLine(ledger);
      return parseContainer(name, formatContainer(name, [line]));
    };
    const [small, large] = [ledgerId('other'), ledgerId('another')].sort() as [string, string];
    const audited = chain('00000007', [{ n: 1, tier: 'audit', kind: 'damage' }]);
    for (const other of [small, large])
      expect(new Graph([one.file, audited.file, genesisOf(other)]).ledger()).toBe(other);
    expect(new Graph([one.file]).ledger()).toBe(LEDGER);
    expect(new Graph([chain('00000008', [{ n: 2 }], HEX).file]).ledger()).toBeNull();
    // Two projects were joined.
    for (const both of [
      [small, large],
      [large, small],
    ])
      expect(new Graph(both.map(genesisOf)).ledger()).toBe(small);
  });
});
