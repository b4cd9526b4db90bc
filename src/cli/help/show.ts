import { usage } from '../../core/error.js';
import { oneLine } from '../../core/text.js';
import { GROUPS } from '../groups.js';
import type { CommandSpec } from '../spec.js';
import { nearest } from './layout.js';
import { commandPage, groupPage, isTopic, mainPage, topicsPage } from './page.js';
import { topicIdea, topicPage } from './topic.js';
import { TOPICS } from './topics.js';

/**
 * `forge help WORDS`: a command, a group of commands or a topic; both where they have one name. Exit 2 for what is neither,
 * with what is near.
 */
export async function helpFor(words: readonly string[], width: number): Promise<string> {
  const [word, ...rest] = words;
  if (word === undefined || word === 'help') return mainPage(width);
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
  if (!entry) throw unknown(word, [...GROUPS.filter(isListed), ...TOPICS.map(([name]) => ({ name }))]);
  const { group } = await entry.load();
  const specs = group.commands as unknown as CommandSpec[];
  const own = specs.find(({ name }) => name === entry.name);
  if (subword === undefined)
    return own ? commandPage(entry, group, own, { width, idea }) : groupPage(entry, group, { width, idea });
  const spec = specs.find(({ name }) => name === subword && name !== entry.name);
  if (!spec || words.length > 2) throw unknown(words.slice(1).join(' '), specs, entry.name);
  return commandPage(entry, group, spec, { width, idea });
}

const isListed = ({ heading }: { heading: string | null }): boolean => heading !== null;

/** `group`: below which it was sought. */
function unknown(word: string, known: readonly { name: string }[], group = ''): Error {
  const words = [group, oneLine(word, 60)].filter(Boolean).join(' ');
  const near = nearest(
    word,
    known.map(({ name }) => name),
  ).map((name) => ['forge help', group, name].filter(Boolean).join(' '));
  return usage('help.unknown', `There is no command or topic ${JSON.stringify(words)}.`, {
    hint:
      near.length > 0
        ? `Did you mean ${near.join(', or ')}?`
        : ['forge help', group].filter(Boolean).join(' '),
  });
}
