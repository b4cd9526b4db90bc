import { isAbsolute, resolve } from 'node:path';
import type { LiveKind } from '../index.js';
import { SHELLS, type Shell } from './command-complete.js';
import { GROUPS, inFull, SHORT_WAYS, TOPICS } from './groups.js';
import type { Io } from './io.js';
import { type Flag, flagOf, GLOBAL_OPTIONS, HELP_OPTION, optionsOf } from './options.js';
import type { CommandSpec, OptionSpec, Values } from './spec.js';

/** ms. Whoever has pressed a key does not wait longer. */
const DEADLINE = 2000;

/** More are no help to anybody. */
const MOST = 1000;

interface Request {
  shell: Shell;
  /** The words before the one at the cursor, without quotes. */
  words: string[];
  /** The one at the cursor, as far as it was typed, without its quote. */
  current: string;
  quote: string;
}

/**
 * `forge complete --shell=NAME --current=WORD -- WORDS…`: what a shell's script asks at each TAB, with the words in front
 * of the one at the cursor. The first line of the answer says what follows (`words`;
 * `open`: without a space behind; `files`, `folders`: the shell's own), each other one is a candidate. Errors are not printed: they would end up in the middle of a command line.
 */
export async function runComplete(io: Io, argv: readonly string[]): Promise<number> {
  io.deadline?.(DEADLINE);
  try {
    const request = readRequest(argv);
    if (!request) return 0;
    const offer = await offerAt(inFull(request.words), request.current, lookUpIn(io));
    io.stdout.write([kindOf(offer), ...linesOf(offer, request)].map((line) => `${line}\n`).join(''));
  } catch {
    // Then nothing is completed.
  }
  return 0;
}

