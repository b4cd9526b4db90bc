import type { LiveKind } from '../index.js';
import { GROUPS, TOPICS } from './groups.js';
import { type Flag, flagOf, GLOBAL_OPTIONS, HELP_OPTION, optionsOf } from './options.js';
import type { CommandSpec, OptionSpec, Values } from './spec.js';

/** What may stand at the cursor. */
export interface Offer {
  candidates: string[];
  /** Names of files are the shell's to complete. */
  paths: 'files' | 'folders' | null;
  /** Something has to follow at once: no space. */
  isOpen: boolean;
}

/** Ids and names that exist, in the folder that -C names. */
export type LookUp = (
  kind: LiveKind,
  before: readonly string[],
  dir: string | undefined,
) => Promise<string[]>;

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
export async function offerAt(words: readonly string[], current: string, lookUp: LookUp): Promise<Offer> {
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

const groups = (): string[] => GROUPS.filter(({ heading }) => heading !== null).map(({ name }) => name);

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
