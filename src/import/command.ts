import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { formatArgv } from '../core/argv.js';
import { oneLine, plural } from '../core/text.js';
import type { Imported, ImportedFile } from '../index.js';

const NAMES = 'claude agents gemini cursor progress features memory-bank beads task-master backlog'.split(
  ' ',
);

/** Shows the plan and asks. Without a terminal it stores nothing unless --yes is given. */
async function run(call: Call): Promise<Imported> {
  const from = (call.options['from'] ?? []) as string[];
  const forge = call.forge();
  const plan = await forge.import({ from, apply: false });
  if (count(plan) === 0) return plan;
  if (!call.flags.yes && !call.flags.dryRun) {
    if (!call.interactive) return plan;
    call.say(changesOf(plan, call.style));
    const { confirm } = await import('../cli/prompt.js');
    if (!(await confirm('Import this?'))) return plan;
  }
  return forge.import({ from });
}

const count = ({ files }: Imported): number =>
  files.reduce((sum, { notes, features }) => sum + notes + features.length, 0);

const MAX_FILES_SHOWN = 20;

/** The files that something is taken from, then the sum of all others. */
function tableOf(files: readonly ImportedFile[], style: Style): string {
  const isShown = (file: ImportedFile): boolean =>
    file.notes > 0 || file.features.length > 0 || file.problem !== undefined;
  const shown = files.filter(isShown).slice(0, MAX_FILES_SHOWN);
  const others = files.filter((file) => !shown.includes(file));
  const sum = (pick: (file: ImportedFile) => number): number =>
    others.reduce((total, file) => total + pick(file), 0);
  const rest = {
    notes: sum(({ notes }) => notes),
    features: others.flatMap(({ features }) => features),
    known: sum(({ known }) => known),
    done: sum(({ done }) => done),
  };
  const rows = shown.map((file) => [style.strong(file.file), describe(file, style)]);
  const name = `${shown.length > 0 ? 'and ' : ''}${plural(others.length, shown.length > 0 ? 'other file' : 'file')}`;
  return columns(others.length === 0 ? rows : [...rows, [name, describe(rest, style)]]);
}

function describe(
  { notes, changed = 0, features, known, done, masked = 0, problem }: Omit<ImportedFile, 'file' | 'source'>,
  style: Style,
): string {
  if (problem !== undefined) return style.warn(problem);
  const parts = [
    ...(notes > 0 ? [`${plural(notes, 'note')}${changed > 0 ? ` (${changed} changed)` : ''}`] : []),
    ...(features.length > 0 ? [plural(features.length, 'feature')] : []),
    ...(known > 0 ? [style.dim(`${known} already there`)] : []),
    ...(done > 0 ? [style.dim(`${done} done, skipped`)] : []),
    ...(masked > 0 ? [style.warn(`secrets or personal data masked in ${plural(masked, 'text')}`)] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : style.dim('empty');
}

/** What is new, and what differs from what was imported before. */
function changesOf({ files }: Imported, style: Style): string {
  const old = files.flatMap(({ file, gone = [], differ = [] }) => [
    ...differ.map(({ id, name, isDone }) =>
      isDone
        ? `Done in ${file}: ${id}  ${style.command(`forge done ${id}`)}`
        : `Renamed in ${file}: ${id}  ${style.command(formatArgv(['forge', 'feature', 'edit', id, '--name', name]))}`,
    ),
    ...gone.map(
      ({ id, text }) =>
        `No longer in ${file}: ${oneLine(text, 60)}  ${style.command(`forge note remove ${id.slice(0, 12)}`)}`,
    ),
  ]);
  return [tableOf(files, style), ...old.slice(0, MAX_FILES_SHOWN)].join('\n');
}

function render(result: Imported, style: Style): string {
  if (result.files.length === 0)
    return 'Nothing to import: no CLAUDE.md, AGENTS.md, GEMINI.md, Cursor rules, feature_list.json, memory-bank, beads, Task Master or Backlog.md here.';
  const table = changesOf(result, style);
  const next = result.files.some(({ features }) => features.length > 0) ? 'forge next' : 'forge note list';
  if (result.applied) return `${table}\n${style.good('✓')} Imported. Next: ${style.command(next)}`;
  return count(result) === 0
    ? `${table}\nNothing new.`
    : `${table}\nNothing was stored. To import: ${style.command('forge import --yes')}`;
}

export const group: Group = {
  commands: [
    command<Imported>({
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
    }),
  ],
};
