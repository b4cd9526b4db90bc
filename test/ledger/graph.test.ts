import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LedgerGraph, type Source } from '../../src/ledger/rules/graph.js';
import { digestOf, withoutConsequences } from '../../src/ledger/rules/problem.js';
import { genesisLine, ledgerId, recordId } from '../../src/ledger/rules/record.js';
import { planLines, type Tip } from '../../src/ledger/rules/segment.js';

const LEDGER = ledgerId('evaluation', 'root');
const GENESIS = genesisLine('evaluation', LEDGER);
const START: Tip = { ledger: LEDGER, heads: [recordId(GENESIS)], maxN: 1 };
const body = (text: string) => ({ kind: 'cycle', at: '2026-03-01T10:00:00.000Z', text });

/** A segment of so many records on top of a tip. */
function segment(tip: Tip, name: string, count: number): { lines: string[]; tip: Tip } {
  const bodies = Array.from({ length: count }, (_, i) => body(`${name}${i}`));
  const plan = planLines('evaluation', tip, null, bodies);
  return { lines: plan.lines.map(({ line }) => line), tip: plan.tip };
}

function graphOf(lines: readonly string[], source?: Source): LedgerGraph {
  const graph = new LedgerGraph('evaluation');
  if (source) graph.source = source;
  let offset = 0;
  let last: ReturnType<LedgerGraph['add']> = null;
  lines.forEach((line, i) => {
    last = graph.add(Buffer.from(line), { file: 'evaluation.jsonl', line: i + 1, offset }, last);
    offset += Buffer.byteLength(line) + 1;
  });
  return graph;
}

const check = (lines: readonly string[]) => graphOf(lines).finish();

/** Everything that is no mere note. */
const found = ({ problems, missing, unreadable }: ReturnType<typeof check>) => [
  ...unreadable,
  ...missing,
  ...problems,
];
const withoutPlaces = ({ ledgers, ...result }: ReturnType<typeof check>) => ({
  ...result,
  ledgers: [...ledgers.keys()],
});
const whole = { problems: [], missing: [], unreadable: [] };

/** A record that settles something, on top of a tip. */
const settling = (tip: Tip, kind: string, fields: object): string[] =>
  planLines('evaluation', tip, null, [{ kind, ...fields }]).lines.map(({ line }) => line);

/** Two branches that both continued the same ledger, and a record written after they met. */
function merged(): string[] {
  const a = segment(START, 'a', 3);
  const b = segment(START, 'b', 2);
  const met: Tip = { ledger: LEDGER, heads: [...a.tip.heads, ...b.tip.heads].sort(), maxN: 4 };
  return [GENESIS, ...a.lines, ...b.lines, ...segment(met, 'c', 1).lines];
}

