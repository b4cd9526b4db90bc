import { describe, expect, it } from 'vitest';
import { makeStyle } from '../../src/cli/style.js';
import { makeCycleView } from '../../src/cycle/command.js';

const style = await makeStyle(false);
const ok = { name: 'execution', status: 'ok', duration_ms: 1500 } as const;

function open() {
  let text = '';
  const view = makeCycleView((part) => (text += part), style);
  return { view, shown: () => text };
}

describe('the view of a cycle', () => {
  it('GOV-01 prints a line for each stage and whole lines of output', () => {
    const { view, shown } = open();
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
    const { view, shown } = open();
    view.onOutput('x'.repeat(5000));
    view.onStageEnd(ok);
    expect(shown()).toBe(`  | ${'x'.repeat(5000)}\nexecution   ok         1.5 s\n`);
  });
});
