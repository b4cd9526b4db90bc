import type { AgentStatus } from '../agent/status.js';
import { LINK_HINT } from '../core/error.js';
import { advisory, blocking, degraded, type Symptom } from '../status/symptom.js';
import { type SwitchedOff, startOf } from './agent-settings.js';
import type { Program } from './program.js';

/** What `forge doctor --agent` saw. */
export interface AgentFacts {
  /** The package of the forge that looks. */
  self: { name: string; version: string };
  /** What `forge` alone starts; null: nothing. */
  onPath: Program | null;
  /** Those that are wired, and those that someone asked for. */
  agents: AgentSight[];
  /** The log of hooks, as it is shown. */
  log: string;
}

/** One agent: its wiring, and what else decides whether forge reaches it. */
export interface AgentSight {
  /** As `forge agent status` has it. */
  status: AgentStatus;
  /** The hooks that call forge, and what they start; null: nothing that is there. Of `npx --no-install forge` it is unknown. */
  hooks: { file: string; command: string; program: Program | 'unknown' | null }[];
  /** The file in which its MCP server should stand, and does not. */
  serverMissing: string | null;
  /** Files that lack something else, or have it as another version of forge installed it. */
  lacking: readonly string[];
  /** Settings by which it calls no hooks, or not forge's server. */
  off: (SwitchedOff & { file: string })[];
  /** The file that enables forge's plugin. */
  plugin: string | null;
  /** The last lines of the hook log. */
  faults: string[];
}

export function diagnoseAgents(facts: AgentFacts): Symptom[] {
  const { agents, self, log } = facts;
  if (agents.length === 0) return nothingWired();
  return [
    ...checkOnPath(facts),
    ...agents.flatMap((sight) => [
      ...checkWired(sight),
      ...checkReadable(sight),
      ...checkHooks(sight, self.name),
      ...checkServer(sight),
      ...checkOff(sight),
      ...checkTwice(sight),
      ...checkFaults(sight, log),
    ]),
  ];
}

const install = (name: string): string => `forge agent install ${name}`;

const nothingWired = (): Symptom[] =>
  advisory(
    'no agent is wired here',
    'hooks of an agent that call forge',
    'without them an agent knows of memory only what it asks for',
    install('claude'),
  );

/** What forge installs says `forge`, which is whatever the PATH of the agent has. */
function checkOnPath({ onPath, self, agents }: AgentFacts): Symptom[] {
  const expected = `forge ${self.version} on the PATH`;
  if (!agents.some(({ hooks, plugin }) => plugin !== null || hooks.length === 0 || hooks.some(isBare)))
    return [];
  if (!onPath)
    return blocking('there is no forge on the PATH', expected, 'no hook and no MCP server starts', LINK_HINT);
  const { path, name, version } = onPath;
  // A version manager's own program stands for many.
  if (name === null)
    return degraded(
      `${path} is of no known package`,
      expected,
      'it may be another program',
      `${path} --version`,
    );
  if (name !== self.name)
    return blocking(`${path} is of the package ${name}`, expected, 'hooks start that instead', LINK_HINT);
  if (version === null || version === self.version) return [];
  return advisory(
    `${path} is forge ${version}`,
    expected,
    'agents use another version than you do',
    LINK_HINT,
  );
}

const isBare = ({ command }: { command: string }): boolean => startOf(command) === 'forge';

/** What is not wired was asked for. A server alone that is missing is told for itself. */
function checkWired({ status, plugin, serverMissing, lacking }: AgentSight): Symptom[] {
  const { name, title, state, files } = status;
  const expected = 'all hooks of forge';
  const why = 'it is not told what it has to know, and may stop while a question is open';
  const isUnreadable = files.some((file) => file.state === 'unreadable');
  if (state === 'absent' && !isUnreadable)
    return plugin === null ? blocking(`${title} is not wired`, expected, why, install(name)) : [];
  const partly =
    lacking.length === 0
      ? []
      : degraded(`${title} is wired in part: see ${lacking.join(', ')}`, expected, why, install(name));
  // It may be a person's own, and work.
  const others = files.filter(
    (file) => file.state === 'changed' && !lacking.includes(file.path) && file.path !== serverMissing,
  );
  return [
    ...partly,
    ...others.flatMap(({ path }) =>
      advisory(
        `the MCP server "forge" in ${path} is not as this forge installs it`,
        'the entry that forge puts there',
        'it may start another forge, or not know what this one needs',
        install(name),
      ),
    ),
  ];
}

const checkReadable = ({ status: { files, title } }: AgentSight): Symptom[] =>
  files.flatMap(({ path, state, problem }) =>
    state !== 'unreadable'
      ? []
      : blocking(
          problem?.replace(/\.$/, '') ?? `${path} cannot be read`,
          `a file that ${title} understands`,
          `${title} takes nothing from it, and forge does not write into it`,
          path.endsWith('.json') ? `node -p "JSON.parse(fs.readFileSync(0))" < ${path}` : `cat ${path}`,
        ),
  );

/** Those that name a program by its path; `forge` alone is judged with the PATH. */
function checkHooks({ hooks, status: { name, title } }: AgentSight, self: string): Symptom[] {
  const wrong = new Map<string, string>();
  for (const { file, command, program } of hooks)
    if (program !== 'unknown' && program?.name !== self)
      wrong.set(
        `hooks in ${file} start ${startOf(command)}`,
        program ? 'which is not this forge' : 'which is not there',
      );
  const why = `each of them fails, and ${title} goes on without memory`;
  return [...wrong].flatMap(([call, what]) =>
    blocking(`${call}, ${what}`, 'hooks that start this forge', why, install(name)),
  );
}

function checkServer({ serverMissing, status: { name, title } }: AgentSight): Symptom[] {
  if (serverMissing === null) return [];
  return degraded(
    `no MCP server "forge" in ${serverMissing}`,
    `an entry by which ${title} starts forge mcp`,
    'the agent has the commands, but not the tools',
    install(name),
  );
}

const checkOff = ({ off, status: { title } }: AgentSight): Symptom[] =>
  off.flatMap(({ setting, what, file }) =>
    (what === 'hooks' ? blocking : degraded)(
      `${file} has ${setting}`,
      `settings that let ${title} call forge`,
      what === 'hooks' ? 'no hook is ever called' : 'the agent has the commands, but not the tools',
      `grep -n ${setting.split(/\W/)[0]} ${file}`,
    ),
  );

function checkTwice({ plugin, hooks, status: { title } }: AgentSight): Symptom[] {
  const [hook] = hooks;
  if (plugin === null || !hook) return [];
  return advisory(
    `${title} has forge's plugin (${plugin}) and forge's hooks (${hook.file})`,
    'one of them',
    'both are called, so that the agent is told everything twice',
    'claude plugin uninstall forge-memory@forge',
  );
}

function checkFaults({ faults, status: { title } }: AgentSight, log: string): Symptom[] {
  if (faults.length === 0) return [];
  const why = `${title} went on without what they would have said`;
  return degraded(`hooks failed lately: ${faults.join('; ')}`, 'hooks that work', why, `tail ${log}`);
}
