import { describe, expect, it } from 'vitest';
import type { AgentStatus, FileState } from '../../src/agent/status.js';
import { type AgentFacts, type AgentSight, diagnoseAgents } from '../../src/doctor/agent-rules.js';
import { faultsIn, hooksIn, parseSettings, programIn, switchedOff } from '../../src/doctor/agent-settings.js';
import { diagnose, type Facts, isBelow, type ProjectFacts } from '../../src/doctor/diagnosis.js';
import { inOrder, type Symptom } from '../../src/status/symptom.js';

const PROJECT: ProjectFacts = {
  config: null,
  warnings: [],
  halted: null,
  tracking: 'tracked',
  guard: null,
  damaged: [],
  unapproved: 0,
};
const WELL: Facts = { node: '20.19.0', git: 'git version 2.39.5', project: PROJECT };

/** Severity and first command of each. */
const brief = (symptoms: readonly Symptom[]): string[] =>
  symptoms.map(({ severity, observed, commands }) => `${severity}: ${observed} → ${commands[0]}`);

describe('diagnose', () => {
  it('finds nothing where nothing is wrong', () => {
    expect(diagnose(WELL)).toEqual([]);
    expect(diagnose({ ...WELL, node: '24.0.0', git: 'git version 2.50.1 (Apple Git-155)' })).toEqual([]);
  });

  it.each<[Partial<Facts>, string[]]>([
    [{ node: '20.9.1' }, ['blocking: Node 20.9.1 → nvm install 22']],
    // The README asks for 2.39.
    [{ git: 'git version 2.38.9' }, ['degraded: git 2.38.9 → git --version']],
    [{ git: 'hello' }, ['degraded: git says "hello" → git --version']],
    [{ git: null }, ['blocking: git was not found → git --version']],
    [
      { git: null, project: { ...PROJECT, tracking: 'no repository' } },
      ['degraded: git was not found → git --version'],
    ],
    [{ project: { message: 'None here.', hint: 'forge init' } }, ['blocking: None here. → forge init']],
    [{ project: { message: 'A link.' } }, ['blocking: A link. → forge init']],
    [{ project: { message: 'A link.', hint: 'ls -l' } }, ['blocking: A link. → ls -l']],
    [
      { git: null, project: { message: 'None here.' } },
      ['degraded: git was not found → git --version', 'blocking: None here. → forge init'],
    ],
  ])('%j', (change, expected) => {
    expect(brief(diagnose({ ...WELL, ...change }))).toEqual(expected);
  });

  it.each<[Partial<ProjectFacts>, string[]]>([
    [
      { halted: 'a line was removed' },
      ['blocking: memory is halted: a line was removed → forge memory verify'],
    ],
    [{ config: { message: 'line 3' } }, ['blocking: line 3 → forge config list']],
    [{ config: { message: 'line 3', hint: 'npm install' } }, ['blocking: line 3 → npm install']],
    [{ warnings: ['unknown x'] }, ['advisory: unknown x → forge config list']],
    [{ guard: { message: 'no rules', hint: 'npm install' } }, ['blocking: no rules → npm install']],
    [{ guard: { message: 'no rules' } }, ['blocking: no rules → forge guard scan']],
    [{ tracking: { message: 'git: odd' } }, ['blocking: git: odd → git status']],
    [{ unapproved: 2 }, ['degraded: 2 of what this project would run is not approved → forge trust']],
    [
      {
        damaged: [
          { message: 'features.json:3: broken.', hint: 'git restore x' },
          { message: 'kfr.json is a folder.' },
        ],
      },
      [
        'blocking: features.json:3: broken → git restore x',
        'blocking: kfr.json is a folder → git status -- .forge',
      ],
    ],
    [{ tracking: 'ignored' }, ['degraded: git ignores .forge/ → grep -n forge .gitignore .git/info/exclude']],
    [
      { tracking: 'untracked' },
      [
        'advisory: .forge/ is not in git yet → git add .forge && forge commit -m "Add forge" --why "agents remember"',
      ],
    ],
    [{ tracking: 'no repository' }, ['advisory: the project is in no git repository → git init']],
    [
      { tracking: { message: 'git: dubious ownership', hint: 'git config x' } },
      ['blocking: git: dubious ownership → git config x'],
    ],
  ])('in a project: %j', (change, expected) => {
    expect(brief(diagnose({ ...WELL, project: { ...PROJECT, ...change } }))).toEqual(expected);
  });

  it('compares versions by number', () => {
    expect(isBelow('20.9', '20.19')).toBe(true);
    expect(isBelow('20.19.0', '20.19')).toBe(false);
    expect(isBelow('2.30.0-rc1', '2.30')).toBe(false);
    expect(isBelow('3', '2.30')).toBe(false);
    expect(isBelow('2', '2.30')).toBe(true);
    expect(isBelow('2', '2.1')).toBe(true);
  });

  it('puts the worst first', () => {
    const found = diagnose({
      ...WELL,
      project: { ...PROJECT, warnings: ['odd'], halted: 'x', tracking: 'ignored' },
    });
    expect(inOrder(found).map(({ severity }) => severity)).toEqual(['blocking', 'degraded', 'advisory']);
  });
});

