import type { Style } from '../cli/style.js';
import { escapeControls, oneLine } from '../core/text.js';
import type { Stage } from '../index.js';

/** What a person sees of a cycle while it runs. */
export interface CycleView {
  onStage(name: string): void;
  onStageEnd(stage: Stage): void;
  onOutput(text: string): void;
  /** A line that stays, whatever is drawn below it. */
  note(line: string): void;
  /** Leaves the last stage line as the last line. */
  end(): void;
}

type Write = (text: string) => void;

/** Nothing, lines, or a block that is drawn anew at a terminal. */
export function makeCycleView(write: Write | null, how: { live: boolean; style: Style }): CycleView {
  if (!write)
    return { onStage: () => {}, onStageEnd: () => {}, onOutput: () => {}, note: () => {}, end: () => {} };
  return how.live ? liveView(write, how.style) : plainView(write, how.style);
}

const seconds = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);

function stageLine({ name, status, duration_ms, note }: Stage, style: Style): string {
  const paint = { ok: style.good, failed: style.bad, skipped: style.dim }[status];
  const time = status === 'skipped' ? '' : seconds(duration_ms);
  const words = [
    name.padEnd(11),
    paint(status.padEnd(7)),
    time.padStart(8),
    note ? ` ${oneLine(note, 300)}` : '',
  ];
  return `${words.join(' ').trimEnd()}\n`;
}

/** A line that never ends is not held for ever. */
const MAX_LINE = 4096;

/** Whole lines out of chunks; `flush` gives what has no end yet. */
function lineBuffer(onLine: (line: string) => void): { add(text: string): void; flush(): void } {
  let open = '';
  const flush = (): void => {
    if (open !== '') onLine(open);
    open = '';
  };
  return {
    add: (text) => {
      const lines = `${open}${text}`.split(/\r?\n/);
      open = lines.pop() ?? '';
      for (const line of lines) onLine(line);
      if (open.length > MAX_LINE) flush();
    },
    flush,
  };
}

function plainView(write: Write, style: Style): CycleView {
  const buffer = lineBuffer((line) => write(`  | ${escapeControls(line)}\n`));
  return {
    onStage: () => {},
    onStageEnd: (stage) => {
      buffer.flush();
      write(stageLine(stage, style));
    },
    onOutput: (text) => buffer.add(text),
    note: (line) => {
      buffer.flush();
      write(`${line}\n`);
    },
    end: () => buffer.flush(),
  };
}

const SHOWN_LINES = 3;
const REDRAW_MS = 200;
const [NO_WRAP, WRAP, CLEAR_BELOW] = ['\u001b[?7l', '\u001b[?7h', '\u001b[J'];

function liveView(write: Write, style: Style): CycleView {
  let [stage, started, drawn] = ['', 0, 0];
  let last: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const buffer = lineBuffer((line) => {
    last = [...last, oneLine(line, 500)].slice(-SHOWN_LINES);
  });
  const erase = (): string => (drawn > 0 ? `\u001b[${drawn}A\r${CLEAR_BELOW}` : '');
  const draw = (): void => {
    const head = `${style.strong(stage)} ${style.dim(seconds(Math.round((performance.now() - started) / 100) * 100))}`;
    const lines = [head, ...last.map((line) => style.dim(`  ${line}`))];
    write(`${erase()}${NO_WRAP}${lines.map((line) => `${line}\n`).join('')}${WRAP}`);
    drawn = lines.length;
  };
  const end = (): void => {
    clearInterval(timer);
    if (drawn > 0) write(erase());
    drawn = 0;
  };
  return {
    onStage: (name) => {
      [stage, started, last] = [name, performance.now(), []];
      clearInterval(timer);
      timer = setInterval(draw, REDRAW_MS).unref();
    },
    onStageEnd: (ended) => {
      buffer.flush();
      end();
      write(stageLine(ended, style));
    },
    onOutput: (text) => buffer.add(text),
    note: (line) => {
      write(`${erase()}${line}\n`);
      drawn = 0;
    },
    end,
  };
}
