import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, AGENTS, type AgentName, isHookOf, stringsIn } from '../../src/agent/agents.js';
import { stopReason } from '../../src/kfr/rules.js';
import {
  hookLists,
  hooksFor,
  partsFor,
  pluginFor,
  readPayload,
  replyAt,
  serverFor,
} from '../support/wirings.js';

const root = new URL('../../', import.meta.url);
const json = (path: string) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));

/** The recorded payloads of an agent whose event forge knows. */
const payloadsOf = (agent: AgentName): string[] =>
  readdirSync(new URL(`test/fixtures/agents/${agent}/`, root))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -5))
    .filter((name) =>
      Object.keys(AGENTS[agent].events).some((word) => name === word || name.startsWith(`${word}-`)),
    );

/** The recorded payloads of Claude Code have the folder of the recording removed. */
const CLAUDE_CWD: Partial<Record<AgentName, object>> = { claude: { cwd: '/home/ada/shop' } };

describe.each(AGENT_NAMES)('the payloads of %s', (agent) => {
  it('AGT-01 name the conversation and its folder; unknown fields are ignored', () => {
    const names = payloadsOf(agent);
    expect(names.length).toBeGreaterThan(4);
    for (const name of names)
      expect(readPayload(agent, name, { of_tomorrow: { a: 1 }, ...CLAUDE_CWD[agent] })).toMatchObject({
        conversation: expect.stringMatching(/^\S{10,}$/),
        cwd: '/home/ada/shop',
        caller: null,
      });
  });

  it('KFR-09 distinguish a prompt made from the reason of a blocked stop from one that a person typed', () => {
    const word =
      Object.entries(AGENTS[agent].events).find(([, { moment }]) => moment === 'prompt')?.[0] ?? '';
    const isOwn = (prompt: string): boolean => readPayload(agent, word, { prompt }).isOwnPrompt;
    const reason = stopReason([], 'stop');
    expect([isOwn('Make logout work'), isOwn(reason), isOwn(`another hook\n${reason}`)]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe('a payload', () => {
  it.each<[AgentName, string, object, object]>([
    ['claude', 'stop', { agent_id: 'a7' }, { subagent: 'a7' }],
    ['codex', 'post-tool-use-subagent', {}, { subagent: expect.stringMatching(/./) }],
    ['copilot', 'agent-stop', { parentAgentId: 'a7' }, { subagent: 'a7' }],
    ['opencode', 'stop', { parent_id: 'ses_1' }, { subagent: 'ses_1' }],
    ['cursor', 'stop', {}, { subagent: '', isInterrupted: false }],
    ['cursor', 'pre-compact', { trigger: 'manual' }, { isAsked: true }],
    ['codex', 'pre-compact', {}, { isAsked: true }],
    ['codex', 'pre-compact-auto', {}, { isAsked: false }],
    ['gemini', 'session-end', {}, { isCleared: false }],
    ['gemini', 'session-end-clear', {}, { isCleared: true }],
    ['cursor', 'session-start', { conversation_id: undefined, session_id: 's1' }, { conversation: 's1' }],
    ['cursor', 'stop', { workspace_roots: [7] }, { cwd: null }],
  ])('AGT-01 of %s at %s with %j', (agent, name, change, expected) => {
    expect(readPayload(agent, name, change)).toMatchObject(expected);
  });
});

/** What three agents take with context and as a reason to block a stop. */
const hookOutput = (decision: string) => ({
  context: (event: string) => ({
    hookSpecificOutput: { hookEventName: event, additionalContext: 'the KFR' },
  }),
  block: { decision, reason: 'settle kfr-1', systemMessage: 'settle kfr-1' },
});

/** The replies at a moment: with context, with a reason to block a stop. */
const REPLIES: Record<AgentName, { context: (event: string) => object; block: object }> = {
  claude: hookOutput('block'),
  codex: hookOutput('block'),
  gemini: hookOutput('deny'),
  cursor: { context: () => ({ additional_context: 'the KFR' }), block: { followup_message: 'settle kfr-1' } },
  opencode: { context: () => ({ context: 'the KFR' }), block: { block: 'settle kfr-1' } },
  copilot: {
    context: () => ({ additionalContext: 'the KFR' }),
    block: { decision: 'block', reason: 'settle kfr-1' },
  },
};

describe.each(AGENT_NAMES)('the replies to %s', (agent) => {
  it('AGT-01 KFR-09 have the form that each event defines, or are empty', () => {
    const { events, takes, blocksCompaction } = AGENTS[agent];
    const { context, block } = REPLIES[agent];
    for (const [word, { moment, name }] of Object.entries(events)) {
      const sent = replyAt(agent, word, 'the KFR');
      expect(sent === '' ? null : JSON.parse(sent)).toEqual(takes.includes(moment) ? context(name) : null);
      const held = replyAt(agent, word, null, 'settle kfr-1');
      if (moment === 'before-tool') expect(held).toContain('settle kfr-1');
      else {
        const canBlock = moment === 'stop' || (moment === 'compaction' && blocksCompaction);
        expect(held === '' ? null : JSON.parse(held)).toEqual(canBlock ? block : null);
      }
      expect([replyAt(agent, word, null), replyAt(agent, word, null, ' ')]).toEqual(['', '']);
    }
  });
});

describe('the schemas of Codex', () => {
  /** What each event's output schema allows. Codex rejects any other key (test/fixtures/agents/codex/README.md). */
  const ALLOWED: Record<string, string[]> = {
    'session-start': ['hookSpecificOutput.additionalContext'],
    'user-prompt-submit': ['hookSpecificOutput.additionalContext'],
    'pre-tool-use': ['additionalContext', 'permissionDecision', 'permissionDecisionReason'].map(
      (key) => `hookSpecificOutput.${key}`,
    ),
    'post-tool-use': ['hookSpecificOutput.additionalContext'],
    'pre-compact': [],
    stop: ['decision', 'reason', 'systemMessage'],
  };

  it.each(Object.entries(ALLOWED))('AGT-01 accept every reply to %s', (word, allowed) => {
    const { name } = AGENTS.codex.events[word] ?? {};
    for (const [context, block] of [['the KFR'], ['the KFR', 'settle kfr-1'], [null, 'settle kfr-1']]) {
      const { hookSpecificOutput: { hookEventName = name, ...inner } = {}, ...output } = JSON.parse(
        replyAt('codex', word, context ?? null, block) || '{}',
      );
      expect(hookEventName).toBe(name);
      const keys = [...Object.keys(inner).map((key) => `hookSpecificOutput.${key}`), ...Object.keys(output)];
      expect(allowed).toEqual(expect.arrayContaining(keys));
    }
  });
});

const CODEX_EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PreCompact', 'Stop'];

describe('the wiring', () => {
  it.each<[AgentName, string[], string[], string[]]>([
    [
      'claude',
      ['.claude/settings.json', '.mcp.json'],
      ['.claude/settings.json'],
      [...CODEX_EVENTS, 'SessionEnd'],
    ],
    [
      'codex',
      ['.codex/hooks.json', '.codex/config.toml'],
      ['.codex/hooks.json', '.codex/config.toml'],
      CODEX_EVENTS,
    ],
    [
      'gemini',
      ['.gemini/settings.json', '.geminiignore'],
      ['.gemini/settings.json'],
      ['SessionStart', 'BeforeAgent', 'BeforeTool', 'PreCompress', 'AfterAgent', 'SessionEnd'],
    ],
    [
      'cursor',
      ['.cursor/hooks.json', '.cursor/mcp.json'],
      ['.cursor/hooks.json', '.cursor/mcp.json'],
      ['sessionStart', 'beforeSubmitPrompt', 'preToolUse', 'postToolUse', 'preCompact', 'stop', 'sessionEnd'],
    ],
    [
      'copilot',
      ['.github/hooks/forge.json', '.github/mcp.json'],
      ['.copilot/hooks/forge.json', '.copilot/mcp-config.json'],
      'sessionStart userPromptSubmitted preToolUse postToolUse preCompact agentStop sessionEnd'.split(' '),
    ],
    [
      'opencode',
      ['.opencode/plugins/forge.js', 'opencode.json'],
      ['.config/opencode/plugins/forge.js', '.config/opencode/opencode.json'],
      [],
    ],
  ])('AGT-01 of %s goes into its files, with a hook for each event', (agent, inProject, atHome, events) => {
    expect(partsFor(agent).map(({ file }) => file)).toEqual(inProject);
    expect(partsFor(agent, true).map(({ file }) => file)).toEqual(atHome);
    const hooks = hooksFor(agent, false, 'node /opt/forge.js');
    expect(Object.keys(hooks).sort()).toEqual([...events].sort());
    for (const item of Object.values(hooks))
      expect(stringsIn(item).filter((text) => isHookOf(agent, text))).not.toEqual([]);
    expect(AGENTS[agent].wants('forge', null, false).join('\n')).toMatch(/\S/);
  });

  it('AGT-01 has timeouts in the unit of each agent, and what each adds', () => {
    for (const item of Object.values(hooksFor('codex')))
      expect((item as { hooks: { timeout: number }[] }).hooks[0]?.timeout).toBeLessThan(60);
    for (const item of Object.values(hooksFor('gemini'))) {
      const [handler] = (item as { hooks: { name: string; command: string; timeout: number }[] }).hooks;
      expect(handler?.timeout).toBeGreaterThanOrEqual(5000);
      expect(handler?.name).toBe(`forge-${/hook gemini (\S+)/.exec(handler?.command ?? '')?.[1]}`);
    }
    expect(hooksFor('cursor').stop).toEqual({
      command: 'forge hook cursor stop 2>/dev/null || :',
      timeout: 5,
      loop_limit: 5,
    });
    expect(partsFor('cursor')[0]).toMatchObject({ beginning: { version: 1 } });
  });

  it.each<[AgentName, object]>([
    ['gemini', { command: 'npx', args: ['--no-install', 'forge', 'mcp'] }],
    ['cursor', { type: 'stdio', command: 'npx', args: ['--no-install', 'forge', 'mcp'] }],
    ['copilot', { type: 'local', command: 'npx', args: ['--no-install', 'forge', 'mcp'], tools: ['*'] }],
    ['opencode', { type: 'local', command: ['npx', '--no-install', 'forge', 'mcp'], enabled: true }],
  ])('AGT-01 adds the MCP server of %s', (agent, value) => {
    expect(serverFor(agent, false, 'npx --no-install forge')?.value).toEqual(value);
  });

  it('AGT-01 adds Codex’s MCP server as a TOML table', () => {
    const table = partsFor('codex', false, 'node /opt/forge.js')[1];
    const lines = table?.kind === 'toml' ? table.lines : [];
    expect(parse(`[mcp_servers.forge]\n${lines.join('\n')}`)).toEqual({
      mcp_servers: { forge: { command: 'node', args: ['/opt/forge.js', 'mcp'] } },
    });
  });

  it('AGT-01 puts a command into the opencode plugin as words, never as code', () => {
    expect(pluginFor('forge')).toContain("= ['forge'];");
    expect(pluginFor("C:\\bin\\o'forge.cmd $& x")).toContain("= ['C:\\\\bin\\\\o\\'forge.cmd', '$&', 'x'];");
  });

  it('AGT-01 is the same in the Gemini CLI extension, so that both together run once', () => {
    expect(json('agents/gemini/hooks/hooks.json').hooks).toEqual(hookLists('gemini'));
    expect(json('agents/gemini/gemini-extension.json')).toMatchObject({
      name: 'forge',
      version: json('package.json').version,
      mcpServers: { forge: serverFor('gemini')?.value },
      contextFileName: 'GEMINI.md',
    });
  });
});
