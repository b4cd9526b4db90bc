import { join } from 'node:path';
import { AGENTS, agentsHere } from '../agent/agents.js';
import { ForgeError, usage } from '../core/error.js';
import {
  configFile,
  FORGE_FOLDER,
  featuresFile,
  initScript,
  knowledgeFile,
  shown,
  templateTarget,
} from '../core/paths.js';
import { checkText, makeToken, oneLine } from '../core/text.js';
import type { World } from '../core/world.js';
import { importFeatures } from '../feature/feature.js';
import { rootCommit } from '../git/memory.js';
import { findForge, isNameTaken, mayBeRoot, projectRepository, type Repository } from '../git/repository.js';
import { indexMayKnow } from '../git/state.js';
import { installGuard, loadGuard, refuseFound } from '../guard/guard.js';
import { refreshViews, restoreLedgerViews } from '../knowledge/views.js';
import { initLedger } from '../ledger/append.js';
import { ledgerFolder } from '../ledger/context.js';
import { ownJournalFile, readJournal } from '../ledger/journal.js';
import { genesisLine, ledgerId } from '../ledger/record.js';
import { type Context, contextAt, refuseHalted } from '../project/project.js';
import { approveTyped } from '../trust/trust.js';
import { checkChoices, chooseSettings, type InitInput, withSettings } from './choice.js';
import { type Findings, type FoundFeatures, lookAround, readFeatures } from './look.js';
import { folderName, isBareRepository, manifestName } from './project-folders.js';
import { listProposals, nextSteps, type Proposal, whatHadNoEffect, whyNoGit } from './report.js';
import { planScript, type ScriptPlan, writeScript } from './script.js';
import { type Part, STACKS, type Stack } from './stack.js';
import { EMPTY_FOLDERS, type Template, treeTemplates } from './templates.js';
import { wire } from './wire.js';

export type { InitInput } from './choice.js';

export interface InitResult {
  root: string;
  stack: Stack;
  /** What init.sh sets up, each in its folder. */
  parts: Part[];
  created: string[];
  kept: string[];
  repaired: string[];
  /** Files of forge's that nobody had changed, and that are now as this forge writes them. */
  renewed: string[];
  /** Ids of the features that were taken from a list. */
  features: string[];
  /** What the repository says about itself; none where forge is set up already. */
  proposals: Proposal[];
  /** Agents that forge was wired into, and git hooks that were installed: only those that were asked for. */
  agents: string[];
  hooks: string[];
  /** Files outside `.forge/` that belong into the same commit. */
  commit: string[];
  /** What was left out, with the reason. */
  skipped: string[];
  next: string[];
}

export interface ProjectView {
  root: string;
  /** Nothing of forge's settings is there yet, so there is something to ask. */
  fresh: boolean;
  stacks: readonly Stack[];
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
  const found = await lookAround(context, fresh);
  return { root, fresh, stacks: STACKS, found, agents, isRepository: repository !== null };
}

const isFresh = ({ disk, layout }: Context): boolean => !disk.exists(configFile(layout));

/** Where `init` would work: the repository's top, or the folder itself. Exit 2 in `/`, the home folder, a bare repository. */
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
  // Refuses a .forge that is a link.
  findForge(root);
  if (!repository && isBareRepository(root))
    throw usage('init.bare', `${root} is a bare repository; forge needs a working tree.`, {
      hint: 'git worktree add FOLDER && cd FOLDER && forge init',
    });
  return { root, repository };
}

/** The most that a project's name has. */
const NAME_BYTES = 200;

/** LAY-01, LAY-02: brings what is missing, touches nothing that somebody changed. Safe to run at any time. */
export async function initialise(
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
    maxBytes: NAME_BYTES,
  });
  const chosen = checkChoices(context, input);
  const given = await checkFeatures(context, input);
  await installGuard(context);
  const [found, ledgerRoot] = await Promise.all([
    lookAround(context, isFresh(context)),
    rootOfLedger(context),
  ]);
  const result = context.disk.withLock(() =>
    writeAll(context, { input, found, ledgerRoot, name, script: planScript(context, found, chosen) }),
  );
  bringLedgerViews(context, result);
  result.skipped.push(...whyNoGit(from, repository));
  const { files: commit, skipped, ...wired } = await wire(context, input);
  Object.assign(result, wired, { commit });
  result.skipped.push(...skipped);
  if (given) result.features = takeFeatures(context, given.list);
  if (given && result.features.length === 0)
    result.skipped.push(`--features ${oneLine(given.file, 80)}: all that it lists is there already`);
  return { ...result, next: nextSteps(context, result, found) };
}

/** The list that was given; exit 2 for none, exit 5 for one that may not be stored, exit 4 while memory is halted. */
async function checkFeatures(context: Context, { features }: InitInput): Promise<FoundFeatures | null> {
  if (!features) return null;
  refuseHalted(context.disk);
  const guard = await loadGuard(context.world.env);
  const given = readFeatures(features.file, features.text, guard);
  const hits = guard.scanBytes(given.file, Buffer.from(given.list));
  if (hits.length > 0) refuseFound(context, given.file, hits);
  return given;
}

interface Plan {
  input: InitInput;
  found: Findings;
  ledgerRoot: string;
  name: string;
  script: ScriptPlan;
}

