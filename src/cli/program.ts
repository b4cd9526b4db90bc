import { Command, CommanderError, Option } from 'commander';
import { formatArgv } from '../core/argv.js';
import { usage, withHint } from '../core/error.js';
import { parseWhole } from '../core/schema.js';
import { namesLike } from '../core/text.js';
import { commandWords, GROUPS, type GroupEntry, SHORT_WAYS, TOPICS } from './groups.js';
import { GLOBAL_OPTIONS, helpOf, optionsOf } from './options.js';
import type { CommandSpec, GlobalFlags, Invocation, OptionSpec } from './spec.js';

interface ProgramOutput {
  out(text: string): void;
  /** Default: 80. */
  columns?: number | undefined;
}

/** Longer lines are hard to read. */
const MAX_WIDTH = 100;

/**
 * argv → the command and its options. Loads only the group that argv names. Returns null after help was shown, and
 * throws exit 2 for a wrong call.
 */
export async function parseArgv(
  argv: readonly string[],
  { out, columns = 80 }: ProgramOutput,
): Promise<Invocation | null> {
  const words = commandWords(argv);
  const width = Math.min(columns, MAX_WIDTH);
  if (words[0] === 'help') {
    const { helpFor } = await import('./help.js');
    out(await helpFor(argv.includes('--all') ? ['--all'] : words.slice(1), width));
    return null;
  }
  let invocation: Invocation | null = null;
  const program = makeProgram();
  const named = GROUPS.find(({ name }) => name === words[0]);
  if (named)
    await addGroup(program, named, words[1], (found) => {
      invocation = found;
    });
  // Any other word is an error, for which the names are enough.
  else for (const { name, heading } of GROUPS) program.command(name, { hidden: heading === null });
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw wrongCall(error, program, words, argv);
    const { commandHelp } = await import('./help.js');
    const { group, command } = find(program, words);
    const names = [group?.name() ?? words[0], command?.name()].filter((name) => name !== undefined);
    out(await commandHelp(names, width));
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

const named = (parent: Command | undefined, name: string | undefined): Command | undefined =>
  parent?.commands.find((command) => command.name() === name);

/** The commands that the words name. */
function find(program: Command, [word, subword]: readonly string[]) {
  const group = named(program, word);
  return { group, command: named(group, subword) };
}

type Found = (invocation: Invocation) => void;

async function addGroup(
  program: Command,
  entry: GroupEntry,
  wanted: string | undefined,
  found: Found,
): Promise<void> {
  const specs = (await entry.load()).group.commands as unknown as CommandSpec[];
  // command() passes on exitOverride and the output; addCommand() would not.
  const parent = program.command(entry.name, { hidden: entry.heading === null }).helpCommand(false);
  const own = specs.find(({ name }) => name === entry.name);
  const others = specs.filter((spec) => spec !== own);
  if (own) {
    if (others.length > 0) {
      // The options after the name of a subcommand are its own.
      program.enablePositionalOptions();
      parent.enablePositionalOptions();
    }
    describe(parent, own, found);
  }
  const one = own ? [] : others.filter(({ name }) => name === wanted);
  for (const spec of one.length > 0 ? one : others) describe(parent.command(spec.name), spec, found);
}

function describe(target: Command, spec: CommandSpec, found: Found): void {
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

function flagsOf(options: Record<string, unknown>): GlobalFlags {
  const on = (name: string): boolean => options[name] === true;
  return {
    json: on('json'),
    quiet: on('quiet'),
    dryRun: on('dryRun'),
    yes: on('yes'),
    verbose: on('verbose'),
    redact: on('redact'),
  };
}

/** Turns commander's error into ours, with a command to type next. */
function wrongCall(
  error: CommanderError,
  program: Command,
  words: readonly string[],
  argv: readonly string[],
): Error {
  const [word, subword = ''] = words;
  const { group, command } = find(program, words);
  const target = command ?? group;
  const names = [group, command].flatMap((each) => each?.name() ?? []).filter((name) => name !== 'where');
  const typed = asTyped(names);
  const isTopic = !group && TOPICS.some(([name]) => name === word);
  const help = isTopic ? `forge help ${word}` : `${typed} --help`;
  const [what = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}${/[.?!]$/.test(what) ? '' : '.'}`;
  // `commander.unknownOption` → `command.unknown_option`
  const code = error.code
    .replace('commander.', 'command.')
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (error.code === 'commander.help') {
    if (!group && word !== undefined)
      return unknownCommand(`Unknown command '${word}'.`, nearestCommand(word));
    const below = (group?.commands ?? []).map((each) => each.name()).join(' | ');
    return usage('command.missing', `${typed} needs a command.`, {
      hint: below ? `${typed} ${below}` : 'forge --help',
    });
  }
  if (error.code === 'commander.unknownCommand') {
    const near = group ? nearestBelow(group, subword) : nearestCommand(word ?? '');
    return unknownCommand(sentence, near, help);
  }
  if (error.code === 'commander.missingArgument' && command)
    return usage(code, sentence, { hint: `${typed} ${describeArguments(command)}\n${help}` });
  const quoted = error.code === 'commander.excessArguments' && target ? withQuotes(target, argv) : null;
  if (quoted !== null)
    return usage('command.excess_arguments', 'Text of several words needs quotes.', {
      hint: `${typed} ${quoted}`,
    });
  const near = suggestion?.replace(/^\(?(.*?)\)?$/, '$1');
  return usage(code, sentence, { hint: near ? `${near}\n${help}` : help });
}

const unknownCommand = (message: string, near: string | null, help = 'forge --help'): Error =>
  usage('command.unknown_command', message, { hint: near ? `${near}\n${help}` : help });

/** `ID NAME [FILES…]` */
const describeArguments = ({ registeredArguments }: Command): string =>
  registeredArguments
    .map((argument) => {
      const word = `${argument.name().toUpperCase()}${argument.variadic ? '…' : ''}`;
      return argument.required ? word : `[${word}]`;
    })
    .join(' ');

/** The commands of forge by the words that other tools use. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ...{ stop: 'end', finish: 'end', close: 'end', quit: 'end', begin: 'start', new: 'init' },
  ...{ add: 'feature add', todo: 'feature add', edit: 'feature edit', rm: 'feature remove' },
  ...{ remove: 'feature remove', delete: 'feature remove', list: 'ls', features: 'ls', tasks: 'ls' },
  ...{ test: 'done', verify: 'done', check: 'done', show: 'status', info: 'status', view: 'status' },
  ...{ resume: 'start --resume latest', sessions: 'session list', save: 'checkpoint create' },
  ...{ restore: 'recover', rollback: 'recover', revert: 'undo', install: 'agent install' },
  ...{ search: 'recall', find: 'recall', remember: 'learn' },
};

/** Each word is an alias of the first of these that the group has. */
const SYNONYMS_BELOW: Readonly<Record<string, readonly string[]>> = {
  ...{ ls: ['list'], show: ['list'], view: ['show', 'list'], search: ['list'] },
  ...{ rm: ['remove', 'uninstall'], delete: ['remove', 'discard'], new: ['add', 'create', 'start'] },
  ...{ create: ['add', 'start'], run: ['verify'], test: ['verify'], done: ['verify'] },
  ...{ stop: ['end'], finish: ['end'] },
};

function nearestCommand(word: string): string | null {
  if (Object.hasOwn(SYNONYMS, word)) return `forge ${SYNONYMS[word]}`;
  const listed = GROUPS.filter(({ heading }) => heading !== null).map(({ name }) => name);
  const [near] = namesLike(word, [...Object.keys(SHORT_WAYS), 'version', ...listed]);
  return near === undefined ? null : `forge ${near}`;
}

function nearestBelow(group: Command, word: string): string | null {
  const names = group.commands.map((command) => command.name());
  const synonym = SYNONYMS_BELOW[word]?.find((name) => names.includes(name));
  const near = synonym ?? namesLike(word, names)[0];
  return near === undefined ? null : asTyped([group.name(), near]);
}

/** `forge start` for `session start`. */
function asTyped(names: readonly string[]): string {
  const [short] =
    Object.entries(SHORT_WAYS).find(
      ([name, { words }]) => name !== 'completion' && words.join(' ') === names.join(' '),
    ) ?? [];
  return ['forge', ...(short ? [short] : names)].join(' ');
}

/** `Login works --test x` → `"Login works" --test x`, for a command whose last argument is a text. */
function withQuotes(command: Command, argv: readonly string[]): string | null {
  const { args, registeredArguments } = command;
  const last = registeredArguments.at(-1);
  if (!last) return withQuotedOptions(argv.slice(argv.indexOf(command.name()) + 1));
  if (!['text', 'name', 'query', 'value'].includes(last.name())) return null;
  // `feature add Login works now`: a word in lower case is not an id.
  const isText = !last.required && /^\p{L}+\p{Ll}\p{L}*$/u.test(args[0] ?? '');
  const ids = isText ? 0 : registeredArguments.length - 1;
  const rest = [...args];
  const options = argv.slice(argv.indexOf(command.name()) + 1).filter((word) => {
    const at = rest.indexOf(word);
    if (at >= 0) rest.splice(at, 1);
    return at < 0 && word !== '--json';
  });
  const text = args.slice(ids).join(' ');
  const quoted = /["$`\\\n]/.test(text) ? '"TEXT"' : `"${text}"`;
  return [...args.slice(0, ids), quoted, ...(options.length > 0 ? [formatArgv(options)] : [])].join(' ');
}

/** `end --learned a b` → `--learned "a b"`. Null where no option comes first. */
function withQuotedOptions(words: readonly string[]): string | null {
  if (!words[0]?.startsWith('--') || words.some((word) => /["$`\\\n]/.test(word))) return null;
  const groups: string[][] = [];
  for (const word of words) {
    if (word.startsWith('-')) groups.push([word]);
    else groups.at(-1)?.push(word);
  }
  return groups
    .filter(([flag]) => flag !== '--json')
    .map(([flag = '', ...values]) =>
      values.length > 1 ? `${flag} "${values.join(' ')}"` : formatArgv([flag, ...values]),
    )
    .join(' ');
}
