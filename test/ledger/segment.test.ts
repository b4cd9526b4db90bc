import { describe, expect, it } from 'vitest';
import { genesisLine, ledgerId, recordId } from '../../src/ledger/rules/record.js';
import { planLines, type Tip } from '../../src/ledger/rules/segment.js';

const LEDGER = ledgerId('notes', 'root');
const genesis = recordId(genesisLine('notes', LEDGER));
const tip = (heads: string[], maxN = 1): Tip => ({ ledger: LEDGER, heads, maxN });
const note = (text: string) => ({ kind: 'note', at: '2026-03-01T10:00:00.000Z', text });
const parse = (line: string | undefined) => JSON.parse(line ?? '') as Record<string, unknown>;

describe('the lines of a segment', () => {
  it('begin with the ledger id and the heads known, and then follow each other', () => {
    const { lines, tip: after } = planLines('notes', tip([genesis]), null, [note('a'), note('b')]);
    expect(parse(lines[0]?.line)).toMatchObject({ n: 2, prev: null, seen: [genesis], ledger: LEDGER });
    expect(parse(lines[1]?.line)).toMatchObject({ n: 3, prev: lines[0]?.id, seen: [] });
    expect(after).toEqual({ ledger: LEDGER, heads: [lines[1]?.id], maxN: 3 });
  });

  it('continue after the last record without naming it twice', () => {
    const last = recordId('last');
    const { lines } = planLines('notes', tip([last], 9), last, [note('a')]);
    expect(parse(lines[0]?.line)).toMatchObject({ n: 10, prev: last, seen: [] });
    expect(lines[0]?.line).not.toContain('"ledger"');
  });

  it('name 64 other heads at most; the rest stay heads and are named by the next', () => {
    const heads = Array.from({ length: 70 }, (_, i) => recordId(`head ${i}`)).sort();
    const first = planLines('notes', tip(heads), null, [note('a')]);
    expect(parse(first.lines[0]?.line).seen).toEqual(heads.slice(0, 64));
    expect(first.tip.heads).toHaveLength(7);
    const second = planLines('notes', first.tip, first.lines[0]?.id ?? null, [note('b')]);
    expect(second.tip.heads).toEqual([second.lines[0]?.id]);
  });

  it('never take their place in the ledger from what a record says of itself', () => {
    const draft = { ...note('a'), v: 9, tier: 'audit', n: 77, prev: genesis, seen: [], ledger: genesis };
    const [first, second] = planLines('notes', tip([genesis]), null, [draft, draft]).lines;
    expect(parse(first?.line)).toMatchObject({ v: 1, tier: 'notes', n: 2, prev: null, ledger: LEDGER });
    expect(parse(second?.line)).toMatchObject({ v: 1, tier: 'notes', n: 3, prev: first?.id, seen: [] });
    expect(second?.line).not.toContain('"ledger"');
  });

  it('are refused over 1 MiB', () => {
    expect(() => planLines('notes', tip([genesis]), null, [note('x'.repeat(1024 * 1024))])).toThrow(
      /1048576 are allowed/,
    );
  });
});
