import { appendFileSync, copyFileSync, mkdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { genesisLine, ledgerId, recordId } from '../../src/ledger/rules/record.js';
import { type PlannedLine, planLines, type Tip } from '../../src/ledger/rules/segment.js';
import { type Container, describeContainer } from '../../src/ledger/store/files.js';
import type { OpenSegment, TierState } from '../../src/ledger/store/state.js';
import { followOpen, isSamePrefix } from '../../src/ledger/store/tip.js';
import { makeFolder } from '../support/project.js';

const LEDGER = ledgerId('execution', 'root');
const BEGIN: Tip = { ledger: LEDGER, heads: [recordId(genesisLine('execution', LEDGER))], maxN: 1 };

const plan = (tip: Tip, last: string | null, ...words: string[]) =>
  planLines(
    'execution',
    tip,
    last,
    words.map((text) => ({ kind: 'cycle', text })),
  );
const textOf = (lines: readonly PlannedLine[]): string => lines.map(({ line }) => `${line}\n`).join('');

/** An open segment of two records, and what is known of it. */
function makeSegment() {
  const path = join(makeFolder(), 'execution.d', 'solo-1.jsonl');
  mkdirSync(dirname(path));
  const { lines, tip } = plan(BEGIN, null, 'one', 'two');
  writeFileSync(path, textOf(lines));
  const now = (): Container => describeContainer(path) as Container;
  const last = lines[1]?.id as string;
  const { size, stat } = now();
  const open = { name: 'solo-1.jsonl', size, stat, last } as OpenSegment;
  const { heads, maxN } = tip;
  const known = { heads, maxN, records: 3, bytes: 1000, open } as TierState;
  const follow = (text: string): TierState | null => {
    appendFileSync(path, text);
    return followOpen(known, now());
  };
  return { path, tip, last, open, known, now, follow };
}

describe('what others added to an open segment', () => {
  it('LTM-03 is followed record by record', () => {
    const { known, tip, last, now, follow, open } = makeSegment();
    const more = plan(tip, last, 'three', 'four');
    const text = textOf(more.lines);
    expect(follow(text)).toEqual({
      heads: more.tip.heads,
      maxN: more.tip.maxN,
      records: known.records + 2,
      bytes: known.bytes + Buffer.byteLength(text),
      open: { ...open, last: more.lines[1]?.id, size: now().size, stat: now().stat },
    });
  });

  it.each<[string, (segment: ReturnType<typeof makeSegment>) => string]>([
    ['does not follow the last record', ({ tip }) => textOf(plan(tip, recordId('other'), 'three').lines)],
    [
      'has a number that was given',
      ({ tip, last }) => textOf(plan({ ...tip, maxN: tip.maxN - 1 }, last, 'three').lines),
    ],
    ['is cut off', ({ tip, last }) => textOf(plan(tip, last, 'three').lines).slice(0, -1)],
    ['is no record', () => 'three\n'],
    ['is more than is read for it', () => 'x'.repeat(8 * 1024 * 1024 + 1)],
  ])('LTM-03 sends the reader to all containers where it %s', (_title, textFor) => {
    const segment = makeSegment();
    expect(segment.follow(textFor(segment))).toBeNull();
  });

  it('LTM-03 is not looked for in another file of that name, nor in one that is shorter', () => {
    const { path, known, tip, last, now, follow } = makeSegment();
    copyFileSync(path, `${path}.new`);
    renameSync(`${path}.new`, path);
    expect(follow(textOf(plan(tip, last, 'three').lines))).toBeNull();
    const other = makeSegment();
    truncateSync(other.path, 10);
    expect(followOpen(other.known, other.now())).toBeNull();
    expect(followOpen({ ...known, open: null }, now())).toEqual({ ...known, open: null });
  });
});

describe('the beginning of an open segment', () => {
  it('LTM-03 is vouched for by the id at its end', () => {
    const { path, open, tip, last, now } = makeSegment();
    expect(isSamePrefix(open, now())).toBe(true);
    appendFileSync(path, textOf(plan(tip, last, 'three').lines));
    expect(isSamePrefix(open, now())).toBe(true);
    expect(isSamePrefix({ ...open, last: recordId('other') }, now())).toBe(false);
  });

  it('LTM-03 is another where a record, a link or an end is', () => {
    const { path, open, now } = makeSegment();
    const unlinked = [plan(BEGIN, null, 'one'), plan(BEGIN, null, 'two')].flatMap(({ lines }) => lines);
    const last = unlinked[1]?.id as string;
    writeFileSync(path, textOf(unlinked));
    expect(isSamePrefix({ ...open, size: now().size, last }, now())).toBe(false);
    expect(isSamePrefix({ ...open, size: now().size + 1 }, now())).toBe(false);
    writeFileSync(path, `${textOf(unlinked.slice(1))}x`);
    expect(isSamePrefix({ ...open, size: now().size, last }, now())).toBe(false);
    writeFileSync(path, 'no record\n');
    expect(isSamePrefix({ ...open, size: now().size, last: recordId('no record') }, now())).toBe(false);
  });
});
