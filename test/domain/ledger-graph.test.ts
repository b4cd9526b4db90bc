import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { genesisLine, ledgerId, recordId } from '../../src/domain/ledger.js';
import { LedgerGraph } from '../../src/domain/ledger-graph.js';
import { planLines, type Tip } from '../../src/domain/segment.js';

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

function check(lines: readonly string[]) {
  const graph = new LedgerGraph('evaluation');
  let offset = 0;
  lines.forEach((line, i) => {
    graph.add(Buffer.from(line), { file: 'evaluation.jsonl', line: i + 1, offset }, null);
    offset += Buffer.byteLength(line) + 1;
  });
  return graph.finish();
}

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
    expect(result).toMatchObject({ records: 7, problems: [], unseen: 0, maxN: 5 });
    expect(result.heads).toHaveLength(1);
  });

  it('B-26 is the same in any order and with any line twice', () => {
    const lines = merged();
    const twice = fc.shuffledSubarray([...lines, ...lines], { minLength: lines.length * 2 });
    fc.assert(
      fc.property(twice, (shuffled) => {
        expect(check(shuffled)).toEqual(check(lines));
      }),
    );
  });

  it('B-26 says which line lost the record before it', () => {
    const lines = merged();
    const result = check(lines.filter((_, i) => i !== 2));
    expect(result.problems).toMatchObject([{ code: 'missing_parent', line: 3 }]);
    expect(result.problems[0]?.message).toContain(recordId(lines[2] as string).slice(0, 12));
  });

  it('B-25 finds any byte that was changed in any record that another follows', () => {
    const lines = merged();
    for (const [i, line] of lines.slice(0, -1).entries())
      for (const at of [Math.floor(line.length / 2), line.length - 3]) {
        const edited = line.slice(0, at) + (line[at] === 'x' ? 'y' : 'x') + line.slice(at + 1);
        const { problems, unseen } = check(lines.map((other, j) => (j === i ? edited : other)));
        expect(problems.length + unseen, `${i}: ${edited}`).toBeGreaterThan(0);
      }
  });

  it('only notes a head that this tree does not have: switches and picks leave such', () => {
    const a = segment(START, 'a', 1);
    const b = segment(a.tip, 'b', 2);
    expect(check([GENESIS, ...b.lines])).toMatchObject({ records: 3, problems: [], unseen: 1 });
  });

  it('B-35 finds numbers that do not rise, and a foreign ledger', () => {
    const [first = ''] = segment({ ...START, maxN: 0 }, 'a', 1).lines;
    expect(check([GENESIS, first]).problems).toMatchObject([{ code: 'number', line: 2 }]);
    const foreign = genesisLine('evaluation', ledgerId('evaluation', 'another root'));
    expect(check([GENESIS, foreign]).problems).toMatchObject([{ code: 'foreign_ledger', line: 2 }]);
  });

  it('B-34 names conflict markers, and glued records apart', () => {
    const [one = '', two = ''] = segment(START, 'a', 2).lines;
    const { problems } = check([GENESIS, '<<<<<<< HEAD', one, '=======', '>>>>>>> other', one + two]);
    expect(problems.map(({ code }) => code)).toEqual([
      'conflict_marker',
      'conflict_marker',
      'conflict_marker',
      'glued',
    ]);
  });

  it('takes bytes that a repair record vouches for, wherever they stand, and ids it names as lost', () => {
    const torn = '{"v":1,"tier":"evalu';
    const { lines, tip } = segment(START, 'a', 2);
    const repair = planLines('evaluation', tip, null, [
      {
        kind: 'repair',
        at: '2026-03-01T10:00:00.000Z',
        bytes: [{ length: Buffer.byteLength(torn), sha256: recordId(torn) }],
        lost: [recordId(lines[0] as string)],
      },
    ]).lines.map(({ line }) => line);
    expect(check([GENESIS, ...lines.slice(1), torn]).problems).toHaveLength(2);
    expect(check([GENESIS, ...lines.slice(1), torn, ...repair]).problems).toEqual([]);
  });

  it('LTM-19 lets a tombstone hold a redacted record’s place, and says when the content is back', () => {
    const { lines } = segment(START, 'a', 3);
    const [first = '', second = '', third = ''] = lines;
    const { n, prev, seen } = JSON.parse(second);
    const tombstone = JSON.stringify({ v: 1, redacted: recordId(second), n, prev, seen });
    expect(check([GENESIS, first, tombstone, third])).toMatchObject({
      records: 4,
      problems: [],
      returned: [],
    });
    expect(check([GENESIS, ...lines, tombstone])).toMatchObject({ records: 4, returned: [recordId(second)] });
  });
});