function readRequest(argv: readonly string[]): Request | null {
  const end = argv.indexOf('--');
  const given = argv.slice(0, end).map((word) => /^--(\w+)=(.*)$/s.exec(word) ?? []);
  const read = (name: string): string => given.find(([, key]) => key === name)?.[2] ?? '';
  const shell = SHELLS.find((name) => name === read('shell'));
  if (!shell || end < 0) return null;
  const words = argv.slice(end + 1);
  const [, quote = '', current = ''] = /^(['"]?)(.*)$/s.exec(read('current')) ?? [];
  return { shell, words: shell === 'bash' ? words.flatMap(bashWord) : words, current, quote };
}

/** Bash leaves quotes in a word, and makes words of its own of `=` and `:`. */
const bashWord = (word: string): string[] =>
  word === '=' || word === ':' ? [] : [word.replace(/\\(.)|['"]/gs, '$1')];

function lookUpIn(io: Io): LookUp {
  return async (kind, before, dir) => {
    const { liveValues, systemWorld } = await import('../index.js');
    const wanted = dir?.replace(/^~(?=\/|$)/, () => io.env.HOME ?? '~') ?? (io.env.FORGE_DIR || '.');
    const folder = isAbsolute(wanted) ? wanted : resolve(io.cwd(), wanted);
    return liveValues(folder.replace(/[\\/]\.forge$/, ''), kind, before, {
      world: io.world ?? systemWorld(io.env, false),
    });
  };
}

const kindOf = ({ paths, isOpen }: Offer): string => paths ?? (isOpen ? 'open' : 'words');

/**
 * Words that every shell takes for themselves. Others are not offered: what an id or a name holds, which may have come with a
 * clone, must never be run or expanded.
 */
const PLAIN = /^-{0,2}[\p{L}\p{N}][\p{L}\p{M}\p{N}_./:=@%+-]*$/u;

function linesOf({ candidates }: Offer, { shell, current, quote }: Request): string[] {
  const known = [...new Set(candidates.filter((value) => PLAIN.test(value)))];
  // zsh and fish choose by themselves, and not by the beginning alone.
  const isMuch = known.length > MOST || shell === 'bash' || shell === 'powershell';
  const all = (isMuch ? known.filter((value) => value.startsWith(current)) : known).slice(0, MOST);
  return shell === 'bash' ? all.map((value) => quote + value) : all;
}

/** What may stand at the cursor. */
interface Offer {
  candidates: string[];
  /** Names of files are the shell's to complete. */
  paths: 'files' | 'folders' | null;
  /** Something has to follow at once: no space. */
  isOpen: boolean;
}

/** Ids and names that exist, in the folder that -C names. */
type LookUp = (kind: LiveKind, before: readonly string[], dir: string | undefined) => Promise<string[]>;

const NOTHING: Offer = { candidates: [], paths: null, isOpen: false };

/** Where in a command the cursor is. */
interface Place {
  /** The group's name; null before it was typed. */
  group: string | null;
  commands: readonly CommandSpec[];
  spec: CommandSpec | null;
  args: string[];
  /** Names of options that were given. */
  given: Set<string>;
  /** The option whose value comes next. */
  waits: OptionSpec | null;
  /** After `--`, or after the program that a command is to run, no word is an option. */
  isLiteral: boolean;
  dir: string | undefined;
}

/** Derived from the specs alone, so that a new command or flag completes by itself. */
async function offerAt(words: readonly string[], current: string, lookUp: LookUp): Promise<Offer> {
  if (words[0] === 'help') return helpWords(words.slice(1));
  const place = await walk(words);
  if (!place) return NOTHING;
  const find = (values: Values): Promise<Offer> => offerValues(values, place, lookUp);
  const flag = place.waits && flagOf(place.waits);
  if (place.waits && flag && !flag.optional) return find(valuesOf(place.waits.values, flag.value, place));
  if (current.startsWith('-') && !place.isLiteral) return offerOption(current, place, find);
  const own = await offerWord(place, current, find);
  if (!place.waits || !flag) return own;
  const named = await find(valuesOf(place.waits.values, flag.value, place));
  return { ...own, candidates: [...named.candidates, ...own.candidates] };
}

async function helpWords(words: readonly string[]): Promise<Offer> {
  if (words.length > 1) return NOTHING;
  const entry = GROUPS.find(({ name }) => name === words[0]);
  if (entry) return { ...NOTHING, candidates: named(others(await load(entry.name), entry.name)) };
  if (words.length === 1) return NOTHING;
  return {
    ...NOTHING,
    candidates: [...groups(), ...TOPICS.map(([name]) => name), 'topics'],
  };
}

const groups = (): string[] => [
  ...GROUPS.filter(({ heading }) => heading !== null).map(({ name }) => name),
  ...Object.keys(SHORT_WAYS),
  'version',
];

const named = (specs: readonly CommandSpec[]): string[] => specs.map(({ name }) => name);

/** The commands below a group's name. */
const others = (commands: readonly CommandSpec[], group: string | null): CommandSpec[] =>
  commands.filter(({ name }) => name !== group);

async function load(name: string): Promise<readonly CommandSpec[]> {
  const entry = GROUPS.find((candidate) => candidate.name === name);
  return ((await entry?.load())?.group.commands ?? []) as unknown as CommandSpec[];
}

/** Null after a word that is no command. */
async function walk(words: readonly string[]): Promise<Place | null> {
  const place: Place = {
    group: null,
    commands: [],
    spec: null,
    args: [],
    given: new Set(),
    waits: null,
    isLiteral: false,
    dir: undefined,
  };
  for (const word of words) {
    if (place.waits && !(flagOf(place.waits).optional && word.startsWith('-'))) takeValue(place, word);
    else if (word === '--' && !place.isLiteral) place.isLiteral = true;
    else if (word.startsWith('-') && !place.isLiteral) takeOption(place, word);
    else if (place.group === null) {
      place.group = word;
      place.commands = await load(word);
      if (place.commands.length === 0) return null;
      place.spec = place.commands.find(({ name }) => name === word) ?? null;
    } else if (!takeWord(place, word)) return null;
  }
  return place;
}

function takeValue(place: Place, word: string): void {
  if (place.waits && flagOf(place.waits).names.includes('-C')) place.dir = word;
  place.waits = null;
}

function takeOption(place: Place, word: string): void {
  const [name = '', value] = word.split(/=(.*)/s);
  const option = known(place).find((candidate) => flagOf(candidate).names.includes(name));
  if (!option) return;
  const flag = flagOf(option);
  for (const each of flag.names) place.given.add(each);
  place.waits = flag.value !== null && value === undefined ? option : null;
  if (flag.names.includes('-C') && value !== undefined) place.dir = value;
}

/** False for what no command has. */
function takeWord(place: Place, word: string): boolean {
  const below = others(place.commands, place.group).find(({ name }) => name === word);
  if (below && place.args.length === 0 && !place.isLiteral && !isBelow(place)) place.spec = below;
  else if (place.spec) place.args.push(word);
  else return false;
  if (place.spec.runs) place.isLiteral = place.args.length > 0;
  return true;
}

/** A command of the group was named already. */
const isBelow = ({ spec, group }: Place): boolean => spec !== null && spec.name !== group;

const known = ({ spec }: Place): OptionSpec[] => [
  ...(spec ? optionsOf(spec) : []),
  ...GLOBAL_OPTIONS,
  HELP_OPTION,
];

type Find = (values: Values) => Promise<Offer>;

/** `--flag`, or the value in `--flag=value`. */
async function offerOption(current: string, place: Place, find: Find): Promise<Offer> {
  const [name = '', value] = current.split(/=(.*)/s);
  if (value === undefined)
    return { ...NOTHING, candidates: flags(place, current.startsWith('--') || current === '-') };
  const option = known(place).find((candidate) => flagOf(candidate).names.includes(name));
  const flag = option && flagOf(option);
  if (!option || !flag || flag.value === null) return NOTHING;
  const offer = await find(valuesOf(option.values, flag.value, place));
  return {
    ...offer,
    candidates: offer.candidates.map((each) => `${name}=${each}`),
  };
}

function flags(place: Place, isLong: boolean): string[] {
  return known(place).flatMap((option) => {
    const { names } = flagOf(option);
    if (!option.many && names.some((name) => place.given.has(name))) return [];
    return names.filter((name) => name.startsWith('--') === isLong);
  });
}

/** A command's name, an argument; where neither can stand, a flag. */
async function offerWord(place: Place, current: string, find: Find): Promise<Offer> {
  if (place.group === null) return { ...NOTHING, candidates: [...groups(), 'help'] };
  const isFirst = place.args.length === 0 && !place.isLiteral && !isBelow(place);
  const below = isFirst ? named(others(place.commands, place.group)) : [];
  const argument = argumentAt(place);
  if (argument !== null) {
    const values = valuesOf(place.spec?.values?.[argument], argument, place);
    const offer = await find(values);
    return { ...offer, candidates: [...below, ...offer.candidates] };
  }
  if (below.length > 0 || place.isLiteral || current !== '') return { ...NOTHING, candidates: below };
  return { ...NOTHING, candidates: flags(place, true) };
}

/** The name of the argument that comes next: a last one with dots takes all there are. */
function argumentAt({ spec, args }: Place): string | null {
  const all = spec?.args ?? [];
  const last = all.at(-1);
  const next = all[args.length] ?? (last?.includes('...') ? last : undefined);
  return next?.replace(/[^\w-]/g, '') ?? null;
}

const BY_NAME: Readonly<Record<string, Values>> = {
  file: { paths: 'files' },
  path: { paths: 'files' },
  command: { paths: 'files' },
  dir: { paths: 'folders' },
  tag: { live: ['checkpoint'] },
  'kfr-id': { live: ['kfr'] },
};

function valuesOf(given: Values | undefined, name: Flag['value'], { group }: Place): Values {
  if (given) return given;
  // The id of what the group is about. Whatever nothing is known of offers nothing.
  if (name === 'id' || name === 'ids') return { live: [group as LiveKind] };
  return BY_NAME[name ?? ''] ?? {};
}

async function offerValues(values: Values, { args, dir }: Place, lookUp: LookUp): Promise<Offer> {
  const { words = [], live = [], paths = null, mark = '' } = values;
  const found = await Promise.all(live.map((kind) => lookUp(kind, args, dir)));
  // What begins with a dash would be taken for an option.
  const all = [...found.flat().filter((value) => !value.startsWith('-')), ...words];
  return {
    candidates: all.map((value) => `${value}${mark}`),
    paths,
    isOpen: mark !== '',
  };
}
