import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeStyle } from '../../src/cli/style.js';
import { makeCycleView } from '../../src/cycle/render.js';

const style = await makeStyle(false);
const ok = { name: 'execution', status: 'ok', duration_ms: 1500 } as const;

function open(live: boolean) {
  let text = '';
  const view = makeCycleView((part) => (text += part), { live, style });
  return { view, shown: () => text };
}

afterEach(() => vi.useRealTimers());

describe('the view of a cycle', () => {
  it('GOV-01 elsewhere than at a terminal is a line a stage, and whole lines of output behind a mark', () => {
    const { view, shown } = open(false);
    view.onStage('execution');
    view.onOutput('one\ntw');
    view.onOutput('o\r\nthr\u001b[2Jee');
    view.onStageEnd({ ...ok, status: 'failed', note: 'exit code 1' });
    view.onStageEnd({ name: 'sleep', status: 'skipped', duration_ms: 0 });
    view.end();
    expect(shown()).toBe(
      '  | one\n  | two\n  | thr<U+001B>[2Jee\nexecution   failed     1.5 s  exit code 1\nsleep       skipped\n',
    );
  });

  it('B-92 shows a line that never ends', () => {
    const { view, shown } = open(false);
    view.onStage('execution');
    view.onOutput('x'.repeat(5000));
    view.onStageEnd(ok);
    expect(shown()).toBe(`  | ${'x'.repeat(5000)}\nexecution   ok         1.5 s\n`);
  });

  it('GOV-01 at a terminal draws stage, time and the last three lines anew, and leaves the stage alone', () => {
    vi.useFakeTimers();
    const { view, shown } = open(true);
    view.onStage('execution');
    view.onOutput('1\n2\n3\n4\n');
    vi.advanceTimersByTime(200);
    expect(shown()).toBe('\u001b[?7lexecution 200 ms\n  2\n  3\n  4\n\u001b[?7h');
    view.note('Interrupted');
    expect(shown().endsWith('\u001b[4A\r\u001b[JInterrupted\n')).toBe(true);
    vi.advanceTimersByTime(200);
    view.onStageEnd(ok);
    view.end();
    expect(shown().endsWith('\u001b[4A\r\u001b[Jexecution   ok         1.5 s\n')).toBe(true);
    const before = shown();
    vi.advanceTimersByTime(1000);
    expect(shown()).toBe(before);
  });

  it('B-01 says nothing where nobody wants to hear it', () => {
    const view = makeCycleView(null, { live: true, style });
    view.onStage('execution');
    view.onOutput('x\n');
    view.note('x');
    view.onStageEnd(ok);
    view.end();
  });
});
