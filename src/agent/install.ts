import { join, relative } from 'node:path';
import * as z from 'zod/mini';
import { deniedToBuilder, isBuilder } from '../core/environment.js';
import { usage } from '../core/error.js';
import { removeEmptyFolders, replaceProjectFiles } from '../core/project-file.js';
import { checkInput } from '../core/schema.js';
import { namesLike, oneLine, oneOf } from '../core/text.js';
import type { World } from '../core/world.js';
import { ignoredAmong } from '../git/status.js';
import { type Context, refuseAgent, requireSupervisor } from '../project/project.js';
import { AGENT_NAMES, AGENTS, type AgentName, agentsHere, isHookOf } from './agents.js';
import { dropParts, putParts } from './edit-text.js';
import {
  type AgentStatus,
  optionOf,
  type Place,
  partsAt,
  projectPlace,
  readFile,
  shownAt,
  statusOf,
  type TextFile,
  userPlace,
  wiredAs,
  withFile,
} from './place.js';

const Input = z.strictObject({
  /** An agent or several (`claude,codex`), `all`, or `found` for those on this machine or in this project. */
  agent: z.string(),
  /** Permissions for forge's everyday tools as well. */
  allow: z.optional(z.boolean()),
  command: z.optional(z.string()),
  /** In this folder instead of the project's top folder, and relative to it: the agent is started there. */
  folder: z.optional(z.string()),
});
export type WiringInput = z.infer<typeof Input>;

interface ChangedFile {
  path: string;
  change: 'created' | 'changed' | 'removed' | 'unchanged';
}

export interface WiringChange {
  place: 'project' | 'home';
  agents: AgentName[];
  files: ChangedFile[];
  /** What an agent, or git, still needs from the person. */
  wants: { agent: AgentName | 'git'; text: string }[];
}

export interface WiringStatus {
  place: 'project' | 'home';
  agents: AgentStatus[];
}

/** AGT-01: adds forge to the files of agents, next to what is there. */
export async function installAgents(context: Context, input: WiringInput): Promise<WiringChange> {
  requireSupervisor(context, 'how agents are wired');
  const result = install(placeFor(context, input), input);
  const { files, wants } = result;
  const written = files.filter(({ change }) => change === 'created' || change === 'changed');
  const ignored = await ignoredOf(context, written);
  const texts = ignored.map(describeIgnored);
  if (context.git && written.length > ignored.length)
    texts.push('commit these files, so that clones and worktrees have the hooks too');
  for (const text of texts) wants.push({ agent: 'git', text });
  return result;
}

/** The paths of those files that `git add` refuses. */
export async function ignoredOf({ git, layout }: Context, files: readonly ChangedFile[]): Promise<string[]> {
  const paths = files.map(({ path }) => join(layout.root, path));
  return git ? (await ignoredAmong(git, paths)).map((path) => relative(layout.root, path)) : [];
}

export const describeIgnored = (path: string): string =>
  `git ignores ${path}: install in each clone and worktree, or: git add -f ${path}`;

/** Without its hooks an agent has no gate. */
const UNWIRING = "Removing agents' hooks";

/** AGT-01: removes it again. */
export async function uninstallAgents(context: Context, input: WiringInput): Promise<WiringChange> {
  requireSupervisor(context, 'how agents are wired');
  refuseAgent(context, UNWIRING);
  return uninstall(placeFor(context, input), input);
}

export const agentStatus = async (context: Context, input: WiringInput): Promise<WiringStatus> =>
  status(placeFor(context, input), input);

const placeFor = (context: Context, input: WiringInput): Place =>
  projectPlace(context, checkInput(Input, input).folder);

/** The same for the home folder, which needs no `.forge/`. */
export function homeWiring(world: World, dryRun: boolean) {
  const place = userPlace(world, dryRun);
  const checked = (input: WiringInput): WiringInput => {
    if (isBuilder(world.env)) throw deniedToBuilder('how agents are wired');
    return checkInput(Input, input);
  };
  return {
    install: async (input: WiringInput) => install(place, checked(input)),
    uninstall: async (input: WiringInput) => {
      const given = checked(input);
      refuseAgent({ world }, UNWIRING);
      return uninstall(place, given);
    },
    status: async (input: WiringInput) => status(place, checkInput(Input, input)),
  };
}

const nameOf = ({ isUser }: Place) => (isUser ? 'home' : 'project');

