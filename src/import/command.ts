import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { formatArgv } from '../core/argv.js';
import { plural } from '../core/text.js';
import type { Imported, ImportedFile } from '../index.js';

const NAMES = 'claude agents gemini cursor progress features memory-bank beads task-master backlog'.split(
  ' ',
);

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

const count = ({ files }: Imported): number =>
  files.reduce((sum, { notes, features }) => sum + notes + features.length, 0);

const MAX_FILES_SHOWN = 20;

/** The files that something is taken from, or that cannot be read, then the number of the others. */
function tableOf(files: readonly ImportedFile[], style: Style): string {
  const isShown = ({ notes, features, problem }: ImportedFile): boolean =>
    notes + features.length > 0 || problem !== undefined;
  const shown = files.filter(isShown).slice(0, MAX_FILES_SHOWN);
  const rows = shown.map((file) => [style.strong(file.file), describe(file, style)]);
  const others = plural(files.length - shown.length, shown.length > 0 ? 'other file' : 'file');
  return columns(shown.length === files.length ? rows : [...rows, [others, style.dim('nothing new')]]);
}

function describe(file: ImportedFile, style: Style): string {
  const { notes, features, known, skipped, masked = 0, problem } = file;
  return [
    ...(notes > 0 ? [plural(notes, 'note')] : []),
    ...(features.length > 0 ? [plural(features.length, 'feature')] : []),
    ...(known > 0 ? [style.dim(`${known} already there`)] : []),
    ...(skipped > 0 ? [style.dim(`${skipped} skipped (done, deferred, or without an id or a title)`)] : []),
    ...(masked > 0 ? [style.warn(`secrets or personal data masked in ${plural(masked, 'text')}`)] : []),
    ...(problem !== undefined ? [style.warn(problem)] : []),
  ].join(', ');
}

function render(result: Answer, style: Style, { from }: Record<string, unknown>): string {
  const { files, applied, isShown } = result;
  if (files.length === 0)
    return `Nothing to import: no ${from ? `files of ${(from as string[]).join(', ')}` : 'CLAUDE.md, AGENTS.md, GEMINI.md, Cursor rules, feature_list.json, memory-bank, beads, Task Master or Backlog.md'} here.`;
  const chosen = ((from ?? []) as string[]).flatMap((name) => ['--from', name]);
  const table = isShown ? '' : `${tableOf(files, style)}\n`;
  const next = files.some(({ features }) => features.length > 0) ? 'forge next' : 'forge note list';
  if (applied) return `${table}${style.good('✓')} Imported. Next: ${style.command(next)}`;
  if (count(result) === 0) return table;
  return `${table}Nothing was stored. To import: ${style.command(formatArgv(['forge', 'import', ...chosen, '--yes']))}`;
}

export const group: Group = [
  command<Answer>({
    name: 'import',
    summary: 'Import notes and tasks of other tools. Shows the plan first',
    example: 'forge import --yes',
    options: [
      { flags: '--from <source>', help: 'only from this tool', values: { words: NAMES }, many: true },
    ],
    writes: true,
    confirms: true,
    run,
    render,
    exit: ({ files }) => (files.some(({ problem }) => problem !== undefined) ? 1 : 0),
  }),
];
