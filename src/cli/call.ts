import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from '../domain/error.js';
import { escapeControls, plural } from '../domain/text.js';
import { type Forge, openForge, systemWorld, textGuard } from '../index.js';
import { checkSize, type Io, MAX_INPUT_BYTES } from './io.js';
import { makeProgressBar, type ProgressBar } from './progress-bar.js';
import { fitScreen, hasUnicode, type Screen, screenAt, toPlainGlyphs } from './screen.js';
import type { Call, Invocation } from './spec.js';
import { makeStyle, type Style, wantsColour } from './style.js';
import { makeCycleView } from './views/cycle.js';

interface Services {
  resolveFolder(dir: string | undefined): string;
  decodeInput(bytes: Buffer, name: string): Promise<string>;
}

/** What a command gets; `clear` takes bars off the screen, `finish` says on stderr what the answer leaves out. */
export async function makeCall(
  io: Io,
  { options, flags }: Invocation,
  services: Services,
): Promise<{ call: Call; clear(): void; finish(): void }> {
  let opened: Forge | undefined;
  const silent = flags.json || flags.quiet;
  // stderr first: it is rarely /dev/null, which only a costly look tells from a terminal.
  const terminal = io.stderr.isTerminal && io.stdin.isTerminal;
  const choice = colourChoice(options.color);
  const colour = (stream: { isTerminal: boolean }): boolean => wantsColour(choice, io.env, stream.isTerminal);
  const now = (): Date => world.now();
  const errorScreen = screenAt(io.stderr, io.env);
  const screen = flags.json ? null : screenAt(io.stdout, io.env);
  const styleFor = (output: Io['stdout'], shown: Screen | null): Promise<Style> =>
    makeStyle(colour(output), { unicode: hasUnicode(io.env), ...(shown && { width: shown.width, now }) });
  const errorStyle = await styleFor(io.stderr, errorScreen);
  const world = io.world ?? systemWorld(io.env, terminal);
  const cwd = services.resolveFolder(options.cwd as string | undefined);
  const onScreen = (text: string): string => fitScreen(text, screen);
  // What is drawn keeps its lines.
  const glyphs = (text: string): string => (errorScreen?.unicode === false ? toPlainGlyphs(text) : text);
  const bars: ProgressBar[] = [];
  const clear = (): void => {
    for (const bar of bars) bar.end();
  };
  const say = (line: string): void => {
    clear();
    if (!silent) io.stderr.write(`${fitScreen(line, errorScreen)}\n`);
  };
  let consumed = false;
  const stdinBytes = async (what: string): Promise<Buffer> => {
    if (consumed) throw usage('stdin.twice', 'Only one "-" can be read from stdin.');
    consumed = true;
    if (io.stdin.isTerminal)
      throw usage('stdin.terminal', `"-" reads ${what} from stdin, but stdin is a terminal.`);
    return io.stdin.read();
  };
  const readStdin = async (what: string): Promise<string> =>
    services.decodeInput(await stdinBytes(what), 'stdin');
  const redacted = async (text: string): Promise<string> => (flags.redact ? textGuard.redact(text) : text);
  // "-" after "--" is text like any other.
  const dashes = io.argv.indexOf('--');
  const literal = dashes >= 0 && !io.argv.slice(0, dashes).includes('-');
  const progress = (label: string): ProgressBar => {
    const bar = makeProgressBar(label, silent || io.env.TERM === 'dumb' ? null : errorScreen, (text) =>
      io.stderr.write(text),
    );
    bars.push(bar);
    return bar;
  };
  let reading: ProgressBar | undefined;
  const onProgress = (read: number, total: number): void => {
    reading ??= progress('reading memory');
    reading.show(read, total);
  };
  const call: Call = {
    forge: () => {
      opened ??= openForge(cwd, { world, dryRun: flags.dryRun, onProgress });
      return opened;
    },
    cwd,
    options,
    flags,
    text: async (argument) =>
      argument === '-' && !literal ? redacted((await readStdin('the text')).replace(/\r?\n$/, '')) : argument,
    bytes: async (argument) =>
      checkSize(
        argument === '-' ? await stdinBytes('the message') : readInput(resolve(cwd, argument)),
        argument === '-' ? 'stdin' : argument,
      ),
    file: async (argument) =>
      redacted(
        argument === '-'
          ? await readStdin('the list')
          : await services.decodeInput(readInput(resolve(cwd, argument)), argument),
      ),
    say,
    stream: (chunk) => {
      clear();
      // Line breaks stay; what could move the cursor or rename the window does not.
      if (!silent) io.stderr.write(escapeControls(chunk.replaceAll('\r\n', '\n')));
    },
    progress,
    interactive: terminal && options.input !== false && !flags.json && !flags.yes,
    get signal() {
      return io.signal;
    },
    stops: (note) => makeStops(io, note),
    cycleView: () =>
      makeCycleView(silent ? null : (text) => io.stderr.write(glyphs(text)), {
        live: io.stderr.isTerminal && io.env.TERM !== 'dumb',
        style: errorStyle,
      }),
    print: (line) => io.stdout.write(`${onScreen(line)}\n`),
    onScreen,
    channel: async () => io.channel?.() ?? wholeInput(io),
    world,
    style: await styleFor(io.stdout, screen),
  };
  const finish = (): void => {
    for (const warning of opened?.warnings ?? []) say(`${errorStyle.warn('!')} ${escapeControls(warning)}`);
    if (!flags.dryRun || !opened) return;
    say(
      `Dry run: nothing was written. ${plural(opened.written.length, 'file')} would change: ${escapeControls(opened.written.join(', ')) || 'none'}`,
    );
  };
  return { call, clear, finish };
}

/** Without a stream: all of stdin, then its end. */
async function wholeInput(io: Io): ReturnType<Call['channel']> {
  const { Readable } = await import('node:stream');
  const send = (line: string): boolean => {
    io.stdout.write(line);
    return true;
  };
  return { input: Readable.from([await io.stdin.read()]), send };
}

function makeStops(io: Io, note: (line: string) => void): ReturnType<Call['stops']> {
  const [finish, stop] = [new AbortController(), new AbortController()];
  io.onStop?.((now) => {
    if (now || finish.signal.aborted) stop.abort();
    else note('Interrupted: what runs is finished, judged and recorded. Ctrl-C once more ends it at once.');
    finish.abort();
  });
  return { finish: finish.signal, stop: stop.signal };
}

function colourChoice(choice: unknown = 'auto'): string {
  if (['auto', 'always', 'never'].includes(choice as string)) return choice as string;
  throw usage('color.unknown', `--color: found ${JSON.stringify(choice)}, allowed: auto | always | never.`, {
    field: 'color',
  });
}

function readInput(path: string): Buffer {
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

/** To its end, or as far as is needed to refuse it: a device has none. */
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
