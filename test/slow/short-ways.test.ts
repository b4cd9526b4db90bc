import { describe, expect, it } from 'vitest';
import { SHORT_WAYS } from '../../src/cli/groups.js';
import { runBinary, runForge } from '../support/forge.js';
import { makePlainProject } from '../support/project.js';
import { makeForgeRepository, typed, typedError, typedJson } from '../support/typed.js';

describe('short forms of commands', () => {
  it('B-01 each has the help of its full command, also after other options', async () => {
    const project = makePlainProject();
    for (const [name, { words }] of Object.entries(SHORT_WAYS)) {
      const { stdout } = await runForge(project, [...words, '--help']);
      expect((await runForge(project, [name, '--help'])).stdout).toBe(stdout);
      expect((await runForge(project, ['--color', 'never', name, '-h'])).stdout).toBe(stdout);
      expect((await runForge(project, ['help', name])).stdout).toBe(stdout);
    }
  });

  it('B-01 version is --version, by the binary too', () => {
    const { stdout } = runBinary('/', ['--version']);
    expect(runBinary('/', ['version'])).toMatchObject({ exitCode: 0, stderr: '', stdout });
  });
});

describe('forge learn', () => {
  it('KNO-01 stores each kind in its place, and the briefing has it', () => {
    const project = makeForgeRepository();
    expect(
      typedJson(project, ['learn', 'use port 0', '--as', 'success', '--context', 'tests']),
    ).toMatchObject({
      learning: { kind: 'success', context: 'tests', approach: 'use port 0' },
      duplicate: false,
    });
    typed(project, ['learn', 'the port is taken', '--as', 'failure', '--resolution', 'use port 0']);
    typed(project, ['learn', 'amounts are whole cents', '--as', 'invariant']);
    const { id } = typedJson<{ id: string }>(project, 'learn "staging is rebuilt on Mondays" --as note');
    expect(typed(project, ['note', 'show', id])).toContain('staging is rebuilt on Mondays');
    expect(typed(project, ['learn', 'use port 0', '--as', 'success', '--context', 'tests'])).toContain(
      'known already',
    );
    const briefing = typed(project, ['briefing']);
    for (const text of ['use port 0', 'the port is taken', 'amounts are whole cents'])
      expect(briefing).toContain(text);
  });

  it('B-02 without a terminal it asks for the missing text, and stores nothing', () => {
    const project = makeForgeRepository();
    expect(typedError(project, ['learn', 'use port 0'])).toMatchObject({
      exitCode: 2,
      code: 'learn.kind',
      hint: 'forge learn "use port 0" --as success',
    });
    expect(typedError(project, ['learn', 'a $b', '--as', 'fact'])).toMatchObject({
      exitCode: 2,
      message: '--as: found "fact": success | failure | invariant | note.',
      hint: 'forge learn "TEXT" --as success',
    });
    expect(typed(project, ['knowledge', 'list'])).toContain('Nothing yet');
  });
});
