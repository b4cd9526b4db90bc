import { spawnSync } from 'node:child_process';
import { Option } from 'commander';
import { describe, expect, it } from 'vitest';
import type { GuardClass } from '../../src/guard/rule.js';
import { everyCommand } from '../support/commands.js';
import { runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { HALT, logOf } from '../support/memory.js';
import type { Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

/** Every place of a writing command where a person or an agent can put text. */
async function textSlots(): Promise<{ call: string[]; slot: string }[]> {
  const slots: { call: string[]; slot: string }[] = [];
  for (const { words, spec } of await everyCommand()) {
    if (!spec.writes) continue;
    const args = spec.args ?? [];
    // A command to run may say what it has to: its words are kept nowhere.
    for (const [i, arg] of spec.runs ? [] : args.entries())
      slots.push({ call: [...words, ...args.map((_, k) => (k === i ? TEXT : 'x'))], slot: arg });
    for (const { flags, number } of spec.options ?? []) {
      const option = new Option(flags);
      if (number || (!option.required && !option.optional)) continue;
      slots.push({ call: [...words, ...args.map(() => 'x'), option.long ?? '', TEXT], slot: flags });
    }
  }
  return slots;
}

const TEXT = '\0';

/** Those of the texts that stand anywhere: in a file or its name, or in what git keeps. */
function tracesOf(project: Project, texts: readonly string[]): string[] {
  const found = (program: string, args: string[]): string =>
    spawnSync(program, args, { cwd: project.dir, encoding: 'latin1', maxBuffer: 1 << 28 }).stdout;
  const everything = [
    found('git', ['cat-file', '--batch-all-objects', '--batch']),
    found('find', ['.']),
    found('grep', ['-rahF', '', '.']),
  ].join('\n');
  expect(everything).toContain('schema_version');
  return texts.filter((text) => everything.includes(text));
}

describe('every command that takes text', () => {
  it.each(Object.entries(SAMPLES) as [GuardClass, () => string][])(
    'LTM-13 B-106 refuses %s wherever text can stand, and leaves no trace of it',
    async (_, make) => {
      const project = await makeForge();
      const slots = await textSlots();
      expect(slots.length).toBeGreaterThan(30);
      const tried: string[] = [];
      for (const { call, slot } of slots) {
        const text = make();
        const args = call.map((word) => (word === TEXT ? `See:\n${text}` : word));
        const { exitCode, stdout, stderr } = await runForge(project, args);
        expect(stdout + stderr).not.toContain(text);
        expect([call.join(' '), slot, exitCode], stderr).toEqual([call.join(' '), slot, 5]);
        tried.push(text);
      }
      expect(tracesOf(project, tried)).toEqual([]);
      expect(project.has(HALT)).toBe(false);
      const records = await logOf(project, 'audit');
      expect(records.filter(({ kind }) => kind === 'breach').length).toBeGreaterThan(0);
    },
  );
});
