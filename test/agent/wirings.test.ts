import { describe, expect, it } from 'vitest';
import { AGENTS, isHookOf } from '../../src/agent/agents.js';
import { hooksFor, partsFor, pluginFor, serverFor } from '../support/wirings.js';

const filesFor = (...args: Parameters<typeof partsFor>) => partsFor(...args).map(({ file }) => file);

describe('how Cursor is wired', () => {
  it('AGT-01 is one flat entry an event, and the MCP server', () => {
    expect(filesFor('cursor')).toEqual(['.cursor/hooks.json', '.cursor/mcp.json']);
    const hooks = hooksFor('cursor');
    expect(Object.keys(hooks)).toEqual([
      'sessionStart',
      'beforeSubmitPrompt',
      'preToolUse',
      'postToolUse',
      'preCompact',
      'stop',
      'sessionEnd',
    ]);
    expect(hooks.stop).toEqual({
      command: 'forge hook cursor stop 2>/dev/null || :',
      timeout: 5,
      loop_limit: 5,
    });
    for (const value of Object.values(hooks))
      expect(isHookOf('cursor', (value as { command: string }).command)).toBe(true);
    expect(serverFor('cursor')?.value).toEqual({ type: 'stdio', command: 'forge', args: ['mcp'] });
    expect(partsFor('cursor')[0]).toMatchObject({ beginning: { version: 1 } });
    expect(partsFor('cursor')[1]).toMatchObject({ beginning: {} });
    expect(AGENTS.cursor.stopLimit).toBe(5);
  });
});

describe('how Copilot is wired', () => {
  it('AGT-01 is a file of hooks of its own', () => {
    expect(filesFor('copilot')).toEqual(['.github/hooks/forge.json', '.github/mcp.json']);
    expect(partsFor('copilot')[0]).toMatchObject({ beginning: { version: 1 } });
    const hooks = hooksFor('copilot');
    expect(Object.keys(hooks)).toEqual([
      'sessionStart',
      'userPromptSubmitted',
      'preToolUse',
      'postToolUse',
      'preCompact',
      'agentStop',
      'sessionEnd',
    ]);
    for (const value of Object.values(hooks)) {
      const { bash } = value as { bash: string };
      expect(isHookOf('copilot', bash)).toBe(true);
      expect(value).toMatchObject({ type: 'command', timeoutSec: expect.any(Number) });
      // The tests of a POSIX shell are no PowerShell.
      expect(JSON.stringify((value as { powershell?: string }).powershell ?? '')).not.toMatch(/[|>&]/);
    }
  });

  it('AGT-01 lies elsewhere in a home, and names the program apart from its words', () => {
    expect(filesFor('copilot', true)).toEqual(['.copilot/hooks/forge.json', '.copilot/mcp-config.json']);
    const value = { type: 'local', command: 'npx', args: ['--no-install', 'forge', 'mcp'], tools: ['*'] };
    expect(serverFor('copilot', true, 'npx --no-install forge')).toEqual({
      path: ['mcpServers', 'forge'],
      value,
    });
  });
});

describe('how opencode is wired', () => {
  it('AGT-01 is a plugin and the MCP server', () => {
    expect(filesFor('opencode')).toEqual(['.opencode/plugins/forge.js', 'opencode.json']);
    const value = { type: 'local', command: ['forge', 'mcp'], enabled: true };
    expect(serverFor('opencode')).toEqual({ path: ['mcp', 'forge'], value });
    expect(filesFor('opencode', true)).toEqual([
      '.config/opencode/plugins/forge.js',
      '.config/opencode/opencode.json',
    ]);
  });

  it('AGT-01 takes any command as words, none of them as code', () => {
    expect(pluginFor('forge')).toContain("= ['forge'];");
    expect(pluginFor("C:\\bin\\o'forge.cmd $& x")).toContain("= ['C:\\\\bin\\\\o\\'forge.cmd', '$&', 'x'];");
  });
});
