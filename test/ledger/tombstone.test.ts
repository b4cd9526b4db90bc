import { describe, expect, it } from 'vitest';
import { LedgerGraph } from '../../src/ledger/rules/graph.js';
import {
  genesisLine,
  type LedgerRecord,
  parseLine,
  recordId,
  type Tier,
} from '../../src/ledger/rules/record.js';
import { planLines } from '../../src/ledger/rules/segment.js';
import {
  identify,
  redactedIn,
  replacementFor,
  tombstoneOf,
  whyNotRedact,
} from '../../src/ledger/rules/tombstone.js';

const LEDGER = 'a'.repeat(64);
const GENESIS = genesisLine('notes', LEDGER);
const TIP = { ledger: LEDGER, heads: [recordId(GENESIS)], maxN: 1 };
const BODY = { kind: 'note', at: '2026-03-01T10:00:00.000Z', session: null, actor: 'supervisor' };
const LINES = planLines('notes', TIP, null, [
  { ...BODY, text: 'one (a+b)*' },
  { ...BODY, text: 'two' },
]).lines.map(({ line }) => line);
const [FIRST = '', SECOND = ''] = LINES;

const recordOf = (line: string): LedgerRecord => {
  const parsed = parseLine(line);
  if (parsed.kind !== 'record') throw new Error('no record');
  return parsed.record;
};
const stoneOf = (line: string): string => JSON.stringify(tombstoneOf(recordId(line), recordOf(line)));

function check(lines: readonly string[], redacted: string[] = []) {
  const graph = new LedgerGraph('notes', undefined, redacted);
  lines.forEach((line, i) => {
    graph.add(Buffer.from(line), { file: 'f', line: i + 1, offset: 0 }, null);
  });
  return { graph, result: graph.finish() };
}

describe('a tombstone', () => {
  it('LTM-19 keeps id and links of a record, and of a first one the ledger', () => {
    const { tier, n, prev, seen } = recordOf(SECOND);
    expect(tombstoneOf(recordId(SECOND), recordOf(SECOND))).toEqual({
      v: 1,
      tier,
      redacted: recordId(SECOND),
      n,
      prev,
      seen,
    });
    expect(tombstoneOf(recordId(FIRST), recordOf(FIRST)).ledger).toBe(LEDGER);
    expect(parseLine(stoneOf(FIRST)).kind).toBe('tombstone');
    expect(stoneOf(FIRST)).not.toContain('one');
  });

  it('LTM-19 is known by its line, and so is the record that it stands for', () => {
    for (const line of LINES) {
      expect(redactedIn(Buffer.from(line))).toBeNull();
      expect(redactedIn(Buffer.from(stoneOf(line)))).toBe(recordId(line));
      expect(identify(Buffer.from(stoneOf(line)))).toBe(identify(Buffer.from(line)));
    }
    const quoting = JSON.stringify({ ...recordOf(SECOND), text: `"redacted":"${LEDGER}"` });
    expect(redactedIn(Buffer.from(quoting))).toBeNull();
  });

  it.each([
    ['an unknown tier', { tier: 'x' }],
    ['a ledger that is no id', { ledger: 'x' }],
    ['an id that is none', { redacted: 'x' }],
  ])('LTM-19 with %s is no line of a ledger', (_, change) => {
    expect(parseLine(JSON.stringify({ ...JSON.parse(stoneOf(FIRST)), ...change })).kind).toBe('bad');
  });

  it('LTM-19 leaves count, heads and ledgers as they were', () => {
    const whole = check([GENESIS, ...LINES]).result;
    for (const lines of [[stoneOf(FIRST), SECOND], [FIRST, stoneOf(SECOND)], LINES.map(stoneOf)]) {
      const { records, heads, ledgers, missing, maxN, returned } = check([GENESIS, ...lines]).result;
      expect({ records, heads, missing, maxN, returned }).toEqual({
        records: whole.records,
        heads: whole.heads,
        missing: [],
        maxN: whole.maxN,
        returned: [],
      });
      expect([...ledgers.keys()]).toEqual([LEDGER]);
    }
  });

  it('LTM-19 lets a foreign ledger be known for one, where its first record was redacted', () => {
    const foreign = planLines('notes', { ...TIP, ledger: 'b'.repeat(64) }, null, [BODY]).lines[0]?.line ?? '';
    expect([...check([GENESIS, stoneOf(foreign)]).result.ledgers.keys()]).toEqual([LEDGER, 'b'.repeat(64)]);
  });

  it('LTM-19 is not needed to know content that is back: an older checkout has none', () => {
    const id = recordId(FIRST);
    expect(check([GENESIS, ...LINES], [id]).result.returned).toEqual([id]);
    // What is nowhere here counts for nothing.
    const { graph, result } = check([GENESIS], [id]);
    expect([result.records, result.returned, graph.has(id), graph.isCommitted(id)]).toEqual([
      1,
      [],
      false,
      true,
    ]);
  });

  it.each<[Tier, string, RegExp | null]>([
    ['notes', 'note', null],
    ['execution', 'cycle', null],
    ['knowledge', 'knowledge', null],
    ['knowledge', 'correction', null],
    ['audit', 'breach', /audit record/],
    ['audit', 'override', /audit record/],
    ['notes', 'genesis', /genesis/],
    ['execution', 'archive', /archive/],
    ['notes', 'reset', /reset/],
    ['notes', 'repair', /repair/],
    ['knowledge', 'invalidated', /invalidated/],
  ])('LTM-19 of a record of %s, %s: %s', (tier, kind, why) => {
    const found = whyNotRedact(tier, kind);
    if (why) expect(found).toMatch(why);
    else expect(found).toBeNull();
  });

  it('LTM-19 goes into history by a replacement that names no content and meets one line alone', () => {
    for (const line of LINES) {
      const text = replacementFor(recordId(line), recordOf(line));
      expect(text).not.toMatch(/one|two/);
      const [, pattern = '', stone = ''] = /^regex:\(\?m\)(.*)==>(.*)$/.exec(text) ?? [];
      const file = `${[GENESIS, ...LINES].join('\n')}\n`;
      expect(file.replace(new RegExp(pattern, 'gm'), () => stone)).toBe(file.replace(line, stoneOf(line)));
    }
  });
});
