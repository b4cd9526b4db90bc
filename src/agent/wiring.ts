import * as z from 'zod/mini';
import { usage } from '../core/error.js';
import { deniedToBuilder } from '../core/role.js';
import { checkInput } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import type { World } from '../core/world.js';
import { type Context, isBuilderWorld, requireSupervisor } from '../project/project.js';
import { AGENT_NAMES, type AgentName } from './event.js';
import type { AgentStatus } from './status.js';
import { type ChangedFile, changeWiring } from './wiring-change.js';
import { type Place, projectPlace, userPlace } from './wiring-place.js';
import { isHookOf } from './wiring-rules.js';
import { lookAtWiring } from './wiring-status.js';
import { loadWirings, type Wirings } from './wirings/wirings.js';

const Input = z.strictObject({
  /** An agent, or `all`. */
  agent: z.string(),
  /** In the home folder instead of the project. */
  user: z.optional(z.boolean()),
  /** The marked block in the agent's file of instructions as well. */
  instructions: z.optional(z.boolean()),
  /** What starts forge. */
  command: z.optional(z.string()),
});
export type WiringInput = z.infer<typeof Input>;

export interface WiringChange {
  place: 'project' | 'home';
  agents: AgentName[];
  files: ChangedFile[];
  /** What an agent still needs from the person. */
  wants: { agent: AgentName; text: string }[];
}

export interface WiringStatus {
  place: 'project' | 'home';
  agents: AgentStatus[];
}

/** AGT-01: puts forge into files of agents, beside what is there. */
export async function installAgents(context: Context, input: WiringInput): Promise<WiringChange> {
  requireSupervisor(context, 'how agents are wired');
  return change(placeFor(context, input), input, true);
}

/** AGT-01: takes it out again. */
export async function uninstallAgents(context: Context, input: WiringInput): Promise<WiringChange> {
  requireSupervisor(context, 'how agents are wired');
  return change(placeFor(context, input), input, false);
}

export const agentStatus = (context: Context, input: WiringInput): Promise<WiringStatus> =>
  status(placeFor(context, input), input);

function placeFor(context: Context, input: WiringInput): Place {
  if (!checkInput(Input, input).user) return projectPlace(context);
  return userPlace(context.world, {
    dryRun: context.disk.dryRun,
    warn: (text) => context.warnings.push(text),
    note: (name) => context.disk.written.push(`~/${name}`),
  });
}

/** The same for the home folder alone, where there is no `.forge/`. */
export function homeWiring(world: World, dryRun: boolean, warn: (text: string) => void) {
  const place = userPlace(world, { dryRun, warn });
  const changeHome = async (input: WiringInput, isInstall: boolean): Promise<WiringChange> => {
    if (isBuilderWorld(world)) throw deniedToBuilder('how agents are wired');
    return change(place, checkInput(Input, input), isInstall);
  };
  return {
    install: (input: WiringInput) => changeHome(input, true),
    uninstall: (input: WiringInput) => changeHome(input, false),
    status: (input: WiringInput) => status(place, checkInput(Input, input)),
  };
}

async function change(place: Place, input: WiringInput, isInstall: boolean): Promise<WiringChange> {
  const wirings = await loadWirings();
  const agents = named(input.agent, wirings);
  const { command, instructions = false } = input;
  if (command !== undefined) checkCommand(command);
  const files = changeWiring(place, wirings, { agents, isInstall, command, instructions });
  return {
    ...described(place),
    agents,
    files,
    wants: isInstall ? wantsOf(place, wirings, agents, command ?? 'forge') : [],
  };
}

async function status(place: Place, input: WiringInput): Promise<WiringStatus> {
  const wirings = await loadWirings();
  if (input.command !== undefined) checkCommand(input.command);
  const seen = await lookAtWiring(place, wirings, named(input.agent, wirings), input.command);
  const agents = seen.map(({ serverMissing: _, lacking: __, ...agent }) => agent);
  return { ...described(place), agents };
}

const described = ({ isUser }: Place): { place: 'project' | 'home' } => ({
  place: isUser ? 'home' : 'project',
});

function wantsOf(
  { isUser }: Place,
  wirings: Wirings,
  agents: readonly AgentName[],
  command: string,
): WiringChange['wants'] {
  return agents.flatMap((agent) =>
    (wirings.get(agent)?.wants({ command, isUser }) ?? []).map((text) => ({ agent, text })),
  );
}

function named(word: string, wirings: Wirings): AgentName[] {
  const known = AGENT_NAMES.filter((name) => wirings.has(name));
  if (word === 'all') return known;
  const name = known.find((candidate) => candidate === word);
  if (name) return [name];
  throw usage(
    'agent.unknown',
    `Agent: found ${JSON.stringify(oneLine(word, 40))}, allowed: ${[...known, 'all'].join(' | ')}.`,
    {
      field: 'agent',
      hint: 'forge agent status',
    },
  );
}

/** It stands in a shell line of every hook, on every machine that has the repository; and has to be known again. */
function checkCommand(command: string): void {
  const isPlain =
    command.length <= 200 && /^[^\s"'`$&|;<>()\p{C}]+( [^\s"'`$&|;<>()\p{C}]+)*$/u.test(command);
  if (isPlain && isHookOf('claude', `${command} hook claude stop`)) return;
  throw usage(
    'agent.command',
    `--command: found ${JSON.stringify(oneLine(command, 60))}, allowed: words without quotes, the last one forge.`,
    {
      field: 'command',
      hint: '--command "npx --no-install forge"',
    },
  );
}
