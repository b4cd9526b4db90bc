import * as z from 'zod/mini';
import { deniedToBuilder, isBuilder } from '../core/environment.js';
import { usage } from '../core/error.js';
import { removeEmptyFolders, replaceProjectFiles, requireWritable } from '../core/project-file.js';
import { checkInput } from '../core/schema.js';
import { namesLike, oneLine } from '../core/text.js';
import type { World } from '../core/world.js';
import { type Context, requireSupervisor } from '../project/project.js';
import { AGENT_NAMES, AGENTS, type AgentName, agentsHere, isAgent, isHookOf } from './agents.js';
import { isSame, type Wish } from './parts.js';
import {
  Files,
  type Place,
  projectPlace,
  readManifest,
  shownAt,
  type TextFile,
  userPlace,
  withFile,
  writeManifest,
} from './place.js';
import { type FilePlan, type Manifest, planFile } from './plan.js';
import { type AgentStatus, statusOf } from './status.js';

const Input = z.strictObject({
  /** An agent, `all`, or `found` for those on this machine or in this project. */
  agent: z.string(),
  /** In the home folder instead of the project. */
  user: z.optional(z.boolean()),
  /** The marked block in the agent's instructions file as well. */
  instructions: z.optional(z.boolean()),
  /** Permissions for forge's everyday tools as well. */
  allow: z.optional(z.boolean()),
  /** What starts forge. */
  command: z.optional(z.string()),
  /** The folder where the agent is started, relative to the project's top folder. */
  folder: z.optional(z.string()),
  /** In that folder instead of the top folder. */
  here: z.optional(z.boolean()),
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
  /** What an agent still needs from the person. */
  wants: { agent: AgentName; text: string }[];
}

export interface WiringStatus {
  place: 'project' | 'home';
  agents: AgentStatus[];
}

/** AGT-01: adds forge to the files of agents, next to what is there. */
export async function installAgents(context: Context, input: WiringInput): Promise<WiringChange> {
  requireSupervisor(context, 'how agents are wired');
  return change(placeFor(context, input), input, true);
}

/** AGT-01: removes it again. */
export async function uninstallAgents(context: Context, input: WiringInput): Promise<WiringChange> {
  requireSupervisor(context, 'how agents are wired');
  return change(placeFor(context, input), input, false);
}

export const agentStatus = async (context: Context, input: WiringInput): Promise<WiringStatus> =>
  status(placeFor(context, input), input);

function placeFor(context: Context, input: WiringInput): Place {
  if (!checkInput(Input, input).user) return projectPlace(context);
  return userPlace(context.world, {
    dryRun: context.disk.dryRun,
    warn: (text) => context.warnings.push(text),
    note: (name) => context.disk.written.push(`~/${name}`),
  });
}

/** The same for the home folder alone, which needs no `.forge/`. */
export function homeWiring(world: World, dryRun: boolean, warn: (text: string) => void) {
  const place = userPlace(world, { dryRun, warn });
  const changeHome = async (input: WiringInput, isInstall: boolean): Promise<WiringChange> => {
    if (isBuilder(world.env)) throw deniedToBuilder('how agents are wired');
    return change(place, checkInput(Input, input), isInstall);
  };
  return {
    install: (input: WiringInput) => changeHome(input, true),
    uninstall: (input: WiringInput) => changeHome(input, false),
    status: async (input: WiringInput) => status(place, checkInput(Input, input)),
  };
}

const nameOf = ({ isUser }: Place) => (isUser ? 'home' : 'project');

function change(place: Place, input: WiringInput, isInstall: boolean): WiringChange {
  const agents = agentsNamed(input.agent, place);
  const { command, folder = '', here = false, instructions = false, allow = false } = input;
  if (command !== undefined) checkCommand(command);
  const own = here && folder !== '' && !place.isUser ? folder : undefined;
  const files = changeWiring(place, { agents, isInstall, command, instructions, allow, folder: own });
  if (!isInstall) return { place: nameOf(place), agents, files, wants: [] };
  const wired = new Map(readManifest(place).agents.map((one) => [one.agent, one]));
  const wants = agents.flatMap((agent) => {
    const isAllowed = allow || wired.get(agent)?.allow === true;
    const texts = AGENTS[agent].wants(command ?? 'forge', place.isUser, isAllowed);
    if (own === undefined) texts.push(...folderWants(place, agent, folder));
    return texts.map((text) => ({ agent, text }));
  });
  if (!place.isUser && files.some(({ change }) => change === 'created' || change === 'changed'))
    wants.push({
      agent: agents[0] as AgentName,
      text: 'commit these files, so that clones and worktrees have the hooks too',
    });
  return { place: nameOf(place), agents, files, wants };
}

/** What to do about an agent that is wired at the top, and started in a folder below it. */
const folderWants = (place: Place, agent: AgentName, folder = ''): string[] =>
  folder !== '' && !place.isUser && AGENTS[agent].readsOneFolder
    ? [`started in ${folder}, it reads only the hooks of that folder: forge agent install ${agent} --here`]
    : [];

function status(place: Place, { agent: word, folder }: WiringInput): WiringStatus {
  const agents = statusOf(place, agentsNamed(word, place));
  const isHere = (name: AgentName): boolean =>
    folder !== undefined && agents.some((one) => one.name === name && one.folder === folder);
  for (const { name, state, wants } of agents)
    if (state !== 'absent' && !isHere(name)) wants.push(...folderWants(place, name, folder));
  return { place: nameOf(place), agents };
}

function agentsNamed(word: string, { top, path }: Place): AgentName[] {
  if (word === 'all') return [...AGENT_NAMES];
  if (isAgent(word)) return [word];
  const here = agentsHere(top, path);
  if (word === 'found' && here.length > 0) return here;
  const allowed = [...AGENT_NAMES, 'all'].join(' | ');
  if (word === 'found')
    throw usage('agent.none', 'No coding agent was found on the PATH or in this project.', {
      field: 'agent',
      hint: `forge agent install ${allowed}`,
    });
  const [near] = namesLike(word, AGENT_NAMES);
  throw usage('agent.unknown', `Agent: found ${JSON.stringify(oneLine(word, 40))}, allowed: ${allowed}.`, {
    field: 'agent',
    hint: near ? `Did you mean ${near}?` : 'forge agent status',
  });
}

/** The command becomes part of shell lines on every machine with this repository, and uninstall has to recognize it. */
function checkCommand(command: string): void {
  const isPlain =
    command.length <= 200 && /^[^\s"'`$&|;<>()\p{C}]+( [^\s"'`$&|;<>()\p{C}]+)*$/u.test(command);
  if (isPlain && isHookOf('claude', `${command} hook claude stop`)) return;
  throw usage(
    'agent.command',
    `--command: found ${JSON.stringify(oneLine(command, 60))}, allowed: words without quotes, the last one forge.`,
    { field: 'command', hint: '--command "npx --no-install forge"' },
  );
}

/** What a person asked for. */
export interface WiringWish {
  agents: readonly AgentName[];
  isInstall: boolean;
  /** Default: the command that an agent was wired with, or `forge`. */
  command: string | undefined;
  instructions: boolean;
  allow?: boolean;
  /** Below the top folder. Undefined: at the top, and for an uninstall everywhere. */
  folder?: string | undefined;
}

/** Plans all files first, and writes only if none of them is refused. */
export function changeWiring(place: Place, wish: WiringWish): ChangedFile[] {
  const manifest = readManifest(place);
  const agents = agentsAfter(manifest, wish);
  const planned = planFiles(place, manifest, agents, wish);
  write(place, manifest, agents, planned);
  return planned.map(({ file, text }) => ({
    path: shownAt(place, file.name),
    change: changeOf(file, text),
  }));
}

function changeOf({ text: before }: TextFile, after: string | null): ChangedFile['change'] {
  if (before === after) return 'unchanged';
  return before === null ? 'created' : after === null ? 'removed' : 'changed';
}

/** The agents that will be wired. Instructions and permissions requested earlier stay. */
function agentsAfter({ agents }: Manifest, wish: WiringWish): Manifest['agents'] {
  const { folder } = wish;
  if (!wish.isInstall)
    return agents.filter(
      (one) => !wish.agents.includes(one.agent) || (folder !== undefined && one.folder !== folder),
    );
  const isOther = (one: Wish): boolean => !wish.agents.includes(one.agent) || one.folder !== folder;
  const installed = wish.agents.map((agent) => {
    const before = agents.find((one) => one.agent === agent && one.folder === folder);
    return {
      ...before,
      agent,
      ...(folder === undefined ? {} : { folder }),
      command: wish.command ?? before?.command ?? 'forge',
      instructions: wish.instructions || before?.instructions === true,
      ...(wish.allow || before?.allow ? { allow: true } : {}),
    };
  });
  return [...agents.filter(isOther), ...installed];
}

interface PlannedFile extends FilePlan {
  file: TextFile;
}

function planFiles(
  place: Place,
  manifest: Manifest,
  agents: readonly Wish[],
  { agents: names, isInstall, folder }: WiringWish,
): PlannedFile[] {
  const files = new Files(place);
  const own = names.flatMap((agent) => {
    const wished = (isInstall ? agents : manifest.agents).filter(
      (one) => one.agent === agent && (one.folder === folder || (!isInstall && folder === undefined)),
    );
    // In a clone without a manifest, forge's entries are recognized by their content.
    if (!wished.some((one) => one.folder === folder))
      wished.push({ agent, command: 'forge', instructions: false, folder });
    return wished.flatMap((wish) => files.locate(wish, !isInstall));
  });
  const wanted = agents.flatMap((wish) => files.locate(wish));
  return [...new Set(own.map(({ file }) => file))].map((name) => {
    const file = files.read(name);
    const parts = own.filter((part) => part.file === name);
    const kept = wanted.filter((part) => part.file === name);
    const isShared = kept.some(({ kind }) => kind === 'block');
    const task = {
      text: file.text,
      record: manifest.files[name] ?? null,
      wanted: kept,
      put: isInstall ? parts : [],
      drop: isInstall ? [] : parts.filter(({ kind }) => kind !== 'block' || !isShared),
    };
    return { file, ...withFile(shownAt(place, name), file.text, () => planFile(task)) };
  });
}

/** Writes the files, then the manifest. After a kill in between, forge recognizes its entries by their content. */
function write(
  place: Place,
  manifest: Manifest,
  agents: Manifest['agents'],
  planned: readonly PlannedFile[],
): void {
  const changed = planned.filter(({ file, text }) => text !== file.text);
  for (const { file } of changed) requireWritable(file);
  for (const { file } of changed) place.note(file.name);
  const records = planned.map(({ file, record }) => [file.name, record] as const);
  const kept = Object.entries(manifest.files).filter(
    ([name]) => !planned.some(({ file }) => file.name === name),
  );
  const files = Object.fromEntries([...kept, ...records].filter(([, record]) => record)) as Manifest['files'];
  const result = { ...manifest, agents, files };
  if (place.dryRun || (changed.length === 0 && isSame(result, manifest))) return;
  replaceProjectFiles(
    changed.map(({ file, text }) => ({ file, bytes: text === null ? null : Buffer.from(text, 'utf8') })),
  );
  for (const { file, text } of planned)
    if (text === null && (file.text !== null || manifest.files[file.name]) && !file.name.startsWith('/'))
      removeEmptyFolders(place.top, foldersOf(file.name));
  writeManifest(place, result);
}

/** The folders of a file, the outermost first. */
const foldersOf = (name: string): string[] =>
  name.split('/').flatMap((_, depth, parts) => (depth === 0 ? [] : [parts.slice(0, depth).join('/')]));
