import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Disk } from '../../src/core/disk.js';
import { layoutOf } from '../../src/core/paths.js';
import type { Tombstone } from '../../src/ledger/rules/record.js';
import { keepRedacted, readRedacted } from '../../src/ledger/store/redacted.js';
import { makeFolder } from '../support/project.js';

const stone = (digit: string): Tombstone => ({
  v: 1,
  tier: 'notes',
  redacted: digit.repeat(64),
  n: 2,
  prev: null,
  seen: [],
});

function place(): { disk: Disk; file: string } {
  const layout = layoutOf(makeFolder(), null);
  return { disk: new Disk(layout, {} as never, false), file: join(layout.shared, 'redacted') };
}

const idsIn = (disk: Disk): string[] => [...readRedacted(disk.layout).keys()].map((id) => id[0] ?? '');

describe('what was redacted, in the git dir', () => {
  it('LTM-19 is kept once, beside what another worktree adds', () => {
    const { disk, file } = place();
    expect(idsIn(disk)).toEqual([]);
    keepRedacted(disk, [stone('a'), stone('b')]);
    appendFileSync(file, `${JSON.stringify(stone('c'))}\n`);
    keepRedacted(disk, [stone('c'), stone('a'), stone('d')]);
    expect(idsIn(disk)).toEqual(['a', 'b', 'c', 'd']);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(5);
  });

  it.each([
    ['an empty file', ''],
    ['half a line', JSON.stringify(stone('b')).slice(0, 120)],
    ['bytes that are none', '\0\0\0'],
  ])('LTM-19 outlives a kill that left %s', (_, left) => {
    const { disk, file } = place();
    keepRedacted(disk, [stone('a')]);
    if (left === '') writeFileSync(file, '');
    else appendFileSync(file, left);
    keepRedacted(disk, [stone('b'), stone('c')]);
    expect(idsIn(disk)).toEqual(left === '' ? ['b', 'c'] : ['a', 'b', 'c']);
  });
});
