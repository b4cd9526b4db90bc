import type { Style } from '../cli/style.js';
import { escapeControls, oneLine } from '../core/text.js';
import type { Stage } from '../index.js';

/** What a person sees while a cycle runs: a line for each stage, and the output of its commands. */
export interface CycleView {
  onStageEnd(stage: Stage): void;
  onOutput(text: string): void;
  note(line: string): void;
  end(): void;
}

/** Longer lines are split, so that output without line ends is shown. */
const MAX_LINE = 4096;

/** Prints to stderr. With `write` null, prints nothing. */
export function makeCycleView(write: ((text: string) => void) | null, style: Style): CycleView {
  let open = '';
  const print = (text: string): void => write?.(text);
  const flush = (): void => {
    if (open !== '') print(`  | ${escapeControls(open)}\n`);
    open = '';
  };
  return {
    onStageEnd: (stage) => {
      flush();
      print(stageLine(stage, style));
    },
    onOutput: (text) => {
      const lines = `${open}${text}`.split(/\r?\n/);
      open = lines.pop() ?? '';
      for (const line of lines) print(`  | ${escapeControls(line)}\n`);
      if (open.length > MAX_LINE) flush();
    },
    note: (line) => {
      flush();
      print(`${line}\n`);
    },
    end: flush,
  };
}

function stageLine({ name, status, duration_ms, note }: Stage, style: Style): string {
  const paint = { ok: style.good, failed: style.bad, skipped: style.dim }[status];
  const seconds = duration_ms < 1000 ? `${duration_ms} ms` : `${(duration_ms / 1000).toFixed(1)} s`;
  const time = (status === 'skipped' ? '' : seconds).padStart(8);
  const words = [name.padEnd(11), paint(status.padEnd(7)), time, note ? ` ${oneLine(note, 300)}` : ''];
  return `${words.join(' ').trimEnd()}\n`;
}
