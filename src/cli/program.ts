import { Command, CommanderError, Option } from 'commander';
import { formatArgv, quoteWord } from '../core/argv.js';
import { ForgeError, usage, withHint } from '../core/error.js';
import { parseWhole } from '../core/schema.js';
import { namesLike } from '../core/text.js';
import { commandWords, GROUPS, groupNames, inFull, specsOf } from './groups.js';
import {
  type CommandSpec,
  GLOBAL_OPTIONS,
  type GlobalFlags,
  helpOf,
  type Invocation,
  type OptionSpec,
  optionsOf,
} from './spec.js';

interface ProgramOutput {
  out(text: string): void;
  /** Asked for help only. Default: 80. */
  columns?: () => number;
}

const MAX_WIDTH = 100;

/** argv → the command and its options, loading only its group. Null after help was shown; exit 2 for a wrong call. */
export async function parseArgv(
  argv: readonly string[],
  { out, columns = () => 80 }: ProgramOutput,
): Promise<Invocation | null> {
  const full = inFull(argv);
  const words = commandWords(full);
  const width = (): number => Math.min(columns(), MAX_WIDTH);
  if (words[0] === 'help') {
    const { helpFor } = await import('./help.js');
    out(await helpFor(argv.includes('--all') ? ['--all'] : words.slice(1), width()));
    return null;
  }
  let invocation: Invocation | null = null;
  const program = makeProgram();
  const specs = await specsOf(words[0]);
  if (specs.length > 0)
    addGroup(program, words, specs, (found) => {
      const quoted = quoteCommand(argv, found.args, found.spec);
      if (quoted) throw usage('command.unquoted', `Put quotes around it: ${quoted}`);
      invocation = found;
    });
  // Any other word is an error, for which the names are enough.
  else for (const { name } of GROUPS) program.command(name);
  try {
    await program.parseAsync([...full], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const own = specs.find(({ name }) => name === words[0]);
    const spec = specs.find(({ name }) => name === words[1]) ?? own;
    if (error.exitCode !== 0) {
      const [parent] = program.commands;
      const { args = [] } = parent?.commands.find((command) => command.name() === words[1]) ?? parent ?? {};
      const asText = error.code === 'commander.excessArguments' ? withQuotes : () => undefined;
      const quoted = spec && (quoteCommand(argv, args, spec) ?? asText(argv, args, spec));
      throw wrongCall(error, words, specs, { spec, quoted });
    }
    const { commandHelp } = await import('./help.js');
    const isOwn = specs.length === 0 || spec === own;
    out(await commandHelp(isOwn || !spec ? words.slice(0, 1) : words.slice(0, 2), width()));
  }
  return invocation;
}

function makeProgram(): Command {
  const program = new Command('forge')
    .exitOverride()
    // Help has pages of its own, and errors are reported by the caller.
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .helpCommand(false);
  for (const { flags, help } of GLOBAL_OPTIONS) program.option(flags, help);
  return program;
}

function addGroup(
  program: Command,
  [name = '', wanted]: readonly string[],
  specs: readonly CommandSpec[],
  found: (invocation: Invocation) => void,
): void {
  // command() passes on exitOverride and the output; addCommand() would not.
  const parent = program.command(name).helpCommand(false);
  const own = specs.find((spec) => spec.name === name);
  const others = specs.filter((spec) => spec !== own);
  if (own) {
    if (others.length > 0) {
      // The options after the name of a subcommand are its own.
      program.enablePositionalOptions();
      parent.enablePositionalOptions();
    }
    describe(parent, own, found);
  }
  const one = own ? [] : others.filter((spec) => spec.name === wanted);
  for (const spec of one.length > 0 ? one : others) describe(parent.command(spec.name), spec, found);
}

function describe(target: Command, spec: CommandSpec, found: (invocation: Invocation) => void): void {
  target.allowExcessArguments(false);
  for (const argument of spec.args ?? []) target.argument(argument);
  for (const option of optionsOf(spec)) target.addOption(makeOption(option));
  for (const { flags, help } of GLOBAL_OPTIONS) target.addOption(new Option(flags, help));
  target.action((...given: unknown[]) => {
    const self = given.pop() as Command;
    given.pop();
    const options = { ...self.optsWithGlobals(), ...(isNoInput(self) ? { input: false } : {}) };
    const args = given.flat().filter((word): word is string => typeof word === 'string');
    const name = nameOf(self);
    try {
      found({ name, spec, args, options: parseNumbers(spec, options), flags: flagsOf(options) });
    } catch (error) {
      throw withHint(error, `${name} --help`);
    }
  });
}

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

/** `--no-input` is accepted at each level, and the default of an outer one must not win. */
function isNoInput(command: Command): boolean {
  for (let one: Command | null = command; one; one = one.parent) if (one.opts().input === false) return true;
  return false;
}

function makeOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, helpOf(spec));
  if (spec.many) option.argParser((word: string, words: string[] | undefined) => [...(words ?? []), word]);
  return option;
}

function parseNumbers(spec: CommandSpec, options: Record<string, unknown>): Record<string, unknown> {
  const result = { ...options };
  for (const { flags, number } of spec.options ?? []) {
    const name = new Option(flags).attributeName();
    if (number && typeof result[name] === 'string')
      result[name] = parseWhole(result[name], flags.split(' ')[0] ?? '', ...number);
  }
  return result;
}

