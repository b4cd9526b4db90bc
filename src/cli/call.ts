import { escapeControls, plural } from '../core/text.js';
import { type Forge, openForge, systemWorld } from '../index.js';
import { makeInput } from './input.js';
import type { Io } from './io.js';
import { makeOutput } from './output.js';
import type { ProgressBar } from './progress-bar.js';
import type { Call, Invocation } from './spec.js';

interface Services {
  resolveFolder(dir: string | undefined): string;
  decodeInput(bytes: Buffer, name: string): Promise<string>;
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
  const cwd = services.resolveFolder(options.cwd as string | undefined);
  const { clear, warn, ...output } = await makeOutput(io, invocation, () => world.now());
  const onProgress = readingBar(output.progress);
  let opened: Forge | undefined;
  const call: Call = {
    ...output,
    ...makeInput(io, invocation, { cwd, decodeInput: services.decodeInput }),
    forge: () => {
      opened ??= openForge(cwd, { world, dryRun: flags.dryRun, onProgress });
      return opened;
    },
    cwd,
    options,
    flags,
    interactive: terminal && options.input !== false && !flags.json && !flags.yes,
    get signal() {
      return io.signal;
    },
    stops: (note) => makeStops(io, note),
    channel: async () => io.channel?.() ?? wholeInput(io),
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
