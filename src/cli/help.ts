import { passedVariables } from '../core/environment.js';
import { usage } from '../core/error.js';
import { namesLike, oneLine } from '../core/text.js';
import { defaultSettings, topicText } from '../index.js';
import { ABOUT, ENVIRONMENT_HELP, EXIT_CODE_HELP, EXITS, TOPICS } from './about.js';
import { GROUPS, type GroupEntry, SHORT_WAYS, specsOf, summaryOf } from './groups.js';
import {
  CONFIRMING,
  type CommandSpec,
  GLOBAL_OPTIONS,
  HELP_OPTION,
  helpOf,
  type OptionSpec,
  optionsOf,
} from './spec.js';
import { wrapBehind } from './style.js';

/** `forge help WORDS`: a command, a group or a topic; both for a common name. Exit 2 for an unknown word. */
export async function helpFor(words: readonly string[], width: number): Promise<string> {
  const [word, ...rest] = words;
  if (word === undefined || word === 'help') return wrap(mainPage(), width);
  if (word === '--all') return wrap(wholePage(), width);
  if (word === 'topics')
    return wrap(sections([section('Topics', TOPICS), 'forge help TOPIC explains one of them.']), width);
  if (rest.length > 0 || !isTopic(word)) return commandHelp(words, width);
  if (GROUPS.some(({ name }) => name === word))
    return commandHelp(words, width, await layOut(blocksOf(word).slice(1)));
  return wrap(await layOut(blocksOf(word)), width);
}

/** `topic`: the whole text of the topic of that name, instead of its first paragraph. */
export async function commandHelp(words: readonly string[], width: number, topic = ''): Promise<string> {
  const [word, subword] = words;
  if (word === undefined) return wrap(mainPage(), width);
  const entry = GROUPS.find(({ name }) => name === word);
  if (!entry) throw unknown(word, [...GROUPS.map(({ name }) => name), ...TOPICS.map(([name]) => name)]);
  const specs = await specsOf(word);
  const own = specs.find(({ name }) => name === entry.name);
  const others = specs.filter((spec) => spec !== own);
  if (subword === undefined && !own) return wrap(groupPage(entry, specs, topic), width);
  const spec = subword === undefined ? own : others.find(({ name }) => name === subword);
  const names = specs.map(({ name }) => name);
  if (!spec || words.length > 2) throw unknown(words.slice(1).join(' '), names, entry.name);
  return wrap(commandPage(entry, spec, { below: spec === own ? others : [], topic }), width);
}

/** A term before its meaning, or the mark before the text of a list or of the usage. */
const LEAD = /^(?:( {2}\S(?:.*?\S)?) {2,}(?=\S)|Usage: | *(?:- )?)/;
/** A narrower column is hard to read, so the meaning is then printed below its term. */
const MIN_COLUMN = 24;

/** Breaks at spaces. A word that is too long is not broken, nor is a command, which is indented by two. */
function wrap(page: string, width: number): string {
  const wrapLine = (line: string): string => {
    const [lead = '', term] = LEAD.exec(line) ?? [];
    if (term === undefined && /^ {2}\S/.test(line)) return line;
    const text = line.slice(lead.length);
    if (term !== undefined && width - lead.length < MIN_COLUMN)
      return `${wrapBehind('  ', term.trim(), width)}\n${wrapBehind('      ', text, width)}`;
    return line.length <= width ? line : wrapBehind(lead, text, width);
  };
  return `${page.split('\n').map(wrapLine).join('\n')}\n`;
}

function unknown(word: string, known: readonly string[], group = ''): Error {
  const command = (name: string): string => ['forge help', group, name].filter(Boolean).join(' ');
  const near = new Set(namesLike(word, known).map(command));
  const words = [group, oneLine(word, 60)].filter(Boolean).join(' ');
  return usage('help.unknown', `There is no command or topic ${JSON.stringify(words)}.`, {
    hint: [...near].slice(0, 3).join('\n') || command(''),
  });
}

type Pairs = readonly (readonly [term: string, text: string])[];

const HEADINGS = ['Start', 'Every day', 'What is known', 'Set-up'] as const;
const PURPOSE =
  'A memory that long-running coding agents and their teams can trust, in .forge/. Without a command forge shows where you stand.';
const COLUMN = Math.max(...GROUPS.map(({ name }) => name.length));
const VERSION: OptionSpec = { flags: '-V, --version', help: 'show the version' };

/** The commands on the first page of help. `forge help --all` lists all of them. */
const FIRST_PAGE: readonly (readonly [heading: string, names: readonly string[]])[] = [
  ['Every day', ['init', 'start', 'log', 'feature', 'done', 'learn', 'end']],
  ['Look', ['status', 'recall', 'ui', 'kfr', 'memory']],
  ['Keep, and go back', ['checkpoint', 'recover', 'undo', 'commit']],
  ['Set up', ['agent', 'doctor']],
];

const mainPage = (): string =>
  sections([
    'Usage: forge [options] <command>',
    PURPOSE,
    ...FIRST_PAGE.map(([heading, names]) => {
      const pairs = names.map((name) => [name, summaryOf(name)] as const);
      return section(heading, pairs, COLUMN);
    }),
    section('More', [
      ['forge help --all', 'the first word of every command, and the topics'],
      ['forge help COMMAND', 'what a command does, with an example'],
      ['forge prime', 'the workflow in a few lines, for an agent with only a shell'],
    ]),
  ]);

