import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { ForgeError, usage } from '../core/error.js';
import { escapeControls, oneOf, plural } from '../core/text.js';
import { type Forge, openForge, systemWorld } from '../index.js';
import { type Call, COLORS, type Invocation, type Io, MAX_INPUT_BYTES } from './spec.js';
import {
  fitScreen,
  makeProgressBar,
  makeStyle,
  makeTail,
  type ProgressBar,
  type Style,
  type Tail,
  wantsColor,
  widthOf,
} from './style.js';

/** Cleans and scans the text of stdin or of a file. */
type Enter = (text: string, name: string, forge: () => Forge) => Promise<string>;

/** `clear` erases bars; `finish` writes warnings to stderr. Relative paths start at `cwd`. */
export async function makeCall(
  io: Io,
  invocation: Invocation,
  { cwd, enter }: { cwd: string; enter: Enter },
): Promise<{ call: Call; clear(): void; finish(): void }> {
  const { options, flags } = invocation;
  // stderr first: it is rarely /dev/null, for which this check is slow.
  const terminal = io.stderr.isTerminal && io.stdin.isTerminal;
  const world = io.world ?? systemWorld(io.env, terminal);
  const { clear, warn, ...output } = await makeOutput(io, invocation, () => world.now());
  let bar: ProgressBar | undefined;
  const onProgress = (read: number, total: number): void => {
    bar ??= output.progress('reading memory');
    bar.show(read, total);
  };
  let opened: Forge | undefined;
  const forge = (): Forge => {
    opened ??= openForge(cwd, { world, dryRun: flags.dryRun, onProgress });
    return opened;
  };
  const call: Call = {
    ...output,
    ...makeInput(io, invocation, cwd, (text, name) => enter(text, name, forge)),
    forge,
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
    if (!flags.dryRun || !opened) return;
    const { written } = opened;
    const files = `${plural(written.length, 'file')} would change: ${escapeControls(written.join(', '))}`;
    output.say(`Dry run: nothing was written.${written.length === 0 ? '' : ` ${files}`}`);
  };
  return { call, clear, finish };
}

function makeStops(io: Io, note: (line: string) => void): ReturnType<Call['stops']> {
  const [finish, stop] = [new AbortController(), new AbortController()];
  io.onStop?.((now) => {
    if (now || finish.signal.aborted) stop.abort();
    else note('Interrupted: this cycle is finished and recorded. Press Ctrl-C again to stop at once.');
    finish.abort();
  });
  return { finish: finish.signal, stop: stop.signal };
}

/** The answer goes to stdout, everything else to stderr, or nowhere with --json and --quiet. */
async function makeOutput(io: Io, { options, flags }: Invocation, now: () => Date) {
  const silent = flags.json || flags.quiet;
  const errorWidth = widthOf(io.stderr);
  const width = flags.json ? null : widthOf(io.stdout);
  const color = oneOf(COLORS, String(options.color ?? 'auto'), '--color', 'color.unknown');
  const styleFor = (stream: Io['stdout'], width: number | null): Promise<Style> =>
    makeStyle(wantsColor(color, io.env, stream.isTerminal), width === null ? {} : { width, now });
  const errorStyle = await styleFor(io.stderr, errorWidth);
  // Only these lines are redrawn.
  const liveWidth = io.env.TERM === 'dumb' ? null : errorWidth;
  const bars: Pick<ProgressBar, 'end'>[] = [];
  const clear = (): void => {
    for (const bar of bars) bar.end();
  };
  const writeError = (text: string): void => {
    clear();
    if (!silent) io.stderr.write(text);
  };
  const harmlessOutput = (chunk: string): string => escapeControls(chunk.replaceAll('\r\n', '\n'));
  const say = (line: string): void => writeError(`${fitScreen(line, errorWidth)}\n`);
  const onScreen = (text: string, isPanel = false): string => fitScreen(text, width, isPanel);
  return {
    progress: (label: string): ProgressBar => {
      const bar = makeProgressBar(label, silent ? null : liveWidth, (text) => io.stderr.write(text));
      bars.push(bar);
      return bar;
    },
    clear,
    say,
    warn: (text: string) => say(`${errorStyle.warn('!')} ${escapeControls(text)}`),
    stream: (chunk: string) => writeError(harmlessOutput(chunk)),
    tail: (): Tail => {
      if (flags.verbose) return { write: (chunk) => writeError(harmlessOutput(chunk)), end: () => {} };
      const tail = makeTail(liveWidth, (text) => !silent && io.stderr.write(text));
      bars.push({ end: tail.erase });
      return { ...tail, write: (chunk) => tail.write(harmlessOutput(chunk)) };
    },
    view: <T>(make: (write: ((text: string) => void) | null, style: Style) => T): T =>
      make(silent ? null : (text) => void io.stderr.write(text), errorStyle),
    print: (line: string) => io.stdout.write(`${onScreen(line)}\n`) !== false,
    onScreen,
    style: await styleFor(io.stdout, width),
  };
}

