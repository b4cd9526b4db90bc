import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeProgressBar } from '../../src/cli/style.js';

const CLEARED = '\r\u001b[K';

describe('the progress bar', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  function shown(
    steps: readonly [wait: number, done: number, total: number][],
    width: number | null = 80,
  ): string[] {
    const written: string[] = [];
    const bar = makeProgressBar('verifying', width, (text) => written.push(text));
    for (const [wait, done, total] of steps) {
      vi.advanceTimersByTime(wait);
      bar.show(done, total);
    }
    bar.end();
    return written;
  }

  it('LTM-04 prints nothing within the first second', () => {
    expect(shown([[999, 1, 2]])).toEqual([]);
  });

  it('LTM-04 shows its progress at most ten times a second, and is erased at the end', () => {
    const steps: [number, number, number][] = [
      [1000, 50, 200],
      [50, 60, 200],
      [50, 100, 200],
      [100, 300, 200],
      [100, 0, 0],
    ];
    const bar = (filled: number): string => '█'.repeat(filled) + '░'.repeat(30 - filled);
    expect(shown(steps)).toEqual([
      `\rverifying ${bar(8)} 25%`,
      `\rverifying ${bar(15)} 50%`,
      `\rverifying ${bar(30)} 100%`,
      `\rverifying ${bar(30)} 100%`,
      CLEARED,
    ]);
  });

  it('VIS-01 fits a narrow terminal', () => {
    expect(shown([[1000, 1, 2]], 24)).toEqual(['\rverifying ████░░░░ 50%', CLEARED]);
    expect(shown([[1000, 1, 2]], 12)).toEqual(['\r50%', CLEARED]);
  });
});
