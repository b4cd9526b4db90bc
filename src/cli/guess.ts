import { formatArgv } from '../core/argv.js';
import { namesLike } from '../core/text.js';
import { GROUPS, SHORT_WAYS } from './groups.js';

/** Words of other tools, with the command that does the same here. */
const SAME: Readonly<Record<string, string>> = {
  ...{
    stop: 'end',
    finish: 'end',
    close: 'end',
    quit: 'end',
    begin: 'start',
    new: 'init',
    todo: 'feature add',
  },
  ...{ add: 'feature add', edit: 'feature edit', rm: 'feature remove', remove: 'feature remove' },
  ...{ delete: 'feature remove', list: 'ls', features: 'ls', tasks: 'ls', test: 'done', verify: 'done' },
  ...{ check: 'done', show: 'status', info: 'status', view: 'status', resume: 'start --resume latest' },
  ...{
    save: 'checkpoint create',
    restore: 'recover',
    rollback: 'recover',
    revert: 'undo',
    sessions: 'session list',
  },
  ...{ search: 'knowledge search', find: 'knowledge search', remember: 'learn', install: 'agent install' },
};

/** The same for what stands behind a command. */
const SAME_BELOW: Readonly<Record<string, readonly string[]>> = {
  ls: ['list'],
  show: ['list'],
  view: ['show', 'list'],
  rm: ['remove', 'uninstall'],
  delete: ['remove', 'discard'],
  new: ['add', 'create', 'start'],
  create: ['add', 'start'],
  run: ['verify'],
  test: ['verify'],
  done: ['verify'],
  stop: ['end'],
  finish: ['end'],
  search: ['list'],
};

/** What may have been meant by a first word that is no command, as it is typed; null when nothing is near. */
export function guessCommand(word: string): string | null {
  if (Object.hasOwn(SAME, word)) return `forge ${SAME[word]}`;
  const listed = GROUPS.filter(({ heading }) => heading !== null).map(({ name }) => name);
  const [near] = namesLike(word, [...Object.keys(SHORT_WAYS), 'version', ...listed]);
  return near === undefined ? null : `forge ${near}`;
}

/** The same for the second word; `names` are the commands below the first. */
export function guessBelow(word: string, names: readonly string[]): string | null {
  const same = (SAME_BELOW[word] ?? []).find((name) => names.includes(name));
  return same ?? namesLike(word, names)[0] ?? null;
}

/** `forge session start` as it is mostly typed: `forge start`. */
export function asTyped(names: readonly string[]): string {
  const short = Object.entries(SHORT_WAYS).find(
    ([name, { words }]) => name !== 'completion' && words.join(' ') === names.join(' '),
  );
  return ['forge', ...(short ? [short[0]] : names)].join(' ');
}

const isSafe = (text: string): boolean => !/["$`\\\n]/.test(text);

/**
 * Words that belong into quotes, put there: `add Login works --test x` → `add "Login works" --test x`. `taken` are the
 * arguments in front of the text, `argv` is what follows the command.
 */
export function withQuotes(args: readonly string[], taken: number, argv: readonly string[]): string {
  const left = [...args];
  const options = argv.filter((word) => {
    if (word === '--json') return false;
    const at = left.indexOf(word);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  const text = args.slice(taken).join(' ');
  const rest = options.length === 0 ? '' : ` ${formatArgv(options)}`;
  return [...args.slice(0, taken), isSafe(text) ? `"${text}"` : '"TEXT"'].join(' ') + rest;
}
