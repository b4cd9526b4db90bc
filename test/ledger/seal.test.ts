import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type LedgerRecord, recordId, TIERS, type Tier } from '../../src/ledger/rules/record.js';
import {
  fingerprintOf,
  formatSignature,
  holds,
  isPublicKey,
  publicKeyOf,
  readSeal,
  type Seal,
  type SignedSeal,
  sealText,
} from '../../src/ledger/rules/seal.js';
import { SealGraph } from '../../src/ledger/rules/seal-graph.js';
import {
  formatPinnedSeals,
  judgeKeys,
  type Pins,
  parsePinnedSeals,
  pinKeys,
  pinSeals,
} from '../../src/ledger/rules/supervisor.js';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const KEY = publicKeyOf(publicKey.export({ type: 'spki', format: 'der' }));
const id = (text: string): string => recordId(text);

const ledgers = Object.fromEntries(
  TIERS.map((tier, i) => [
    tier,
    { ledger: id(tier), heads: [id(`${tier} 1`), id(`${tier} 2`)], records: i + 2 },
  ]),
) as Seal['ledgers'];
const SEAL: Seal = { public_key: KEY, at: '2026-03-01T10:00:00.000Z', ledgers };

function signed(seal: Seal = SEAL): SignedSeal {
  const signature = formatSignature(sign(null, Buffer.from(sealText(seal)), privateKey));
  return { ...seal, key: fingerprintOf(KEY), signature };
}

describe('a seal', () => {
  it('LTM-18 is signed over lines in a fixed order', () => {
    const lines = TIERS.map(
      (tier, i) => `${tier} ${id(tier)} ${i + 2} ${id(`${tier} 1`)} ${id(`${tier} 2`)}\n`,
    );
    expect(sealText(SEAL)).toBe(`forge seal 1\nkey ${KEY}\nat 2026-03-01T10:00:00.000Z\n${lines.join('')}`);
    const turned = Object.fromEntries(Object.entries(ledgers).reverse()) as Seal['ledgers'];
    expect(sealText({ ...SEAL, ledgers: turned })).toBe(sealText(SEAL));
  });

  it('LTM-18 holds as it was signed, and not with anything changed', () => {
    expect(holds(signed())).toBe(true);
    const other = (tier: Tier, change: object): Seal['ledgers'] => ({
      ...ledgers,
      [tier]: { ...ledgers[tier], ...change },
    });
    const another = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' });
    for (const change of [
      { at: '2026-03-01T10:00:00.001Z' },
      { public_key: publicKeyOf(another) },
      { key: '0'.repeat(16) },
      { signature: signed().signature.replace('ed25519:', '') },
      { signature: 'ed25519:' },
      ...TIERS.flatMap((tier) => [
        { ledgers: other(tier, { ledger: id('x') }) },
        { ledgers: other(tier, { records: 99 }) },
        { ledgers: other(tier, { heads: [] }) },
        { ledgers: other(tier, { heads: [...ledgers[tier].heads].reverse() }) },
      ]),
    ])
      expect([change, holds({ ...signed(), ...change })]).toEqual([change, false]);
  });

  it('LTM-18 is read from a record of its form only', () => {
    const record = { v: 1, tier: 'audit', n: 2, prev: id('a'), seen: [], kind: 'seal', ...signed() };
    expect(readSeal(record as unknown as LedgerRecord)).toEqual(signed());
    for (const change of [
      { ledgers: null },
      { ledgers: { ...ledgers, notes: undefined } },
      { ledgers: { ...ledgers, notes: { ...ledgers.notes, heads: ['x y'] } } },
      { ledgers: { ...ledgers, notes: { ...ledgers.notes, records: '1\n' } } },
      { public_key: `${KEY} ` },
      { signature: 7 },
      { at: null },
    ])
      expect(readSeal({ ...record, ...change } as unknown as LedgerRecord)).toBeNull();
  });

  it('LTM-18 a public key is written in one way', () => {
    expect(isPublicKey(KEY)).toBe(true);
    const last = KEY.at(-2) as string;
    const next = String.fromCharCode(last.charCodeAt(0) + 1);
    for (const text of ['', 'ed25519:', KEY.slice(8), `${KEY}=`, KEY.replace(/.=$/, `${next}=`)])
      expect([text, isPublicKey(text)]).toEqual([text, false]);
  });
});

