import { type SwitchedOff, startOf } from './agent/settings.js';
import type { WiringReport } from './agent/wiring-report.js';
import { advisory, blocking, degraded, type Problem, type Symptom } from './symptom.js';

/** A program as it was found: the package it belongs to, as far as that is known. */
export interface Program {
  path: string;
  name: string | null;
  version: string | null;
}

/** What `forge doctor --agent` saw. */
export interface AgentFacts {
  /** The package of the forge that looks. */
  self: { name: string; version: string };
  /** What `forge` alone starts; null: nothing. */
  onPath: Program | null;
  /** Those that are wired, and those that someone asked for. */
  agents: AgentSight[];
  /** How much of what the project would run nobody approved; a problem where that cannot be told. */
  unapproved: number | Problem;
  /** The log of hooks, as it is shown. */
  log: string;
}

/** One agent: its wiring, and what else decides whether forge reaches it. */
export interface AgentSight {
  title: string;
  report: WiringReport;
  /** The hooks that call forge, and what they start; null: nothing that is there. Of `npx forge` it is unknown. */
  hooks: { file: string; command: string; program: Program | 'unknown' | null }[];
  /** The file in which its MCP server should stand, and does not. */
  serverMissing: string | null;
  /** Settings by which it calls no hooks, or not forge's server. */
  off: (SwitchedOff & { file: string })[];
  /** The file that enables forge's plugin. */
  plugin: string | null;
  /** The last lines of the hook log. */
  faults: string[];
}

export function diagnoseAgents(facts: AgentFacts): Symptom[] {
  const { agents, self, log, unapproved } = facts;
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
    ...checkApproved(unapproved),
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
  const command = `npm install -g ${self.name}@${self.version}`;
  if (!agents.some(({ hooks, plugin }) => plugin !== null || hooks.length === 0 || hooks.some(isBare)))
    return [];
  if (!onPath)
    return blocking('there is no forge on the PATH', expected, 'no hook and no MCP server starts', command);
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
    return blocking(`${path} is of the package ${name}`, expected, 'hooks start that instead', command);
  if (version === null || version === self.version) return [];
  return advisory(`${path} is forge ${version}`, expected, 'agents use another version than you do', command);
}

const isBare = ({ command }: { command: string }): boolean => startOf(command) === 'forge';

/** What is not wired was asked for. A server alone that is missing is told for itself. */
function checkWired({ report, title, plugin, serverMissing }: AgentSight): Symptom[] {
  const { name, state, files } = report;
  const expected = 'all hooks of forge';
  const why = 'it is not told what it has to know, and may stop while a question is open';
  if (state === 'missing')
    return plugin === null ? blocking(`${title} is not wired`, expected, why, install(name)) : [];
  const lacking = files.filter((file) => /partial|missing/.test(file.state) && file.path !== serverMissing);
  if (lacking.length === 0) return [];
  const paths = lacking.map(({ path }) => path).join(', ');
  return degraded(`${title} is wired in part: see ${paths}`, expected, why, install(name));
}

const checkReadable = ({ report, title }: AgentSight): Symptom[] =>
  report.files
    .filter(({ state }) => state === 'unreadable')
    .flatMap(({ path }) =>
      blocking(
        `${path} cannot be parsed`,
        `a file that ${title} understands`,
        `${title} takes nothing from it, and forge does not write into it`,
        // It says where.
        path.endsWith('.json') ? `node -p "JSON.parse(fs.readFileSync(0))" < ${path}` : `cat ${path}`,
      ),
    );

/** Those that name a program by its path; `forge` alone is judged with the PATH. */
function checkHooks({ hooks, title, report }: AgentSight, self: string): Symptom[] {
  const wrong = new Map<string, string>();
  for (const { file, command, program } of hooks)
    if (program !== 'unknown' && program?.name !== self)
      wrong.set(
        `hooks in ${file} start ${startOf(command)}`,
        program ? 'which is not this forge' : 'which is not there',
      );
  const why = `each of them fails, and ${title} goes on without memory`;
  return [...wrong].flatMap(([call, what]) =>
    blocking(`${call}, ${what}`, 'hooks that start this forge', why, install(report.name)),
  );
}

function checkServer({ serverMissing, title, report }: AgentSight): Symptom[] {
  if (serverMissing === null) return [];
  return degraded(
    `no MCP server "forge" in ${serverMissing}`,
    `an entry by which ${title} starts forge mcp`,
    'the agent has the commands, but not the tools',
    install(report.name),
  );
}

const checkOff = ({ off, title }: AgentSight): Symptom[] =>
  off.flatMap(({ setting, what, file }) =>
    (what === 'hooks' ? blocking : degraded)(
      `${file} has ${setting}`,
      `settings that let ${title} call forge`,
      what === 'hooks' ? 'no hook is ever called' : 'the agent has the commands, but not the tools',
      `grep -n ${setting.split(/\W/)[0]} ${file}`,
    ),
  );

function checkTwice({ plugin, hooks, title }: AgentSight): Symptom[] {
  const [hook] = hooks;
  if (plugin === null || !hook) return [];
  return advisory(
    `${title} has forge's plugin (${plugin}) and forge's hooks (${hook.file})`,
    'one of them',
    'both are called, so that the agent is told everything twice',
    'claude plugin uninstall forge-memory@forge',
  );
}

function checkFaults({ faults, title }: AgentSight, log: string): Symptom[] {
  if (faults.length === 0) return [];
  const why = `${title} went on without what they would have said`;
  return degraded(`hooks failed lately: ${faults.join('; ')}`, 'hooks that work', why, `tail ${log}`);
}

function checkApproved(unapproved: number | Problem): Symptom[] {
  if (unapproved === 0) return [];
  const expected = 'tests that forge may run';
  const why = 'an agent cannot prove a feature before a person has approved its tests';
  if (typeof unapproved === 'number')
    return degraded(
      `${unapproved} of what this project would run is not approved`,
      expected,
      why,
      'forge trust',
    );
  return blocking(unapproved.message, expected, why, unapproved.hint ?? 'forge trust --show');
}
