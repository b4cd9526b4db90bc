import { describe, expect, it } from 'vitest';
import { conflictLines } from '../../src/core/schema.js';

describe('conflict markers', () => {
  const text = '[\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n]\n';

  it('LAY-09 are found with their lines, of any length that conflict-marker-size allows', () => {
    expect(conflictLines(text)).toEqual({ from: 2, to: 6 });
    const long = text.replace(/[<=>]{7}/g, (marker) => marker + marker);
    expect(conflictLines(long)).toEqual({ from: 2, to: 6 });
  });

  it('LAY-09 are not found inside a line, or with different lengths', () => {
    expect(conflictLines('{ "a": "<<<<<<< HEAD\\n=======\\n>>>>>>> x" }')).toBeNull();
    expect(conflictLines('  <<<<<<< HEAD\n  >>>>>>> x\n')).toBeNull();
    expect(conflictLines('<<<<<<< HEAD\n>>>>>>>>> x\n')).toBeNull();
  });
});
