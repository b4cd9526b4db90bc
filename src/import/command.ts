import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { firstNames, plural } from '../core/text.js';
import type { Imported, ImportedFile } from '../index.js';

/** Each source, and the name of its files. */
const SOURCES: Readonly<Record<string, string>> = {
  claude: 'CLAUDE.md',
  agents: 'AGENTS.md',
  gemini: 'GEMINI.md',
  cursor: 'Cursor rules',
  progress: 'claude-progress.txt',
  features: 'feature_list.json',
  'memory-bank': 'memory-bank',
  beads: 'beads',
  'task-master': 'Task Master',
  backlog: 'Backlog.md',
};

/** `isShown`: the plan is on the screen already. */
type Answer = Imported & { isShown?: true };

/** Shows the plan and asks. Without a terminal it stores nothing unless --yes is given. */
async function run(call: Call): Promise<Answer> {
  const from = (call.options['from'] ?? []) as string[];
  const forge = call.forge();
  const plan = await forge.import({ from, apply: false });
  if (count(plan) === 0) return plan;
  if (call.flags.yes || call.flags.dryRun) return forge.import({ from });
  if (!call.interactive) return plan;
  call.say(tableOf(plan.files, call.style));
  const { confirm } = await import('../cli/prompt.js');
  const answer = (await confirm('Import this?')) ? await forge.import({ from }) : plan;
  return { ...answer, isShown: true };
}

const sum = (counts: number[]): number => counts.reduce((all, one) => all + one, 0);
const count = ({ files }: Imported): number =>
  sum(files.map(({ notes, features }) => notes + features.length));

const MAX_FILES_SHOWN = 20;

/** The files that something is taken from, or that cannot be read, then the number of the others. */
function tableOf(files: readonly ImportedFile[], style: Style): string {
  const isShown = ({ notes, features, closed, problem }: ImportedFile): boolean =>
    notes + features.length > 0 || closed !== undefined || problem !== undefined;
  const shown = files.filter(isShown).slice(0, MAX_FILES_SHOWN);
  const rows = shown.map((file) => [style.strong(file.file), describe(file, style)]);
  const others = plural(files.length - shown.length, shown.length > 0 ? 'other file' : 'file');
  return columns(shown.length === files.length ? rows : [...rows, [others, style.dim('nothing new')]]);
}

function describe(file: ImportedFile, style: Style): string {
  const { notes, changed = 0, features, known, closed = [], masked = 0, problem } = file;
  if (problem !== undefined) return style.warn(problem);
  const skipped = [
    ...(file.done > 0 ? [`${file.done} done`] : []),
    ...(file.deferred ? [`${file.deferred} deferred`] : []),
    ...(file.unnamed ? [`${file.unnamed} without an id or a title`] : []),
  ].join(', ');
  const [first] = closed;
  const parts = [
    ...(notes > 0 ? [`${plural(notes, 'note')}${changed > 0 ? ` (${changed} changed)` : ''}`] : []),
    ...(features.length > 0 ? [plural(features.length, 'feature')] : []),
    ...(known > 0 ? [style.dim(`${known} already there`)] : []),
    ...(skipped === '' ? [] : [style.dim(`${skipped}, skipped`)]),
    ...(masked > 0 ? [style.warn(`secrets or personal data masked in ${plural(masked, 'text')}`)] : []),
  ].join(', ');
  if (first === undefined) return parts;
  const ways = [`forge done ${first}`, `forge feature remove ${first}`].map(style.command).join(' or ');
  return `${parts}; ${style.warn(`done there, open here: ${firstNames(closed, 5)}`)} (${ways})`;
}

function render(result: Answer, style: Style, { from }: Record<string, unknown>): string {
  const { files, applied, isShown } = result;
  const names = ((from ?? Object.keys(SOURCES)) as string[]).map((name) => SOURCES[name] ?? name);
  if (files.length === 0) return `Nothing to import: no ${names.join(', ')} here.`;
  const table = isShown ? [] : [tableOf(files, style)];
  const features = sum(files.map((file) => file.features.length));
  const next = style.command(features > 0 ? 'forge next' : 'forge note list');
  const notes = count(result) - features;
  const made = [notes > 0 && plural(notes, 'note'), features > 0 && plural(features, 'feature')];
  if (applied) table.push(`${style.good('✓')} Imported: ${made.filter(Boolean).join(', ')}. Next: ${next}`);
  else if (count(result) > 0)
    table.push(`Nothing was stored. To import: ${style.command('forge import --yes')}`);
  return table.join('\n');
}

export const group: Group = {
  commands: [
    command<Answer>({
      name: 'import',
      summary: 'Import notes and tasks of other tools. Shows the plan first',
      example: 'forge import --yes',
      options: [
        {
          flags: '--from <source>',
          help: 'only from this tool',
          values: { words: Object.keys(SOURCES) },
          many: true,
        },
      ],
      writes: true,
      confirms: true,
      run,
      render,
      exit: ({ files }) => (files.some(({ problem }) => problem !== undefined) ? 1 : 0),
    }),
  ],
};