const BYTE_ORDER_MARK = '\ufeff';

/** Reads an argument: a text, a file, or stdin for `-`. stdin is read once. */
function makeInput(
  io: Io,
  { name }: Invocation,
  cwd: string,
  enter: (text: string, name: string) => Promise<string>,
): Pick<Call, 'text' | 'bytes' | 'file'> {
  const stdin = makeStdin(io, name);
  const nameOf = (argument: string): string => (argument === '-' ? 'stdin' : argument);
  const bytesOf = async (argument: string, what: string): Promise<Buffer> => {
    const bytes = await (argument === '-' ? stdin(what) : readFileArgument(resolve(cwd, argument)));
    if (bytes.length <= MAX_INPUT_BYTES) return bytes;
    throw usage('input.too_large', `${nameOf(argument)} has more than ${MAX_INPUT_BYTES} bytes.`);
  };
  const decoded = async (argument: string, what: string): Promise<string> => {
    const bytes = await bytesOf(argument, what);
    // The guard removes and reports a byte order mark.
    const mark = bytes.subarray(0, 3).equals(Buffer.from(BYTE_ORDER_MARK)) ? BYTE_ORDER_MARK : '';
    return mark + (await decode(bytes.subarray(3 * mark.length), nameOf(argument)));
  };
  const entered = async (argument: string, what: string): Promise<string> =>
    enter(await decoded(argument, what), nameOf(argument));
  // After `--`, "-" is text.
  const dashes = io.argv.indexOf('--');
  const literal = dashes >= 0 && !io.argv.slice(0, dashes).includes('-');
  return {
    text: async (argument) =>
      argument === '-' && !literal ? (await entered('-', 'the text')).replace(/\r?\n$/, '') : argument,
    bytes: (argument) => bytesOf(argument, 'the message'),
    file: (argument, { unscanned = false } = {}) => (unscanned ? decoded : entered)(argument, 'the list'),
  };
}

/** Exit 2 with the byte offset of invalid UTF-8. */
async function decode(bytes: Buffer, name: string): Promise<string> {
  const { decodeUtf8 } = await import('../core/schema.js');
  try {
    return decodeUtf8(bytes, name);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    throw usage('input.encoding', error.message, error.details);
  }
}

function makeStdin(io: Io, name: string): (what: string) => Promise<Buffer> {
  let consumed = false;
  return async (what) => {
    if (consumed) throw usage('stdin.twice', 'Only one "-" can be read from stdin.');
    consumed = true;
    const hint = `${name} - <FILE\nCOMMAND | ${name} -`;
    if (io.stdin.isTerminal)
      throw usage('stdin.terminal', `"-" reads ${what} from stdin, but stdin is a terminal.`, { hint });
    return io.stdin.read();
  };
}

async function readFileArgument(path: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    // One byte more than allowed. A device never ends.
    for await (const chunk of createReadStream(path, { end: MAX_INPUT_BYTES })) chunks.push(chunk as Buffer);
  } catch (error) {
    const message = `${path} cannot be read: ${(error as Error).message.split(',')[0]}.`;
    throw usage('file.unreadable', message, { file: path });
  }
  return Buffer.concat(chunks);
}
