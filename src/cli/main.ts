import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import { ForgeError, systemCode, usage } from '../domain/error.js';
import { escapeControls } from '../domain/text.js';
import { decodeInput, type Io } from './io.js';
import type { Invocation } from './program.js';
import type { Call } from './spec.js';
import { harmless } from './style.js';

declare const FORGE_VERSION: string | undefined;

/** From the build; "dev" when run from the sources. */
export const version = (): string => (typeof FORGE_VERSION === 'string' ? FORGE_VERSION : 'dev');

/** One command, end to end. Returns the exit code; never throws, never exits. */
export async function main(io: Io): Promise<number> {
  const { argv } = io;
  // Before commander is loaded: editors and prompts ask for this often.
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    io.stdout.write(`${version()}\n`);
    return 0;
  }
  const json = beforeDashes(argv).includes('--json');
  try {
    return await run(io);
  } catch (error) {
    return await report(error, io, json);
  }
}

/** Words after `--` are text, whatever they look like. */
function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

async function run(io: Io): Promise<number> {
  const { commandWords, parseArgv } = await import('./program.js');
  const words = commandWords(io.argv);
  if (words.length === 0 && beforeDashes(io.argv).some((word) => word === '--version' || word === '-V')) {
    io.stdout.write(`${version()}\n`);
    return 0;
  }
  const argv = withDefault(io.argv, words);
  const given = await parseArgv(argv, { out: (text) => io.stdout.write(text) });
  if (!given) return 0;
  const { makeCall } = await import('./call.js');
  const { guardInput, redactInput } = await import('./input-guard.js');
  const invocation = given.flags.redact ? await redactInput(given) : given;
  const { call, finish } = await makeCall(io, invocation, {
    resolveFolder: (dir) => folder(io, dir),
    decodeInput,
  });
  await guardInput(invocation, io.env, () => call.forge());
  const value = await invocation.spec.run(call, ...invocation.args);
  show(value, invocation, call, io);
  finish();
  return invocation.spec.exit?.(value) ?? 0;
}

/** `forge` alone says where you stand. */
function withDefault(argv: readonly string[], words: readonly string[]): readonly string[] {
  const help = argv.some((word) => ['-h', '--help', '-V', '--version'].includes(word));
  return words.length === 0 && !help && !argv.includes('--') ? [...argv, 'where'] : argv;
}

function show(value: unknown, { spec, flags }: Invocation, call: Call, io: Io): void {
  if (flags.json) {
    io.stdout.write(`${JSON.stringify(value)}\n`);
    return;
  }
  const text = spec.render(harmless(value), call.style);
  if (flags.dryRun) call.say('Dry run, nothing is written. It would say:');
  if (text !== '') io.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** The folder to work in: -C, else FORGE_DIR, else here. */
function folder(io: Io, dir: string | undefined): string {
  const wanted = dir ?? (io.env.FORGE_DIR || '.');
  const path = isAbsolute(wanted) ? wanted : resolve(currentFolder(io), wanted);
  const real = realFolder(path);
  if (real === null) throw usage('folder.missing', `There is no folder ${path}.`);
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
    throw usage('folder.gone', `The current folder${name} does not exist any more.`, {
      hint: 'cd to another folder',
    });
  }
}

/** Three ways out: a known error, an interruption, a bug. */
async function report(error: unknown, io: Io, json: boolean): Promise<number> {
  const { maskError, maskText } = await import('./input-guard.js');
  const known = await maskError(toForgeError(error));
  const write = (text: string): void => io.stderr.write(text);
  if (json) write(`${JSON.stringify({ error: known })}\n`);
  else {
    write(`forge: ${escapeControls(known.message)}\n`);
    if (known.hint) write(`  → ${escapeControls(known.hint)}\n`);
    const verbose = io.argv.some((word) => word === '-v' || word === '--verbose');
    if (known.kind === 'bug' || verbose) write(`${await maskText((error as Error).stack ?? '')}\n`);
    if (known.kind === 'bug')
      write(`forge ${version()}, Node ${process.versions.node}, ${process.platform}\n`);
  }
  return known.exit;
}

function toForgeError(error: unknown): ForgeError {
  if (error instanceof ForgeError) return error;
  const name = (error as Error)?.name;
  if (name === 'ExitPromptError' || name === 'AbortPromptError')
    return new ForgeError('interrupted', 'interrupted', 'Interrupted; nothing was changed.');
  const code = systemCode(error);
  if (code && /^E[A-Z]+$/.test(code))
    return new ForgeError('outside', `disk.${code.toLowerCase()}`, (error as Error).message, {
      cause: error,
    });
  return new ForgeError(
    'bug',
    'bug',
    `This is a bug in forge: ${(error as Error)?.message ?? String(error)}`,
    {
      hint: 'Please report it with the lines below.',
      cause: error,
    },
  );
}
