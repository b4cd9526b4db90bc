import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENTS, agentsHere } from '../agent/agents.js';
import { formatArgv } from '../core/argv.js';
import { ForgeError, usage } from '../core/error.js';
import { filesBelow } from '../core/files.js';
import {
  activeIssuesFile,
  configFile,
  featuresFile,
  initScript,
  knowledgeFile,
  shown,
  skillsFolder,
  templateTarget,
} from '../core/paths.js';
import { template, templatesFolder } from '../core/templates.js';
import { checkText, makeToken } from '../core/text.js';
import { setTomlValue } from '../core/toml.js';
import type { World } from '../core/world.js';
import { rootCommit } from '../git/read.js';
import {
  findForge,
  indexHas,
  isNameTaken,
  mayBeRoot,
  projectRepository,
  type Repository,
} from '../git/repository.js';
import { installGuard } from '../guard/guard.js';
import { refreshViews, restoreLedgerViews } from '../knowledge/knowledge.js';
import { closeInvestigations } from '../learning/knowledge.js';
import { initLedger } from '../ledger/append.js';
import { ledgerFolder } from '../ledger/files.js';
import { ownJournalFile, readJournal } from '../ledger/journal.js';
import { genesisLine, ledgerId } from '../ledger/record.js';
import { type Context, contextAt, findIgnored, orWarn } from '../project/project.js';
import { approveInitScript, approveTyped } from '../trust/trust.js';
import {
  checkChoices,
  explainNoGit,
  type InitInput,
  ignoredFlags,
  listProposals,
  nextSteps,
  type Proposal,
  settingsFor,
} from './choices.js';
import { type Part, partsFor, type Stack, TOOLCHAINS } from './rules.js';
import { type Findings, isBareRepository, projectName, surveyProject } from './survey.js';

export interface InitResult {
  root: string;
  stack: Stack;
  parts: Part[];
  created: string[];
  kept: string[];
  repaired: string[];
  /** What the repository says about itself; empty if forge was set up before. */
  proposals: Proposal[];
  agents: string[];
  hooks: string[];
  /** Files outside `.forge/` that belong in the same commit. */
  commit: string[];
  /** What was left out, each with its reason. */
  skipped: string[];
  next: string[];
}

export interface ProjectView {
  root: string;
  /** There is no config.toml yet, so there is something to ask. */
  fresh: boolean;
  found: Findings;
  /** Titles of coding agents that are on the PATH or have a folder in the project. */
  agents: string[];
  /** Whether there is a git repository, which hooks need. */
  isRepository: boolean;
}

/** What `init` would ask about. Reads only. */
export async function inspectProject(from: string, world: World): Promise<ProjectView> {
  const { root, repository } = initPlace(from);
  const context = contextAt(root, repository, world, true);
  const fresh = isFresh(context);
  const agents = agentsHere(root, world.env.PATH).map((name) => AGENTS[name].title);
  const found = await surveyProject(context, fresh);
  return { root, fresh, found, agents, isRepository: repository !== null };
}

const isFresh = ({ disk, layout }: Context): boolean => !disk.exists(configFile(layout));

/** The top of the repository, else the folder itself. Exit 2 in `/`, the home folder and a bare repository. */
function initPlace(from: string): { root: string; repository: Repository | null } {
  const repository = projectRepository(from);
  const root = repository?.root ?? from;
  if (!mayBeRoot(root))
    throw usage('init.folder', `${root} is not a project folder.`, {
      hint: 'cd into a project, then: forge init',
    });
  if (isNameTaken(root))
    throw usage('init.taken', `${root}/.forge is a file; forge needs a folder of that name.`, {
      file: `${root}/.forge`,
      hint: 'mv .forge forge.old, then: forge init',
    });
  // Refuses a .forge that is a symlink.
  findForge(root);
  if (!repository && isBareRepository(root))
    throw usage('init.bare', `${root} is a bare repository; forge needs a working tree.`, {
      hint: 'git worktree add FOLDER && cd FOLDER && forge init',
    });
  return { root, repository };
}