function install(place: Place, { agent: word, command, allow = false }: WiringInput): WiringChange {
  const agents = agentsNamed(word, place);
  if (command !== undefined) checkCommand(command);
  const files = changeWiring(place, { agents, isInstall: true, command, allow });
  const wants = agents.flatMap((agent) => {
    const isAllowed = allow || wiredAs(place, agent).allow === true;
    const texts = AGENTS[agent].wants(command ?? 'forge', optionOf(place), isAllowed);
    return texts.map((text) => ({ agent, text }));
  });
  return { place: nameOf(place), agents, files, wants };
}

function uninstall(place: Place, { agent: word }: WiringInput): WiringChange {
  const agents = agentsNamed(word, place);
  const files = changeWiring(place, { agents, isInstall: false });
  return { place: nameOf(place), agents, files, wants: [] };
}

const status = (place: Place, { agent: word }: WiringInput): WiringStatus => ({
  place: nameOf(place),
  agents: statusOf(place, agentsNamed(word, place)),
});

function agentsNamed(word: string, { top, path }: Place): AgentName[] {
  if (word.split(',').includes('all')) return [...AGENT_NAMES];
  if (word === 'found') {
    const here = agentsHere(top, path);
    if (here.length > 0) return here;
    throw usage('agent.none', 'No coding agent was found on the PATH or in this project.', {
      field: 'agent',
      hint: `forge agent install claude   # or ${[...AGENT_NAMES.slice(1), 'all'].join(', ')}`,
    });
  }
  const named = word.split(',').map((each) => {
    const [near] = namesLike(each, AGENT_NAMES);
    const hint = near ? `Did you mean ${near}?` : 'forge agent status';
    return oneOf([...AGENT_NAMES, 'all'], each, 'Agent', 'agent.unknown', { hint }) as AgentName;
  });
  return AGENT_NAMES.filter((name) => named.includes(name));
}

/** The command becomes part of shell lines on every machine with this repository, and uninstall has to recognize it. */
function checkCommand(command: string): void {
  const isPlain =
    command.length <= 200 && /^[^\s"'`$&|;<>()\p{C}]+( [^\s"'`$&|;<>()\p{C}]+)*$/u.test(command);
  if (isPlain && isHookOf('claude', `${command} hook claude stop`)) return;
  throw usage(
    'agent.command',
    `--command: found ${JSON.stringify(oneLine(command, 60))}, allowed: words without quotes, the last one forge.`,
    { field: 'command', hint: 'forge agent install claude --command "npx --no-install forge"' },
  );
}

/** What a person asked for. */
export interface WiringWish {
  agents: readonly AgentName[];
  isInstall: boolean;
  /** Default: the command that an agent is wired with, or `forge`. */
  command?: string | undefined;
  /** Permissions that were asked for earlier stay. */
  allow?: boolean;
}

/** Plans all files first, and writes only if none of them is refused. Forge's entries are recognized by their content. */
export function changeWiring(place: Place, { agents, isInstall, command, allow }: WiringWish): ChangedFile[] {
  const parts = agents.flatMap((agent) => {
    const before = wiredAs(place, agent);
    return partsAt(place, { agent, command: command ?? before.command, allow: allow || before.allow });
  });
  const found = parts.map((part) => ({ part, file: readFile(place, part.file) }));
  // Two names may lead to one file.
  const files = new Map(found.map(({ file }) => [file.name, file]));
  const edit = isInstall ? putParts : dropParts;
  const planned = [...files.values()].map((file) => {
    const own = found.filter((each) => each.file.name === file.name).map(({ part }) => part);
    return { file, text: withFile(shownAt(place, file.name), file.text, () => edit(file.text, own)) };
  });
  write(place, planned);
  return planned.map(({ file, text }) => ({ path: shownAt(place, file.name), change: changeOf(file, text) }));
}

function changeOf({ text: before }: TextFile, after: string | null): ChangedFile['change'] {
  if (before === after) return 'unchanged';
  return before === null ? 'created' : after === null ? 'removed' : 'changed';
}

function write(place: Place, planned: readonly { file: TextFile; text: string | null }[]): void {
  const changed = planned.filter(({ file, text }) => text !== file.text);
  for (const { file } of changed) place.note(file.name);
  if (place.dryRun || changed.length === 0) return;
  replaceProjectFiles(
    changed.map(({ file, text }) => ({ file, bytes: text === null ? null : Buffer.from(text, 'utf8') })),
  );
  for (const { file, text } of changed)
    if (text === null && !file.name.startsWith('/')) removeEmptyFolders(place.top, foldersOf(file.name));
}

/** The folders of a file, the outermost first. */
const foldersOf = (name: string): string[] =>
  name.split('/').flatMap((_, depth, parts) => (depth === 0 ? [] : [parts.slice(0, depth).join('/')]));
