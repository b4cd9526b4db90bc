import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { WiringChange, WiringStatus } from '../../src/index.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { changedPaths, makeFolder, makeRepository, type Project, projectAt } from '../support/project.js';
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

type Hooks = Record<string, { hooks: { command: string }[] }[]>;
const hooksOf = (project: Project): Hooks => project.json<{ hooks: Hooks }>(SETTINGS).hooks;

describe('forge agent install', () => {
  it('AGT-01 wires several agents at once, here and with forge init', async () => {
    const project = await makeForge();
    const { agents } = await forgeJson<WiringChange>(project, ['agent', 'install', 'codex,claude']);
    expect(agents).toEqual(['claude', 'codex']);
    const error = await forgeError(project, ['agent', 'install', 'claude,codes']);
    expect(error).toMatchObject({ code: 'agent.unknown', hint: 'Did you mean codex?' });
    const other = makeRepository();
    const made = await forgeJson<{ agents: string[] }>(other, ['init', '--agents', 'cursor,claude']);
    expect(made.agents).toEqual(['claude', 'cursor']);
    await expectError(other, ['init', '--agents', 'cursor,none'], '2 init.agents');
  });

  it('AGT-01 writes hooks and the server, and uninstall removes them all', async () => {
    const project = await makeForge();
    const home = process.env.HOME as string;
    const [before, atHome] = [snapshot(project.dir), snapshot(home)];
    const { files, agents, wants } = await install(project);
    const dry = await runForge(project, ['agent', 'install', 'claude', '--user', '-n']);
    expect(dry.stdout).toContain('~/.claude/settings.json');
    expect(differences(atHome, snapshot(home))).toEqual([]);
    expect([agents, files.map(({ path, change }) => `${path} ${change}`)]).toEqual([
      ['claude'],
      [`${SETTINGS} created`, '.mcp.json created'],
    ]);
    expect(wants.map(({ agent }) => agent)).toEqual(['claude', 'claude', 'git']);
    expect(Object.keys(hooksOf(project))).toContain('SessionStart');
    expect(project.json('.mcp.json')).toEqual({
      mcpServers: { forge: { type: 'stdio', command: 'forge', args: ['mcp'], alwaysLoad: true } },
    });
    expect(changedPaths(project).sort()).toEqual([`?? ${SETTINGS}`, '?? .mcp.json']);
    await uninstall(project);
    expect(differences(before, snapshot(project.dir)).filter((path) => path !== '.git/index')).toEqual([]);
  });

  it('AGT-07 --allow adds narrow permissions, a second install keeps them, uninstall restores the bytes', async () => {
    const project = await makeForge();
    const own = '{"permissions": {"allow": ["Bash(ls)"]}}\n';
    project.write('.claude/settings.json', own);
    const asked = await runForge(project, ['agent', 'install', 'claude']);
    expect(asked.stdout).toContain('forge agent install claude --allow');
    const allowing = await runForge(project, ['agent', 'install', 'claude', '--allow']);
    expect(allowing.stdout).not.toContain('--allow');
    const allowed = (): string[] =>
      project.json<{ permissions: { allow: string[] } }>('.claude/settings.json').permissions.allow;
    expect(allowed()).toEqual([
      'Bash(ls)',
      'mcp__forge__briefing',
      'mcp__forge__recall',
      'mcp__forge__session_working_memory_update',
      'mcp__forge__session_note_promote',
      'mcp__forge__progress_add',
      'mcp__forge__focus_set',
    ]);
    await forgeJson(project, ['agent', 'install', 'all']);
    expect(allowed()).toHaveLength(7);
    expect(project.read('.gemini/settings.json')).not.toContain('trust');
    await forgeJson(project, ['agent', 'install', 'gemini', '--allow']);
    await forgeJson(project, ['agent', 'install', 'gemini']);
    expect(project.json('.gemini/settings.json')).toMatchObject({ mcpServers: { forge: { trust: true } } });
    await forgeJson(project, ['agent', 'uninstall', 'all']);
    expect(project.read('.claude/settings.json')).toBe(own);
  });

  it("AGT-01 keeps a person's own hooks first; another command replaces forge's entries; uninstall restores every byte", async () => {
    const project = await withSettings();
    await install(project);
    await install(project, '--command', 'npx --no-install forge');
    const text = project.read(SETTINGS);
    expect(text.startsWith('\ufeff{\r\n\t// mine\r\n\t"model": "x",\r\n')).toBe(true);
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(text.indexOf('"mine"')).toBeLessThan(text.indexOf('forge hook claude stop'));
    expect(text).toContain('"npx --no-install forge hook claude stop 2>/dev/null || :"');
    expect(text).not.toContain('"forge hook');
    expect(project.json('.mcp.json')).toMatchObject({
      mcpServers: { forge: { command: 'npx', args: ['--no-install', 'forge', 'mcp'] } },
    });
    // Without --command the earlier command stays.
    expect((await install(project)).files.every(({ change }) => change === 'unchanged')).toBe(true);
    await uninstall(project);
    expect([project.read(SETTINGS), changedPaths(project)]).toEqual([MINE, []]);
  });

  it('AGT-01 escapes control characters of a linked file name', async () => {
    const project = await makeForge();
    const name = 'rules\u001b]0;owned\u0007.json';
    project.write(name, '{}\n');
    symlinkSync(name, project.path('.mcp.json'));
    const args = ['agent', 'install', 'claude', '--dry-run'];
    const { stdout, stderr } = await runForge(project, args);
    expect(stderr).toMatch(/would change: .*rules<U\+001B>/);
    expect(stdout + stderr).not.toContain('\u001b');
  });

  it.each(['', 'Claude', 'cluade'])('AGT-01 refuses the agent %j: exit 2', async (word) => {
    const error = await forgeError(await makeForge(), ['agent', 'install', word]);
    expect([error.exitCode, error.code]).toEqual([2, 'agent.unknown']);
    expect(error.message).toMatch(/claude.*all/);
    if (word === 'cluade') expect(error.hint).toBe('forge agent install claude');
  });

  it('AGT-01 without a name wires the agents found here', async () => {
    const project = await makeForge();
    const programs = makeFolder();
    const bare = { env: { PATH: `${programs}:${dirname(process.execPath)}:/usr/bin:/bin` } };
    expect(await forgeError(project, ['agent', 'install'], bare)).toMatchObject({
      exitCode: 2,
      code: 'agent.none',
      hint: expect.stringMatching(/^forge agent install claude {3}# or codex, /),
    });
    writeFileSync(join(programs, 'cursor-agent'), '');
    mkdirSync(project.path('.gemini'));
    const { agents } = await forgeJson<WiringChange>(project, ['agent', 'install'], bare);
    expect(agents).toEqual(['gemini', 'cursor']);
    expect(project.has('.cursor/hooks.json')).toBe(true);
    expect(project.has('.claude/settings.json')).toBe(false);
  });

  it.each(['', 'x', 'forge; rm -rf .', '"a b/forge"', 'forge $(x)', 'forge\n', ' forge', 'forge hook'])(
    'AGT-01 refuses --command %j, which uninstall could not recognize: exit 2',
    async (command) => {
      const project = await makeForge();
      await expectUntouched(project, async () => {
        expect(await refusal(project, '--command', command)).toMatchObject({
          exitCode: 2,
          code: 'agent.command',
        });
      });
    },
  );

  it('AGT-01 needs a .forge/: exit 2', async () => {
    const project = makeRepository();
    await expectUntouched(project, async () => {
      for (const word of ['install', 'uninstall', 'status'])
        await expectError(project, ['agent', word, 'claude'], '2 not_a_forge');
    });
  });
});

describe('forge agent status', () => {
  it('AGT-01 shows the state of each file, short and aligned, and all agents without a name', async () => {
    const project = await makeForge();
    expect(await status(project)).toMatchObject({
      name: 'claude',
      title: 'Claude Code',
      state: 'absent',
      wants: [],
    });
    expect((await runForge(project, ['agent', 'status'])).stdout).toContain('\nforge agent install claude\n');
    await install(project);
    expect((await status(project)).wants).toHaveLength(2);
    const { stdout } = await runForge(project, ['agent', 'status']);
    expect(stdout).toMatch(
      /^claude +wired +Claude Code\n {2}\.claude\/settings\.json {2}wired\n {2}\.mcp\.json {14}wired\n(\w+ +not wired +\S.*\n){5}\nNeeds you:\n( {2}claude {2}\S.*\n){2}$/,
    );
    expect((await status(project)).files).toEqual([
      { path: SETTINGS, state: 'wired' },
      { path: '.mcp.json', state: 'wired' },
    ]);
    project.write(SETTINGS, project.read(SETTINGS).replace('"timeout": 10', '"timeout": 11'));
    project.write('.mcp.json', '{}\n');
    expect(await status(project)).toMatchObject({
      state: 'partly',
      files: [{ state: 'changed' }, { state: 'missing' }],
    });
    project.write('.mcp.json', '{\n"a": }\n');
    expect((await runForge(project, ['agent', 'status', 'claude'])).stdout).toMatch(
      /\.mcp\.json +unreadable +\.mcp\.json:2: it is not JSON/,
    );
  });
});

describe('forge agent install --user', () => {
  it('AGT-01 works without a .forge/, in the home folder only, and uninstalls', async () => {
    const project = makeRepository();
    const home = projectAt(makeFolder());
    const dotfiles = projectAt(makeFolder());
    dotfiles.write('settings.json', MINE);
    mkdirSync(home.path('.claude'));
    // Many people keep dotfiles in a repository and link to them.
    symlinkSync(dotfiles.path('settings.json'), home.path(SETTINGS));
    const env = { HOME: home.dir, XDG_STATE_HOME: home.path('state') };
    await expectUntouched(project, async () => {
      const args = ['agent', 'install', 'claude', '--user'];
      const dry = await runForge(project, [...args, '-n'], { env });
      expect([dry.exitCode, dry.stderr]).toEqual([0, expect.stringContaining('nothing was written')]);
      const { files, place } = await forgeJson<WiringChange>(project, args, { env });
      expect([place, files]).toEqual(['home', [{ path: dotfiles.path('settings.json'), change: 'changed' }]]);
      const { agents } = await forgeJson<WiringStatus>(project, ['agent', 'status', '--user'], { env });
      expect(agents[0]).toMatchObject({
        state: 'wired',
        wants: [expect.stringContaining('claude mcp add'), expect.stringContaining('claude --user --allow')],
      });
      await forgeJson(project, ['agent', 'uninstall', 'claude', '--user'], { env });
    });
    expect(dotfiles.read('settings.json')).toBe(MINE);
  });

  it.each(['', 'relative'])('AGT-01 does not write into the project with HOME=%j', async (HOME) => {
    const project = await makeForge();
    const env = { ...process.env, HOME };
    await expectUntouched(project, async () => {
      for (const flags of [['-n'], ['-n', '--json']])
        await runForge(project, ['agent', 'install', 'claude', '--user', ...flags], { env });
      const { stdout } = await runForge(project, ['agent', 'status', '--user', '--json'], { env });
      expect(stdout).toContain('"home"');
    });
  });
});

describe('forge agent install --here', () => {
  const HERE = 'packages/app/.claude/settings.json';
  const inFolder = ['-C', 'packages/app'];

  it('AGT-01 wires an agent in the folder it is started in, and uninstalls from there', async () => {
    const project = await makeForge();
    project.write('packages/app/index.js', '');
    await install(project);
    await runForge(project, [...inFolder, 'agent', 'install', 'claude', '--here']);
    expect(project.has(HERE)).toBe(true);
    const status = await runForge(project, [...inFolder, 'agent', 'status', 'claude', '--here']);
    expect(status.stdout).toMatch(/packages\/app\/\.claude\/settings\.json +wired/);
    expect(status.stdout).toContain(': forge agent install claude --here --allow\n');
    await runForge(project, [...inFolder, 'agent', 'uninstall', 'claude', '--here']);
    expect([project.has(HERE), project.has(SETTINGS)]).toEqual([false, true]);
    expect(project.has('packages/app/index.js')).toBe(true);
  });
});

describe('additional files of some agents', () => {
  it('AGT-01 adds .forge/ to .geminiignore; uninstall restores the bytes', async () => {
    const project = await makeForge();
    project.write('.geminiignore', 'dist/\nsecrets');
    await runForge(project, ['agent', 'install', 'gemini']);
    expect(project.read('.geminiignore')).toMatch(/^# forge.*\n\.forge\/\ndist\/\nsecrets$/);
    await runForge(project, ['agent', 'uninstall', 'gemini']);
    expect(project.read('.geminiignore')).toBe('dist/\nsecrets');
    project.write('.geminiignore', '.forge/\n');
    await runForge(project, ['agent', 'install', 'gemini']);
    await runForge(project, ['agent', 'uninstall', 'gemini']);
    expect(project.read('.geminiignore')).toBe('.forge/\n');
  });

  it('AGT-01 adds the server to an existing opencode.jsonc and keeps its comments', async () => {
    const project = await makeForge();
    const mine = '{\n  // mine\n  "model": "x/y",\n}\n';
    project.write('opencode.jsonc', mine);
    await runForge(project, ['agent', 'install', 'opencode']);
    expect(project.has('opencode.json')).toBe(false);
    expect(project.read('opencode.jsonc')).toMatch(/\/\/ mine[\s\S]*"forge"/);
    expect((await runForge(project, 'agent status opencode')).stdout).toMatch(/opencode\.jsonc +wired/);
    await runForge(project, ['agent', 'uninstall', 'opencode']);
    expect(project.read('opencode.jsonc')).toBe(mine);
  });
});
