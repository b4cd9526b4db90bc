import { GROUPS, SHORT_WAYS } from './groups.js';
import { type CommandSpec, flagOf, GLOBAL_OPTIONS, HELP_OPTION, type OptionSpec, optionsOf } from './spec.js';

/** The places of the words in argv that are not options or their values, up to `--`. */
function wordPlaces(argv: readonly string[]): number[] {
  const places: number[] = [];
  for (let i = 0; i < argv.length && argv[i] !== '--'; i++) {
    const word = argv[i] ?? '';
    if (['-C', '--cwd', '--color'].includes(word)) i++;
    else if (!word.startsWith('-')) places.push(i);
  }
  return places;
}

export const commandWords = (argv: readonly string[]): string[] =>
  wordPlaces(argv).map((place) => argv[place] ?? '');

/** Expands a short way: `-C x start --json` → `-C x session start --json`; also after `help`. */
export function inFull(argv: readonly string[]): readonly string[] {
  const [first = -1, second = -1] = wordPlaces(argv);
  const at = argv[first] === 'help' ? second : first;
  const word = argv[at] ?? '';
  const short = Object.hasOwn(SHORT_WAYS, word) ? SHORT_WAYS[word] : undefined;
  return short ? [...argv.slice(0, at), ...short.words, ...argv.slice(at + 1)] : argv;
}

/** The commands of a group; none for an unknown word. */
export async function specsOf(word: string | undefined): Promise<readonly CommandSpec[]> {
  const entry = GROUPS.find(({ name }) => name === word);
  return ((await entry?.load())?.group.commands ?? []) as unknown as readonly CommandSpec[];
}

/** A command line that may be unfinished, or wrong. commander takes only whole ones. */
export interface Line {
  /** Null: before the first command word. */
  group: string | null;
  commands: readonly CommandSpec[];
  spec: CommandSpec | null;
  args: string[];
  /** With their values, which come after them. */
  options: string[];
  /** The option whose value comes next. */
  waiting: OptionSpec | null;
  /** After `--`, or after the program that a command runs, no word is an option. */
  isLiteral: boolean;
}

/** Null after a word that is not a command. */
export async function parseLine(words: readonly string[]): Promise<Line | null> {
  const line: Line = {
    ...{ group: null, commands: [], spec: null },
    ...{ args: [], options: [], waiting: null, isLiteral: false },
  };
  for (const word of words) {
    if (line.waiting && !(flagOf(line.waiting).optional && word.startsWith('-'))) {
      line.options.push(word);
      line.waiting = null;
    } else if (word === '--' && !line.isLiteral) line.isLiteral = true;
    else if (word.startsWith('-') && !line.isLiteral) {
      const [name = '', value] = word.split(/=(.*)/s);
      const option = optionNamed(line, name);
      line.options.push(...(value === undefined ? [name] : [name, value]));
      line.waiting = option && value === undefined && flagOf(option).value !== null ? option : null;
    } else if (line.group === null) {
      line.group = word;
      line.commands = await specsOf(word);
      line.spec = line.commands.find(({ name }) => name === word) ?? null;
      if (line.commands.length === 0) return null;
    } else if (!takeWord(line, word)) return null;
  }
  return line;
}

/** False for a word that no command takes. */
function takeWord(line: Line, word: string): boolean {
  const below = commandsBelow(line).find(({ name }) => name === word);
  const [flag = '', value] = line.options.slice(-2);
  const before = optionNamed(line, flag);
  if (below) line.spec = below;
  // `end --learned a b`: text without quotes.
  else if (line.spec && !line.spec.args && before && flagOf(before).value === 'text')
    line.options.splice(-1, 1, `${value} ${word}`);
  else if (line.spec) line.args.push(word);
  else return false;
  if (line.spec?.runs) line.isLiteral = line.args.length > 0;
  return true;
}

/** The commands that a word may name here. */
export const commandsBelow = ({ group, commands, spec, args, isLiteral }: Line): readonly CommandSpec[] =>
  args.length === 0 && !isLiteral && (spec === null || spec.name === group)
    ? commands.filter(({ name }) => name !== group)
    : [];

export const optionsAt = ({ spec }: Line): OptionSpec[] => [
  ...(spec ? optionsOf(spec) : []),
  ...GLOBAL_OPTIONS,
  HELP_OPTION,
];

export const optionNamed = (line: Line, name: string): OptionSpec | null =>
  optionsAt(line).find((option) => flagOf(option).names.includes(name)) ?? null;
