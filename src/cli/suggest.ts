import { formatArgv } from '../core/argv.js';
import { ForgeError, UPDATE_HINT, usage } from '../core/error.js';
import { namesLike } from '../core/text.js';
import { GROUPS, SHORT_WAYS, TOPICS } from './groups.js';
import { commandWords, inFull, parseLine } from './line.js';
import { type CommandSpec, flagOf, optionsOf } from './spec.js';

/** The commands of forge by the words that other tools use. The second one is for the word with text behind it. */
const SYNONYMS: Readonly<Record<string, readonly [alone: string, withText?: string]>> = {
  ...{ stop: ['end'], finish: ['end'], close: ['end'], quit: ['end'], exit: ['end'], begin: ['start'] },
  ...{ resume: ['start --resume latest'], sessions: ['session list'], history: ['session list'] },
  ...{ add: ['feature add'], new: ['init', 'feature add'], create: ['init', 'feature add'], setup: ['init'] },
  ...{ todo: ['ls', 'feature add'], task: ['next', 'start --task'], plan: ['next'], issue: ['linear list'] },
  ...{ list: ['ls'], features: ['ls'], tasks: ['ls'], show: ['status', 'feature show'], view: ['status'] },
  ...{
    edit: ['feature edit'],
    rm: ['feature remove'],
    remove: ['feature remove'],
    delete: ['feature remove'],
  },
  ...{ test: ['done --all', 'done'], verify: ['done --all', 'done'], check: ['done --all', 'done'] },
  ...{ info: ['status'], context: ['briefing'], save: ['checkpoint create'], run: ['next', 'cycle --'] },
  ...{ restore: ['recover'], rollback: ['recover'], reset: ['recover'], revert: ['undo'] },
  ...{ get: ['config list', 'config get'], set: ['config list', 'config set'], settings: ['config list'] },
  ...{
    install: ['agent install all', 'agent install'],
    sync: ['linear sync'],
    search: ['recall'],
    find: ['recall'],
  },
  ...{ remember: ['learn'], lesson: ['learn'], fix: ['doctor --fix', 'feature add'] },
};

/** Removing forge takes two commands, and updating it is done in its clone. */
const ADVICE: Readonly<Record<string, string>> = {
  uninstall: 'forge agent uninstall all\nforge hooks uninstall\nrm -r .forge   # the memory itself',
  update: UPDATE_HINT,
  upgrade: UPDATE_HINT,
};

/** Each word is an alias of the first of these that the group has. */
const SYNONYMS_BELOW: Readonly<Record<string, readonly string[]>> = {
  ...{ ls: ['list'], show: ['list'], view: ['show', 'list'], search: ['list'], list: ['status', 'log'] },
  ...{ rm: ['remove', 'uninstall'], delete: ['remove', 'discard'], new: ['add', 'create', 'start'] },
  ...{ add: ['install', 'new', 'create', 'set', 'patch'], create: ['add', 'start'], run: ['verify'] },
  ...{ test: ['verify'], done: ['verify'], stop: ['end'], finish: ['end'], update: ['edit', 'set'] },
};

/** Commands of a group that a word without a command was probably meant for, likeliest first. */
const TAKERS = ['get', 'set', 'install', 'show', 'add', 'create', 'new', 'search', 'scan'] as const;

/** A command line that commander refused. */
interface WrongCall {
  /** As typed, without `--json`. */
  argv: readonly string[];
  /** The words that are no options, with the full name of a short way. */
  words: readonly string[];
  /** The commands of the group; empty for an unknown first word. */
  specs: readonly CommandSpec[];
  /** The command, if the words name one. */
  spec: CommandSpec | undefined;
}

