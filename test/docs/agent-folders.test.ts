import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AGENTS, isAgent } from '../../src/agent/agents.js';
import { putParts } from '../../src/agent/edit-text.js';
import { toolSchemas } from '../../src/index.js';
import { partsFor, pluginFor, serverFor } from '../support/wirings.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const readJson = <T>(path: string): T => JSON.parse(read(path)) as T;
const skills = readdirSync(`${ROOT}agents`)
  .map((agent) => `agents/${agent}/skills/forge-memory/SKILL.md`)
  .filter((path) => existsSync(ROOT + path));

describe.each(skills)('AGT-01 %s', (path) => {
  const text = read(path);
  const [, frontmatter = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];

  it('has a frontmatter that every agent takes, and is short', () => {
    const fields = frontmatter.split('\n').map((line) => line.split(/: (.*)/s));
    expect(fields.map(([name]) => name)).toEqual(['name', 'description']);
    expect(fields[0]?.[1]).toBe('forge-memory');
    const description = fields[1]?.[1] ?? '';
    expect(description.length).toBeLessThanOrEqual(1024);
    // What YAML would read as something else than text.
    expect(description).not.toMatch(/: |\s#|^["'[{>|*&!%@`]/);
    expect(text.split('\n').length).toBeLessThanOrEqual(120);
  });

  it('names tools that the MCP server has', async () => {
    const schemas = await toolSchemas();
    const named = [...body.matchAll(/\(`(\w+_?\w+)`\)/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(6);
    expect(named.filter((name) => !Object.keys(schemas).includes(name))).toEqual([]);
  });
});

describe('the folders of Copilot and opencode', () => {
  const filesIn = (folder: string): string[] =>
    readdirSync(`${ROOT}agents/${folder}`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'README.md')
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(ROOT.length))
      .sort();

  it('AGT-01 hold what would be installed', () => {
    const hooks = partsFor('copilot').filter(({ file }) => file === '.github/hooks/forge.json');
    expect(filesIn('copilot')).toEqual(['agents/copilot/hooks/forge.json', 'agents/copilot/mcp.json']);
    expect(read('agents/copilot/hooks/forge.json')).toBe(putParts(null, hooks));
    const servers = { mcpServers: { forge: serverFor('copilot')?.value } };
    expect(readJson('agents/copilot/mcp.json')).toEqual(servers);
    expect(filesIn('opencode')).toEqual(['agents/opencode/plugins/forge.js']);
    expect(read('agents/opencode/plugins/forge.js')).toBe(pluginFor('forge'));
  });
});

describe('the plugin for Claude Code', () => {
  it('AGT-01 calls forge for events that forge knows, within what Claude Code gives a plugin', () => {
    const { hooks } = readJson<{ hooks: Record<string, { hooks: { command: string }[] }[]> }>(
      'agents/claude/hooks/hooks.json',
    );
    expect(Object.keys(hooks)).toEqual(expect.arrayContaining(['SessionStart', 'Stop', 'SessionEnd']));
    for (const [event, groups] of Object.entries(hooks))
      for (const { command } of groups.flatMap((group) => group.hooks)) {
        const [, agent = '', name = ''] = /(?:^|[|&] )forge hook (\w+) ([\w-]+) /.exec(command) ?? [];
        expect([command, isAgent(agent)]).toEqual([command, true]);
        expect(AGENTS[agent as 'claude'].events[name]?.name).toBe(event);
      }
  });

  it('AGT-01 is found by the marketplace of this repository, and is of the same version as forge', () => {
    const { plugins } = readJson<{ plugins: { name: string; source: string }[] }>(
      '.claude-plugin/marketplace.json',
    );
    for (const { name, source } of plugins) {
      const plugin = readJson<{ name: string; version: string }>(`${source}/.claude-plugin/plugin.json`);
      const forge = readJson<{ name: string; version: string }>('package.json');
      expect([plugin.name, plugin.version]).toEqual([name, forge.version]);
      expect(name).toBe(forge.name);
    }
  });
});
