import { describe, expect, it } from 'vitest';
import { type Fixture, isHookOf } from '../../src/agent/wiring-rules.js';
import { copilotWiring } from '../../src/agent/wirings/copilot.js';
import { cursorWiring } from '../../src/agent/wirings/cursor.js';
import { opencodeWiring } from '../../src/agent/wirings/opencode.js';

const HERE = { command: 'forge', isUser: false };
const HOME = { command: 'npx --no-install forge', isUser: true };
const filesOf = (fixtures: Fixture[]) => [...new Set(fixtures.map(({ file }) => file))];
const textOf = (fixtures: Fixture[], file: string): string => {
  const found = fixtures.find((fixture) => fixture.kind === 'file' && fixture.file === file);
  return found?.kind === 'file' ? found.text : '';
};

describe('how Cursor is wired', () => {
  it('AGT-01 is one flat entry an event, none before a tool, and the MCP server', () => {
    const fixtures = cursorWiring.fixtures(HERE);
    expect(filesOf(fixtures)).toEqual(['.cursor/hooks.json', '.cursor/mcp.json']);
    const hooks = fixtures.flatMap((fixture) => (fixture.kind === 'item' ? [fixture] : []));
    expect(hooks.map(({ path }) => path[1])).toEqual([
      'sessionStart',
      'beforeSubmitPrompt',
      'postToolUse',
      'preCompact',
      'stop',
      'sessionEnd',
    ]);
    expect(hooks.find(({ path }) => path[1] === 'stop')?.value).toEqual({
      command: 'forge hook cursor stop',
      timeout: 5,
      loop_limit: 5,
    });
    for (const { value } of hooks)
      expect(isHookOf('cursor', (value as { command: string }).command)).toBe(true);
    expect(fixtures.at(-1)).toMatchObject({ value: { type: 'stdio', command: 'forge', args: ['mcp'] } });
    expect(cursorWiring.beginnings).toEqual({ '.cursor/hooks.json': '{ "version": 1 }' });
  });
});

describe('how Copilot is wired', () => {
  it('AGT-01 is a file of hooks of its own without preToolUse, whose errors would deny tools', () => {
    const fixtures = copilotWiring.fixtures(HERE);
    const hooks = fixtures.flatMap((fixture) => (fixture.kind === 'item' ? [fixture] : []));
    expect(new Set(hooks.map(({ file }) => file))).toEqual(new Set(['.github/hooks/forge.json']));
    expect(copilotWiring.beginnings?.['.github/hooks/forge.json']).toBe('{ "version": 1 }');
    expect(hooks.map(({ path }) => path[1])).toEqual([
      'sessionStart',
      'userPromptSubmitted',
      'postToolUse',
      'preCompact',
      'agentStop',
      'sessionEnd',
    ]);
    for (const { value } of hooks) {
      const { bash } = value as { bash: string };
      expect(isHookOf('copilot', bash)).toBe(true);
      expect(value).toMatchObject({ type: 'command', powershell: bash, timeoutSec: expect.any(Number) });
    }
  });

  it('AGT-01 lies elsewhere in a home, and names the program apart from its words', () => {
    const fixtures = copilotWiring.fixtures(HOME);
    expect(filesOf(fixtures)).toEqual(['.copilot/hooks/forge.json', '.copilot/mcp-config.json']);
    const value = { type: 'local', command: 'npx', args: ['--no-install', 'forge', 'mcp'], tools: ['*'] };
    expect(fixtures.at(-1)).toMatchObject({ path: ['mcpServers', 'forge'], value });
  });
});

describe('how opencode is wired', () => {
  it('AGT-01 is a plugin and the MCP server', () => {
    const fixtures = opencodeWiring.fixtures(HERE);
    expect(filesOf(fixtures)).toEqual(['.opencode/plugins/forge.js', 'opencode.json']);
    const value = { type: 'local', command: ['forge', 'mcp'], enabled: true };
    expect(fixtures.at(-1)).toMatchObject({ path: ['mcp', 'forge'], value });
    expect(filesOf(opencodeWiring.fixtures(HOME))).toEqual([
      '.config/opencode/plugins/forge.js',
      '.config/opencode/opencode.json',
    ]);
  });

  it('AGT-01 takes any command as words, none of them as code', () => {
    const plugin = (command: string) =>
      textOf(opencodeWiring.fixtures({ command, isUser: false }), '.opencode/plugins/forge.js');
    expect(plugin('forge')).toContain("= ['forge'];");
    expect(plugin("C:\\bin\\o'forge.cmd $& x")).toContain("= ['C:\\\\bin\\\\o\\'forge.cmd', '$&', 'x'];");
  });
});