/** commander's error as one of forge. Its hints: the call that was probably meant, ready to be typed, and help. */
export async function wrongCall(error: { code: string; message: string }, call: WrongCall): Promise<Error> {
  const { words, specs, spec } = call;
  const [what = '', near = ''] = error.message.replace(/^error: /, '').split('\n');
  const name = nameAsTyped(call);
  const isTopic = specs.length === 0 && TOPICS.some(([topic]) => topic === words[0]);
  const help = isTopic ? `forge help ${words[0]}` : `${name} --help`;
  // `commander.unknownOption` → `command.unknown_option`
  const code = error.code.replace('commander.', 'command.').replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
  const refuse = (message: string, meant?: string | null): Error =>
    usage(code, message, { hint: meant && meant !== help ? `${meant}\n${help}` : help });
  const message = `${what.charAt(0).toUpperCase()}${what.slice(1)}${/[.?!]$/.test(what) ? '' : '.'}`;
  const below = specs.length > 0 ? `: ${namesOf(specs).join(', ')}` : '';
  switch (error.code) {
    case 'commander.help':
      return usage('command.missing', `${name} needs a command${below}.`, { hint: help });
    case 'commander.unknownCommand': {
      const meant = await (specs.length > 0 ? meantBelow(call) : meantCommand(call));
      // Options before the command stay there.
      const before = call.argv.slice(0, call.argv.indexOf(commandWords(call.argv)[0] ?? ''));
      return refuse(
        message,
        meant?.replace(/^forge(?= )/gm, () => typed(before)),
      );
    }
    case 'commander.missingArgument':
      return refuse(message, spec?.example);
    case 'commander.unknownOption': {
      const [, wrong = ''] = /'([^'=]*)/.exec(what) ?? [];
      const [right] = near.match(/--[\w-]+/) ?? [];
      const isWrong = (word: string): boolean => word === wrong || word.startsWith(`${wrong}=`);
      const meant = call.argv.map((word) => (isWrong(word) ? `${right}${word.slice(wrong.length)}` : word));
      return refuse(message, right && typed(meant));
    }
    case 'commander.excessArguments':
      if (spec) return tooMany(call, spec, message, refuse);
  }
  return refuse(message);
}

const namesOf = (specs: readonly CommandSpec[]): string[] => specs.map(({ name }) => name);

/** `forge start`, or `forge session start` for someone who typed that. */
function nameAsTyped({ argv, words: [group = ''], specs, spec }: WrongCall): string {
  const [first = ''] = commandWords(argv);
  if (specs.length === 0 || group === 'where') return 'forge';
  if (Object.hasOwn(SHORT_WAYS, first)) return `forge ${first}`;
  return spec && spec.name !== group ? `forge ${group} ${spec.name}` : `forge ${group}`;
}

/** A line that a shell takes as these words. Text in plain quotes, as people write it. */
const typed = (words: readonly string[], name = 'forge'): string => [name, ...words.map(quote)].join(' ');

