import * as z from 'zod/mini';
import { deniedToBuilder, isBuilder } from '../core/environment.js';
import { usage } from '../core/error.js';
import { removeEmptyFolders, replaceProjectFiles, requireWritable } from '../core/project-file.js';
import { checkInput } from '../core/schema.js';
import { namesLike, oneLine } from '../core/text.js';
import type { World } from '../core/world.js';
import { type Context, requireSupervisor } from '../project/project.js';
import { AGENT_NAMES, AGENTS, type AgentName, agentsHere, isAgent, isHookOf } from './agents.js';
import { isSame, type Part, type Wish } from './parts.js';
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
import { digestText, type FilePlan, type FileRecord, findPart, type Manifest, planFile } from './plan.js';
import { type AgentStatus, statusOf } from './status.js';

const Input = z.strictObject({
  /** An agent, `all`, or `found` for those on this machine or in this project. */
  agent: z.string(),
  /** In the home folder instead of the project. */
  user: z.optional(z.boolean()),
  /** The marked block in the agent's file of instructions as well. */
  instructions: z.optional(z.boolean()),
  /** Permissions for forge's everyday tools as well. */
  allow: z.optional(z.boolean()),
  /** What starts forge. */
  command: z.optional(z.string()),
  /** The folder where the agent is started, from the project's top folder. */
  folder: z.optional(z.string()),
  /** In that folder instead of the top folder. */
  here: z.optional(z.boolean()),
});
export type WiringInput = z.infer<typeof Input>;

export interface ChangedFile {
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

/** AGT-01: puts forge into the files of agents, next to what is there. */
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

/** The same for the home folder alone, where there is no `.forge/`. */
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
  const { command, instructions = false, allow = false, folder = '', here = false } = input;
  if (command !== undefined) checkCommand(command);
  const own = here && folder !== '' && !place.isUser ? folder : undefined;
  const files = changeWiring(place, { agents, isInstall, command, instructions, allow, folder: own });
  const wired = new Map(readManifest(place).agents.map((one) => [one.agent, one]));
  const wants = agents.flatMap((agent) => {
    const isAllowed = allow || wired.get(agent)?.allow === true;
    const texts = AGENTS[agent].wants(command ?? 'forge', place.isUser, isAllowed);
    return [...texts, ...(own === undefined ? folderWants(place, agent, folder) : [])].map((text) => ({
      agent,
      text,
    }));
  });
  if (!place.isUser && files.some(({ change }) => change === 'created' || change === 'changed'))
    wants.push({ agent: agents[0] as AgentName, text: COMMIT });
  return { place: nameOf(place), agents, files, wants: isInstall ? wants : [] };
}

const COMMIT = 'commit these files, so that clones and worktrees have the hooks too';

/** An agent that was installed at the top, seen from a folder below it. */
const folderWants = (place: Place, agent: AgentName, folder = ''): string[] =>
  folder !== '' && !place.isUser && AGENTS[agent].readsOneFolder
    ? [`started in ${folder}, it reads only the hooks of that folder: forge agent install ${agent} --here`]
    : [];

function status(place: Place, input: WiringInput): WiringStatus {
  if (input.command !== undefined) checkCommand(input.command);
  const seen = statusOf(place, agentsNamed(input.agent, place), input.command);
  const isHere = (name: AgentName): boolean =>
    seen.some((one) => one.name === name && one.folder !== undefined && one.folder === input.folder);
  const agents = seen.map(({ serverMissing: _, lacking: __, ...agent }) => ({
    ...agent,
    wants: [
      ...agent.wants,
      ...(agent.state === 'absent' || isHere(agent.name) ? [] : folderWants(place, agent.name, input.folder)),
    ],
  }));
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

/** The command is a part of a shell line on every machine that has the repository, and must be recognized again. */
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
  /** Without it, the command that an agent was wired with, or `forge`. */
  command: string | undefined;
  instructions: boolean;
  allow?: boolean;
  /** Below the top folder; undefined: at the top, and for an uninstall wherever it is. */
  folder?: string | undefined;
}

/** Plans all files. Only when none of them is refused is anything written. */
export function changeWiring(place: Place, wish: WiringWish): ChangedFile[] {
  return place.locked(() => {
    const manifest = readManifest(place);
    const agents = agentsAfter(manifest, wish);
    const planned = planFiles(place, manifest, agents, wish);
    write(place, manifest, agents, planned);
    return planned.map(({ file, text }) => ({
      path: shownAt(place, file.name),
      change: changeOf(file, text),
    }));
  });
}

function changeOf({ text: before }: TextFile, after: string | null): ChangedFile['change'] {
  if (before === after) return 'unchanged';
  return before === null ? 'created' : after === null ? 'removed' : 'changed';
}