function wholePage(): string {
  const under = (wanted: GroupEntry['heading']): Pairs =>
    GROUPS.filter(({ heading }) => heading === wanted).map(({ name, summary }) => [name, summary]);
  const short: Pairs = [
    ...Object.entries(SHORT_WAYS).map(([name, { words }]) => [name, `forge ${words.join(' ')}`] as const),
    ['version', 'forge --version'],
  ];
  return sections([
    'Usage: forge [options] <command>',
    PURPOSE,
    ...HEADINGS.map((heading) => section(heading, under(heading), COLUMN)),
    section('Short ways', short, COLUMN),
    section('Options of every command', optionRows([...GLOBAL_OPTIONS, VERSION, HELP_OPTION])),
    `Topics: ${TOPICS.map(([name]) => name).join(', ')}.`,
    'forge help COMMAND or TOPIC explains one of them; forge help topics lists the topics.',
  ]);
}

const groupPage = ({ name, summary }: GroupEntry, specs: readonly CommandSpec[], topic: string): string =>
  sections([
    `Usage: forge ${name} <command>`,
    `${summary}.`,
    topic || textOf(name),
    section('Commands', commandRows(specs)),
    `forge help ${name} COMMAND explains one of them.`,
  ]);

/** `below`: the commands that follow the name of this one. */
function commandPage(
  entry: GroupEntry,
  spec: CommandSpec,
  { below, topic }: { below: readonly CommandSpec[]; topic: string },
): string {
  const isOwn = spec.name === entry.name;
  const full = isOwn ? entry.name : `${entry.name} ${spec.name}`;
  const short = Object.keys(SHORT_WAYS).find((name) => SHORT_WAYS[name]?.words.join(' ') === full);
  const usage = ['Usage: forge', full === 'where' ? '' : full, '[options]', ...(spec.args ?? [])];
  if (short && short !== 'completion') usage.push(` (short: forge ${short})`);
  const options = [...optionsOf(spec), ...(spec.confirms ? [CONFIRMING] : []), HELP_OPTION];
  return sections([
    usage.filter(Boolean).join(' '),
    `${spec.summary}.`,
    topic || textOf(full),
    section('Commands', commandRows(below)),
    section('Arguments', argumentRows(spec)),
    section('Options', optionRows(options)),
    `Example:\n  ${spec.example}`,
    section('Exit codes', [
      ['0', 'done'],
      ...Object.entries(EXITS[full] ?? {}),
      ['else', 'forge help exit-codes'],
    ]),
  ]);
}

const isTopic = (word: string): boolean => TOPICS.some(([name]) => name === word);

/** The first paragraph of a command's page: its own, or that of the topic of its name. */
const textOf = (name: string): string =>
  ABOUT[name] ?? (isTopic(name) ? joinLines(blocksOf(name)[1] ?? '') : '');

const commandRows = (specs: readonly CommandSpec[]): Pairs =>
  specs.map((spec) => [[spec.name, ...(spec.args ?? [])].join(' '), spec.summary]);

const optionRows = (options: readonly OptionSpec[]): Pairs =>
  options.map((option) => [option.flags, helpOf(option)]);

/** The arguments that take only certain words. */
const argumentRows = ({ args = [], values = {} }: CommandSpec): Pairs =>
  args.flatMap((argument) => {
    const { words = [] } = values[argument.replace(/[^\w-]/g, '')] ?? {};
    return words.length > 0 ? [[argument, words.join(', ').replace(/, ([^,]*)$/, ' or $1')] as const] : [];
  });

const TABLES: Record<string, () => Promise<Pairs> | Pairs> = {
  '{{exit-codes}}': () => EXIT_CODE_HELP,
  '{{environment}}': () => ENVIRONMENT_HELP,
  '{{passed}}': passedVariables,
  '{{settings}}': async () =>
    (await defaultSettings()).map(
      ({ name, value }) => [name, JSON.stringify(value).replaceAll('","', '", "')] as const,
    ),
};

/** The paragraphs of `templates/topics/TOPIC.md`. The first one is the title. */
const blocksOf = (topic: string): string[] =>
  topicText(topic)
    .replace(/^# /, '')
    .trim()
    .split(/\n{2,}/);

const joinLines = (block: string): string => block.replace(/\s+/g, ' ').trim();

/** The blocks as written. A placeholder becomes its table. */
const layOut = async (blocks: readonly string[]): Promise<string> =>
  (
    await Promise.all(blocks.map(async (block) => (TABLES[block] ? rows(await TABLES[block]()) : block)))
  ).join('\n\n');

const sections = (parts: readonly string[]): string => parts.filter(Boolean).join('\n\n');

const section = (title: string, pairs: Pairs, column = 0): string =>
  pairs.length === 0 ? '' : `${title}:\n${rows(pairs, column)}`;

function rows(pairs: Pairs, least = 0): string {
  const column = 2 + Math.max(least, ...pairs.map(([term]) => term.length)) + 2;
  return pairs.map(([term, text]) => `${`  ${term}`.padEnd(column)}${text}`.trimEnd()).join('\n');
}