/** LAY-01, LAY-02: creates what is missing and overwrites nothing that was edited. Safe to run at any time. */
export async function initialize(
  from: string,
  world: World,
  input: InitInput,
  dryRun: boolean,
): Promise<InitResult> {
  const { root, repository } = initPlace(from);
  const context = contextAt(root, repository, world, dryRun);
  const name = checkText(input.name ?? (await projectName(context)), {
    what: 'The project name',
    lines: false,
    maxBytes: 200,
  });
  checkChoices(context, input);
  await installGuard(context);
  const [found, ledgerRoot] = await Promise.all([
    surveyProject(context, isFresh(context)),
    // The same in every clone, as soon as there is a commit.
    context.git ? rootCommit(context.git) : null,
  ]);
  // Before agents are set up, which writes such files.
  const canImport = isFresh(context) && (await import('../import/import.js')).hasSources(context);
  const result = context.disk.withLock(() => writeAll(context, input, found, { name, ledgerRoot }));
  warnIfFails(context, () => void result.repaired.push(...restoreLedgerViews(context)));
  result.skipped.push(...explainNoGit(from, repository));
  const ignored = await findIgnored(context);
  if (ignored) result.skipped.push(`${ignored.message}, so no commit has it: ${ignored.fix}`);
  await setUp(context, input, result);
  return { ...result, next: nextSteps(context, result.parts, canImport) };
}

function writeAll(
  context: Context,
  input: InitInput,
  found: Findings,
  { name, ledgerRoot }: { name: string; ledgerRoot: string | null },
): InitResult {
  const { disk, layout } = context;
  const fresh = isFresh(context);
  const stack = (input.stack as Stack | undefined) ?? found.stack;
  const parts = partsFor(stack, found.parts);
  // LAY-03: one that is there is kept.
  const hasScript = disk.read(initScript(layout)) !== null;
  const script = { path: initScript(layout), bytes: Buffer.from(composeScript(stack, parts)), mode: 0o777 };
  const files = treeFiles(context, name, settingsFor(input, found));
  const missing = files.filter(({ path }) => !disk.exists(path));
  const result: InitResult = {
    ...{ root: layout.root, stack, parts },
    ...{ created: [], kept: [], repaired: [], agents: [], hooks: [], commit: [] },
    proposals: fresh ? listProposals(found, stack, input) : [],
    ...{ skipped: ignoredFlags(input, fresh, hasScript), next: [] },
  };
  const note: Note = (path, isMissing) => {
    const names = !isMissing ? result.kept : fresh ? result.created : result.repaired;
    names.push(shown(layout, path));
  };
  const wanted = hasScript ? missing : [...missing, script];
  disk.replaceAll(wanted.map((file) => ({ ...file, expected: null })));
  bringLedger(context, ledgerRoot ?? makeToken(32), note);
  for (const file of files) note(file.path, missing.includes(file));
  for (const folder of EMPTY_FOLDERS) disk.makeFolder(join(layout.dir, folder));
  bringViews(context, note);
  // forge composed every line.
  if (!hasScript) approveInitScript(context);
  note(script.path, !hasScript);
  if (fresh && input.test) approveTyped(context, [input.test]);
  return result;
}

type Note = (path: string, isMissing: boolean) => void;

function bringViews(context: Context, note: Note): void {
  const { disk, layout } = context;
  const views = [featuresFile(layout), knowledgeFile(layout), activeIssuesFile(layout)];
  const before = new Set(views.filter((path) => disk.exists(path)));
  // A damaged file, or one of a newer forge, is left as it is.
  for (const refresh of [refreshViews, closeInvestigations]) warnIfFails(context, () => refresh(context));
  for (const path of views) note(path, !before.has(path));
}

interface TreeFile {
  path: string;
  bytes: Buffer;
}

/** npm renames or leaves out these files when it packs, so the templates have plain names. */
const RENAMED: Record<string, string> = { gitignore: '.gitignore', gitattributes: '.gitattributes' };

/** More than the templates have. */
const MAX_FILES = 100;

/** The folders that start empty. git does not keep them, so each writer creates its own. */
const EMPTY_FOLDERS = [
  'git/checkpoints',
  'linear/history',
  'memory/sessions',
  'memory/short-term/scratch',
  ...['code', 'docs', 'reports'].map((type) => `memory/artifacts/${type}`),
];