function quote(word: string): string {
  if (word.includes('\n')) return '"TEXT"';
  return /^[^"$`\\!]* [^"$`\\!]*$/.test(word) ? `"${word}"` : formatArgv([word]);
}

/** `forge done LOGIN` in place of "Did you mean LOGIN?", for a word of argv that the message quotes. */
export function withCall(error: unknown, argv: readonly string[]): unknown {
  if (!(error instanceof ForgeError)) return error;
  const { kind, code, message, details } = error;
  const [, name] = /^Did you mean (\S+)\?$/.exec(error.hint ?? '') ?? [];
  const words = argv.filter((word) => word !== '--json');
  const at = words.findLastIndex((word) => message.includes(JSON.stringify(word)));
  if (name === undefined || at < 0) return error;
  const meant = new ForgeError(kind, code, message, { ...details, hint: typed(words.with(at, name)) });
  return Object.assign(meant, { stack: error.stack });
}

/** Arguments that are a text, which may have several words. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'title', 'query', 'value']);

/** The words as this command takes them: several as one text, or as an option. Null if it takes none of them. */
function arrange({ args = [], ...spec }: CommandSpec, words: readonly string[]): string[] | null {
  const last = args.at(-1) ?? '';
  const isText = TEXTS.has(last.replace(/\W/g, ''));
  const isSentence = words.some((word) => /\s/.test(word));
  const most = last.includes('...') ? Number.POSITIVE_INFINITY : args.length;
  const least = args.filter((argument) => argument.startsWith('<')).length;
  // `feature add Login works`: a word in lower case is not an id.
  const isAll = isText && last.startsWith('[') && /^\p{L}+\p{Ll}\p{L}*$/u.test(words[0] ?? '');
  if (isText && words.length > (isAll ? 1 : most)) {
    const ids = isAll ? 0 : args.length - 1;
    return [...words.slice(0, ids), words.slice(ids).join(' ')];
  }
  if (words.length >= least && words.length <= most && (isText || !isSentence)) return [...words];
  const text = words.join(' ');
  for (const option of optionsOf({ args, ...spec })) {
    const { names, value } = flagOf(option);
    if (value === null && names.includes(`--${text}`)) return [`--${text}`];
    if (option.values?.words?.includes(text) || (/^(?:text|title)$/.test(value ?? '') && isSentence))
      return [names[0] ?? '', text];
  }
  return null;
}

async function tooMany(
  call: WrongCall,
  spec: CommandSpec,
  message: string,
  refuse: (message: string, meant: string) => Error,
): Promise<Error> {
  const { args = [], options = [] } = (await parseLine(inFull(call.argv))) ?? {};
  const fitted = arrange(spec, args) ?? args.slice(0, spec.args?.length ?? 0);
  const meant = typed([...fitted, ...options], nameAsTyped(call));
  // Text that was several words before.
  const isJoined = [...fitted, ...options].some((word) => /\s/.test(word) && !call.argv.includes(word));
  if (!isJoined) return refuse(message, meant);
  return usage('command.excess_arguments', 'Text of several words needs quotes.', { hint: meant });
}

/** The call of a command of forge with these words; an example if it needs more. */
async function callOf(command: string, words: readonly string[]): Promise<string> {
  const start = command.split(' ');
  const last = start.at(-1);
  if (last === '--task') return typed([...start, words.join(' ')]);
  if (last === '--') return typed([...start, ...words]);
  if (command.includes(' --')) return typed(start);
  const line = await parseLine([...inFull(start), ...words]);
  if (!line?.spec) return typed(start);
  const fitted = arrange(line.spec, line.args) ?? (line.spec.args ? null : []);
  return fitted ? typed([...start, ...fitted, ...line.options]) : line.spec.example;
}

async function meantCommand({ argv, words: [word = ''] }: WrongCall): Promise<string | null> {
  const rest = argv.slice(argv.indexOf(word) + 1);
  if (Object.hasOwn(ADVICE, word)) return ADVICE[word] as string;
  if (/\s/.test(word)) return `${typed(['log', word])}\n${typed(['feature', 'add', word])}`;
  if (/^[A-Za-z]+-\d+$/.test(word)) return typed(['feature', 'show', word]);
  const listed = GROUPS.filter(({ heading }) => heading !== null).map(({ name }) => name);
  const names = [...Object.keys(SHORT_WAYS), 'version', ...listed];
  const [near] = namesLike(word, names);
  const [alone = near, withText] = Object.hasOwn(SYNONYMS, word) ? (SYNONYMS[word] ?? []) : [];
  const isText = rest.some((each) => !each.startsWith('-'));
  const meant = isText ? (withText ?? alone) : alone;
  return meant === undefined ? null : callOf(meant, rest);
}

async function meantBelow({
  argv,
  words: [group = '', word = ''],
  specs,
}: WrongCall): Promise<string | null> {
  if (word === '') return null;
  const rest = argv.slice(argv.indexOf(word) + 1);
  const names = namesOf(specs);
  const aliases = Object.hasOwn(SYNONYMS_BELOW, word) ? (SYNONYMS_BELOW[word] ?? []) : [];
  const [near] = [...aliases.filter((name) => names.includes(name)), ...namesLike(word, names)];
  if (near !== undefined) return callOf(`${group} ${near}`, rest);
  const isId = /[\d-]/.test(word);
  for (const name of TAKERS) {
    if (!names.includes(name) || (name === 'show' && !isId)) continue;
    const line = await parseLine([group, name, word, ...rest]);
    if (line?.spec && arrange(line.spec, line.args)) return callOf(`${group} ${name}`, [word, ...rest]);
  }
  return null;
}
