import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { toForgeError, usage, withHint } from '../core/error.js';
import { escapeControls, jsonLine } from '../core/text.js';
import { isGitHook } from '../hooks/shim.js';
import { decodeInput, type Io } from './io.js';
import type { Call, Invocation } from './spec.js';
import { version } from './version.js';

/** One command, end to end. Returns the exit code; never throws, never exits. */
export async function main(io: Io): Promise<number> {
  const { argv } = io;
  if (argv[0] === 'hook' && isGitHook(argv[1] ?? '')) {
    const { runGitHook } = await import('../hooks/command-run.js');
    return runGitHook(io, argv.slice(1));
  }
  // Before every prompt and after every tool of an agent: without commander, and never with an error.
  if (
    argv[0] === 'hook' &&
    !io.stdin.isTerminal &&
    !argv.some((word) => word === '--help' || word === '-h')
  ) {
    const { runAgentHook } = await import('../agent/command-hook.js');
    return runAgentHook(io, argv.slice(1));
  }
  // At each TAB.
  if (argv[0] === 'complete' && argv[1]?.startsWith('--shell=')) {
    const { runComplete } = await import('./complete.js');
    return runComplete(io, argv.slice(1));
  }
  const json = beforeDashes(argv).includes('--json');
  try {
    return await run(io);
  } catch (error) {
    return await report(error, io, json);
  }
}

/** Three ways out: a known error, an interruption, a bug. */
async function report(error: unknown, io: Io, json: boolean): Promise<number> {
  const { maskError, maskText } = await import('./input-guard.js');
  const { fitScreen, screenAt, toPlainGlyphs } = await import('./screen.js');
  const known = await maskError(toForgeError(error));
  const write = (text: string): void => io.stderr.write(text);
  if (json) write(`${jsonLine({ error: known })}\n`);
  else {
    const screen = screenAt(io.stderr, io.env);
    const shown = (text: string): string => fitScreen(text, screen);
    const plain = (text: string): string => (screen && !screen.unicode ? toPlainGlyphs(text) : text);
    write(`${shown(`forge: ${escapeControls(known.message)}`)}\n`);
    // A command stays in one line, to be copied.
    for (const line of known.hint?.split('\n') ?? [])
      write(
        `${/^(?:forge|git|sh|env) /.test(line) ? plain(`  → ${escapeControls(line)}`) : shown(`  → ${escapeControls(line)}`)}\n`,
      );
    const verbose = io.argv.some((word) => word === '-v' || word === '--verbose');
    if (known.kind === 'bug' || verbose) write(`${await maskText((error as Error).stack ?? '')}\n`);
    if (known.kind === 'bug')
      write(`forge ${version()}, Node ${process.versions.node}, ${process.platform}\n`);
  }
  return known.exit;
}

/** Words after `--` are text, whatever they look like. */
function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

async function run(io: Io): Promise<number> {
  const { commandWords, parseArgv } = await import('./program.js');
  const { inFull } = await import('./groups.js');
  const { fitScreen, screenAt } = await import('./screen.js');
  const words = commandWords(io.argv);
  const asksVersion = beforeDashes(io.argv).some((word) => word === '--version' || word === '-V');
  if (words.join() === 'version' || (words.length === 0 && asksVersion)) {
    io.stdout.write(`${version()}\n`);
    return 0;
  }
  const argv = inFull(withDefault(io.argv, words));
  const out = (text: string): void => io.stdout.write(fitScreen(text, screenAt(io.stdout, io.env)));
  const given = await parseArgv(argv, {
    out,
    get columns() {
      return screenAt(io.stdout, io.env)?.width;
    },
  });
  if (!given) return 0;
  return invoke(io, given).catch((error) => {
    throw withHint(error, `${given.name} --help`);
  });
}

async function invoke(io: Io, given: Invocation): Promise<number> {
  const { makeCall } = await import('./call.js');
  const { makeEntrance } = await import('./input-guard.js');
  const cwd = folder(io, given.options.cwd as string | undefined);
  const entrance = makeEntrance(given, io.env, cwd);
  const invocation = await entrance.words();
  const { call, clear, finish } = await makeCall(io, invocation, { cwd, decodeInput, enter: entrance.enter });
  await entrance.refuseWords(() => call.forge());
  const value = await Promise.resolve(invocation.spec.run(call, ...invocation.args)).finally(clear);
  const left = entrance.left();
  if (left.length > 0) call.say(`Left out of the text: ${left.join(', ')}.`);
  await show(value, invocation, call, io);
  finish();
  return invocation.spec.exit?.(value, call.options) ?? 0;
}

/** `forge` alone says where you stand. */
function withDefault(argv: readonly string[], words: readonly string[]): readonly string[] {
  const help = argv.some((word) => ['-h', '--help', '-V', '--version'].includes(word));
  return words.length === 0 && !help && !argv.includes('--') ? [...argv, 'where'] : argv;
}

async function show(value: unknown, { spec, flags }: Invocation, call: Call, io: Io): Promise<void> {
  // What served a client has said all that was to be said.
  if (value === undefined) return;
  if (flags.json) {
    // In the log of a pipeline, text of somebody's that stands in it must not become a command (`##[error]`).
    io.stdout.write(`${jsonLine(value).replace(/##(?=[\w.-]*\[)/g, '#\\u0023')}\n`);
    return;
  }
  const { harmless } = await import('./style.js');
  const text = call.onScreen(spec.render(harmless(value), call.style, call.options));
  if (flags.dryRun) call.say('It would say:');
  if (text !== '') io.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** The folder to work in: -C, else FORGE_DIR, else here. */
function folder(io: Io, dir: string | undefined): string {
  const wanted = dir ?? (io.env.FORGE_DIR || '.');
  const path = isAbsolute(wanted) ? wanted : resolve(currentFolder(io), wanted);
  const real = realFolder(path);
  if (real === null)
    throw usage('folder.missing', `There is not a folder ${path}.`, {
      hint: `mkdir -p ${formatArgv([wanted])}`,
    });
  return basename(real) === '.forge' ? dirname(real) : real;
}

function realFolder(path: string): string | null {
  try {
    return statSync(path).isDirectory() ? realpathSync.native(path) : null;
  } catch {
    return null;
  }
}

function currentFolder(io: Io): string {
  try {
    return io.cwd();
  } catch {
    const name = io.env.PWD ? ` (${io.env.PWD})` : '';
    throw usage('folder.gone', `The current folder${name} no longer exists.`, {
      hint: 'cd to another folder',
    });
  }
}