const SELF = { name: 'forge-memory', version: '1.2.0' };
const HERE = { path: '/bin/forge', ...SELF };

const statusOf = (...states: [string, FileState, string?][]): AgentStatus => ({
  name: 'claude',
  title: 'Claude Code',
  state: states.every(([, state]) => state === 'missing') ? 'absent' : 'wired',
  files: states.map(([path, state, problem]) => ({
    path,
    state,
    ...(problem === undefined ? {} : { problem }),
  })),
  wants: [],
});

const SIGHT: AgentSight = {
  status: statusOf(['.claude/settings.json', 'wired'], ['.mcp.json', 'wired']),
  hooks: [{ file: '.claude/settings.json', command: 'forge hook claude stop', program: 'unknown' }],
  serverMissing: null,
  lacking: [],
  off: [],
  plugin: null,
  faults: [],
};
const AGENTS: AgentFacts = { self: SELF, onPath: HERE, agents: [SIGHT], log: 'hooks.log' };
const at = (path: string, name: string | null = 'forge-memory') => ({
  file: '.claude/settings.json',
  command: `${path} hook claude stop`,
  program: name === 'nothing' ? null : { path, name, version: null },
});

describe('diagnoseAgents', () => {
  it('AGT-01 finds nothing where an agent reaches forge', () => {
    expect(diagnoseAgents(AGENTS)).toEqual([]);
  });

  it('AGT-01 says how to begin where no agent is wired', () => {
    expect(brief(diagnoseAgents({ ...AGENTS, agents: [] }))).toEqual([
      'advisory: no agent is wired here → forge agent install claude',
    ]);
  });

  it.each<[Partial<AgentFacts>, string[]]>([
    [{ onPath: null }, ['blocking: there is no forge on the PATH → npm link   (in your clone of forge)']],
    [
      { onPath: { ...HERE, name: 'foundry' } },
      ['blocking: /bin/forge is of the package foundry → npm link   (in your clone of forge)'],
    ],
    [
      { onPath: { ...HERE, name: null } },
      ['degraded: /bin/forge is of no known package → /bin/forge --version'],
    ],
    [
      { onPath: { ...HERE, version: '1.1.0' } },
      ['advisory: /bin/forge is forge 1.1.0 → npm link   (in your clone of forge)'],
    ],
    [{ onPath: { ...HERE, version: null } }, []],
    // One that needs the PATH is enough: a bare hook, a server alone, a plugin.
    ...[
      { ...SIGHT, hooks: [at('/opt/forge'), ...SIGHT.hooks] },
      { ...SIGHT, hooks: [] },
      { ...SIGHT, hooks: [at('/opt/forge')], plugin: 'a.json', status: statusOf() },
    ].map((sight): [Partial<AgentFacts>, string[]] => [
      { onPath: { ...HERE, name: null }, agents: [sight, { ...SIGHT, hooks: [at('/opt/forge')] }] },
      [
        'degraded: /bin/forge is of no known package → /bin/forge --version',
        ...(sight.plugin === null
          ? []
          : [
              "advisory: Claude Code has forge's plugin (a.json) and forge's hooks (.claude/settings.json) → claude plugin uninstall forge-memory@forge",
            ]),
      ],
    ]),
    // Hooks that name a program do not need the PATH.
    [{ onPath: null, agents: [{ ...SIGHT, hooks: [at('/opt/forge')] }] }, []],
  ])('AGT-01 %j', (change, expected) => {
    expect(brief(diagnoseAgents({ ...AGENTS, ...change }))).toEqual(expected);
  });

  it.each<[string, Partial<AgentSight>, string[]]>([
    [
      'asked for, not wired',
      { status: statusOf(['.claude/settings.json', 'missing']), hooks: [] },
      ['blocking: Claude Code is not wired → forge agent install claude'],
    ],
    [
      'wired by the plugin alone',
      { status: statusOf(['.claude/settings.json', 'missing']), hooks: [], plugin: 'settings.json' },
      [],
    ],
    [
      'wired in part',
      {
        status: statusOf(['.claude/settings.json', 'changed'], ['.mcp.json', 'wired']),
        lacking: ['.claude/settings.json'],
      },
      ['degraded: Claude Code is wired in part: see .claude/settings.json → forge agent install claude'],
    ],
    [
      'a server of the person’s own',
      { status: statusOf(['.claude/settings.json', 'wired'], ['.mcp.json', 'changed']) },
      [
        'advisory: the MCP server "forge" in .mcp.json is not as this forge installs it → forge agent install claude',
      ],
    ],
    [
      'no server',
      {
        status: statusOf(['.claude/settings.json', 'wired'], ['.mcp.json', 'missing']),
        serverMissing: '.mcp.json',
      },
      ['degraded: no MCP server "forge" in .mcp.json → forge agent install claude'],
    ],
    [
      'a file that cannot be parsed',
      {
        status: statusOf(
          ['.claude/settings.json', 'wired'],
          ['.mcp.json', 'unreadable', '.mcp.json:3: unexpected "x".'],
        ),
      },
      ['blocking: .mcp.json:3: unexpected "x" → node -p "JSON.parse(fs.readFileSync(0))" < .mcp.json'],
    ],
    [
      'nothing but a file that cannot be read, and why is not known',
      {
        status: { ...statusOf(['a.json', 'missing'], ['config.toml', 'unreadable']), state: 'absent' },
        hooks: [],
      },
      ['blocking: config.toml cannot be read → cat config.toml'],
    ],
    [
      'a server that is missing from a file that has another',
      {
        status: statusOf(['.claude/settings.json', 'wired'], ['.mcp.json', 'changed']),
        serverMissing: '.mcp.json',
      },
      ['degraded: no MCP server "forge" in .mcp.json → forge agent install claude'],
    ],
    [
      'a program that is gone, once for all hooks',
      { hooks: [at('/gone/forge', 'nothing'), at('/gone/forge', 'nothing')] },
      [
        'blocking: hooks in .claude/settings.json start /gone/forge, which is not there → forge agent install claude',
      ],
    ],
    [
      'a program of another package',
      { hooks: [at('/opt/forge', null)] },
      [
        'blocking: hooks in .claude/settings.json start /opt/forge, which is not this forge → forge agent install claude',
      ],
    ],
    [
      'hooks turned off',
      { off: [{ setting: 'disableAllHooks: true', what: 'hooks', file: '.claude/settings.json' }] },
      [
        'blocking: .claude/settings.json has disableAllHooks: true → grep -n disableAllHooks .claude/settings.json',
      ],
    ],
    [
      'the server refused',
      { off: [{ setting: 'disabledMcpjsonServers: ["forge"]', what: 'server', file: 'a.json' }] },
      ['degraded: a.json has disabledMcpjsonServers: ["forge"] → grep -n disabledMcpjsonServers a.json'],
    ],
    [
      'wired twice',
      { plugin: '~/.claude/settings.json' },
      [
        "advisory: Claude Code has forge's plugin (~/.claude/settings.json) and forge's hooks (.claude/settings.json) → claude plugin uninstall forge-memory@forge",
      ],
    ],
    [
      'hooks that failed',
      { faults: ['stop: lock.busy'] },
      ['degraded: hooks failed lately: stop: lock.busy → tail hooks.log'],
    ],
  ])('AGT-01 %s', (_what, change, expected) => {
    expect(brief(diagnoseAgents({ ...AGENTS, agents: [{ ...SIGHT, ...change }] }))).toEqual(expected);
  });
});

