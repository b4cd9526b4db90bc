import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../src/domain/agent/event.js';
import type { WiringChange, WiringStatus } from '../../src/index.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { changedPaths, makeFolder, makeRepository, type Project, projectAt } from '../support/project.js';
import { differences, makeForge, makePlainForge, snapshot } from './project.js';

const SETTINGS = '.claude/settings.json';
const COPILOT = '.github/hooks/forge.json';
const MANIFEST = '.git/forge/wiring.json';

const install = (project: Project, ...args: string[]): Promise<WiringChange> =>
  forgeJson<WiringChange>(project, ['agent', 'install', 'claude', ...args]);
const uninstall = (project: Project, ...args: string[]): Promise<WiringChange> =>
  forgeJson<WiringChange>(project, ['agent', 'uninstall', 'claude', ...args]);
const status = async (project: Project, ...args: string[]): Promise<WiringStatus['agents'][number]> => {
  const { agents } = await forgeJson<WiringStatus>(project, ['agent', 'status', 'claude', ...args]);
  return agents[0] as WiringStatus['agents'][number];
};
const refusal = (project: Project, ...args: string[]) =>
  forgeError(project, ['agent', 'install', 'claude', ...args]);

type Hooks = Record<string, { hooks: { command: string }[] }[]>;
const hooksOf = (project: Project): Hooks => project.json<{ hooks: Hooks }>(SETTINGS).hooks;

const MINE =
  '\ufeff{\r\n\t// mine\r\n\t"model": "x",\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{ "hooks": [{ "type": "command", "command": "mine" }] }, // first\r\n\t\t],\r\n\t},\r\n}';

/** A repository with settings of a person's own. */
async function withSettings(text = MINE): Promise<Project> {
  const project = await makeForge();
  project.write(SETTINGS, text);
  project.git('add', '.claude');
  project.git('commit', '-q', '-m', 'Settings');
  return project;
}

/** Nothing was written, to the state folder neither. */
async function expectUntouched(project: Project, work: () => Promise<unknown>): Promise<void> {
  const before = snapshot(project.dir);
  await work();
  expect(differences(before, snapshot(project.dir))).toEqual([]);
}

