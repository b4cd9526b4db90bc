import type { Forge } from '../index.js';
import { TOPICS } from './about.js';
import { SHELLS } from './command.js';
import { groupNames, inFull, specsOf } from './groups.js';
import {
  type CommandSpec,
  flagOf,
  folderOf,
  GLOBAL_OPTIONS,
  HELP_OPTION,
  type Io,
  type LiveKind,
  type OptionSpec,
  optionsOf,
  type Values,
} from './spec.js';

/** ms. Nobody waits longer after TAB. */
const DEADLINE = 2000;
const MAX_CANDIDATES = 1000;

interface Offer {
  candidates: string[];
  /** `files`, `folders`: the shell completes them. */
  kind: 'words' | 'files' | 'folders';
}

const offerWords = (candidates: string[]): Offer => ({ candidates, kind: 'words' });
const NOTHING = offerWords([]);

/**
 * `forge complete --shell=NAME --current=WORD -- WORDS…`, which a shell's script asks at TAB. The first line of the answer
 * is the kind, every other line a candidate. Errors are not printed: they would end up in the command line.
 */
export async function runComplete(io: Io, argv: readonly string[]): Promise<number> {
  io.deadline?.(DEADLINE);
  const end = argv.indexOf('--');
  const read = (name: string): string =>
    argv.find((word, i) => i < end && word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';
  const shell = SHELLS.find((name) => name === read('shell'));
  if (!shell || end < 0) return 0;
  const given = argv.slice(end + 1);
  const before = shell === 'bash' ? given.flatMap(bashWord) : given;
  const [, quote = '', current = ''] = /^(['"]?)(.*)$/s.exec(read('current')) ?? [];
  try {
    const { kind, candidates } = await offerAt(io, inFull(before), current);
    const plain = [...new Set(candidates.filter((value) => PLAIN.test(value)))];
    const shown = plain.filter((value) => value.startsWith(current)).slice(0, MAX_CANDIDATES);
    const lines = shell === 'bash' ? shown.map((value) => quote + value) : shown;
    io.stdout.write([kind, ...lines].map((line) => `${line}\n`).join(''));
  } catch {
    // Nothing is completed.
  }
  return 0;
}

/** bash leaves quotes in a word, and splits at `=` and `:`. */
const bashWord = (word: string): string[] =>
  word === '=' || word === ':' ? [] : [word.replace(/\\(.)|['"]/gs, '$1')];

/** The only words offered. An id may have come with a clone, and no shell expands or runs one of these. */
const PLAIN = /^-{0,2}[\p{L}\p{N}][\p{L}\p{M}\p{N}_./:=@%+-]*$/u;

/** Derived from the specs, so a new command or option completes without any code here. */
async function offerAt(io: Io, before: readonly string[], current: string): Promise<Offer> {
  if (before.join() === 'help')
    return offerWords([...groupNames(), ...TOPICS.map(([name]) => name), 'topics']);
  const place = await parseLine(io, before);
  if (!place) return NOTHING;
  const { waiting } = place;
  if (waiting) return offerValue(place, waiting.values, flagOf(waiting).value);
  if (!current.startsWith('-') || place.isLiteral) return offerWord(place, current);
  return offerWords(flagsAt(place).filter((flag) => flag.startsWith('--') || !current.startsWith('--')));
}

const flagsAt = (place: Place): string[] => optionsAt(place).flatMap((option) => flagOf(option).names);

/** A command's name or an argument; a flag where neither can follow. */
async function offerWord(place: Place, current: string): Promise<Offer> {
  const { group, spec, args } = place;
  if (group === null) return offerWords([...groupNames(), 'help']);
  const below = commandsBelow(place).map(({ name }) => name);
  const names = spec?.args ?? [];
  const next = names[args.length] ?? (names.at(-1)?.includes('...') ? names.at(-1) : undefined);
  if (next !== undefined) {
    const name = next.replace(/[^\w-]/g, '');
    const offer = await offerValue(place, spec?.values?.[name], name);
    return { ...offer, candidates: [...below, ...offer.candidates] };
  }
  if (below.length > 0 || place.isLiteral || current !== '') return offerWords(below);
  return offerWords(flagsAt(place).filter((flag) => flag.startsWith('--')));
}

/** Values by the name of an argument, where the spec does not say more. */
const BY_NAME: Readonly<Record<string, Values>> = {
  file: { paths: 'files' },
  path: { paths: 'files' },
  command: { paths: 'files' },
  dir: { paths: 'folders' },
  tag: { live: ['checkpoint'] },
  'kfr-id': { live: ['kfr'] },
  issue: { live: ['issue'] },
};

async function offerValue(place: Place, given: Values | undefined, name: string | null): Promise<Offer> {
  const isId = name === 'id' || name === 'ids';
  const known = given ?? (isId ? { live: [place.group as LiveKind] } : (BY_NAME[name ?? ''] ?? {}));
  const found = await Promise.all((known.live ?? []).map((kind) => readLive(place, kind)));
  // A leading dash would make an option of it.
  const ids = found.flat().filter((value) => !value.startsWith('-'));
  return { candidates: [...ids, ...(known.words ?? [])], kind: known.paths ?? 'words' };
}

const LIVE: Record<LiveKind, (open: () => Forge) => Promise<string[]>> = {
  feature: async (open) => (await open().feature.list()).features.map(({ id }) => id),
  issue: async (open) => (await open().linear.list()).issues.map(({ linear_id }) => linear_id),
  kfr: async (open) => (await open().kfr.list()).entries.map(({ id }) => id),
  session: async (open) => {
    const { active, sessions } = await open().session.list({ limit: MAX_CANDIDATES });
    return [...(active ? [active] : []), ...sessions].map(({ id }) => id);
  },
  checkpoint: async (open) =>
    (await open().checkpoint.list()).checkpoints.map(({ tag }) => tag.replace(/^checkpoint\//, '')),
  knowledge: async (open) => (await open().knowledge.list()).learnings.map(({ id }) => id),
  note: async (open) => (await open().note.list()).notes.map(({ id }) => id.slice(0, 12)).reverse(),
  setting: async () => (await (await import('../index.js')).defaultSettings()).map(({ name }) => name),
};

/** Empty without a project, and if a file is damaged. Writes nothing. */
async function readLive(place: Place, kind: LiveKind): Promise<string[]> {
  const { io, options } = place;
  const at = options.findLastIndex((word) => word === '-C' || word === '--cwd');
  try {
    const { openForge, systemWorld } = await import('../index.js');
    const folder = folderOf(io, at < 0 ? undefined : options[at + 1]);
    const world = io.world ?? systemWorld(io.env, false);
    return await LIVE[kind](() => openForge(folder, { world, dryRun: true }));
  } catch {
    return [];
  }
}

/** A command line before the cursor, unfinished or wrong. commander takes only whole ones. */
interface Place {
  io: Io;
  /** Null: before the first command word. */
  group: string | null;
  commands: readonly CommandSpec[];
  spec: CommandSpec | null;
  args: string[];
  /** With their values, which come after them. */
  options: string[];
  waiting: OptionSpec | null;
  /** After `--`, or after the program that a command runs, no word is an option. */
  isLiteral: boolean;
}

/** Null after a word that is not a command. */
async function parseLine(io: Io, words: readonly string[]): Promise<Place | null> {
  const line: Place = {
    ...{ io, group: null, commands: [], spec: null },
    ...{ args: [], options: [], waiting: null, isLiteral: false },
  };
  for (const word of words) {
    if (line.waiting) {
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

function takeWord(line: Place, word: string): boolean {
  const below = commandsBelow(line).find(({ name }) => name === word);
  if (below) line.spec = below;
  else if (line.spec) line.args.push(word);
  else return false;
  if (line.spec?.runs) line.isLiteral = line.args.length > 0;
  return true;
}

const commandsBelow = ({ group, commands, spec, args, isLiteral }: Place): readonly CommandSpec[] =>
  args.length === 0 && !isLiteral && (spec === null || spec.name === group)
    ? commands.filter(({ name }) => name !== group)
    : [];

const optionsAt = ({ spec }: Place): OptionSpec[] => [
  ...(spec ? optionsOf(spec) : []),
  ...GLOBAL_OPTIONS,
  HELP_OPTION,
];

const optionNamed = (line: Place, name: string): OptionSpec | null =>
  optionsAt(line).find((option) => flagOf(option).names.includes(name)) ?? null;
