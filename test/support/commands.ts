import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GROUPS } from '../../src/cli/groups.js';
import type { CommandSpec } from '../../src/cli/spec.js';
import { splitCommand } from '../../src/core/argv.js';
import { fixedClock, runForge } from './forge.js';
import { makeForge, prepared } from './forge-project.js';
import { makeFolder, type Project } from './project.js';

/** Every command with arguments that work in `withEverything()`, in this order. */
export const CALLS: string[][] = readFileSync(new URL('../fixtures/commands.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => splitCommand(line));

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
