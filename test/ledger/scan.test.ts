import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixedFile, layoutOf, segmentFolder } from '../../src/core/paths.js';
import { genesisLine, ledgerId, recordId } from '../../src/ledger/rules/record.js';
import { type Plan, planLines } from '../../src/ledger/rules/segment.js';
import { archiveFileOf, listArchives, listContainers } from '../../src/ledger/store/files.js';
import { findKeyed } from '../../src/ledger/store/keys.js';
import { scanTier } from '../../src/ledger/store/scan.js';
import { makeFolder } from '../support/project.js';

const LEDGER = ledgerId('execution', 'root');
const GENESIS = genesisLine('execution', LEDGER);

function planned(keys: readonly string[], kind = 'cycle'): Plan {
  const tip = { ledger: LEDGER, heads: [recordId(GENESIS)], maxN: 1 };
  return planLines(
    'execution',
    tip,
    null,
    keys.map((key) => ({ kind, key, text: `"key":"inner"` })),
  );
}

const textOf = ({ lines }: Plan): string => lines.map(({ line }) => `${line}\n`).join('');

function makeLedger() {
  const layout = layoutOf(makeFolder(), null);
  const put = (path: string, content: string | Buffer): string => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  };
  put(fixedFile(layout, 'execution'), `${GENESIS}\n`);
  const segment = (content: string | Buffer, name = 'solo-1.jsonl'): string =>
    put(join(segmentFolder(layout, 'execution'), name), content);
  const archive = (content: string): string => {
    const name = createHash('sha256').update(content).digest('hex');
    return put(archiveFileOf(layout, name), content);
  };
  const scan = () =>
    scanTier(layout, 'execution', listContainers(layout, 'execution'), listArchives(layout)).result;
  return { layout, segment, archive, scan };
}

describe('reading the containers of a tier', () => {
  const plan = planned(['a', 'b']);

  it('B-23 a last line without a line feed is torn, even when it is whole JSON (B-24)', () => {
    const { segment, scan } = makeLedger();
    segment(textOf(plan).slice(0, -1));
    expect(scan().unreadable).toMatchObject([
      { code: 'torn', file: '.forge/memory/execution.d/solo-1.jsonl', line: 2, last_good: { line: 1, n: 2 } },
    ]);
    segment(textOf(plan).slice(0, -20));
    expect(scan().unreadable).toMatchObject([{ code: 'torn', line: 2, sha256: expect.any(String) }]);
  });

  it('B-33 a tail of zeros is told from one that holds anything else', () => {
    const { segment, scan } = makeLedger();
    segment(Buffer.concat([Buffer.from(textOf(plan)), Buffer.alloc(300)]));
    expect(scan().unreadable).toMatchObject([
      { code: 'torn', length: 300, message: expect.stringMatching(/300 zero bytes/) },
    ]);
    segment(Buffer.concat([Buffer.from(textOf(plan)), Buffer.alloc(300), Buffer.from('x')]));
    expect(scan().unreadable[0]?.message).not.toMatch(/zero/);
  });

  it('LTM-10 an archive holds records like any container, until one of its bytes is another', () => {
    const { archive, scan } = makeLedger();
    const path = archive(textOf(plan));
    expect(scan()).toMatchObject({ records: 3, unreadable: [], missing: [], problems: [] });
    // Whole records, links and all: only the name tells.
    writeFileSync(path, textOf(planned(['a', 'c'])));
    expect(scan().unreadable).toMatchObject([{ code: 'archive', line: 0, length: textOf(plan).length }]);
  });

  it('LTM-10 an archive under another name, or with a torn line, is found too', () => {
    const { archive, scan } = makeLedger();
    const path = archive(textOf(plan));
    const other = join(dirname(path), `${'0'.repeat(64)}.jsonl`);
    renameSync(path, other);
    expect(scan().unreadable).toMatchObject([{ code: 'archive' }]);
    renameSync(other, path);
    writeFileSync(path, textOf(plan).slice(0, -1));
    expect(scan().unreadable).toMatchObject([{ code: 'torn' }, { code: 'archive' }]);
  });
});

describe('the records with a key', () => {
  it('B-58 are found live and in archives; only the own key of a record counts', () => {
    const { layout, segment, archive } = makeLedger();
    const live = planned(['a', 'b', 'a']);
    const sealed = planned(['c']);
    segment(textOf(live));
    const nested = planLines('execution', live.tip, null, [{ kind: 'cycle', of: { key: 'inner' } }]);
    segment(textOf(nested), 'solo-2.jsonl');
    archive(textOf(sealed));
    const found = findKeyed(layout, 'execution', new Set(['a', 'c', 'inner', 'unknown']));
    expect([...found.keys()].sort()).toEqual(['a', 'c']);
    expect(Object.fromEntries(found)).toMatchObject({
      a: { id: live.lines[0]?.id, n: 2 },
      c: { id: sealed.lines[0]?.id, n: 2 },
    });
    expect(findKeyed(layout, 'evaluation', new Set(['a', 'c'])).size).toBe(0);
    expect(findKeyed(layout, 'execution', new Set()).size).toBe(0);
  });

  it('LTM-10 an archive whose start names no ledger any more is found too', () => {
    const { archive, scan } = makeLedger();
    const path = archive(textOf(planned(['a'])));
    writeFileSync(path, readFileSync(path, 'utf8').replace('"tier":"execution"', '"tier":"exekution"'));
    expect(scan().unreadable.map(({ code }) => code)).toEqual(['edited', 'archive']);
  });
});
