import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from '../core/error.js';
import { escapeControls, plural } from '../core/text.js';
import { makeCycleView } from '../cycle/render.js';
import { type Forge, openForge, systemWorld } from '../index.js';
import { checkSize, type Io, MAX_INPUT_BYTES } from './io.js';
import {
  fitScreen,
  hasUnicode,
  makeProgressBar,
  makeTail,
  type ProgressBar,
  type Screen,
  screenAt,
  toPlainGlyphs,
} from './screen.js';
import type { Call, Invocation } from './spec.js';
import { makeStyle, type Style, wantsColour } from './style.js';

interface Services {
  /** Relative paths are from here. */
  cwd: string;
  decodeInput(bytes: Buffer, name: string): Promise<string>;
  /** Cleans and scans what comes by stdin or file. */
  enter(text: string, name: string, forge: () => Forge): Promise<string>;
}

/** What a command gets; `clear` takes bars off the screen, `finish` says on stderr what the answer leaves out. */
export async function makeCall(
  io: Io,
  invocation: Invocation,
  services: Services,
): Promise<{ call: Call; clear(): void; finish(): void }> {
  const { options, flags } = invocation;
  // stderr first: it is rarely /dev/null, which only a costly look tells from a terminal.
  const terminal = io.stderr.isTerminal && io.stdin.isTerminal;
  const world = io.world ?? systemWorld(io.env, terminal);
  const { cwd } = services;
  const { clear, warn, ...output } = await makeOutput(io, invocation, () => world.now());
  const onProgress = readingBar(output.progress);
  let opened: Forge | undefined;
  const call: Call = {
    ...output,
    ...makeInput(io, invocation, services, () => call.forge()),
    forge: () => {
      opened ??= openForge(cwd, { world, dryRun: flags.dryRun, onProgress });
      return opened;
    },
    cwd,
    options,
    flags,
    interactive: terminal && world.terminal && options.input !== false && !flags.json && !flags.yes,
    get signal() {
      return io.signal;
    },
    stops: (note) => makeStops(io, note),
    channel: io.channel,
    world,
  };
  const finish = (): void => {
    for (const warning of opened?.warnings ?? []) warn(warning);
    if (flags.dryRun && opened) output.say(describeDryRun(opened.written));
  };
  return { call, clear, finish };
}

function readingBar(progress: Call['progress']): (read: number, total: number) => void {
  let bar: ProgressBar | undefined;
  return (read, total) => {
    bar ??= progress('reading memory');
    bar.show(read, total);
  };
}

const describeDryRun = (written: readonly string[]): string =>
  `Dry run: nothing was written. ${plural(written.length, 'file')} would change: ${escapeControls(written.join(', ')) || 'none'}`;

function makeStops(io: Io, note: (line: string) => void): ReturnType<Call['stops']> {
  const [finish, stop] = [new AbortController(), new AbortController()];
  io.onStop?.((now) => {
    if (now || finish.signal.aborted) stop.abort();
    else note('Interrupted: what runs is finished, judged and recorded. Ctrl-C once more ends it at once.');
    finish.abort();
  });
  return { finish: finish.signal, stop: stop.signal };
}

interface Output
  extends Pick<Call, 'say' | 'stream' | 'tail' | 'progress' | 'cycleView' | 'print' | 'onScreen' | 'style'> {
  warn(text: string): void;
  /** Takes bars off the screen. */
  clear(): void;
}

/** The answer goes to stdout, in parts or as a whole; all else to stderr, and nowhere with --json and --quiet. */
async function makeOutput(io: Io, { options, flags }: Invocation, now: () => Date): Promise<Output> {
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
  // Line breaks stay; what could move the cursor or rename the window does not.
  const harmlessOutput = (chunk: string): string => escapeControls(chunk.replaceAll('\r\n', '\n'));
  const say = (line: string): void => writeError(`${fitScreen(line, errorScreen)}\n`);
  // What is drawn keeps its lines.
  const glyphs = (text: string): string => (errorScreen?.unicode === false ? toPlainGlyphs(text) : text);
  const onScreen = (text: string): string => fitScreen(text, screen);
  return {
    ...bars,
    say,
    warn: (text) => say(`${errorStyle.warn('!')} ${escapeControls(text)}`),
    stream: (chunk) => writeError(harmlessOutput(chunk)),
    tail: () => {
      const screenOf = io.env.TERM === 'dumb' ? null : errorScreen;
      const tail = makeTail(screenOf, (text) => !silent && io.stderr.write(text));
      return { ...tail, write: (chunk) => tail.write(harmlessOutput(chunk)) };
    },
    cycleView: () => makeCycleView(silent ? null : (text) => io.stderr.write(glyphs(text)), errorStyle),
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

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Reads an argument: a text, a file, or stdin for `-`. stdin is read once. */
function makeInput(
  io: Io,
  { name }: Invocation,
  { cwd, decodeInput, enter }: Services,
  forge: () => Forge,
): Pick<Call, 'text' | 'bytes' | 'file'> {
  const stdin = makeStdin(io, name);
  const bytesOf = (argument: string, what: string): Promise<Buffer> | Buffer =>
    argument === '-' ? stdin(what) : readFileArgument(resolve(cwd, argument));
  const nameOf = (argument: string): string => (argument === '-' ? 'stdin' : argument);
  const decoded = async (argument: string, what: string): Promise<string> => {
    const bytes = await bytesOf(argument, what);
    const mark = bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? '\ufeff' : '';
    return mark + (await decodeInput(bytes.subarray(3 * mark.length), nameOf(argument)));
  };
  const entered = async (argument: string, what: string): Promise<string> =>
    enter(await decoded(argument, what), nameOf(argument), forge);
  // "-" after "--" is text like any other.
  const dashes = io.argv.indexOf('--');
  const literal = dashes >= 0 && !io.argv.slice(0, dashes).includes('-');
  return {
    text: async (argument) =>
      argument === '-' && !literal ? (await entered('-', 'the text')).replace(/\r?\n$/, '') : argument,
    bytes: async (argument) => checkSize(await bytesOf(argument, 'the message'), nameOf(argument)),
    file: (argument, { unscanned = false } = {}) => (unscanned ? decoded : entered)(argument, 'the list'),
  };
}

function makeStdin(io: Io, name: string): (what: string) => Promise<Buffer> {
  let consumed = false;
  return async (what) => {
    if (consumed) throw usage('stdin.twice', 'Only one "-" can be read from stdin.');
    consumed = true;
    if (io.stdin.isTerminal)
      throw usage('stdin.terminal', `"-" reads ${what} from stdin, but stdin is a terminal.`, {
        hint: `${name} - <FILE\nCOMMAND | ${name} -`,
      });
    return io.stdin.read();
  };
}

function readFileArgument(path: string): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      return readAll(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw usage('file.unreadable', `${path} cannot be read: ${(error as Error).message.split(',')[0]}.`, {
      file: path,
    });
  }
}

/** Reads to the end, or just beyond the limit: a device never ends. */
function readAll(file: number): Buffer {
  const chunks: Buffer[] = [];
  for (let size = 0; size <= MAX_INPUT_BYTES; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const count = readSync(file, chunk);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    size += count;
  }
  return Buffer.concat(chunks);
}
