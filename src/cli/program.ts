import { Command, CommanderError, Option } from 'commander';
import { usage, withHint } from '../core/error.js';
import { parseWhole } from '../core/schema.js';
import { GROUPS, type GroupEntry, TOPICS } from './groups.js';
import { asTyped, guessBelow, guessCommand, withQuotes } from './guess.js';
import { GLOBAL_OPTIONS, helpOf, optionsOf } from './options.js';
import type { CommandSpec, GlobalFlags, Invocation, OptionSpec } from './spec.js';

interface ProgramOutput {
  out(text: string): void;
  /** Of the terminal; default: 80. */
  columns?: number | undefined;
}

/**
 * argv → the command and its options. Only what argv names is loaded and built, unless the whole list is asked for
 * (help, or a word that is no command). Returns null after help was shown; throws exit 2 for a wrong call.
 */
export async function parseArgv(argv: readonly string[], output: ProgramOutput): Promise<Invocation | null> {
  const words = commandWords(argv);
  if (words[0] === 'help') {
    const wanted = argv.includes('--all') ? ['--all'] : words.slice(1);
    return show(output, ({ helpFor }, width) => helpFor(wanted, width));
  }
  let invocation: Invocation | null = null;
  const found: Found = (result) => {
    invocation = result;
  };
  const program = makeProgram();
  const [word, subword] = words;
  const named = GROUPS.find(({ name }) => name === word);
  if (named) await addGroup(program, named, subword, found);
  else for (const entry of GROUPS) mention(program, entry);
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw wrongCall(error, program, words, argv);
    return show(output, ({ commandHelp }, width) => commandHelp(wordsOf(program, words), width));
  }
  return invocation;
}

type Help = typeof import('./help/page.js');

async function show(
  { out, columns = 80 }: ProgramOutput,
  page: (help: Help, width: number) => Promise<string>,
): Promise<null> {
  out(await page(await import('./help/page.js'), Math.min(columns, WIDEST)));
  return null;
}

/** Longer lines are hard to read. */
const WIDEST = 100;

/** Of the words those that are commands; the first one even if it is none. */
function wordsOf(program: Command, [word, subword]: readonly string[]): string[] {
  const group = program.commands.find((command) => command.name() === word);
  const command = group?.commands.find((candidate) => candidate.name() === subword);
  return [group?.name() ?? word, command?.name()].filter((name) => name !== undefined);
}

/** The words of argv that are no options and no options' values, up to `--`. */
export function commandWords(argv: readonly string[]): string[] {
  const words: string[] = [];
  for (let i = 0; i < argv.length && argv[i] !== '--'; i++) {
    const word = argv[i] ?? '';
    if (['-C', '--cwd', '--color'].includes(word)) i++;
    else if (!word.startsWith('-')) words.push(word);
  }
  return words;
}

/** A group that this call does not need: its name, for "did you mean". */
const mention = (program: Command, { name, heading }: GroupEntry): void =>
  void program.command(name, { hidden: heading === null });

function makeProgram(): Command {
  const program = new Command('forge')
    .exitOverride()
    // Help has pages of its own; what is wrong is said by who catches it.
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .helpCommand(false);
  for (const { flags, help } of GLOBAL_OPTIONS) program.option(flags, help);
  return program;
}

type Found = (invocation: Invocation) => void;

async function addGroup(
  program: Command,
  entry: GroupEntry,
  wanted: string | undefined,
  found: Found,
): Promise<void> {
  const { group } = await entry.load();
  const alone = group.commands.length === 1 && group.commands[0]?.name === entry.name;
  // command() hands down exitOverride and the output; addCommand() would not.
  const parent = program.command(entry.name, { hidden: entry.heading === null });
  if (alone) return describe(parent, group.commands[0] as unknown as CommandSpec, found);
  const all = group.commands as unknown as CommandSpec[];
  const own = all.find(({ name }) => name === entry.name);
  // A command that has others below it: a word of argv may be its own argument or option.
  if (own) {
    // What stands behind their names is theirs.
    program.enablePositionalOptions();
    describe(parent.helpCommand(false).enablePositionalOptions(), own, found);
    for (const spec of all) if (spec !== own) describe(parent.command(spec.name), spec, found);
    return;
  }
  // Without an action commander itself says which word is no command, and which one is near.
  parent.helpCommand(false);
  const one = all.filter(({ name }) => name === wanted);
  for (const spec of one.length > 0 ? one : all) describe(parent.command(spec.name), spec, found);
}

