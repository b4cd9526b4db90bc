import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkText } from '../../src/core/text.js';
import {
  addEntry,
  NO_SESSION_TEXT,
  parseProgress,
  setNext,
  startProgress,
  workSince,
} from '../../src/session/rules.js';

const at = (time: string): Date => new Date(`2025-12-24T${time}:59.999Z`);

const RFC_SAMPLE = `=== FORGE Session 2025-12-24 ===

[11:00] Started session - reading git log and features.json
[11:05] Continuing work on NATS integration
[11:15] Fixed chrono import issue - added serde to Cargo.toml
[11:20] All 8 NATS tests passing
[11:25] Merged RFC-9400 subjects into sx9-harness
[11:30] CHECKPOINT: sx9-harness compiles, tests pass

NEXT: Wire ATLAS daemon to NATS (see Linear SX9-xxx)
`;

const started = startProgress(at('11:00'), 'main', 2);

describe('progress.txt', () => {
  it('SES-04 is written as RFC-9060 §3.2 shows it, byte for byte', () => {
    const [header, first = ''] = RFC_SAMPLE.split('\n\n');
    const entries = first.split('\n').map((line) => [line.slice(1, 6), line.slice(8)] as const);
    let file = `${header}\n\n[11:00] ${entries[0]?.[1]}\n`;
    for (const [time, text] of entries.slice(1))
      file = addEntry(file, at(time), text.replace('CHECKPOINT: ', ''), text.startsWith('CHECKPOINT'));
    expect(setNext(file, 'Wire ATLAS daemon to NATS (see Linear SX9-xxx)')).toBe(RFC_SAMPLE);
  });

  it('GIT-02 gives the work since a commit, without the start lines, also days later', () => {
    const first = addEntry(setNext(started, 'Sleep'), at('12:00'), 'One');
    const file = addEntry(first, new Date('2025-12-26T13:00:00Z'), 'Two\nlines');
    expect(workSince(file, null)).toEqual(['One', 'Two\nlines']);
    expect(workSince(file, '2025-12-24T12:00:59.000Z')).toEqual(['One', 'Two\nlines']);
    expect(workSince(file, '2025-12-25T09:00:00.000Z')).toEqual(['Two\nlines']);
    expect(workSince(NO_SESSION_TEXT, null)).toEqual([]);
  });

  it('SES-04 indents the lines of one text below its stamp', () => {
    const file = setNext(addEntry(started, at('12:00'), 'One\n\ntwo', true), 'Three\nfour');
    expect(file).toBe(
      `${started}[12:00] CHECKPOINT: One\n        \n        two\n\nNEXT: Three\n      four\n`,
    );
    expect(parseProgress(file).lines.at(-1)).toEqual({ time: '12:00', text: 'CHECKPOINT: One\n\ntwo' });
  });

  it('has no date, entry or NEXT without a session', () => {
    expect(parseProgress(NO_SESSION_TEXT)).toEqual({ date: null, lines: [] });
    expect(parseProgress('').lines.at(-1)).toBeUndefined();
  });

  it('SES-04 B-11 returns every accepted text, byte for byte and in order', () => {
    const nasty = fc.constantFrom(
      '\n',
      ' ',
      '\t',
      '\u2028',
      'NEXT: ',
      '      ',
      '[10:00] ',
      '=== FORGE Session 2000-01-01 ===',
      'CHECKPOINT: ',
      'é',
      '😀',
      'a',
    );
    const isTaken = (text: string): boolean => {
      try {
        return checkText(text, { what: 'It' }) === text;
      } catch {
        return false;
      }
    };
    const text = fc
      .oneof(fc.string({ unit: nasty, maxLength: 8 }), fc.string({ unit: 'binary' }))
      .filter(isTaken);
    const step = fc.record({ text, next: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        let file = started;
        for (const { text: said, next } of steps)
          file = next ? setNext(file, said) : addEntry(file, at('12:00'), said);
        const progress = parseProgress(file);
        expect(progress.date).toBe('2025-12-24');
        expect(progress.lines.slice(2).map((line) => line.text)).toEqual(
          steps.filter(({ next }) => !next).map((one) => one.text),
        );
        expect(progress.next).toBe(steps.findLast(({ next }) => next)?.text);
      }),
      { numRuns: 300 },
    );
  });
});
