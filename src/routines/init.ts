import { rootCommit } from '../adapters/git-memory.js';
import { indexMayKnow } from '../adapters/git-state.js';
import { detectStack, folderName, isBareRepository, STACKS, type Stack } from '../adapters/project.js';
import { findForge, findRepository, mayBeRoot } from '../adapters/repository.js';
import { initTemplate, type Template, treeTemplates } from '../adapters/templates.js';
import type { World } from '../adapters/world.js';
import { usage } from '../domain/error.js';
import { ledgerId, TIERS, type Tier } from '../domain/ledger.js';
import { checkText, oneLine } from '../domain/text.js';
import { makeToken } from '../domain/token.js';
import { journalStamp, readJournal } from '../store/journal.js';
import { configFile, FORGE_FOLDER, fixedFile, initScript, shown, templateTarget } from '../store/layout.js';
import { beginLedger } from '../store/ledger.js';
import { listContainers } from '../store/ledger-files.js';
import { type Context, contextAt } from './context.js';
import { installGuard } from './guard.js';
import { approveInitScript } from './trust.js';

export interface InitInput {
  stack?: string | undefined;
  /** The project's name; default: the folder's. */
  name?: string | undefined;
}

export interface InitResult {
  root: string;
  stack: Stack;
  created: string[];
  kept: string[];
  repaired: string[];
  /** What was left out, with the reason. */
  skipped: string[];
  next: string[];
}

export interface ProjectView {
  root: string;
  /** By the files there. */
  stack: Stack;
  stacks: readonly Stack[];
}

/** What `init` would ask about. */
export function inspectProject(from: string): ProjectView {
  const root = initRoot(from);
  return { root, stack: detectStack(root), stacks: STACKS };
}

/** Where `init` would work: the repository's top, or the folder itself. Exit 2 in `/`, the home folder, a bare repository. */
function initRoot(from: string): string {
  const repository = findRepository(from);
  const root = repository?.root ?? from;
  if (!mayBeRoot(root))
    throw usage('init.folder', `${root} is no project folder.`, {
      hint: 'cd into a project, then: forge init',
    });
  // Refuses a .forge that is a link.
  findForge(root);
  if (!repository && isBareRepository(root))
    throw usage('init.bare', `${root} is a bare repository; forge needs a working tree.`, {
      hint: 'git worktree add …',
    });
  return root;
}

/** LAY-01, LAY-02: brings what is missing, touches nothing that is there. Safe to run at any time. */
export async function initialise(
  from: string,
  world: World,
  input: InitInput,
  dryRun: boolean,
): Promise<InitResult> {
  const root = initRoot(from);
  const stack = checkStack(input.stack ?? detectStack(root));
  const name = checkText(input.name ?? projectName(root), {
    what: 'The project name',
    lines: false,
    maxBytes: 200,
  });
  const context = contextAt(root, findRepository(root), world, dryRun);
  await installGuard(context);
  const fresh = !context.disk.exists(configFile(context.layout));
  const result: InitResult = { root, stack, created: [], kept: [], repaired: [], skipped: [], next: [] };
  const ledgersRoot = await rootOfLedgers(context);
  context.disk.withLock(() => {
    bringLedgers(context, ledgersRoot, fresh, result);
    for (const template of [...treeTemplates(name), initTemplate(stack)])
      bring(context, template, fresh, result);
  });
  const wroteScript = [...result.created, ...result.repaired].includes(
    shown(context.layout, initScript(context.layout)),
  );
  if (wroteScript) approveInitScript(context);
  if (!context.repository)
    result.skipped.push('git: this folder is no repository; sessions end without a commit');
  result.next = [
    'forge feature add FORGE-001 "First thing to build" --test "npm test"',
    'forge session start',
  ];
  return result;
}

/** What the ledgers' ids are made of: the same in every clone, as far as there is a commit. */
async function rootOfLedgers({ git }: Context): Promise<string> {
  return (git && (await rootCommit(git))) ?? makeToken(32);
}

/** The genesis of each ledger (docs/format.md). One that git took or somebody removed is not begun again. */
function bringLedgers(context: Context, root: string, fresh: boolean, result: InitResult): void {
  const { disk, layout } = context;
  for (const tier of TIERS) {
    const name = shown(layout, fixedFile(layout, tier));
    const made = !isBegun(context, tier) && beginLedger(disk, tier, ledgerId(tier, root));
    if (made) (fresh ? result.created : result.repaired).push(name);
    else result.kept.push(name);
  }
}

/** Here, or known to the journal or git's index: then it has only left the working tree. */
function isBegun({ layout, repository }: Context, tier: Tier): boolean {
  if (listContainers(layout, tier).length > 0) return true;
  let journalled = false;
  readJournal(layout, journalStamp(layout).size, (line) => {
    journalled ||= line.includes(`"tier":"${tier}"`);
  });
  return (
    journalled || (repository !== null && indexMayKnow(repository, shown(layout, fixedFile(layout, tier))))
  );
}

/** A folder may have any name, also one with line breaks or escapes. */
const projectName = (root: string): string => oneLine(folderName(root), 80) || 'project';

function checkStack(stack: string): Stack {
  const known = STACKS.find((name) => name === stack);
  if (known) return known;
  throw usage(
    'init.stack',
    `--stack: found ${JSON.stringify(oneLine(stack, 40))}, allowed: ${STACKS.join(' | ')}.`,
    {
      field: 'stack',
    },
  );
}

function bring(
  { disk, layout }: Context,
  { path, bytes, mode }: Template,
  fresh: boolean,
  result: InitResult,
): void {
  const target = templateTarget(layout, path);
  const name = `${FORGE_FOLDER}/${path}`;
  if (disk.exists(target)) {
    result.kept.push(name);
    return;
  }
  disk.replaceAll([{ path: target, bytes, mode }], null);
  (fresh ? result.created : result.repaired).push(name);
}