describe('forge agent install', () => {
  it('AGT-01 writes hooks, the server and on request the instructions, and uninstall leaves nothing', async () => {
    const project = await makeForge();
    const before = snapshot(project.dir);
    const { files, agents, wants } = await install(project, '--instructions');
    expect([agents, files.map(({ path, change }) => `${path} ${change}`)]).toEqual([
      ['claude'],
      [`${SETTINGS} created`, '.mcp.json created', 'CLAUDE.md created'],
    ]);
    expect(wants.map(({ agent }) => agent)).toEqual(['claude']);
    expect(Object.keys(hooksOf(project))).toContain('SessionStart');
    expect(project.json('.mcp.json')).toEqual({
      mcpServers: { forge: { type: 'stdio', command: 'forge', args: ['mcp'] } },
    });
    expect(project.read('CLAUDE.md')).toMatch(
      /^<!-- forge:begin -->\n.*forge session start.*<!-- forge:end -->\n$/s,
    );
    expect(changedPaths(project).sort()).toEqual([`?? ${SETTINGS}`, '?? .mcp.json', '?? CLAUDE.md']);
    await uninstall(project);
    expect(differences(before, snapshot(project.dir)).filter((path) => path !== '.git/index')).toEqual([]);
  });

  it("AGT-01 keeps a person's own hooks first, and every byte of the file", async () => {
    const project = await withSettings();
    await install(project);
    const text = project.read(SETTINGS);
    expect(text.startsWith('\ufeff{\r\n\t// mine\r\n\t"model": "x",\r\n')).toBe(true);
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(text.indexOf('"mine"')).toBeLessThan(text.indexOf('forge hook claude stop'));
    await uninstall(project);
    expect(project.read(SETTINGS)).toBe(MINE);
    expect(changedPaths(project)).toEqual([]);
    expect(project.has(MANIFEST)).toBe(false);
  });

  it('AGT-01 notes nothing of what a person has in the file', async () => {
    const project = await withSettings('{ "env": { "NAME": "hunter-two" } }\n');
    await install(project);
    expect(project.read(MANIFEST)).not.toMatch(/hunter|NAME|env/);
    expect(statSync(project.path(MANIFEST)).mode & 0o777).toBe(0o600);
  });

  it('AGT-01 its help names the agents', async () => {
    for (const word of ['install', 'uninstall']) {
      const { stdout } = await runForge(await makeForge(), ['agent', word, '--help']);
      expect(stdout.replace(/\s+/g, ' ')).toContain(
        '(claude, codex, gemini, cursor, opencode, copilot or all)',
      );
    }
  });

  it('AGT-01 once more changes nothing and says so', async () => {
    const project = await withSettings();
    await install(project, '--instructions');
    await expectUntouched(project, async () => {
      const { stdout } = await runForge(project, ['agent', 'install', 'claude']);
      expect(stdout).toBe('claude: wired already.\n');
      expect((await install(project, '--instructions')).files.map(({ change }) => change)).toEqual(
        Array(3).fill('unchanged'),
      );
    });
  });

  it('AGT-01 with another command replaces its own entries, and uninstall still gives the very bytes', async () => {
    const project = await withSettings();
    await install(project);
    await install(project, '--command', 'npx forge');
    const text = project.read(SETTINGS);
    expect(text).toContain('"npx forge hook claude stop"');
    expect(text).not.toContain('"forge hook');
    expect(project.json('.mcp.json')).toMatchObject({
      mcpServers: { forge: { command: 'npx', args: ['forge', 'mcp'] } },
    });
    // Without the word it stays as it was wired.
    expect((await install(project)).files.every(({ change }) => change === 'unchanged')).toBe(true);
    await uninstall(project);
    expect([project.read(SETTINGS), changedPaths(project)]).toEqual([MINE, []]);
  });

  it('AGT-01 --dry-run names the files and writes none', async () => {
    const project = await withSettings();
    await expectUntouched(project, async () => {
      const { stderr, exitCode } = await runForge(project, ['agent', 'install', 'claude', '-n']);
      expect([exitCode, stderr]).toEqual([
        0,
        expect.stringContaining(`2 files would change: ${SETTINGS}, .mcp.json`),
      ]);
    });
  });

  it('AGT-01 keeps the mode of a file', async () => {
    const project = await withSettings();
    for (const mode of [0o666, 0o600]) {
      chmodSync(project.path(SETTINGS), mode);
      await install(project);
      expect(statSync(project.path(SETTINGS)).mode & 0o777).toBe(mode);
      await uninstall(project);
      expect(statSync(project.path(SETTINGS)).mode & 0o777).toBe(mode);
    }
  });

  it('AGT-01 works without git, where the notes lie in .forge/local', async () => {
    const project = await makePlainForge();
    const before = snapshot(project.dir);
    await install(project);
    expect(project.has('.forge/local/wiring.json')).toBe(true);
    await uninstall(project);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it.each([
    ['cursor2', 'agent.unknown'],
    ['', 'agent.unknown'],
    ['Claude', 'agent.unknown'],
  ])('AGT-01 %j is no agent: exit 2', async (word, code) => {
    const error = await forgeError(await makeForge(), ['agent', 'install', word]);
    expect([error.exitCode, error.code]).toEqual([2, code]);
    expect(error.message).toMatch(/claude.*all/);
  });

  it.each(['', 'x', 'forge; rm -rf .', '"a b/forge"', 'forge $(x)', 'forge\n', ' forge', 'forge hook'])(
    'AGT-01 --command %j would not be known again: exit 2',
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

  it('AGT-01 without a .forge/ nothing is written: exit 2', async () => {
    const project = makeRepository();
    await expectUntouched(project, async () => {
      for (const word of ['install', 'uninstall', 'status'])
        expect(await forgeError(project, ['agent', word, 'claude'])).toMatchObject({
          exitCode: 2,
          code: 'not_a_forge',
        });
    });
  });
});

describe('forge agent uninstall', () => {
  it('AGT-01 keeps what a person changed since', async () => {
    const project = await withSettings();
    await install(project, '--instructions');
    project.write(SETTINGS, project.read(SETTINGS).replace('"model": "x"', '"model": "y"'));
    project.write('CLAUDE.md', `# Mine\n\n${project.read('CLAUDE.md')}`);
    await uninstall(project);
    expect(project.read(SETTINGS)).toBe(MINE.replace('"model": "x"', '"model": "y"'));
    expect(project.read('CLAUDE.md')).toBe('# Mine\n');
    expect([project.has('.mcp.json'), project.has(MANIFEST)]).toEqual([false, false]);
  });

  it("AGT-01 keeps a person's hooks in Copilot's file, through another install as well", async () => {
    const project = await makeForge();
    await forgeJson(project, ['agent', 'install', 'copilot']);
    const own = { type: 'command', bash: 'mine' };
    const file = project.json<{ version: number; hooks: Record<string, unknown[]> }>(COPILOT);
    file.hooks.sessionStart?.push(own);
    project.write(COPILOT, JSON.stringify(file));
    await forgeJson(project, ['agent', 'install', 'copilot', '--command', 'npx forge']);
    expect(project.read(COPILOT)).toContain('npx forge hook copilot');
    await forgeJson(project, ['agent', 'uninstall', 'copilot']);
    expect(project.json(COPILOT)).toEqual({ version: 1, hooks: { sessionStart: [own] } });
  });

  it('AGT-01 a teammate who cloned has no notes, and still takes out what was wired', async () => {
    const project = await withSettings();
    await install(project, '--command', 'npx forge', '--instructions');
    project.git('add', '.');
    project.git('commit', '-q', '-m', 'Wire');
    const clone = projectAt(makeFolder());
    clone.git('clone', '-q', project.dir, '.');
    expect(await status(clone)).toMatchObject({ state: 'wired' });
    await uninstall(clone);
    expect([clone.read(SETTINGS), clone.has('.mcp.json'), clone.has('CLAUDE.md')]).toEqual([
      MINE,
      false,
      false,
    ]);
    expect(clone.git('diff', '--stat', 'HEAD~1')).toBe('');
  });

  it('AGT-01 notes that are damaged are not needed', async () => {
    const project = await withSettings();
    await install(project);
    project.write(MANIFEST, 'no JSON');
    const { stderr, exitCode } = await runForge(project, ['agent', 'uninstall', 'claude']);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('wiring.json:1:')]);
    expect([project.read(SETTINGS), changedPaths(project)]).toEqual([MINE, []]);
  });

  it('AGT-01 notes of a newer forge: nothing is changed, and who looks is told what is there', async () => {
    const project = await makeForge();
    await install(project);
    project.write(MANIFEST, project.read(MANIFEST).replace('"1.0"', '"9.0"'));
    expect(await refusal(project, '--command', 'npx forge')).toMatchObject({
      exitCode: 3,
      code: 'file.newer',
    });
    expect(await status(project)).toMatchObject({ state: 'wired' });
    expect((await runForge(project, ['doctor', '--agent'])).exitCode).toBe(0);
  });

  it('AGT-01 where nothing is wired nothing is written', async () => {
    const project = await withSettings();
    mkdirSync(project.path('.empty'));
    await expectUntouched(project, async () => {
      const { stdout } = await runForge(project, ['agent', 'uninstall', 'all']);
      expect(stdout).toBe(`${AGENT_NAMES.join(', ')}: nothing of forge was there.\n`);
    });
  });

  it('AGT-01 a file that is gone since is no trouble', async () => {
    const project = await makeForge();
    await install(project);
    project.git('clean', '-fdq');
    expect((await uninstall(project)).files.every(({ change }) => change === 'unchanged')).toBe(true);
    expect([changedPaths(project), project.has(MANIFEST)]).toEqual([[], false]);
  });
});

describe('forge agent status', () => {
  it('AGT-01 says of each file what is wrong with it', async () => {
    const project = await makeForge();
    expect(await status(project)).toMatchObject({
      name: 'claude',
      title: 'Claude Code',
      state: 'absent',
      wants: [],
    });
    await install(project);
    expect((await status(project)).wants).toHaveLength(1);
    expect((await status(project)).files).toEqual([
      { path: SETTINGS, state: 'wired' },
      { path: '.mcp.json', state: 'wired' },
    ]);
    expect(await status(project, '--command', 'npx forge')).toMatchObject({
      state: 'wired',
      files: [
        { path: SETTINGS, state: 'other_command', command: 'forge' },
        { path: '.mcp.json', state: 'other_command', command: 'forge' },
      ],
    });
    project.write(SETTINGS, project.read(SETTINGS).replace('"timeout": 10', '"timeout": 11'));
    project.write('.mcp.json', '{}\n');
    expect(await status(project)).toMatchObject({
      state: 'partly',
      files: [{ state: 'changed' }, { state: 'missing' }],
    });
    project.write('.mcp.json', '{\n"a": }\n');
    expect((await status(project)).files[1]).toEqual({
      path: '.mcp.json',
      state: 'unreadable',
      problem: '.mcp.json:2: it is no JSON (value expected).',
    });
  });

  it('AGT-01 is short and aligned, without an agent all of them', async () => {
    const project = await makeForge();
    expect((await runForge(project, ['agent', 'status'])).stdout).toContain('\nforge agent install claude\n');
    await install(project);
    const { stdout } = await runForge(project, ['agent', 'status']);
    expect(stdout).toMatch(
      /^claude +wired +Claude Code\n {2}\.claude\/settings\.json {2}wired\n {2}\.mcp\.json {14}wired\n(\w+ +not wired +\S.*\n){5}\nNeeds you:\n {2}claude {2}\S.*\n$/,
    );
  });
});

describe('what forge agent install refuses, with nothing written', () => {
  it('AGT-01 forge agent status says why an agent cannot be wired', async () => {
    const project = await makeForge();
    project.write(SETTINGS, '{ "a": ');
    const { stdout } = await runForge(project, ['agent', 'status', 'claude']);
    expect(stdout).toMatch(
      /^claude +not wired +Claude Code\n +\.claude\/settings\.json +unreadable +.*no JSON/,
    );
  });

  it.each<[string, string, number, string]>([
    ['no JSON', '{\n  "a": 1,\n  b\n}', 3, 'it is no JSON (invalid symbol)'],
    ['hooks that are no object', '{\n"x": 1,\n"hooks": "none" }', 3, '"hooks" is no object, but string'],
    ['keys that stand twice', '{\n"hooks": {},\n"hooks": {} }', 3, '"hooks" stands twice'],
    ['no UTF-8', '{\n"x": "\ufffd"}', 2, 'it is not valid UTF-8'],
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
    'AGT-01 a server of another program that has "forge" in its name: %s',
    async (command) => {
      const project = await makeForge();
      project.write('.mcp.json', JSON.stringify({ mcpServers: { forge: { command, args: ['mcp'] } } }));
      await expectUntouched(project, async () => {
        expect(await refusal(project)).toMatchObject({ exitCode: 3, file: '.mcp.json' });
        await uninstall(project);
      });
    },
  );

  it('AGT-01 a second file that is refused: the first one stays as well', async () => {
    const project = await withSettings();
    project.write('.mcp.json', '{"mcpServers": {"forge": {"command": "another"}}}');
    await expectUntouched(project, async () => {
      expect(await refusal(project)).toMatchObject({ exitCode: 3, file: '.mcp.json', line: 1 });
    });
  });

  it('AGT-01 settings of 10 MB, a folder, a file with several hard links', async () => {
    const project = await makeForge();
    project.write(SETTINGS, `{"a": "${'x'.repeat(10_000_000)}"}`);
    expect(await refusal(project)).toMatchObject({ exitCode: 3, code: 'agent.file', file: SETTINGS });
    writeFileSync(project.path(SETTINGS), '{}');
    linkSync(project.path(SETTINGS), project.path('other'));
    expect(await refusal(project)).toMatchObject({ exitCode: 3, code: 'agent.file' });
    const other = await makeForge();
    mkdirSync(other.path(SETTINGS), { recursive: true });
    expect(await refusal(other)).toMatchObject({ exitCode: 3, code: 'agent.file' });
    const third = await makeForge();
    third.write('.claude', 'a file');
    expect(await refusal(third)).toMatchObject({ exitCode: 3, code: 'agent.file' });
  });

  it('AGT-01 a read-only file or folder: exit 6', async () => {
    const project = await withSettings();
    chmodSync(project.path(SETTINGS), 0o444);
    await expectUntouched(project, async () => {
      const error = await refusal(project);
      expect(error).toMatchObject({ exitCode: 6, code: 'disk.eacces', file: SETTINGS });
      expect(error.hint).toContain('chmod u+w');
    });
    chmodSync(project.path(SETTINGS), 0o644);
    chmodSync(project.path('.claude'), 0o555);
    await expectUntouched(project, async () => {
      expect(await refusal(project)).toMatchObject({ exitCode: 6, code: 'disk.eacces' });
    });
    chmodSync(project.path('.claude'), 0o755);
  });

  it('AGT-01 a builder: exit 3', async () => {
    const project = await withSettings();
    const env = { FORGE_ROLE: 'builder' };
    for (const args of [
      ['install', 'claude'],
      ['uninstall', 'all'],
      ['install', 'claude', '--user'],
    ])
      expect(await forgeError(project, ['agent', ...args], { env })).toMatchObject({
        exitCode: 3,
        code: 'role.denied',
      });
    const outside = makeFolder();
    const error = await forgeError({ dir: outside }, ['agent', 'install', 'claude', '--user'], { env });
    expect([error.exitCode, error.code]).toEqual([3, 'role.denied']);
    expect(project.read(SETTINGS)).toBe(MINE);
  });
});

describe('links', () => {
  it('AGT-01 inside the project the target is edited and the link stays', async () => {
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

  it('AGT-01 CLAUDE.md as a link to AGENTS.md is one file', async () => {
    const project = await makeForge();
    project.write('AGENTS.md', '# Mine\n');
    symlinkSync('AGENTS.md', project.path('CLAUDE.md'));
    await install(project, '--instructions');
    expect(project.read('AGENTS.md').split('forge:begin').length).toBe(2);
    await uninstall(project);
    expect([project.read('AGENTS.md'), snapshot(project.dir)['CLAUDE.md']]).toEqual([
      '# Mine\n',
      'link AGENTS.md',
    ]);
  });

  it('AGT-01 instructions that nobody asked for may be linked to anywhere', async () => {
    const project = await makeForge();
    const outside = projectAt(makeFolder());
    outside.write('CLAUDE.md', '# Mine\n');
    symlinkSync(outside.path('CLAUDE.md'), project.path('CLAUDE.md'));
    await install(project);
    expect((await status(project)).files.map(({ path }) => path)).toEqual([SETTINGS, '.mcp.json']);
    expect(await refusal(project, '--instructions')).toMatchObject({ code: 'agent.link', file: 'CLAUDE.md' });
    await uninstall(project);
    expect([project.has(SETTINGS), outside.read('CLAUDE.md')]).toEqual([false, '# Mine\n']);
  });

  it.each(['file', 'folder', 'nowhere', 'git'])('AGT-01 out of the project is refused (%s)', async (kind) => {
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
      expect(await refusal(project)).toMatchObject({ exitCode: 3, code: 'agent.link', file: SETTINGS });
    });
    expect(outside.read('settings.json')).toBe('{}\n');
  });
});

describe('forge agent install --user', () => {
  it('AGT-01 works without a .forge/, in the home folder alone, and out again', async () => {
    const project = makeRepository();
    const home = projectAt(makeFolder());
    const dotfiles = projectAt(makeFolder());
    dotfiles.write('settings.json', MINE);
    mkdirSync(home.path('.claude'));
    // Many keep such files elsewhere and link to them.
    symlinkSync(dotfiles.path('settings.json'), home.path(SETTINGS));
    const env = { HOME: home.dir, XDG_STATE_HOME: home.path('state') };
    await expectUntouched(project, async () => {
      const args = ['agent', 'install', 'claude', '--user', '--instructions'];
      const dry = await runForge(project, [...args, '-n'], { env });
      expect([dry.exitCode, dry.stderr, home.has('.claude/CLAUDE.md')]).toEqual([
        0,
        expect.stringContaining('nothing was written'),
        false,
      ]);
      const { files, place } = await forgeJson<WiringChange>(project, args, { env });
      expect([place, files]).toEqual([
        'home',
        [
          { path: dotfiles.path('settings.json'), change: 'changed' },
          { path: '~/.claude/CLAUDE.md', change: 'created' },
        ],
      ]);
      const { agents } = await forgeJson<WiringStatus>(project, ['agent', 'status', '--user'], { env });
      expect(agents[0]).toMatchObject({ state: 'wired', wants: [expect.stringContaining('claude mcp add')] });
      await forgeJson(project, ['agent', 'uninstall', 'claude', '--user'], { env });
    });
    expect([dotfiles.read('settings.json'), home.has('.claude/CLAUDE.md')]).toEqual([MINE, false]);
  });

  it.each(['', 'relative'])(
    'AGT-01 a HOME that is no path (%j) names no folder of the project',
    async (HOME) => {
      const project = await makeForge();
      const env = { ...process.env, HOME };
      await expectUntouched(project, async () => {
        for (const flags of [['-n'], ['-n', '--json']])
          await runForge(project, ['agent', 'install', 'claude', '--user', ...flags], { env });
        const { stdout } = await runForge(project, ['agent', 'status', '--user', '--json'], { env });
        expect(stdout).toContain('"home"');
      });
    },
  );

  it('AGT-01 leaves the project alone, and install without it leaves home alone', async () => {
    const project = await makeForge();
    const home = process.env.HOME as string;
    const before = snapshot(home);
    await install(project);
    expect(differences(before, snapshot(home))).toEqual([]);
    const there = snapshot(project.dir);
    const dry = await runForge(project, ['agent', 'install', 'claude', '--user', '-n']);
    expect(dry.stderr).toContain('1 file would change: ~/.claude/settings.json');
    await install(project, '--user');
    expect(differences(there, snapshot(project.dir))).toEqual([]);
    expect(projectAt(home).has(SETTINGS)).toBe(true);
    await uninstall(project, '--user');
    expect(projectAt(home).has('.claude')).toBe(false);
  });
});
