import { usage } from '../../core/error.js';
import { namesLike, oneLine } from '../../core/text.js';
import { FIRST_PAGE, GROUPS, type GroupEntry, SHORT_WAYS, summaryOf, TOPICS } from '../groups.js';
import { CONFIRMING, GLOBAL_OPTIONS, HELP_OPTION, helpOf, optionsOf } from '../options.js';
import type { CommandSpec, Group, OptionSpec, Values } from '../spec.js';
import { ABOUT, type About } from './about.js';
import { fill, fillCommand, rows } from './layout.js';
import { firstWords, topicIdea, topicPage } from './topic.js';

/**
 * `forge help WORDS`: a command, a group of commands or a topic; both where they have one name. Exit 2 for what is neither.
 */
export async function helpFor(words: readonly string[], width: number): Promise<string> {
  const [word, ...rest] = words;
  if (word === undefined || word === 'help') return mainPage(width);
  if (word === '--all') return wholePage(width);
  if (word === 'topics') return topicsPage(width);
  if (rest.length > 0 || !isTopic(word)) return commandHelp(words, width);
  const isCommand = GROUPS.some(({ name }) => name === word);
  return isCommand ? commandHelp(words, width, await topicIdea(word, width)) : topicPage(word, width);
}

/** The page of a command; without `idea` only the first words about what it is for. */
export async function commandHelp(words: readonly string[], width: number, idea = ''): Promise<string> {
  const [word = '', subword] = words;
  if (words.length === 0) return mainPage(width);
  const entry = GROUPS.find(({ name }) => name === word);
  if (!entry) throw unknown(word, [...GROUPS, ...TOPICS.map(([name]) => ({ name }))]);
  const { group } = await entry.load();
  const specs = group.commands as unknown as CommandSpec[];
  const own = specs.find(({ name }) => name === entry.name);
  if (subword === undefined)
    return own ? commandPage(entry, group, own, { width, idea }) : groupPage(entry, group, { width, idea });
  const spec = specs.find(({ name }) => name === subword && name !== entry.name);
  if (!spec || words.length > 2) throw unknown(words.slice(1).join(' '), specs, entry.name);
  return commandPage(entry, group, spec, { width, idea });
}

/** `group`: below which it was sought. Names like it are offered. */
function unknown(word: string, known: readonly { name: string }[], group = ''): Error {
  const words = [group, oneLine(word, 60)].filter(Boolean).join(' ');
  const near = namesLike(
    word,
    known.map(({ name }) => name),
  ).slice(0, 3);
  const [help, ...others] = near.map((name) => ['forge help', group, name].filter(Boolean).join(' '));
  return usage('help.unknown', `There is no command or topic ${JSON.stringify(words)}.`, {
    hint: help
      ? `Did you mean ${[help, ...others].join(', or ')}?`
      : ['forge help', group].filter(Boolean).join(' '),
  });
}

type Pairs = (readonly [string, string])[];

const HEADINGS = ['Start', 'Every day', 'What is known', 'Set-up'] as const;

const HEAD = [
  'Usage: forge [options] <command>',
  'A memory that long-running coding agents and their teams can trust, in .forge/. forge alone says where you stand.',
] as const;

/** `forge help`: what most people type. */
const mainPage = (width: number): string =>
  sections([
    fill(HEAD[0], width, HANGING),
    fill(HEAD[1], width),
    ...FIRST_PAGE.map(([heading, names]) =>
      section(
        heading,
        names.map((name) => [name, summaryOf(name)]),
        width,
        COLUMN,
      ),
    ),
    section('More', MORE, width),
  ]);

const MORE: Pairs = [
  ['forge help --all', 'every command, option and topic'],
  ['forge help COMMAND', 'what a command does, with an example'],
  ['forge prime', 'the work with forge in a few lines, for an agent that has a shell alone'],
];

/** `forge help --all`: every command on one page. */
function wholePage(width: number): string {
  return sections([
    fill(HEAD[0], width, HANGING),
    fill(HEAD[1], width),
    ...HEADINGS.map((heading) => section(heading, groupsUnder(heading), width, COLUMN)),
    section('Short ways', SHORT_ROWS, width, COLUMN),
    section('Options of every command', optionRows([...GLOBAL_OPTIONS, VERSION, HELP_OPTION]), width),
    `Topics:\n${fill(TOPICS.map(([name]) => name).join(', '), width, INDENTED)}`,
    fill('forge help COMMAND or TOPIC explains one of them; forge help topics says what these are.', width),
  ]);
}

const SHORT_ROWS: Pairs = [
  ...Object.entries(SHORT_WAYS).map(([name, { words }]) => [name, `forge ${words.join(' ')}`] as const),
  ['version', 'forge --version'],
];

