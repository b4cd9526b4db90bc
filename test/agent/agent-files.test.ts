import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../src/agent/agents.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, snapshot } from '../support/forge-project.js';
import { makeFolder, projectAt, run } from '../support/project.js';
import {
  expectUntouched,
  install,
  MINE,
  refusal,
  SETTINGS,
  uninstall,
  withSettings,
} from '../support/wiring.js';

describe('forge agent install refuses, and writes nothing', () => {
  it('AGT-01 invalid UTF-8: exit 3 with the file', async () => {
    const project = await makeForge();
    project.write(SETTINGS, Buffer.from('{\n"x": "\u00ff"}', 'latin1'));
    await expectUntouched(project, async () => {
      const error = await refusal(project);
      expect(error).toMatchObject({ exitCode: 3, code: 'agent.settings', file: SETTINGS });
      expect(error.message).toBe(`${SETTINGS}: it is not valid UTF-8; nothing was written.`);
      expect(error.hint).toEqual(expect.any(String));
    });
  });

  it.each(['/opt/sourceforge/tool', 'laravel-forge', '/home/ada/forge/serve'])(
    'AGT-01 the entry of another program with "forge" in its name: %s',
    async (command) => {
      const project = await makeForge();
      project.write('.mcp.json', JSON.stringify({ mcpServers: { forge: { command, args: ['mcp'] } } }));
      await expectUntouched(project, async () => {
        expect(await refusal(project)).toMatchObject({ exitCode: 3, file: '.mcp.json' });
        await uninstall(project);
      });
    },
  );

  it('AGT-01 all files if one is refused', async () => {
    const project = await withSettings();
    project.write('.mcp.json', '{"mcpServers": {"forge": {"command": "another"}}}');
    await expectUntouched(project, async () => {
      expect(await refusal(project)).toMatchObject({ exitCode: 3, file: '.mcp.json', line: 1 });
    });
  });

  it('AGT-01 settings of 10 MB, and a folder in place of a file', async () => {
    const project = await makeForge();
    project.write(SETTINGS, `{"a": "${'x'.repeat(10_000_000)}"}`);
    expect(await refusal(project)).toMatchObject({ exitCode: 4, code: 'file.too_large' });
    const other = await makeForge();
    mkdirSync(other.path(SETTINGS), { recursive: true });
    expect(await refusal(other)).toMatchObject({ exitCode: 4, code: 'file.kind' });
    const third = await makeForge();
    third.write('.claude', 'a file');
    expect(await refusal(third)).toMatchObject({ exitCode: 6, code: 'disk.enotdir' });
  });

  it('AGT-01 a builder outside of projects: exit 3', async () => {
    const outside = { dir: makeFolder() };
    const env = { FORGE_ROLE: 'builder' };
    const error = await forgeError(outside, ['agent', 'install', 'claude', '--user'], { env });
    expect([error.exitCode, error.code]).toEqual([3, 'role.denied']);
  });
});

describe('links', () => {
  it('AGT-01 inside the project stay, and their target is edited', async () => {
    const project = await makeForge();
    project.write('config/claude.json', MINE);
    mkdirSync(project.path('.claude'));
    symlinkSync('../config/claude.json', project.path(SETTINGS));
    expect((await install(project)).files[0]).toEqual({ path: 'config/claude.json', change: 'changed' });
    expect(readFileSync(project.path('config/claude.json'), 'utf8')).toContain('forge hook claude stop');
    expect(snapshot(project.dir)[SETTINGS]).toBe('link ../config/claude.json');
    await uninstall(project);
    expect(project.read('config/claude.json')).toBe(MINE);
  });

  it.each(['file', 'folder', 'nowhere', 'git'])('AGT-01 out of a project are refused (%s)', async (kind) => {
    const project = await makeForge();
    const outside = projectAt(makeFolder());
    outside.write('settings.json', '{}\n');
    if (kind === 'folder') symlinkSync(outside.dir, project.path('.claude'));
    else {
      mkdirSync(project.path('.claude'));
      const target =
        { file: outside.path('settings.json'), nowhere: './gone', git: '../.git/hooks/x' }[kind] ?? '';
      if (kind === 'git') project.write('.git/hooks/x', '{}');
      symlinkSync(target, project.path(SETTINGS));
    }
    await expectUntouched(project, async () => {
      expect(await refusal(project)).toMatchObject(
        kind === 'nowhere' ? { code: 'file.kind' } : { exitCode: 3, code: 'agent.link', file: SETTINGS },
      );
    });
    expect(outside.read('settings.json')).toBe('{}\n');
  });
});

describe('forge agent uninstall', () => {
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
    const [, lines = ''] = /main worktree:\n([\s\S]*)$/.exec(hooks) ?? [];
    expect(readFileSync('README.md', 'utf8')).toContain(lines);
    expect(agents).toContain(lines);
    expect(run(project.dir, 'sh', ['-c', lines])).toMatchObject({ stderr: '' });
    expect([project.has('.forge'), project.has('.git/forge')]).toEqual([false, false]);
  });

  it('AGT-01 KFR-09 an agent cannot remove the hooks that hold its gate', async () => {
    const project = await makeForge();
    await install(project);
    await expectUntouched(project, async () => {
      for (const flag of [[], ['--user']])
        await expectError(project, ['agent', 'uninstall', 'all', ...flag], '3 human.required', {
          env: { CLAUDECODE: '1' },
        });
    });
  });
});
