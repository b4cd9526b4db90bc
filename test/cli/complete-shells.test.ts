import { describe, expect, it } from 'vitest';
import { bashWord, splitLine } from '../../src/cli/complete-shells.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge, putFeatures } from '../support/forge-project.js';
import { makePlainProject, type Project } from '../support/project.js';

async function bash(project: Project, line: string, replaced: string): Promise<string[]> {
  const args = ['complete', '--shell=bash', `--current=${replaced}`, '--', line];
  const { stdout } = await runForge(project, args);
  return stdout.trimEnd().split('\n');
}

describe('quoting for bash', () => {
  it('B-42 what was typed stays, and the rest is one word in its quotes', () => {
    const word = (line: string, value: string): string | null => {
      const typed = splitLine(line);
      return typed && bashWord(value, typed);
    };
    expect(word('forge x ', 'a b')).toBe('a\\ b');
    expect(word('forge x a', 'a b')).toBe('a\\ b');
    expect(word('forge x a\\ ', 'a b')).toBe('a\\ b');
    expect(word('forge x "a', 'a b')).toBe('"a b');
    expect(word('forge x "a', 'a $b')).toBeNull();
    expect(word("forge x 'a", 'a $b')).toBe("'a $b");
    expect(word("forge x 'a", "a 'b")).toBeNull();
    expect(word('forge x b', 'a b')).toBeNull();
    expect(word('forge x $b', 'a b')).toBeNull();
    expect(word('forge x "$b', 'a b')).toBeNull();
    expect(word('forge x', 'x~;\n'.trim())).toBe('x\\~\\;');
    expect(splitLine(`forge "a b" c\\ d 'e'f `)).toMatchObject({
      words: ['forge', 'a b', 'c d', 'ef'],
      current: '',
    });
    expect(splitLine('forge a\\')).toBeNull();
  });

  it('replaces only what readline replaces', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A-1', 'Login works']);
    await forgeJson(project, ['feature', 'add', 'A-2', 'Logout works']);
    expect(await bash(project, 'forge feature edit A --status=not', 'not')).toEqual([
      'words',
      'not_implemented',
    ]);
    expect(await bash(project, 'forge feature show A', 'A')).toEqual(['words', 'A-1', 'A-2']);
    expect(await bash(project, 'forge feature show A', 'other')).toEqual(['words']);
  });
});

describe('forge complete SHELL', () => {
  it('prints the script alone; without a shell it says where it belongs, and changes no file', async () => {
    const project = makePlainProject();
    for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
      const { stdout, stderr, exitCode } = await runForge(project, ['complete', shell]);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toContain(`--shell=${shell}`);
      expect(stdout).not.toMatch(/\bundefined\b|\$\{'/);
      const hint = await runForge(project, ['complete'], { env: { SHELL: `/usr/bin/${shell}` } });
      expect(hint.stdout).toContain(`forge complete ${shell}`);
      expect(hint.stdout).toMatch(/^\w+: put this into \S+:\n/);
    }
    const unknown = await runForge(project, ['complete'], { env: { SHELL: '/bin/tcsh' } });
    for (const shell of ['bash', 'zsh', 'fish', 'powershell'])
      expect(unknown.stdout).toContain(`${shell}: put`);
  });

  it('for PowerShell: quoted so that it takes a value for nothing but a text', async () => {
    const project = await makeForge();
    putFeatures(project, [
      { id: "it's $(x) `n", name: 'a' },
      { id: 'A-1', name: 'b' },
    ]);
    const { stdout } = await runForge(project, [
      'complete',
      '--shell=powershell',
      '--current=',
      '--',
      'feature',
      'show',
    ]);
    expect(stdout).toBe("words\nA-1\n'it''s $(x) `n'\n");
    const script = (await runForge(project, ['complete', 'powershell'])).stdout;
    for (const [open, close] of ['()', '{}', '[]']) {
      const count = (sign: string | undefined): number => script.split(sign ?? '').length;
      expect(count(open)).toBe(count(close));
    }
  });
});
