import { describe, expect, it } from 'vitest';
import { conflictLines, sidesOf } from '../../src/core/conflict-marks.js';
import { mergeProgress } from '../../src/doctor/merge-progress.js';

describe('conflict markers', () => {
  const text = (...hunks: string[]): string => `[\n${hunks.join('"x",\n')}]\n`;
  const plain = '<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n';
  const three = '<<<<<<< HEAD\n1\n||||||| abc\n0\n=======\n2\n>>>>>>> other\n';

  it('LAY-09 give both sides in each style, several hunks, LF or CRLF; the base where all hunks have it', () => {
    expect(sidesOf(text(plain))).toEqual({ ours: '[\n1\n]\n', theirs: '[\n2\n]\n', base: null });
    expect(sidesOf(text(three))).toEqual({ ours: '[\n1\n]\n', theirs: '[\n2\n]\n', base: '[\n0\n]\n' });
    expect(sidesOf(text(three, three))?.base).toBe('[\n0\n"x",\n0\n]\n');
    expect(sidesOf(text(three, plain))?.base).toBeNull();
    expect(sidesOf(text(three).replaceAll('\n', '\r\n'))?.ours).toBe('[\r\n1\r\n]\r\n');
  });

  it('LAY-09 are as long as the attribute conflict-marker-size says', () => {
    const long = plain.replace(/[<=>]{7}/g, (marker) => marker + marker);
    expect(conflictLines(text(long))).toEqual({ from: 2, to: 6 });
    expect(sidesOf(text(long))).toEqual({ ours: '[\n1\n]\n', theirs: '[\n2\n]\n', base: null });
  });

  it('LAY-09 that stand in one another or do not pair up give none', () => {
    expect(sidesOf(text(`<<<<<<< HEAD\n${plain}=======\n2\n>>>>>>> other\n`))).toBeNull();
    expect(sidesOf(text('<<<<<<< HEAD\n1\n'))).toBeNull();
    expect(sidesOf(text('=======\n'))).toBeNull();
    expect(sidesOf('{}')).toBeNull();
  });

  it('LAY-09 within a text, or longer ones, are none', () => {
    expect(conflictLines('{ "a": "<<<<<<< HEAD\\n=======\\n>>>>>>> x" }')).toBeNull();
    expect(conflictLines('  <<<<<<< HEAD\n  >>>>>>> x\n')).toBeNull();
    expect(conflictLines('<<<<<<< HEAD\n>>>>>>>>> x\n')).toBeNull();
    expect(conflictLines(text(plain))).toEqual({ from: 2, to: 6 });
  });
});

describe('progress of two sides', () => {
  const log = (...lines: string[]): string => `=== FORGE Session 2026-03-01 ===\n\n${lines.join('\n')}\n`;

  it('LAY-09 is every line once, by time, past midnight as well', () => {
    const ours = log('[22:00] begun', '[23:50] late', '[00:10] ours', '', 'NEXT: go on');
    const theirs = log(
      '[22:00] begun',
      '[23:55] theirs',
      '        more of it',
      '[00:20] end',
      '',
      'NEXT: stop',
    );
    expect(mergeProgress({ ours, theirs, base: null })?.text).toBe(
      log(
        '[22:00] begun',
        '[23:50] late',
        '[23:55] theirs',
        '        more of it',
        '',
        '=== 2026-03-02 ===',
        '',
        '[00:10] ours',
        '[00:20] end',
        '',
        'NEXT: stop',
      ),
    );
  });

  it('LAY-09 takes NEXT of whoever wrote last, past midnight and on another day as well', () => {
    const early = log('[22:00] begun', '[23:55] early', '', 'NEXT: early');
    const late = log('[22:00] begun', '', '=== 2026-03-02 ===', '', '[00:05] late', '', 'NEXT: late');
    const merged = log(
      ...['[22:00] begun', '[23:55] early', '', '=== 2026-03-02 ===', '', '[00:05] late', '', 'NEXT: late'],
    );
    expect(mergeProgress({ ours: early, theirs: late, base: null })?.text).toBe(merged);
    expect(mergeProgress({ ours: late, theirs: early, base: null })?.text).toBe(merged);
    const other = '=== FORGE Session 2026-03-02 ===\n\n[00:05] late\n\nNEXT: late\n';
    expect(mergeProgress({ ours: other, theirs: early, base: null })?.text).toBe(merged);
  });

  it('LAY-09 is no line twice where the two sides have it in another order', () => {
    const sides = [log('[10:00] p', '[10:00] q', '[10:01] z'), log('[10:00] q', '[10:00] p', '[10:01] z')];
    for (const [ours, theirs] of [sides, sides.toReversed()] as [string, string][])
      expect(mergeProgress({ ours, theirs, base: null })).toEqual({ text: ours, choices: [] });
  });

  it('LAY-09 is no line twice, none lost, and keeps what one line stood behind in the other', () => {
    const ours = log('[10:00] a', '[10:05] x', '[10:05] x', '[10:10] b', '[10:11] ours');
    const theirs = log('[10:00] a', '[10:03] theirs', '[10:05] x', '[10:10] b', '[10:12] end');
    const merged = log(
      ...[
        '[10:00] a',
        '[10:03] theirs',
        '[10:05] x',
        '[10:05] x',
        '[10:10] b',
        '[10:11] ours',
        '[10:12] end',
      ],
    );
    const lines = { id: null, field: 'lines', ours: 5, theirs: 5, value: 7, why: 'both: 2 more than ours' };
    expect(mergeProgress({ ours, theirs, base: null })).toEqual({ text: merged, choices: [lines] });
    expect(mergeProgress({ ours: theirs, theirs: ours, base: null })?.text).toBe(merged);
    expect(mergeProgress({ ours, theirs: ours, base: null })).toEqual({ text: ours, choices: [] });
  });

  it('LAY-09 keeps the one NEXT that there is, and the one date', () => {
    const [early, late] = [log('[10:00] a', '', 'NEXT: go on'), log('[10:00] a', '[10:05] b')];
    for (const [ours, theirs] of [
      [early, late],
      [late, early],
    ] as const)
      expect(mergeProgress({ ours, theirs, base: null })).toMatchObject({
        text: log('[10:00] a', '[10:05] b', '', 'NEXT: go on'),
      });
    const undated = '[10:05] b\n';
    expect(mergeProgress({ ours: undated, theirs: early, base: null })?.text).toMatch(/2026-03-01/);
    const other = log('[10:00] a', '', 'NEXT: stop');
    expect(mergeProgress({ ours: early, theirs: other, base: null })).toEqual({
      text: early,
      choices: [
        {
          id: null,
          field: 'next',
          ours: 'go on',
          theirs: 'stop',
          value: 'go on',
          why: 'of whoever wrote last',
        },
      ],
    });
  });

  it('LAY-09 is left to a person where something else stands there', () => {
    const whole = log('[10:00] x');
    for (const strange of [log('a word'), log('[24:00] no time of a day'), log('', '=== 2026-03-02 ===')]) {
      expect(mergeProgress({ ours: strange, theirs: whole, base: null })).toBeNull();
      expect(mergeProgress({ ours: whole, theirs: strange, base: null })).toBeNull();
    }
    expect(mergeProgress({ ours: '[10:00] x\n', theirs: '[10:00] x\n', base: null })).toBeNull();
  });
});
