import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GROUPS } from '../../src/cli/groups.js';
import type { CommandSpec } from '../../src/cli/spec.js';
import { fixedClock, runForge } from './forge.js';
import { makeForge, prepared } from './forge-project.js';
import { makeFolder, type Project } from './project.js';

/** Every command with arguments that work in `withEverything()`, in this order. */
export const CALLS: string[][] = [
  ['where'],
  ['status'],
  ['init'],
  ['session', 'start'],
  ['session', 'status'],
  ['session', 'list'],
  ['session', 'show', '2026-03-01-session-001'],
  ['briefing'],
  ['prime'],
  ['progress', 'add', 'text'],
  ['progress', 'next', 'text'],
  ['progress', 'show'],
  ['kfr', 'list'],
  ['kfr', 'patch', '--add', 'Constraint:text'],
  ['kfr', 'inject'],
  ['note', 'promote', 'kfr-1'],
  ['kfr', 'clear', '--yes'],
  ['focus', 'show'],
  ['focus', 'set', '--task', 'text'],
  ['next'],
  ['feature', 'list'],
  ['feature', 'add', '--no-run', 'B', 'b', '--test', 'true'],
  ['feature', 'show', 'A'],
  ['feature', 'edit', 'A', '--priority', '1'],
  ['feature', 'verify', 'A'],
  ['feature', 'import', '-'],
  ['import'],
  ['feature', 'remove', 'B'],
  ['undo'],
  ['checkpoint', 'create', 'known', '--verify', 'true'],
  ['checkpoint', 'list'],
  ['checkpoint', 'show', 'known-v1'],
  ['checkpoint', 'verify'],
  ['recover', '--plan'],
  ['cycle', '--task', 'A', 'true'],
  ['loop', '--max-cycles', '1', 'true'],
  ['knowledge', 'add', 'invariant', 'i'],
  ['learn', 'i', '--as', 'note'],
  ['knowledge', 'list'],
  ['knowledge', 'search', 'i'],
  ['knowledge', 'remove', 'ID'],
  ['architecture', 'show'],
  ['architecture', 'edit', '-'],
  ['commit', 'check', '--range', 'HEAD..HEAD'],
  ['commit', 'template'],
  ['ci', '--range', 'HEAD..HEAD'],
  ['commit', '-m', 'text', '--why', 'text', '-a'],
  ['recall', 'known'],
  ['skill', 'list'],
  ['skill', 'show', 'qa-review'],
  ['skill', 'resource', 'qa-review', 'checklists/review.md'],
  ['skill', 'new', 'made', '--description', 'Made here'],
  ['skill', 'check'],
  ['skill', 'match', 'text'],
  ['skill', 'import', 'SKILL'],
  ['skill', 'export', 'qa-review'],
  ['artifact', 'add', 'package.json'],
  ['artifact', 'list'],
  ['artifact', 'show', 'known.txt'],
  ['artifact', 'verify'],
  ['claim', 'A', '--for', '1h'],
  ['fleet'],
  ['release', 'B'],
  ['linear', 'list'],
  ['linear', 'new', 'text'],
  ['linear', 'show', 'LOCAL-1258'],
  ['linear', 'start', 'LOCAL-1258'],
  ['linear', 'done', 'LOCAL-1258'],
  ['linear', 'template'],
  ['finding', 'add', 'text', '--tool', 'Read', '--query', 'package.json'],
  ['finding', 'extract', '--tool', 'Read', '--query', 'package.json', '-'],
  ['finding', 'list'],
  ['finding', 'has', '--tool', 'Read', '--query', 'package.json'],
  ['finding', 'summary'],
  ['finding', 'stats'],
  ['finding', 'clear'],
  ['note', 'add', 'text'],
  ['note', 'list'],
  ['note', 'show', 'NOTE'],
  ['note', 'remove', 'NOTE'],
  ['memory', 'record', '--task', 'A', '--exit-code', '0', '--classification', 'SUCCESS'],
  ['memory', 'verify'],
  ['memory', 'log'],
  ['memory', 'show', 'NOTE'],
  ['memory', 'stats'],
  ['memory', 'promote'],
  ['memory', 'consolidate'],
  ['memory', 'report'],
  ['guard', 'scan'],
  ['export', 'html'],
  ['export', 'markdown'],
  ['export', 'json'],
  ['trust', '--show'],
  ['config', 'list'],
  ['config', 'get', 'briefing.budget'],
  ['config', 'set', 'briefing.budget', '900'],
  ['agent', 'install', 'claude'],
  ['agent', 'status'],
  ['agent', 'uninstall', 'claude'],
  ['hooks', 'install'],
  ['hooks', 'status'],
  ['hooks', 'uninstall'],
  ['doctor'],
  ['mcp'],
  ['schema'],
  ['complete', 'bash'],
  ['focus', 'clear'],
  ['session', 'end', '--no-commit'],
  ['session', 'discard'],
];

/** The ids in the prepared project, which the words ID and NOTE stand for. */
const ids: Record<string, string> = {};

const makeEverything = prepared(async () => {
  const project = await makeForge();
  const world = fixedClock();
  await runForge(project, ['session', 'start'], { world });
  await runForge(project, ['session', 'end', '--next', 'go on', '--no-commit'], { world });
  await runForge(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'echo shown'], { world });
  await runForge(project, ['feature', 'add', 'B', 'b'], { world });
  await runForge(project, ['feature', 'add', 'C', 'to be undone'], { world });
  await runForge(project, ['feature', 'remove', 'C'], { world });
  const known = await runForge(project, ['knowledge', 'add', 'invariant', 'known', '--json'], { world });
  await runForge(project, ['session', 'start'], { world });
  await runForge(project, ['kfr', 'patch', '--goal', 'known'], { world });
  ids.ID = (JSON.parse(known.stdout) as { learning: { id: string } }).learning.id;
  const note = await runForge(project, ['note', 'add', 'known', '--json'], { world });
  ids.NOTE = (JSON.parse(note.stdout) as { id: string }).id;
  const output = '.forge/memory/short-term/scratch/known.txt';
  project.write(output, 'known\n');
  await runForge(project, ['artifact', 'add', output, '--type', 'docs'], { world });
  await runForge(project, ['linear', 'new', 'known'], { world });
  return project;
});

/** A project in which every command finds what it needs. */
export async function withEverything(): Promise<{ project: Project; calls: string[][] }> {
  const project = await makeEverything();
  // In a copy of a project the next command renames the ledger's open file.
  await runForge(project, ['where']);
  // A claim belongs to the worktree that made it.
  await runForge(project, ['claim', 'B'], { world: fixedClock() });
  const skill = makeFolder('skill-');
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: known\ndescription: Known\n---\n# Known\n');
  const words: Record<string, string> = { ...ids, SKILL: skill };
  return { project, calls: CALLS.map((call) => call.map((word) => words[word] ?? word)) };
}

/** Every command: its words, and what it is. */
export async function everyCommand(): Promise<{ words: string[]; spec: CommandSpec }[]> {
  const groups = await Promise.all(GROUPS.map(async ({ name, load }) => ({ name, commands: await load() })));
  return groups.flatMap(({ name, commands }) =>
    (commands as unknown as CommandSpec[]).map((spec) => ({
      words: spec.name === name ? [name] : [name, spec.name],
      spec,
    })),
  );
}

/** The command of a call: by its first two words, or by the first. */
export async function commandOf(call: readonly string[]) {
  const all = await everyCommand();
  const named = (count: number) =>
    all.find(({ words }) => words.join(' ') === call.slice(0, count).join(' '));
  return named(2) ?? named(1);
}