const FLAGS = ['json', 'quiet', 'dryRun', 'yes', 'verbose', 'redact'] as const;

const flagsOf = (options: Record<string, unknown>): GlobalFlags =>
  Object.fromEntries(FLAGS.map((name) => [name, options[name] === true])) as unknown as GlobalFlags;

/** Arguments that are a text, which may have several words. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'title', 'query', 'value', 'task']);

const typed = (words: readonly string[]): string =>
  ['forge', ...words.filter((word) => word !== '--json')]
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoteWord(word)))
    .join(' ');

/** The call with quotes around the words of a text. Undefined if the command takes no text. */
function withQuotes(argv: readonly string[], args: readonly string[], spec: CommandSpec): string | undefined {
  const last = spec.args?.at(-1) ?? '';
  // `feature add Login works now`: a word in lower case is not an id.
  const isAll = last.startsWith('[') && /^\p{L}+\p{Ll}\p{L}*$/u.test(args[0] ?? '');
  const text = args.slice(isAll ? 0 : (spec.args?.length ?? 0) - 1);
  const at = argv.findIndex((_, i) => text.every((word, j) => argv[i + j] === word));
  if (at < 0 || !TEXTS.has(last.replace(/\W/g, ''))) return undefined;
  return typed([...argv.slice(0, at), text.join(' '), ...argv.slice(at + text.length)]);
}

/** `--verify python3 -m unittest` would run `python3`, which passes. Undefined if the command is one word before `--`. */
function quoteCommand(given: readonly string[], args: readonly string[], { options = [] }: CommandSpec) {
  const option = options.find(({ flags }) => flags.endsWith('<command>'))?.flags.split(' ')[0] ?? '\0';
  const argv = given.flatMap((word) => (word.startsWith(`${option}=`) ? word.split(/=(.*)/s, 2) : [word]));
  const at = argv.lastIndexOf(option) + 1;
  const last = argv.findLastIndex((word, i) => word === args.at(-1) && !/^--./.test(argv[i - 1] ?? ''));
  const end = Math.max(last, argv[at + 1] === '-m' ? at + 2 : 0) + 1;
  const words = argv.slice(at, end);
  // Quotes around one of them show that the command is one word on purpose.
  const isQuoted = [words[0], words.at(-1)].some((word) => /\s/.test(word ?? ''));
  if (at === 0 || words.length < 2 || isQuoted || words.includes('--')) return undefined;
  return typed([...argv.slice(0, at), formatArgv(words), ...argv.slice(end)]);
}

/** `forge done LOGIN` in place of "Did you mean LOGIN?", for a word of argv that the message quotes or ends with. */
export function withCall(error: unknown, argv: readonly string[]): unknown {
  if (!(error instanceof ForgeError)) return error;
  const { kind, code, message, details, stack } = error;
  const [, near] = /^Did you mean (\S+)\?$/.exec(error.hint ?? '') ?? [];
  const name = code === 'command.shell' ? error.hint : near;
  const at = argv.findLastIndex(
    (word) => message.includes(JSON.stringify(word)) || message.endsWith(`: ${word}`),
  );
  if (name === undefined || at < 0) return error;
  const hint = typed(argv.with(at, name));
  return Object.assign(new ForgeError(kind, code, message, { ...details, hint }), { stack });
}

/** commander's error as one of forge. Its hints: the nearest command or an example, and help. */
function wrongCall(
  { code: given, message: text }: CommanderError,
  [group = '', word = '']: readonly string[],
  specs: readonly CommandSpec[],
  { spec, quoted }: { spec: CommandSpec | undefined; quoted: string | undefined },
): Error {
  const [what = '', near = ''] = text.replace(/^error: /, '').split('\n');
  const below = specs.length === 0 || group === 'where' ? [] : [group];
  const name = ['forge', ...below, ...(spec && spec.name !== group ? [spec.name] : [])].join(' ');
  const help = `${name} --help`;
  // `commander.unknownOption` → `command.unknown_option`
  const code = given.replace('commander.', 'command.').replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
  if (quoted) return usage(code, `Put quotes around it: ${quoted}`, { hint: help });
  const message = `${what.charAt(0).toUpperCase()}${what.slice(1)}${/[.?!]$/.test(what) ? '' : '.'}`;
  const names = specs.map((one) => one.name);
  switch (given) {
    case 'commander.help':
      return usage('command.missing', `${name} needs a command: ${names.join(', ')}.`, { hint: help });
    case 'commander.unknownCommand': {
      const known = specs.length > 0 ? names : groupNames();
      const [nearest] = namesLike(specs.length > 0 ? word : group, known);
      const verb = word.includes(' ') && names.includes('add') ? 'add' : group === 'focus' ? 'set' : null;
      if (!nearest && verb) return usage(code, message, { hint: `${typed([group, verb, word])}\n${help}` });
      const all = nearest || specs.length === 0 ? '' : ` ${name} has: ${names.join(', ')}.`;
      return usage(code, `${message}${all}`, { hint: nearest ? `${name} ${nearest}\n${help}` : help });
    }
    case 'commander.unknownOption':
      return usage(code, near === '' ? message : `${message} ${near.replace(/^\((.*)\)$/, '$1')}`, {
        hint: help,
      });
    case 'commander.missingArgument':
    case 'commander.excessArguments':
      return usage(code, message, { hint: spec ? `${spec.example}\n${help}` : help });
  }
  return usage(code, message, { hint: help });
}