describe('what is read of an agent', () => {
  it('AGT-01 finds its hooks wherever they stand, and no other’s', () => {
    const settings = {
      hooks: {
        Stop: [{ hooks: [{ type: 'command', command: 'forge hook claude stop' }, { command: 'lint' }] }],
        SessionStart: [{ hooks: [{ command: 'node "/opt/a b/forge.js" hook claude session-start' }] }],
        Other: [{ hooks: [{ command: 'forge hook codex stop' }] }],
      },
    };
    expect(hooksIn('claude', settings)).toEqual([
      'forge hook claude stop',
      'node "/opt/a b/forge.js" hook claude session-start',
    ]);
  });

  it.each([
    ['forge hook claude stop', null],
    ['npx --no-install forge hook claude stop', null],
    ['"$CLAUDE_PROJECT_DIR"/bin/forge hook claude stop', null],
    ['/opt/forge hook claude stop', '/opt/forge'],
    ['node /opt/forge.js hook claude stop', '/opt/forge.js'],
    ['node "/opt/a b/forge.js" hook claude stop', '/opt/a b/forge.js'],
    ['node_modules/.bin/forge hook claude stop', 'node_modules/.bin/forge'],
  ])('AGT-01 %s names the program %s', (command, program) => {
    expect(programIn(command)).toBe(program);
  });

  it.each([
    ['claude', 'a.json', '{"disableAllHooks": true}', ['disableAllHooks: true']],
    ['claude', 'a.json', '{"disabledMcpjsonServers": ["forge"]}', ['disabledMcpjsonServers: ["forge"]']],
    ['claude', 'a.json', '{"disableAllHooks": false, "disabledMcpjsonServers": ["other"]}', []],
    ['codex', 'a.toml', '[features]\nhooks = false\n', ['hooks = false in [features]']],
    ['codex', 'a.toml', 'features.codex_hooks = false\n', ['codex_hooks = false in [features]']],
    ['codex', 'a.toml', 'hooks = false\n', []],
    ['codex', 'a.toml', 'no toml', []],
    ['claude', 'a.json', '[]', []],
  ] as const)('AGT-01 %s: what %s with %s turns off', (agent, path, text, expected) => {
    expect(switchedOff(agent, parseSettings(path, text)).map(({ setting }) => setting)).toEqual(expected);
  });

  it('AGT-01 takes the last faults of one agent within a day', () => {
    const log = [
      '2026-03-01T09:00:00.000Z claude stop: disk.full',
      '2026-03-02T10:00:00.000Z claude session-start: lock.busy',
      '2026-03-02T10:01:00.000Z codex stop: lock.busy',
      '2026-03-02T10:02:00.000Z claude session-start: lock.busy',
      'torn',
      '2026-03-02T10:03:00.000Z claude stop: TypeError ',
      '',
    ].join('\n');
    const now = new Date('2026-03-02T11:00:00.000Z');
    expect(faultsIn(log, 'claude', now)).toEqual(['session-start: lock.busy', 'stop: TypeError ']);
  });
});
