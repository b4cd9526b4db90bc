import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeError, runForge } from '../support/forge.js';
import { makeForge, snapshot } from '../support/forge-project.js';
import { makeFolder, projectAt } from '../support/project.js';
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
    [
      'hooks that are not an object',
      '{\n"x": 1,\n"hooks": "none" }',
      3,
      '"hooks" is not an object, but string',
    ],
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
