// The plugin for Claude Code (code.claude.com/docs/en/plugins-reference), and the marketplace that offers it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hooksOf } from './agent-wired.mjs';

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** Each agent has its own folder for skills; the skill is the same. */
const skill = () => readFileSync(fileURLToPath(new URL('./agent-skill.md', import.meta.url)), 'utf8');

const AUTHOR = { name: 'forge contributors' };

export const CLAUDE = {
  folder: 'agents/claude',
  files: (sources, { name, version, description, keywords, license }) => ({
    '.claude-plugin/plugin.json': json({ name, version, description, author: AUTHOR, license, keywords }),
    // At a session's end all hooks share 1.5 s, whatever time-out a plugin sets. `forge hook` keeps within that.
    'hooks/hooks.json': json({
      description: 'Briefing, working memory, and the gate while something is open',
      hooks: hooksOf(sources, 'claude'),
    }),
    '.mcp.json': json({
      mcpServers: { forge: { type: 'stdio', command: 'forge', args: ['mcp'], alwaysLoad: true } },
    }),
    'skills/forge-memory/SKILL.md': skill(),
  }),
};

/** Where Claude Code looks for plugins when it is given a repository, a checkout or the installed package. */
export const MARKETPLACE = {
  folder: '.claude-plugin',
  files: (_sources, { name, description }) => ({
    'marketplace.json': json({
      name: 'forge',
      description: 'The memory of long-running coding agents, for Claude Code',
      owner: AUTHOR,
      plugins: [{ name, source: `./${CLAUDE.folder}`, description }],
    }),
  }),
};