function writeAll(context: Context, { input, found, ledgerRoot, name, script }: Plan): InitResult {
  const fresh = isFresh(context);
  const result = emptyResult(context.layout.root, script);
  const settings = chooseSettings(input, found);
  const tree = treeTemplates(name).map((template) => withSettings(template, settings));
  checkPlaces(context, tree, script);
  bringLedger(context, ledgerRoot, fresh, result);
  bringTree(context, tree, fresh, result);
  for (const folder of EMPTY_FOLDERS) context.disk.makeFolder(join(context.layout.dir, folder));
  bringViews(context, fresh, result);
  bringScript(context, script, fresh, result);
  if (fresh) result.proposals = listProposals(found, script, input);
  if (fresh && input.test) approveTyped(context, [input.test]);
  result.skipped = whatHadNoEffect(input, fresh, script);
  return result;
}

const emptyResult = (root: string, { stack, parts }: ScriptPlan): InitResult => ({
  root,
  stack,
  parts,
  created: [],
  kept: [],
  repaired: [],
  renewed: [],
  features: [],
  proposals: [],
  agents: [],
  hooks: [],
  commit: [],
  skipped: [],
  next: [],
});

function bringScript(context: Context, script: ScriptPlan, fresh: boolean, result: InitResult): void {
  const name = shown(context.layout, initScript(context.layout));
  writeScript(context, script);
  if (script.action === 'kept') result.kept.push(name);
  else if (script.action === 'renew') result.renewed.push(name);
  else (fresh ? result.created : result.repaired).push(name);
}

/** Their ids. In a dry run there may be no list yet that they could be added to. */
function takeFeatures(context: Context, text: string): string[] {
  return importFeatures(context, { text }).features.map(({ id }) => id);
}

/** What the ledger's id is made of: the same in every clone, as far as there is a commit. */
async function rootOfLedger({ git }: Context): Promise<string> {
  return (git && (await rootCommit(git))) ?? makeToken(32);
}

/** The first record (docs/format.md). One that git took or somebody removed is not written again. */
function bringLedger(context: Context, root: string, fresh: boolean, result: InitResult): void {
  const { disk, layout, repository } = context;
  const id = ledgerId(root);
  const name = shown(layout, join(ledgerFolder(layout), genesisLine(id).name));
  const isBegun =
    disk.list(ledgerFolder(layout)).length > 0 ||
    readJournal(ownJournalFile(context)).lines.length > 0 ||
    (repository !== null && indexMayKnow(repository, shown(layout, ledgerFolder(layout))));
  if (isBegun) {
    result.kept.push(shown(layout, ledgerFolder(layout)));
    return;
  }
  initLedger(context, id);
  (fresh ? result.created : result.repaired).push(name);
}

/** The manifest's name, else the folder's: the first that can be shown in a line and that the guard lets in. */
async function projectName({ layout, world }: Context): Promise<string> {
  const guard = await loadGuard(world.env);
  const names = [manifestName(layout.root), folderName(layout.root)].map((name) =>
    oneLine(name, NAME_BYTES / 4),
  );
  return names.find((name) => name !== '' && guard.scanText(name).length === 0) ?? 'project';
}

/** Before the first is written: a folder on the way that leads out of `.forge/` is exit 4, text that may not be stored exit 5. */
function checkPlaces({ disk, layout }: Context, tree: readonly Template[], script: ScriptPlan): void {
  for (const { path, bytes } of tree) {
    const target = templateTarget(layout, path);
    if (disk.exists(target)) continue;
    disk.read(target);
    disk.checkContent(target, bytes);
  }
  if (script.action !== 'kept') disk.checkContent(initScript(layout), Buffer.from(script.text));
}

/** A damaged ledger is left to `forge memory verify`. */
function bringLedgerViews(context: Context, result: InitResult): void {
  try {
    result.repaired.push(...restoreLedgerViews(context));
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    context.warnings.push(error.message);
  }
}

function bringViews(context: Context, fresh: boolean, result: InitResult): void {
  const { disk, layout } = context;
  const views = [featuresFile(layout), knowledgeFile(layout)];
  const missing = views.filter((path) => !disk.exists(path));
  try {
    refreshViews(context);
  } catch (error) {
    // A file of a newer forge, or a damaged one, is left as it is.
    if (!(error instanceof ForgeError)) throw error;
    context.warnings.push(error.message);
  }
  for (const path of views) {
    const names = !missing.includes(path) ? result.kept : fresh ? result.created : result.repaired;
    names.push(shown(layout, path));
  }
}

/** All that is missing, in one go: what is there is left as it is. */
function bringTree(
  context: Context,
  templates: readonly Template[],
  fresh: boolean,
  result: InitResult,
): void {
  const { disk, layout } = context;
  const missing = templates.filter(({ path }) => !disk.exists(templateTarget(layout, path)));
  disk.replaceAll(
    missing.map(({ path, bytes, mode }) => ({
      path: templateTarget(layout, path),
      bytes,
      mode,
      expected: null,
    })),
  );
  for (const template of templates) {
    const names = !missing.includes(template) ? result.kept : fresh ? result.created : result.repaired;
    names.push(`${FORGE_FOLDER}/${template.path}`);
  }
}