describe('what a seal covers', () => {
  const line = (n: number, prev: string | null, seen: string[] = [], rest: object = {}): string =>
    JSON.stringify({ v: 1, tier: 'notes', n, prev, seen, kind: 'note', ...rest });
  const add = (graph: SealGraph, ...lines: string[]): void => {
    for (const text of lines)
      graph.add({ kind: 'record', record: JSON.parse(text) as LedgerRecord }, () => recordId(text));
  };
  const first = line(1, null, [], { kind: 'genesis', ledger: id('l') });
  const left = line(2, id(first));
  const right = line(2, id(first), [], { text: 'right' });
  const tied = line(3, id(left), [id(right)]);
  const later = line(4, id(tied));

  it('LTM-18 counts what leads to its heads, in any order and twice', () => {
    const graph = new SealGraph();
    add(graph, later, tied, right, left, first, tied);
    expect(graph.count([id(tied)])).toEqual({ records: 4, n: 3, outside: [], settled: false });
    expect(graph.count([id(left), id(right)])).toMatchObject({ records: 3, n: 2 });
    expect(graph.countOthers([id(tied)])).toBe(1);
    expect(graph.countOthers([])).toBe(4);
  });

  it('LTM-18 names what is not in this tree, and what was named as lost', () => {
    const graph = new SealGraph();
    add(graph, first, left, tied);
    expect(graph.count([id(tied)])).toEqual({ records: 3, n: 3, outside: [id(right)], settled: false });
    add(graph, line(5, id(tied), [], { kind: 'repair', lost: [id(right)] }));
    expect(graph.count([id(tied)])).toMatchObject({ records: 4, outside: [], settled: true });
    expect(graph.has(id(right))).toBe(true);
  });
});

describe('which keys count', () => {
  const none: Pins = { keys: [], seals: [], covered: null };
  const others = [1, 2].map(() =>
    publicKeyOf(generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' })),
  ) as [string, string];
  const states = (named: string[], pins: Pins): string[] => judgeKeys(named, pins).map(({ state }) => state);

  it('LTM-18 B-94 where nothing is pinned, those that are named; then only those that are both', () => {
    expect(states([KEY, others[0]], none)).toEqual(['known', 'known']);
    const pins = pinKeys(none, [KEY, others[0]], 'first', '2026-03-01T10:00:00.000Z');
    expect(states([KEY, others[1]], pins)).toEqual(['known', 'foreign', 'removed']);
    expect(states([], pins)).toEqual(['removed', 'removed']);
    expect(pinKeys(pins, [KEY], 'accepted', '2026-03-02T10:00:00.000Z')).toBe(pins);
  });

  it('LTM-18 keeps the last 64 seals', () => {
    const ids = Array.from({ length: 70 }, (_, i) => id(`${i}`));
    const pins = pinSeals(none, ids);
    expect(pins.seals).toEqual(ids.slice(6));
    expect(pinSeals(pins, ids.slice(60))).toBe(pins);
    const kept = { seals: pins.seals, covered: id('heads') };
    expect(parsePinnedSeals(formatPinnedSeals(kept))).toEqual(kept);
    const torn = `${formatPinnedSeals(kept)}\u0000\n${id('x').slice(9)}\n${id('y')}\n${id('z').slice(0, 30)}`;
    expect(parsePinnedSeals(torn)).toEqual({ seals: [...pins.seals.slice(1), id('y')], covered: null });
  });
});
