import { defaultSettings, topicText } from '../../index.js';
import { ENVIRONMENT_HELP, EXIT_CODE_HELP } from '../groups.js';
import { fill, fillCommand, rows } from './layout.js';

/** What forge itself knows stands in a topic by its name. */
const TABLES: Record<string, () => Promise<readonly (readonly [string, string])[]>> = {
  '{{exit-codes}}': async () => EXIT_CODE_HELP,
  '{{environment}}': async () => ENVIRONMENT_HELP,
  '{{settings}}': async () =>
    (await defaultSettings()).map(
      ({ name, value }) => [name, JSON.stringify(value).replaceAll('","', '", "')] as const,
    ),
};

const blocksOf = (name: string): string[] =>
  topicText(name)
    .trim()
    .split(/\n{2,}/);

/** What a topic begins with, behind its title. */
export const firstWords = (name: string): string => blocksOf(name)[1] ?? '';

/**
 * `forge help TOPIC`, from `templates/topics/TOPIC.md`: a title, paragraphs, lists, and lines moved in by four blanks, which
 * are commands or terms, each with its meaning behind two blanks or more.
 */
export const topicPage = async (name: string, width: number): Promise<string> =>
  `${await layOutAll(blocksOf(name), width)}\n`;

/** The same without the title. */
export const topicIdea = (name: string, width: number): Promise<string> =>
  layOutAll(blocksOf(name).slice(1), width);

async function layOutAll(blocks: readonly string[], width: number): Promise<string> {
  const laidOut = await Promise.all(blocks.map((block) => layOut(block, width)));
  return laidOut.join('\n\n');
}

async function layOut(block: string, width: number): Promise<string> {
  const table = TABLES[block.trim()];
  if (table) return rows(await table(), width);
  if (block.startsWith('# ')) return fill(block.slice(2), width);
  const lines = block.split('\n');
  if (block.startsWith('    '))
    return lines.some((line) => / {2,}\S/.test(line.trim()))
      ? rows(lines.map(pair), width)
      : lines.map((line) => fillCommand(line.trim(), width, '  ')).join('\n');
  if (block.startsWith('- '))
    return block
      .split(/\n(?=- )/)
      .map((item) => fill(item.slice(2), width, { first: '- ', rest: '  ' }))
      .join('\n');
  return fill(block, width);
}

function pair(line: string): [string, string] {
  const [term = '', text = ''] = line.trim().split(/ {2,}(.*)/s);
  return [term, text];
}