const VERSION: OptionSpec = { flags: '-V, --version', help: 'show the version' };
/** `forge help topics` */
const topicsPage = (width: number): string =>
  sections([section('Topics', [...TOPICS], width), fill('forge help TOPIC explains one of them.', width)]);

/** All names of commands in one column. */
const COLUMN = Math.max(...GROUPS.map(({ name }) => name.length));
const HANGING = { first: '', rest: '         ' };
const INDENTED = { first: '  ', rest: '  ' };

const groupsUnder = (wanted: (typeof HEADINGS)[number]): Pairs =>
  GROUPS.filter(({ heading }) => heading === wanted).map(({ name, summary }) => [name, summary]);

const sections = (parts: readonly string[]): string => `${parts.filter(Boolean).join('\n\n')}\n`;

const section = (title: string, pairs: Pairs, width: number, column = 0): string =>
  pairs.length === 0 ? '' : `${title}:\n${rows(pairs, width, column)}`;

interface Page {
  width: number;
  /** The topic of the same name, laid out; empty: only its first words are shown. */
  idea: string;
}

/** What a group's help leads on to, but for the topic of its own name. */
const others = (name: string): string[] => (ABOUT[name]?.see ?? []).filter((other) => other !== name);

/** The commands of one word. */
function groupPage(entry: GroupEntry, group: Group, { width, idea }: Page): string {
  const specs = specsOf(group);
  const see = idea === '' ? (ABOUT[entry.name]?.see ?? []) : others(entry.name);
  return sections([
    fill(`Usage: forge ${entry.name} <command>`, width, HANGING),
    fill(`${entry.summary}.`, width),
    idea || fill(textOf(entry.name), width),
    section('Commands', commandRows(specs), width),
    fill(`forge help ${entry.name} COMMAND explains one of them.`, width),
    seeAlso(see, width),
  ]);
}

const textOf = (name: string): string => ABOUT[name]?.text ?? (isTopic(name) ? firstWords(name) : '');

const isTopic = (word: string): boolean => TOPICS.some(([name]) => name === word);

const specsOf = (group: Group): CommandSpec[] => [...(group.commands as unknown as CommandSpec[])];

const commandRows = (specs: readonly CommandSpec[]): Pairs =>
  specs.map((spec) => [[spec.name, ...(spec.args ?? [])].join(' '), spec.summary]);

/** One command. Where others stand below its name they are listed, too. */
function commandPage(entry: GroupEntry, group: Group, spec: CommandSpec, { width, idea }: Page): string {
  const isOwn = spec.name === entry.name;
  const full = isOwn ? entry.name : `${entry.name} ${spec.name}`;
  const about = ABOUT[full];
  const below = isOwn ? specsOf(group).filter((other) => other !== spec) : [];
  const see = [...(isOwn ? [] : [entry.name]), ...(about?.see ?? others(entry.name))];
  const usage = ['Usage: forge', full === 'where' ? '' : full, '[options]', ...(spec.args ?? [])];
  return sections([
    fill(usage.join(' '), width, HANGING),
    fill(`${spec.summary}.`, width),
    idea || fill(textOf(full), width),
    section('Commands', commandRows(below), width),
    section('Arguments', argumentRows(spec), width),
    section(
      'Options',
      optionRows([...optionsOf(spec), ...(spec.confirms ? [CONFIRMING] : []), HELP_OPTION]),
      width,
    ),
    `Example:\n${[spec.example, ...(about?.examples ?? [])].map((line) => fillCommand(line, width, '  ')).join('\n')}`,
    section('Exit codes', exitRows(about), width),
    seeAlso(isOwn && idea === '' ? (about?.see ?? []) : see.filter((name) => name !== full), width),
  ]);
}

const optionRows = (options: readonly OptionSpec[]): Pairs =>
  options.map((option) => [option.flags, helpOf(option)]);

/** Those of which only some words are taken. */
const argumentRows = ({ args = [], values = {} }: CommandSpec): Pairs =>
  args.flatMap((argument) => {
    const words = (values[argument.replace(/[^\w-]/g, '')] as Values | undefined)?.words;
    return words ? [[argument, oneOf(words)] as const] : [];
  });

const oneOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

const exitRows = (about: About | undefined): Pairs => [
  ['0', 'done'],
  ...Object.entries(about?.exits ?? {}),
  ['else', 'forge help exit-codes'],
];

const seeAlso = (names: readonly string[], width: number): string =>
  names.length === 0
    ? ''
    : `See also:\n${fill(names.map((name) => `forge help ${name}`).join(', '), width, INDENTED)}`;
