import { usage } from '../core/error.js';
import { namesLike, oneLine } from '../core/text.js';
import { defaultSettings, topicText } from '../index.js';
import { ABOUT } from './about.js';
import {
  ENVIRONMENT_HELP,
  EXIT_CODE_HELP,
  FIRST_PAGE,
  GROUPS,
  type GroupEntry,
  SHORT_WAYS,
  specsOf,
  summaryOf,
  TOPICS,
} from './groups.js';
import { CONFIRMING, GLOBAL_OPTIONS, HELP_OPTION, helpOf, optionsOf } from './options.js';
import type { CommandSpec, OptionSpec } from './spec.js';

/** `forge help WORDS`: a command, a group or a topic; both for a common name. Exit 2 for an unknown word. */
export async function helpFor(words: readonly string[], width: number): Promise<string> {
  const [word, ...rest] = words;
  if (word === undefined || word === 'help') return mainPage(width);
  if (word === '--all') return wholePage(width);
  if (word === 'topics')
    return sections([
      section('Topics', TOPICS, width),
      fill('forge help TOPIC explains one of them.', width),
    ]);
  if (rest.length > 0 || !isTopic(word)) return commandHelp(words, width);
  if (GROUPS.some(({ name }) => name === word))
    return commandHelp(words, width, await layOut(blocksOf(word).slice(1), width));
  return `${await layOut(blocksOf(word), width)}\n`;
}

