import { usage } from '../core/error.js';
import { escapeControls } from '../core/text.js';
import { makeCycleView } from '../cycle/render.js';
import type { Io } from './io.js';
import { makeProgressBar, type ProgressBar } from './progress-bar.js';
import { fitScreen, hasUnicode, type Screen, screenAt, toPlainGlyphs } from './screen.js';
import type { Call, Invocation } from './spec.js';
import { makeStyle, type Style, wantsColour } from './style.js';

export interface Output
  extends Pick<Call, 'say' | 'stream' | 'progress' | 'cycleView' | 'print' | 'onScreen' | 'style'> {
  warn(text: string): void;
  /** Takes bars off the screen. */
  clear(): void;
}

/** The answer goes to stdout, in parts or as a whole; all else to stderr, and nowhere with --json and --quiet. */
export async function makeOutput(io: Io, { options, flags }: Invocation, now: () => Date): Promise<Output> {
  const silent = flags.json || flags.quiet;
  const errorScreen = screenAt(io.stderr, io.env);
  const screen = flags.json ? null : screenAt(io.stdout, io.env);
  const choice = colourChoice(options.color);
  const styleFor = (stream: Io['stdout'], shown: Screen | null): Promise<Style> =>
    makeStyle(wantsColour(choice, io.env, stream.isTerminal), {
      unicode: hasUnicode(io.env),
      ...(shown && { width: shown.width, now }),
    });
  const errorStyle = await styleFor(io.stderr, errorScreen);
  const bars = makeBars(io, silent || io.env.TERM === 'dumb' ? null : errorScreen);
  const writeError = (text: string): void => {
    bars.clear();
    if (!silent) io.stderr.write(text);
  };
  const say = (line: string): void => writeError(`${fitScreen(line, errorScreen)}\n`);
  // What is drawn keeps its lines.
  const glyphs = (text: string): string => (errorScreen?.unicode === false ? toPlainGlyphs(text) : text);
  const onScreen = (text: string): string => fitScreen(text, screen);
  return {
    ...bars,
    say,
    warn: (text) => say(`${errorStyle.warn('!')} ${escapeControls(text)}`),
    // Line breaks stay; what could move the cursor or rename the window does not.
    stream: (chunk) => writeError(escapeControls(chunk.replaceAll('\r\n', '\n'))),
    cycleView: () =>
      makeCycleView(silent ? null : (text) => io.stderr.write(glyphs(text)), {
        live: io.stderr.isTerminal && io.env.TERM !== 'dumb',
        style: errorStyle,
      }),
    print: (line) => io.stdout.write(`${onScreen(line)}\n`),
    onScreen,
    style: await styleFor(io.stdout, screen),
  };
}

function makeBars(io: Io, screen: Screen | null): Pick<Output, 'progress' | 'clear'> {
  const bars: ProgressBar[] = [];
  return {
    progress: (label) => {
      const bar = makeProgressBar(label, screen, (text) => io.stderr.write(text));
      bars.push(bar);
      return bar;
    },
    clear: () => {
      for (const bar of bars) bar.end();
    },
  };
}

function colourChoice(choice: unknown = 'auto'): string {
  if (['auto', 'always', 'never'].includes(choice as string)) return choice as string;
  throw usage('color.unknown', `--color: found ${JSON.stringify(choice)}, allowed: auto | always | never.`, {
    field: 'color',
  });
}
