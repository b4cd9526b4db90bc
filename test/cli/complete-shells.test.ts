import { describe, expect, it } from 'vitest';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { makePlainProject, type Project } from '../support/project.js';

async function bash(project: Project, words: readonly string[], current: string): Promise<string[]> {
  const args = ['complete', '--shell=bash', `--current=${current}`, '--', ...words];
  const { stdout } = await runForge(project, args);
  return stdout.trimEnd().split('\n');
}

describe('words for bash', () => {
  it('are unquoted, and "=" and ":" are separate words', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A-1', 'Login works']);
    const found = async (words: string, current: string): Promise<string[]> =>
      (await bash(project, words.split(' '), current)).slice(1);
    expect(await found('feature edit A --status', 'not')).toEqual(['not_implemented']);
    expect(await found('feature edit A --status =', 'not')).toEqual(['not_implemented']);
    expect(await found('feature show', '"A')).toEqual(['"A-1']);
    expect(await found('"feature" s\\how', '')).toEqual(['A-1']);
    expect(await found(`-C '${project.dir}' feature show`, 'A')).toEqual(['A-1']);
  });
});

describe('words for zsh', () => {
  it('are ids of active issues, and the kinds that recall knows', async () => {
    const project = await makeForge();
    const { linear_id: id } = await forgeJson<{ linear_id: string }>(project, 'linear new "Wire the login"');
    const found = async (words: string): Promise<string> => {
      const args = ['complete', '--shell=zsh', '--current=', '--', ...words.split(' ')];
      return (await runForge(project, args)).stdout;
    };
    for (const name of ['show', 'start', 'done'])
      expect(await found(`linear ${name}`)).toBe(`words\n${id}\n`);
    expect(await found('recall --tier')).toContain('\nnote\nfeature\n');
  });
});

describe('forge complete SHELL', () => {
  it('prints only the script, and its help explains where to put it', async () => {
    const project = makePlainProject();
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout, stderr, exitCode } = await runForge(project, ['complete', shell]);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toContain(`--shell=${shell}`);
      expect(stdout).not.toMatch(/\bundefined\b|\$\{'/);
    }
    expect((await runForge(project, ['complete', 'tcsh'])).exitCode).toBe(2);
    expect((await runForge(project, ['help', 'complete'])).stdout).toContain('~/.bashrc');
  });
});
