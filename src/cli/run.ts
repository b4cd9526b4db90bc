import { systemCode, toForgeError, withHint } from '../core/error.js';
import { diskError } from '../core/files.js';
import { escapeControls, harmless, jsonLine } from '../core/text.js';
import { isGitHook } from '../hooks/shim.js';
import { type Call, folderOf, type Invocation, type Io, version } from './spec.js';

/** Runs one command and returns its exit code. Never throws and never exits. */
export async function main(io: Io): Promise<number> {
  const { argv } = io;
  const options = beforeDashes(argv);
  const isHelp = options.includes('--help') || options.includes('-h');
  if (argv[0] === 'hook' && isGitHook(argv[1] ?? '')) {
    const { runGitHook } = await import('../hooks/command-git.js');
    return runGitHook(io, argv.slice(1));
  }
  // Agents call it around every prompt and tool, so it loads no commander and never fails.
  if (argv[0] === 'hook' && !io.stdin.isTerminal && !isHelp) {
    const { runAgentHook } = await import('../agent/command-hook.js');
    return runAgentHook(io, argv.slice(1));
  }
  if (argv[0] === 'complete' && argv[1]?.startsWith('--shell=')) {
    const { runComplete } = await import('./complete.js');
    return runComplete(io, argv.slice(1));
  }
  try {
    return await run(io);
  } catch (error) {
    return await report(error, io, options.includes('--json'));
  }
}

async function report(error: unknown, io: Io, json: boolean): Promise<number> {
  const { maskError, maskText } = await import('./input-guard.js');
  const { fitScreen, widthOf } = await import('./style.js');
  const { path } = (error ?? {}) as { path?: unknown };
  const isRaw = systemCode(error) !== undefined && typeof path === 'string';
  const known = await maskError(isRaw ? diskError(error, path) : toForgeError(error));
  const write = (text: string): unknown => io.stderr.write(`${text}\n`);
  if (json) {
    write(jsonLine({ error: known }));
    return known.exit;
  }
  const width = widthOf(io.stderr);
  write(fitScreen(`forge: ${escapeControls(known.message)}`, width));
  let isToCopy = false;
  for (const line of known.hint?.split('\n') ?? []) {
    // Lines for a file follow a colon, up to an empty line.
    const hint = `${isToCopy ? '' : '  → '}${escapeControls(line)}`;
    write(isToCopy ? hint : fitScreen(hint, width));
    isToCopy = isToCopy ? line !== '' : line.endsWith(':');
  }
  const isBug = known.kind === 'bug';
  const isVerbose = io.argv.some((word) => word === '-v' || word === '--verbose');
  if (isBug || isVerbose) write(await maskText((error as Error).stack ?? ''));
  if (isBug) write(`forge ${version()}, Node ${process.versions.node}, ${process.platform}`);
  return known.exit;
}

/** The words after `--` are text. */
function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

async function run(io: Io): Promise<number> {
  const { parseArgv, withCall } = await import('./program.js');
  const { commandWords } = await import('./groups.js');
  const { fitScreen, widthOf } = await import('./style.js');
  const words = commandWords(io.argv);
  const asks = (...names: string[]): boolean => beforeDashes(io.argv).some((word) => names.includes(word));
  const print = (name: string, text: string): unknown =>
    io.stdout.write(
      asks('--json') ? `${jsonLine({ [name]: text.trimEnd() })}\n` : fitScreen(text, widthOf(io.stdout)),
    );
  if (words.join() === 'version' || (words.length === 0 && asks('--version', '-V'))) {
    print('version', `${version()}\n`);
    return 0;
  }
  const isBare = words.length === 0 && !asks('-h', '--help') && !io.argv.includes('--');
  const invocation = await parseArgv(isBare ? [...io.argv, 'where'] : io.argv, {
    out: (text) => print('help', text),
    // Help in a pipe is often read at a terminal, by a pager.
    columns: () => widthOf(io.stdout) ?? Math.min(80, widthOf(io.stderr) ?? 80),
  });
  if (!invocation) return 0;
  try {
    return await invoke(io, invocation);
  } catch (error) {
    throw withHint(withCall(error, io.argv), `${invocation.name} --help`);
  }
}

async function invoke(io: Io, given: Invocation): Promise<number> {
  const { makeCall } = await import('./call.js');
  const cwd = folderOf(io, given.options.cwd as string | undefined);
  // The words of a reading command are not stored.
  const { makeEntrance } = given.spec.writes ? await import('./input-guard.js') : {};
  const entrance = makeEntrance?.(given, io.env, cwd);
  const invocation = entrance ? await entrance.words() : given;
  const enter = entrance?.enter ?? (async (text: string) => text);
  const { call, clear, finish } = await makeCall(io, invocation, { cwd, enter });
  await entrance?.refuseWords(() => call.forge());
  const value = await Promise.resolve(invocation.spec.run(call, ...invocation.args)).finally(clear);
  const removed = entrance?.removed() ?? [];
  if (removed.length > 0) call.say(`Removed from the text: ${removed.join(', ')}.`);
  await show(value, invocation, call, io);
  finish();
  return invocation.spec.exit?.(value, call.options) ?? 0;
}

async function show(value: unknown, { spec, flags }: Invocation, call: Call, io: Io): Promise<void> {
  // A server has sent its answers already.
  if (value === undefined) return;
  if (flags.json) {
    // A CI log runs `##[command]`, which somebody's text may contain.
    io.stdout.write(`${jsonLine(value).replace(/##(?=[\w.-]*\[)/g, '#\\u0023')}\n`);
    return;
  }
  const text = call.onScreen(spec.render(harmless(value), call.style, call.options));
  if (text === '') return;
  if (flags.dryRun) call.say('It would print:');
  io.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}