function describe(target: Command, spec: CommandSpec, found: Found): void {
  target.allowExcessArguments(false);
  for (const argument of spec.args ?? []) target.argument(argument);
  for (const option of optionsOf(spec)) target.addOption(makeOption(option));
  for (const { flags, help } of GLOBAL_OPTIONS) target.addOption(new Option(flags, help));
  target.action((...given: unknown[]) => {
    const self = given.pop() as Command;
    given.pop();
    const options = { ...self.optsWithGlobals(), ...(isUnasked(self) ? { input: false } : {}) };
    const args = given.flat().filter((word): word is string => typeof word === 'string');
    const name = nameOf(self);
    try {
      found({ name, spec, args, options: numbers(spec, options), flags: flagsOf(options) });
    } catch (error) {
      throw withHint(error, `${name} --help`);
    }
  });
}

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

/** `--no-input` before or behind the command: of two that were not given, the outer one's default would count. */
function isUnasked(command: Command): boolean {
  for (let one: Command | null = command; one; one = one.parent) if (one.opts().input === false) return true;
  return false;
}

function makeOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, helpOf(spec));
  if (spec.many) option.argParser((word: string, words: string[] | undefined) => [...(words ?? []), word]);
  return option;
}

function numbers(spec: CommandSpec, options: Record<string, unknown>): Record<string, unknown> {
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

function wrongCall(
  error: CommanderError,
  program: Command,
  [word, subword]: readonly string[],
  argv: readonly string[],
): Error {
  const group = program.commands.find((candidate) => candidate.name() === word);
  if (error.code === 'commander.help') return missingCommand(group, word);
  const command = group?.commands.find((candidate) => candidate.name() === subword);
  const names = [group?.name(), command?.name()].filter((name) => name !== undefined && name !== 'where');
  const typed = asTyped(names as string[]);
  const place = TOPICS.some(([name]) => name === word) && !group ? `forge help ${word}` : `${typed} --help`;
  if (error.code === 'commander.unknownCommand') return unknownWord(error, group, word, subword, place);
  const [what = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const nearest = suggestion?.replace(/^\(?/, '').replace(/\)?$/, '');
  // All that it takes, by name: "name" alone says too little.
  const isMissing = error.code === 'commander.missingArgument' && command !== undefined;
  const behind = argv.slice(argv.indexOf((command ?? group)?.name() ?? '') + 1);
  const unquoted = error.code === 'commander.excessArguments' ? inQuotes(command ?? group, behind) : null;
  if (unquoted !== null)
    return usage('command.excess_arguments', 'Text of several words needs quotes.', {
      hint: `${typed} ${unquoted}`,
    });
  const hint = isMissing ? `${typed} ${argumentsOf(command)}` : nearest;
  return usage(stableCode(error.code), sentence(what), { hint: hint ? `${hint}\n${place}` : place });
}

function unknownWord(
  error: CommanderError,
  group: Command | undefined,
  word = '',
  subword = '',
  place = '',
): Error {
  const below =
    group &&
    guessBelow(
      subword,
      group.commands.map((command) => command.name()),
    );
  const near = group ? below && asTyped([group.name(), below]) : guessCommand(word);
  const what = sentence(error.message.replace(/^error: /, '').split('\n')[0] ?? '');
  return usage(stableCode(error.code), what, { hint: near ? `${near}\n${place}` : place });
}

/** Of a command whose last argument is a text: its words as they were meant. */
function inQuotes(command: Command | undefined, behind: readonly string[]): string | null {
  const last = command?.registeredArguments.at(-1);
  if (!command || !last || !['text', 'name', 'query', 'value'].includes(last.name())) return null;
  const { args } = command;
  // `feature add Login works now`: a word in lower case is no id.
  const isText = !last.required && /^\p{L}+\p{Ll}\p{L}*$/u.test(args[0] ?? '');
  return withQuotes(args, isText ? 0 : command.registeredArguments.length - 1, behind);
}

/** `ID NAME [FILES…]` */
const argumentsOf = ({ registeredArguments }: Command): string =>
  registeredArguments
    .map((argument) => {
      const word = `${argument.name().toUpperCase()}${argument.variadic ? '…' : ''}`;
      return argument.required ? word : `[${word}]`;
    })
    .join(' ');

function missingCommand(group: Command | undefined, word: string | undefined): Error {
  if (!group && word !== undefined) {
    const near = guessCommand(word);
    const hint = near ? `${near}\nforge --help` : 'forge --help';
    return usage('command.unknown_command', `Unknown command '${word}'.`, { hint });
  }
  const names = group?.commands.map((command) => command.name()).join(' | ');
  const name = group ? `forge ${group.name()}` : 'forge';
  return usage('command.missing', `${name} needs a command.`, {
    hint: names ? `${name} ${names}` : 'forge --help',
  });
}

/** `commander.unknownOption` → `command.unknown_option`: our word, whoever parses. */
const stableCode = (code: string): string =>
  code.replace('commander.', 'command.').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;
