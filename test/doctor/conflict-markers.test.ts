import { describe, expect, it } from 'vitest';
import { conflictLines, sidesOf } from '../../src/core/conflict-marks.js';

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
