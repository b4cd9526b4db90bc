// The folders in agents/ that an agent takes as a plugin or an extension: path → content of each file, for scripts/docs.mjs.
// What a folder needs beside them (a README.md) is written by hand and left alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { name, version, description, keywords, license } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** Each agent has its own folder for skills; what stands in the skill is the same. */
const skill = () => readFileSync(join(ROOT, 'scripts', 'agent-skill.md'), 'utf8');

const AUTHOR = { name: 'forge contributors' };

/** code.claude.com/docs/en/plugins-reference. */
const CLAUDE = {
  folder: 'agents/claude',
  files: ({ claudeHooks }) => ({
    '.claude-plugin/plugin.json': json({ name, version, description, author: AUTHOR, license, keywords }),
    // The time-outs of a plugin do not lengthen the 1.5 s that all hooks of a session's end have together, as those of
    // a settings file do; `forge hook` keeps within that.
    'hooks/hooks.json': json({
      description: 'Briefing, working memory, and the gate while something is open',
      hooks: Object.fromEntries(claudeHooks('forge').map(({ event, group }) => [event, [group]])),
    }),
    '.mcp.json': json({ mcpServers: { forge: { type: 'stdio', command: 'forge', args: ['mcp'] } } }),
    'skills/forge-memory/SKILL.md': skill(),
  }),
};

/** Where Claude Code looks for plugins when it is given a repository, a checkout or the installed package. */
const MARKETPLACE = {
  folder: '.claude-plugin',
  files: () => ({
    'marketplace.json': json({
      name: 'forge',
      description: 'The memory of long-running coding agents, for Claude Code',
      owner: AUTHOR,
      plugins: [{ name, source: `./${CLAUDE.folder}`, description }],
    }),
  }),
};

/** One entry a folder; another agent's is one more. */
const ENTRIES = [CLAUDE, MARKETPLACE];

/** `sources`: what scripts/docs.mjs has loaded of src/. */
export function agentFolders(sources) {
  return ENTRIES.flatMap(({ folder, files }) =>
    Object.entries(files(sources)).map(([path, content]) => [`${folder}/${path}`, content]),
  );
}
