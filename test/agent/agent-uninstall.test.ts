import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../src/agent/agents.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { changedPaths, commitAll, makeFolder, projectAt, run } from '../support/project.js';
import {
  expectUntouched,
  install,
  MINE,
  SETTINGS,
  status,
  uninstall,
  withSettings,
} from '../support/wiring.js';

const COPILOT = '.github/hooks/forge.json';

describe('forge agent uninstall', () => {
  it('AGT-01 keeps later changes of a person', async () => {
    const project = await withSettings();
    await install(project);
    project.write(SETTINGS, project.read(SETTINGS).replace('"model": "x"', '"model": "y"'));
    await uninstall(project);
    expect(project.read(SETTINGS)).toBe(MINE.replace('"model": "x"', '"model": "y"'));
    expect(project.has('.mcp.json')).toBe(false);
  });

  it("AGT-01 keeps a person's hooks in Copilot's file, after another install too", async () => {
    const project = await makeForge();
    await forgeJson(project, ['agent', 'install', 'copilot']);
    const own = { type: 'command', bash: 'mine' };
    const file = project.json<{ version: number; hooks: Record<string, unknown[]> }>(COPILOT);
    file.hooks.sessionStart?.push(own);
    project.write(COPILOT, JSON.stringify(file));
    await forgeJson(project, ['agent', 'install', 'copilot', '--command', 'npx --no-install forge']);
    expect(project.read(COPILOT)).toContain('npx --no-install forge hook copilot');
    await forgeJson(project, ['agent', 'uninstall', 'copilot']);
    expect(project.json(COPILOT)).toEqual({ version: 1, hooks: { sessionStart: [own] } });
  });

  it('AGT-01 works in a clone', async () => {
    const project = await withSettings();
    await install(project, '--command', 'npx --no-install forge');
    commitAll(project, 'Wire');
    const clone = projectAt(makeFolder());
    clone.git('clone', '-q', project.dir, '.');
    expect(await status(clone)).toMatchObject({ state: 'wired' });
    await uninstall(clone);
    expect([clone.read(SETTINGS), clone.has('.mcp.json')]).toEqual([MINE, false]);
    expect(clone.git('diff', '--stat', 'HEAD~1')).toBe('');
  });

  it('AGT-01 writes nothing where nothing is wired', async () => {
    const project = await withSettings();
    mkdirSync(project.path('.empty'));
    await expectUntouched(project, async () => {
      const { stdout } = await runForge(project, ['agent', 'uninstall', 'all']);
      expect(stdout).toBe(`${AGENT_NAMES.join(', ')}: not wired.\n`);
    });
  });

  it('AGT-01 GIT-03 says what remains after it, and how to delete it', async () => {
    const project = await makeForge();
    await install(project);
    await forgeJson(project, ['hooks', 'install']);
    const agents = (await runForge(project, ['agent', 'uninstall', 'claude'])).stdout;
    expect(agents).toMatch(/The memory in \.forge\/ stays\. Git's hooks: forge hooks uninstall\./);
    const hooks = (await runForge(project, ['hooks', 'uninstall'])).stdout;
    expect(hooks).toMatch(/The memory in \.forge\/ stays\. Agents: forge agent uninstall all\./);
    const line = hooks.trimEnd().split('\n').at(-1) ?? '';
    expect(run(project.dir, 'sh', ['-c', line])).toMatchObject({ exitCode: 0, stderr: '' });
    expect([project.has('.forge'), project.has('.git/forge')]).toEqual([false, false]);
  });

  it('AGT-01 works after a wired file was deleted', async () => {
    const project = await makeForge();
    await install(project);
    project.git('clean', '-fdq');
    expect((await uninstall(project)).files.every(({ change }) => change === 'unchanged')).toBe(true);
    expect(changedPaths(project)).toEqual([]);
  });
});