/** `topic`: the whole text of the topic of that name, instead of its first paragraph. */
export async function commandHelp(words: readonly string[], width: number, topic = ''): Promise<string> {
  const [word, subword] = words;
  if (word === undefined) return mainPage(width);
  const entry = GROUPS.find(({ name }) => name === word);
  if (!entry) throw unknown(word, [...GROUPS.map(({ name }) => name), ...TOPICS.map(([name]) => name)]);
  const specs = await specsOf(word);
  const own = specs.find(({ name }) => name === entry.name);
  const others = specs.filter((spec) => spec !== own);
  const page = { entry, width, topic };
  if (subword === undefined) return own ? commandPage(page, own, others) : groupPage(page, specs);
  const spec = others.find(({ name }) => name === subword);
  if (spec && words.length === 2) return commandPage(page, spec, []);
  const names = specs.map(({ name }) => name);
  throw unknown(words.slice(1).join(' '), names, entry.name);
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
/** Aligns the texts of all commands. */
const COLUMN = Math.max(...GROUPS.map(({ name }) => name.length));
const VERSION: OptionSpec = { flags: '-V, --version', help: 'show the version' };

function mainPage(width: number): string {
  return sections([
    fill('Usage: forge [options] <command>', width, USAGE),
    fill(PURPOSE, width),
    ...FIRST_PAGE.map(([heading, names]) =>
      section(
        heading,
        names.map((name) => [name, summaryOf(name)]),
        width,
        COLUMN,
      ),
    ),
    section(
      'More',
      [
        ['forge help --all', 'every command, option and topic'],
        ['forge help COMMAND', 'what a command does, with an example'],
        ['forge prime', 'the workflow in a few lines, for an agent with only a shell'],
      ],
      width,
    ),
  ]);
}

function wholePage(width: number): string {
  const under = (wanted: GroupEntry['heading']): Pairs =>
    GROUPS.filter(({ heading }) => heading === wanted).map(({ name, summary }) => [name, summary]);
  const short: Pairs = [
    ...Object.entries(SHORT_WAYS).map(([name, { words }]) => [name, `forge ${words.join(' ')}`] as const),
    ['version', 'forge --version'],
  ];
  return sections([
    fill('Usage: forge [options] <command>', width, USAGE),
    fill(PURPOSE, width),
    ...HEADINGS.map((heading) => section(heading, under(heading), width, COLUMN)),
    section('Short ways', short, width, COLUMN),
    section('Options of every command', optionRows([...GLOBAL_OPTIONS, VERSION, HELP_OPTION]), width),
    `Topics:\n${fill(TOPICS.map(([name]) => name).join(', '), width, INDENTED)}`,
    fill('forge help COMMAND or TOPIC explains one of them; forge help topics lists the topics.', width),
  ]);
}

interface Page {
  entry: GroupEntry;
  width: number;
  topic: string;
}

function groupPage({ entry: { name, summary }, width, topic }: Page, specs: readonly CommandSpec[]): string {
  return sections([
    fill(`Usage: forge ${name} <command>`, width, USAGE),
    fill(`${summary}.`, width),
    topic || fill(textOf(name), width),
    section('Commands', commandRows(specs), width),
    fill(`forge help ${name} COMMAND explains one of them.`, width),
    seeAlso(topic === '' ? (ABOUT[name]?.see ?? []) : linksOf(name), width),
  ]);
}

/** `below`: the commands that follow the name of this one. */
function commandPage(
  { entry, width, topic }: Page,
  spec: CommandSpec,
  below: readonly CommandSpec[],
): string {
  const isOwn = spec.name === entry.name;
  const full = isOwn ? entry.name : `${entry.name} ${spec.name}`;
  const about = ABOUT[full];
  const usage = ['Usage: forge', full === 'where' ? '' : full, '[options]', ...(spec.args ?? [])];
  const options = [...optionsOf(spec), ...(spec.confirms ? [CONFIRMING] : []), HELP_OPTION];
  const see = isOwn ? (about?.see ?? []) : [entry.name, ...linksOf(entry.name)];
  return sections([
    fill(usage.join(' '), width, USAGE),
    fill(`${spec.summary}.`, width),
    topic || fill(textOf(full), width),
    section('Commands', commandRows(below), width),
    section('Arguments', argumentRows(spec), width),
    section('Options', optionRows(options), width),
    `Example:\n${[spec.example, ...(about?.examples ?? [])].map((line) => fillCommand(line, width, '  ')).join('\n')}`,
    section(
      'Exit codes',
      [['0', 'done'], ...Object.entries(about?.exits ?? {}), ['else', 'forge help exit-codes']],
      width,
    ),
    seeAlso(topic === '' ? see : see.filter((name) => name !== full), width),
  ]);
}

const isTopic = (word: string): boolean => TOPICS.some(([name]) => name === word);

/** The first paragraph of a command's page: its own, or that of the topic of its name. */
const textOf = (name: string): string =>
  ABOUT[name]?.text ?? (isTopic(name) ? (blocksOf(name)[1] ?? '') : '');

const linksOf = (name: string): string[] => (ABOUT[name]?.see ?? []).filter((other) => other !== name);

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

const seeAlso = (names: readonly string[], width: number): string =>
  names.length === 0
    ? ''
    : `See also:\n${fill(names.map((name) => `forge help ${name}`).join(', '), width, INDENTED)}`;

/** Tables that a topic includes by name. */
const TABLES: Record<string, () => Promise<Pairs> | Pairs> = {
  '{{exit-codes}}': () => EXIT_CODE_HELP,
  '{{environment}}': () => ENVIRONMENT_HELP,
  '{{settings}}': async () =>
    (await defaultSettings()).map(
      ({ name, value }) => [name, JSON.stringify(value).replaceAll('","', '", "')] as const,
    ),
};

/** The paragraphs of `templates/topics/TOPIC.md`. The first one is the title. */
const blocksOf = (topic: string): string[] =>
  topicText(topic)
    .trim()
    .split(/\n{2,}/);

async function layOut(blocks: readonly string[], width: number): Promise<string> {
  return (await Promise.all(blocks.map((block) => layOutBlock(block, width)))).join('\n\n');
}

/** A table, a title, a list, a paragraph, or lines indented by four: commands, or terms with their meaning. */
async function layOutBlock(block: string, width: number): Promise<string> {
  const table = TABLES[block.trim()];
  if (table) return rows(await table(), width);
  if (block.startsWith('# ')) return fill(block.slice(2), width);
  const lines = block.split('\n').map((line) => line.trim());
  if (block.startsWith('    '))
    return lines.some((line) => / {2,}\S/.test(line))
      ? rows(
          lines.map((line) => {
            const [term = '', text = ''] = line.split(/ {2,}(.*)/s);
            return [term, text];
          }),
          width,
        )
      : lines.map((line) => fillCommand(line, width, '  ')).join('\n');
  if (block.startsWith('- '))
    return block
      .split(/\n(?=- )/)
      .map((item) => fill(item.slice(2), width, { first: '- ', rest: '  ' }))
      .join('\n');
  return fill(block, width);
}

const sections = (parts: readonly string[]): string => `${parts.filter(Boolean).join('\n\n')}\n`;

const section = (title: string, pairs: Pairs, width: number, column = 0): string =>
  pairs.length === 0 ? '' : `${title}:\n${rows(pairs, width, column)}`;

/** A narrower column is hard to read. */
const MIN_COLUMN = 24;

/** Terms and their meaning in two columns, or below each other if these would be too narrow. */
function rows(pairs: Pairs, width: number, least = 0): string {
  const column = 2 + Math.max(least, ...pairs.map(([term]) => term.length)) + 2;
  return pairs
    .map(([term, text]) => {
      if (text === '') return `  ${term}`;
      if (width - column < MIN_COLUMN)
        return `${fillCommand(term, width, '  ')}\n${fill(text, width, { first: '      ', rest: '      ' })}`;
      return fill(text, width, { first: `  ${term}`.padEnd(column), rest: ' '.repeat(column) });
    })
    .join('\n');
}

interface Indent {
  first: string;
  rest: string;
}

const NONE: Indent = { first: '', rest: '' };
const INDENTED: Indent = { first: '  ', rest: '  ' };
const USAGE: Indent = { first: '', rest: '         ' };

/** Breaks a text at spaces. A word that is too long is not broken. */
const fill = (text: string, width: number, indent = NONE): string =>
  fillWords(text.split(/\s+/).filter(Boolean), width, indent, '');

/** Breaks a command as a shell takes it, but not inside quotes. */
const fillCommand = (command: string, width: number, indent: string): string =>
  fillWords(
    command.match(/(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+/g) ?? [],
    width,
    { first: indent, rest: `${indent}  ` },
    ' \\',
  );

function fillWords(words: readonly string[], width: number, { first, rest }: Indent, end: string): string {
  const lines: string[] = [];
  let line: string | null = null;
  for (const [i, word] of words.entries()) {
    const reserve = i === words.length - 1 ? 0 : end.length;
    if (line !== null && line.length + 1 + word.length + reserve > width) {
      lines.push(line + end);
      line = null;
    }
    const start: string = lines.length === 0 ? first : rest;
    line = line === null ? start + word : `${line} ${word}`;
  }
  return [...lines, line ?? first].join('\n');
}
