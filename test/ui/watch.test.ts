import type { ChildProcess } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { forgeJson, startBinary } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { follow } from '../support/project.js';

interface Watched {
  child: ChildProcess;
  lines(): string[];
  ended: Promise<number | null>;
}

function start(dir: string, args: readonly string[]): Watched {
  const child = startBinary(dir, args);
  const said = follow(child);
  const ended = said.ended.then(({ exitCode }) => exitCode);
  return { child, lines: () => said.stdout.split('\n').slice(0, -1), ended };
}

describe('forge watch', () => {
  it('VIS-01 prints the panel in a pipe after each change, without an escape, until Ctrl-C', async () => {
    const project = await makeForge();
    const { child, lines, ended } = start(project.dir, ['watch']);
    await expect.poll(() => lines().join('\n')).toContain('Ctrl-C ends');
    await forgeJson(project, ['session', 'start', '--task', 'Build it']);
    await forgeJson(project, ['feature', 'add', 'F-1', 'Login']);
    await expect.poll(() => lines().join('\n')).toMatch(/Build it[\s\S]*1 feature: 1 not_implemented/);
    expect(lines().join('')).not.toContain('\u001b');
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  });

  it('VIS-01 prints an object for each change with --json', async () => {
    const project = await makeForge();
    const { child, lines, ended } = start(project.dir, ['watch', '--json']);
    await expect.poll(() => lines().length).toBe(1);
    project.write('.forge/memory/long-term/features.d/F-1.json', '{ broken');
    await expect.poll(() => lines().length).toBeGreaterThan(1);
    const last = JSON.parse(lines().at(-1) ?? '') as { components: { name: string; color: string }[] };
    expect(last.components.find(({ name }) => name === 'features')?.color).toBe('red');
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  });

  it.each([[['watch']], [['watch', '--json']]])('VIS-01 ends when nobody reads: forge %s', async (args) => {
    const project = await makeForge();
    const { child, lines, ended } = start(project.dir, args);
    await expect.poll(() => lines().length).toBeGreaterThan(0);
    child.stdout?.destroy();
    await forgeJson(project, ['session', 'start', '--task', 'Build it']);
    expect(await ended).toBe(0);
  });
});