/** The agents that are wired then, in the order of their first install. Instructions that were once asked for stay. */
function agentsAfter({ agents }: Manifest, wish: WiringWish): Manifest['agents'] {
  const { folder } = wish;
  const isMeant = (one: Wish): boolean =>
    wish.agents.includes(one.agent) && (folder === undefined || one.folder === folder);
  if (!wish.isInstall) return agents.filter((one) => !isMeant(one));
  const keyOf = (agent: AgentName, at = ''): string => `${agent} ${at}`;
  const after = new Map(agents.map((wired) => [keyOf(wired.agent, wired.folder), wired]));
  for (const agent of wish.agents) {
    const before = after.get(keyOf(agent, folder));
    after.set(keyOf(agent, folder), {
      ...before,
      agent,
      ...(folder === undefined ? {} : { folder }),
      command: wish.command ?? before?.command ?? 'forge',
      instructions: wish.instructions || before?.instructions === true,
      ...(wish.allow || before?.allow ? { allow: true } : {}),
    });
  }
  return [...after.values()];
}

interface PlannedFile extends FilePlan {
  file: TextFile;
  /** The manifest's entry for the file. */
  noted: FileRecord | null;
}

function planFiles(
  place: Place,
  manifest: Manifest,
  agents: readonly Wish[],
  { agents: names, isInstall, folder }: WiringWish,
): PlannedFile[] {
  const files = new Files(place);
  const own = names.flatMap((agent) => {
    const known = (isInstall ? agents : manifest.agents).filter((one) => one.agent === agent);
    const meant = known.filter((one) => one.folder === folder || (!isInstall && folder === undefined));
    const wishes = meant.some((one) => one.folder === folder)
      ? meant
      : [...meant, { agent, command: 'forge', instructions: false, folder }];
    return wishes.flatMap((wish) => files.locate(wish, !isInstall));
  });
  const wanted = agents.flatMap((wish) => files.locate(wish));
  const kept = isInstall ? new Set() : keptBlocks(names, manifest, files);
  return [...new Set(own.map(({ file }) => file))].map((name) => {
    const file = files.read(name);
    const noted = manifest.files[name] ?? null;
    const parts = own.filter((part) => part.file === name);
    const task = {
      text: file.text,
      record: noted,
      wanted: wanted.filter((part) => part.file === name),
      put: isInstall ? parts : [],
      drop: isInstall ? [] : parts.filter((part) => part.kind !== 'block' || !kept.has(name)),
    };
    return { file, noted, ...withFile(shownAt(place, name), file.text, () => planFile(task)) };
  });
}

/** The files whose block other agents keep: those that have it by the manifest, or (in a clone) whose hooks are there. */
function keptBlocks(leaving: readonly AgentName[], manifest: Manifest, files: Files): Set<string> {
  const isThere = (part: Part): boolean => {
    const { text } = files.read(part.file);
    return (
      part.kind !== 'block' && text !== null && findPart(text, part).some(({ state }) => state !== 'missing')
    );
  };
  const staying = AGENT_NAMES.filter((agent) => !leaving.includes(agent));
  const blocks = staying.flatMap((agent) => {
    const wired = manifest.agents.find((one) => one.agent === agent);
    try {
      const parts = files.locate({ agent, command: 'forge', instructions: true });
      return (wired ? wired.instructions : parts.some(isThere)) ? parts : [];
    } catch {
      // A file that cannot be read says nothing about this agent.
      return [];
    }
  });
  return new Set(blocks.filter(({ kind }) => kind === 'block').map(({ file }) => file));
}

/**
 * Notes what is going to be written next to what was, writes the files, then notes the result. After a kill each file is
 * in one of the noted states, and the next run completes the change.
 */
function write(
  place: Place,
  manifest: Manifest,
  agents: Manifest['agents'],
  planned: readonly PlannedFile[],
): void {
  const changed = planned.filter(({ file, text }) => text !== file.text);
  for (const { file } of changed) requireWritable(file);
  for (const { file } of changed) place.note(file.name);
  const [meanwhile, after] = [{ ...manifest.files }, { ...manifest.files }];
  for (const plan of planned) {
    note(meanwhile, plan.file.name, bothStates(plan));
    note(after, plan.file.name, plan.record);
  }
  const result = { ...manifest, agents, files: after };
  if (place.dryRun || (changed.length === 0 && isSame(result, manifest))) return;
  writeManifest(place, { ...result, files: meanwhile });
  replaceProjectFiles(
    changed.map(({ file, text }) => ({ file, bytes: text === null ? null : Buffer.from(text, 'utf8') })),
  );
  for (const { file, text, noted } of planned)
    if (text === null && (noted || file.text !== null) && !file.name.startsWith('/'))
      removeEmptyFolders(place.top, foldersOf(file.name));
  writeManifest(place, result);
}

function note(files: Manifest['files'], name: string, record: FileRecord | null): void {
  if (record) files[name] = record;
  else delete files[name];
}

/** The state that a file has now, and the one that it gets. */
function bothStates({ file: { text }, noted, record }: PlannedFile): FileRecord | null {
  if (!noted || !record || noted.before !== record.before) return record ?? noted;
  const now = noted.left.filter(({ sha256 }) => text !== null && sha256 === digestText(text));
  return { ...record, left: [...now.slice(0, 1), ...record.left] };
}

/** The folders of a file, the outermost first. */
const foldersOf = (name: string): string[] =>
  name.split('/').flatMap((_, depth, parts) => (depth === 0 ? [] : [parts.slice(0, depth).join('/')]));
