import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { journalFile, layoutOf } from '../../src/core/paths.js';
import { appendLines } from '../../src/ledger/store/append.js';
import { appendJournal, journalStamp, pruneJournal, readJournal } from '../../src/ledger/store/journal.js';
import { makeFolder } from '../support/project.js';

const [ONE, TWO] = [Buffer.from('one\n'), Buffer.from('two\n')];

describe('appending to a segment', () => {
  const makePath = (): string => join(makeFolder(), 'execution.d', 'solo-1.jsonl');

  it('LTM-03 makes the file, and goes on where it ended', () => {
    const path = makePath();
    expect(appendLines(path, ONE, 0)).toMatchObject({ path, size: 4 });
    expect(appendLines(path, TWO, 4)).toMatchObject({ path, size: 8 });
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  });

  it('LTM-03 writes nothing where the file is not what it was: begun, grown or gone', () => {
    const path = makePath();
    expect(appendLines(path, ONE, 4)).toBeNull();
    appendLines(path, ONE, 0);
    expect(appendLines(path, TWO, 0)).toBeNull();
    appendFileSync(path, 'x');
    expect(appendLines(path, TWO, 4)).toBeNull();
    expect(readFileSync(path, 'utf8')).toBe('one\nx');
  });
});

describe('the journal', () => {
  function makeJournal() {
    const layout = layoutOf(makeFolder(), null);
    const path = journalFile(layout);
    mkdirSync(dirname(path), { recursive: true });
    const lines = (size = journalStamp(layout).size): string[] => {
      const found: string[] = [];
      readJournal(layout, size, (bytes) => void found.push(bytes.toString()));
      return found;
    };
    return { layout, path, lines };
  }

  it('LTM-16 B-23 a line that a crash cut off does not swallow the next one', () => {
    const { layout, path, lines } = makeJournal();
    appendFileSync(path, 'cut o');
    expect(appendJournal(layout, ONE)).toBeNull();
    expect(appendJournal(layout, TWO)).toBeNull();
    expect(lines()).toEqual(['cut o', 'one', 'two']);
    expect(lines(journalStamp(layout).size - 1)).toEqual(['cut o', 'one']);
  });

  it('LTM-16 loses what it was told of, keeps what came since, and is let alone where nothing goes', () => {
    const { layout, path, lines } = makeJournal();
    for (const bytes of [ONE, TWO]) appendJournal(layout, bytes);
    const { size } = journalStamp(layout);
    appendJournal(layout, ONE);
    const { ino } = statSync(path);
    pruneJournal(layout, size, () => true);
    expect(statSync(path).ino).toBe(ino);
    pruneJournal(layout, size, (bytes) => bytes.toString() !== 'one');
    expect(lines()).toEqual(['two', 'one']);
  });
});
