// The hooks that forge installs for an agent, and the folders to copy for agents without a package format.
import { readFileSync } from 'node:fs';

const PLUGIN = readFileSync(new URL('../templates/agent/opencode-plugin.js', import.meta.url), 'utf8');

const partsFor = ({ partsOf }, agent) => partsOf({ agent, command: 'forge' }, false, PLUGIN);

const listed = (hooks) => Object.fromEntries(Object.entries(hooks).map(([event, item]) => [event, [item]]));

/** The member `hooks` of the file that has them. */
export const hooksOf = (sources, agent) =>
  listed(partsFor(sources, agent).find(({ hooks }) => Object.keys(hooks ?? {}).length > 0).hooks);

/** The parts as files below the folder that the agent keeps in a project. */
const filesOf = (sources, agent, home) =>
  Object.fromEntries(
    partsFor(sources, agent)
      .filter(({ file }) => file.startsWith(home))
      .map((part) => [part.file.slice(home.length), textOf(part)]),
  );

function textOf({ kind, text, beginning, hooks, server }) {
  if (kind === 'file') return text;
  const whole = { ...beginning };
  if (Object.keys(hooks).length > 0) whole.hooks = listed(hooks);
  if (server) whole[server.path[0]] = { [server.path[1]]: server.value };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

export const COPILOT = {
  folder: 'agents/copilot',
  files: (sources) => filesOf(sources, 'copilot', '.github/'),
};

export const OPENCODE = {
  folder: 'agents/opencode',
  files: (sources) => filesOf(sources, 'opencode', '.opencode/'),
};