describe('the graph of a ledger', () => {
  it('LTM-17 holds both histories after a merge, with one head once a record has followed both', () => {
    const result = check(merged());
    expect(result).toMatchObject({ records: 7, ...whole, unseen: 0, maxN: 5 });
    expect(result.heads).toHaveLength(1);
  });

  it('B-26 is the same in any order and with any line twice', () => {
    const lines = merged();
    const twice = fc.shuffledSubarray([...lines, ...lines], { minLength: lines.length * 2 });
    fc.assert(
      fc.property(twice, (shuffled) => {
        expect(withoutPlaces(check(shuffled))).toEqual(withoutPlaces(check(lines)));
      }),
    );
  });

  it('B-26 tells of a record once, and of what is wrong with it, however often its line stands there', () => {
    const { lines } = segment(START, 'a', 2);
    const builder = settling(segment(START, 'a', 2).tip, 'cycle', { actor: 'builder' });
    const told: string[] = [];
    const graph = new LedgerGraph('evaluation', (_, id) => told.push(id));
    const all = [GENESIS, ...lines, ...builder];
    for (const [i, line] of [...all, ...all].entries())
      graph.add(Buffer.from(line), { file: 'evaluation.jsonl', line: i + 1, offset: 0 }, null);
    expect(told).toEqual(all.map(recordId));
    expect(found(graph.finish()).map(({ code }) => code)).toEqual(['unauthorised']);
  });

  it('B-26 says which line lost the record before it', () => {
    const lines = merged();
    const result = check(lines.filter((_, i) => i !== 2));
    const id = recordId(lines[2] as string);
    expect(found(result)).toMatchObject([{ code: 'removed', line: 3, parent: id, last_good: { line: 2 } }]);
    expect(result.missing[0]?.message).toContain(id.slice(0, 12));
  });

  it('B-25 finds any byte that was changed in any record that another follows', () => {
    const lines = merged();
    for (const [i, line] of lines.slice(0, -1).entries())
      for (const at of [Math.floor(line.length / 2), line.length - 3]) {
        const edited = line.slice(0, at) + (line[at] === 'x' ? 'y' : 'x') + line.slice(at + 1);
        const result = check(lines.map((other, j) => (j === i ? edited : other)));
        expect(found(result).length + result.unseen, `${i}: ${edited}`).toBeGreaterThan(0);
      }
  });

  it('B-25 names the line that was edited, not the one behind it', () => {
    const { lines } = segment(START, 'a', 3);
    const edited = lines.map((line, i) => (i === 1 ? line.replace('a1', 'b1') : line));
    expect(found(check([GENESIS, ...edited]))).toMatchObject([{ code: 'edited', line: 3 }]);
    // What cannot be read at all is one finding, not also the one behind it.
    const result = check([GENESIS, ...lines.map((line, i) => (i === 1 ? line.slice(1) : line))]);
    expect(result.unreadable).toMatchObject([
      { code: 'edited', line: 3, ...digestOf(Buffer.from((lines[1] as string).slice(1))) },
    ]);
    expect(withoutConsequences(result)).toEqual([]);
  });

  it('B-30 sees the records behind CR LF, and tells it once a file', () => {
    const lines = merged();
    const result = check(lines.map((line) => `${line}\r`));
    expect(result).toMatchObject({ records: 7, heads: check(lines).heads, missing: [], unreadable: [] });
    expect(result.problems).toMatchObject([
      { code: 'crlf', line: 1, message: expect.stringMatching(/^7 of its lines/) },
    ]);
  });

  it('B-36 finds what a builder wrote, until a repair declares it void', () => {
    const drafts = [{ ...body('x'), actor: 'builder' }];
    const { lines, tip } = planLines('evaluation', START, null, drafts);
    const [{ line = '', id = '' } = {}] = lines;
    const result = check([GENESIS, line]);
    expect(result.problems).toMatchObject([{ code: 'unauthorised', line: 2 }]);
    expect(result.improper).toEqual([id]);
    expect(result.problems[0]).not.toHaveProperty('id');
    const repair = settling(tip, 'repair', { bytes: [], lost: [], voided: [id] });
    expect(check([GENESIS, line, ...repair])).toMatchObject({ ...whole, improper: [], records: 3 });
  });

  it('finds a record of another ledger, and does not count it', () => {
    const other = genesisLine('audit', ledgerId('audit', 'root'));
    expect(check([GENESIS, other])).toMatchObject({
      records: 1,
      problems: [{ code: 'wrong_tier', line: 2, message: 'it belongs to the audit ledger' }],
      improper: [recordId(other)],
    });
  });

  it('knows what HEAD has', () => {
    const graph = graphOf([GENESIS], { committed: false });
    graph.source = { committed: true };
    const [line = ''] = segment(START, 'a', 1).lines;
    graph.add(Buffer.from(line), { file: 'evaluation.jsonl', line: 1, offset: 0 }, null);
    const [old, fresh] = [recordId(GENESIS), recordId(line)];
    expect([graph.isCommitted(old), graph.isCommitted(fresh)]).toEqual([false, true]);
    const unknown = recordId('unknown');
    expect([graph.has(unknown), graph.isCommitted(unknown)]).toEqual([false, false]);
  });

  it('only notes a head that this tree does not have: switches and picks leave such', () => {
    const a = segment(START, 'a', 1);
    const b = segment(a.tip, 'b', 2);
    expect(check([GENESIS, ...b.lines])).toMatchObject({ records: 3, ...whole, unseen: 1 });
  });

  it('B-35 finds numbers that do not rise, and a foreign ledger', () => {
    const [first = ''] = segment({ ...START, maxN: 0 }, 'a', 1).lines;
    expect(check([GENESIS, first]).problems).toMatchObject([{ code: 'number', line: 2 }]);
    expect(check([GENESIS, first]).improper).toEqual([recordId(first)]);
    const other = ledgerId('evaluation', 'another root');
    const { ledgers } = check([GENESIS, genesisLine('evaluation', other)]);
    expect([...ledgers].map(([id, { line }]) => [id, line])).toEqual([
      [LEDGER, 1],
      [other, 2],
    ]);
  });

  it.each(['adopt', 'drop'])('B-35 takes a foreign ledger as settled by the subject of an %s', (kind) => {
    const other = ledgerId('evaluation', 'another root');
    const settled = settling(START, kind, { subject: other });
    const { ledgers } = check([GENESIS, genesisLine('evaluation', other), ...settled]);
    expect([...ledgers.keys()]).toEqual([LEDGER]);
  });

  it('B-34 names conflict markers, and glued records apart', () => {
    const [one = '', two = ''] = segment(START, 'a', 2).lines;
    const { unreadable } = check([GENESIS, '<<<<<<< HEAD', one, '=======', '>>>>>>> other', one + two]);
    expect(unreadable.map(({ code }) => code)).toEqual([
      'conflict_marker',
      'conflict_marker',
      'conflict_marker',
      'glued',
    ]);
  });

  it('takes bytes that a repair record vouches for, wherever they stand, and ids it names as lost', () => {
    const torn = '{"v":1,"tier":"evalu';
    const { lines, tip } = segment(START, 'a', 2);
    const repair = settling(tip, 'repair', {
      bytes: [digestOf(Buffer.from(torn))],
      lost: [recordId(lines[0] as string)],
    });
    expect(found(check([GENESIS, ...lines.slice(1), torn]))).toHaveLength(2);
    expect(check([GENESIS, ...lines.slice(1), torn, ...repair])).toMatchObject(whole);
    expect(check([torn, ...repair, ...lines.slice(1), GENESIS])).toMatchObject(whole);
    // Other bytes, or the same with one more, are not those.
    expect(found(check([GENESIS, ...lines.slice(1), `${torn}x`, ...repair]))).toHaveLength(1);
  });

  it('LTM-19 lets a tombstone hold a redacted record’s place, and says when the content is back', () => {
    const { lines } = segment(START, 'a', 3);
    const [first = '', second = '', third = ''] = lines;
    const { n, prev, seen } = JSON.parse(second);
    const tombstone = JSON.stringify({ v: 1, redacted: recordId(second), n, prev, seen });
    expect(check([GENESIS, first, tombstone, third])).toMatchObject({
      records: 4,
      ...whole,
      returned: [],
    });
    expect(check([GENESIS, ...lines, tombstone])).toMatchObject({ records: 4, returned: [recordId(second)] });
  });
});
