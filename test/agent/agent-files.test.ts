import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../src/agent/agents.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, snapshot } from '../support/forge-project.js';
import { changedPaths, commitAll, makeFolder, projectAt, run } from '../support/project.js';
import {
  expectUntouched,
  install,
  MINE,
  refusal,
  SETTINGS,
  status,
  uninstall,
  withSettings,
} from '../support/wiring.js';

describe('forge agent install refuses, and writes nothing', () => {
  it('AGT-01 and forge agent status shows why', async () => {
    const project = await makeForge();
    project.write(SETTINGS, '{ "a": ');
    const { stdout } = await runForge(project, ['agent', 'status', 'claude']);
    expect(stdout).toMatch(
      /^claude +not wired +Claude Code\n +\.claude\/settings\.json +unreadable +.*not JSON/,
    );
  });

  it.each<[string, string, number, string]>([
    ['invalid JSON', '{\n  "a": 1,\n  b\n}', 3, 'it is not JSON (invalid symbol)'],
    ['invalid UTF-8', '{\n"x": "\ufffd"}', 2, 'it is not valid UTF-8'],
  ])('AGT-01 %s: exit 3 with file and line', async (_, text, line, what) => {
    const bytes = Buffer.from(text.replace('\ufffd', '\u00ff'), text.includes('\ufffd') ? 'latin1' : 'utf8');
    const project = await makeForge();
    project.write(SETTINGS, bytes);
    await expectUntouched(project, async () => {
      const error = await refusal(project);
      expect(error).toMatchObject({ exitCode: 3, code: 'agent.settings', file: SETTINGS, line });
      expect([error.message, error.hint]).toEqual([
        `${SETTINGS}:${line}: ${what}; nothing was written.`,
        expect.any(String),
      ]);
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