/** A skill of forge's that was removed by a commit, while git still has others. */
const isRetired = ({ layout, repository }: Context, file: string): boolean => {
  const [folder, skill] = file.split('/');
  if (folder !== 'skills' || repository === null) return false;
  const skills = `${shown(layout, skillsFolder(layout))}/`;
  return indexHas(repository, skills) && !indexHas(repository, `${skills}${skill}/`);
};

/** The files of RFC-9060 §2.1 and §4.2, from `templates/forge`. */
function treeFiles(context: Context, name: string, settings: ReturnType<typeof settingsFor>): TreeFile[] {
  const { layout } = context;
  const top = join(templatesFolder(), 'forge');
  const wanted = filesBelow(top, MAX_FILES).filter((file) => !isRetired(context, file));
  return wanted.map((file) => {
    const bytes = readFileSync(join(top, file));
    const path = templateTarget(layout, RENAMED[file] ?? file);
    if (file !== 'config.toml') return { path, bytes };
    let text = bytes.toString('utf8').replace('"{{project}}"', () => JSON.stringify(name));
    for (const [section, key, value] of settings) text = setTomlValue(text, section, key, value);
    return { path, bytes: Buffer.from(text) };
  });
}

/** Writes the first record (docs/ledger.md), unless the folder, the journal or git's index has a ledger already. */
function bringLedger(context: Context, root: string, note: Note): void {
  const { disk, layout, repository } = context;
  const folder = ledgerFolder(layout);
  const exists =
    disk.list(folder).length > 0 ||
    readJournal(ownJournalFile(context)).lines.length > 0 ||
    (repository !== null && indexHas(repository, shown(layout, folder)));
  if (exists) note(folder, false);
  else {
    const id = ledgerId(root);
    initLedger(context, id);
    note(join(folder, genesisLine(id).name), true);
  }
}

function warnIfFails(context: Context, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    context.warnings.push(error.message);
  }
}

/** LAY-03: the init.sh that this project should have. */
export function composeScript(stack: Stack, parts: readonly Part[]): string {
  const used = TOOLCHAINS.filter((name) => parts.some((part) => part.stack === name));
  // A chosen `mixed` without any projects yet: include everything, for projects that are added later.
  const included = stack === 'mixed' && used.length === 0 ? TOOLCHAINS : used;
  const part = (name: string): string => template('init', `${name}.sh`);
  return [part('head'), ...included.map(part), formatParts(parts), part('tail')].join('');
}

function formatParts(parts: readonly Part[]): string {
  if (parts.length === 0)
    return "\n# This project has nothing to install yet. When that changes: rm .forge/init.sh && forge init\nsay 'nothing to install'\n";
  const lines = parts.map(({ stack, folder }) => `part ${formatArgv([stack, folder])}\n`);
  return `\n# ---- The parts of this project, each with its folder ----\n\n${lines.join('')}`;
}

/** `.forge/` is complete by now, so a refusal is reported and does not fail the command. */
async function setUp(
  context: Context,
  { agents, allow, hooks, beside }: InitInput,
  result: InitResult,
): Promise<void> {
  const orSkip = (what: string, install: () => Promise<void>): Promise<unknown> =>
    orWarn({ warnings: result.skipped }, what, install);
  if (agents !== undefined && agents !== 'none')
    await orSkip('agents', async () => {
      const { describeIgnored, ignoredOf, installAgents } = await import('../agent/install.js');
      const change = await installAgents(context, { agent: agents, ...(allow && { allow }) });
      result.agents = change.agents;
      const ignored = await ignoredOf(context, change.files);
      result.commit = change.files.map(({ path }) => path).filter((path) => !ignored.includes(path));
      result.skipped.push(...ignored.map((path) => `agents: ${describeIgnored(path)}`));
    });
  if (hooks === 'warn' || hooks === 'block')
    await orSkip('hooks', async () => {
      const { installHooks } = await import('../hooks/install.js');
      result.hooks = (await installHooks(context, { others: beside })).hooks.map(({ name }) => name);
    });
}
