import { describe, expect, it } from 'vitest';
import { forgeJson, runForge } from '../support/forge.js';
import { makeStarted } from '../support/forge-project.js';

describe('lists at a terminal', () => {
  it('VIS-01 have what passes last, ages where there is room; a pipe gets the same bytes whatever the time', async () => {
    const project = await makeStarted();
    await runForge(project, ['feature', 'add', 'A', 'First', '--test', 'ls done']);
    await forgeJson(project, ['feature', 'add', 'B', 'Second']);
    project.write('done', '');
    await forgeJson(project, ['feature', 'verify', 'A']);
    const list = async (options = {}) => (await runForge(project, ['feature', 'list'], options)).stdout;
    expect(await list({ terminal: true, columns: 80 })).toMatch(
      /^B .*\nA {2}passing {10}(?:just now|\d+ min ago) {2}First\n/,
    );
    const plain = 'B  not_implemented  Second\nA  passing          First\n';
    expect(await list({ terminal: true, columns: 60, env: { NO_COLOR: '1' } })).toBe(plain);
    expect(await list()).toBe(plain);
    await runForge(project, ['end', '--no-commit']);
    const { sessions } = await forgeJson<{ sessions: { id: string }[] }>(project, ['session', 'list']);
    const show = ['session', 'show', sessions[0]?.id ?? ''];
    expect((await runForge(project, show, { terminal: true })).stdout).toMatch(
      /ended {2}(?:just now|\d+ min ago) – (?:just now|\d+ min ago)\n/,
    );
    expect((await runForge(project, show)).stdout).toMatch(/ended {2}20\d\d-\d\d-\d\d \d\d:\d\d – 20/);
  });
});
