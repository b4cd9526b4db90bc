import { AGENT_NAMES } from '../agent/agents.js';
import { DEFAULT_SETTINGS } from '../commit/rules.js';
import { splitCommand } from '../core/argv.js';
import { unlessFailed, usage } from '../core/error.js';
import { patternProblem } from '../core/pattern.js';
import { checkText, firstNames, isBranchName, oneLine, oneOf } from '../core/text.js';
import { readFeatures } from '../feature/store.js';
import { findRepository, type Repository } from '../git/repository.js';
import { type Context, requireSupervisor } from '../project/project.js';
import { type Part, STACKS, type Stack } from './rules.js';
import { type Findings, lacksPrettierIgnore } from './survey.js';

export const HOOK_CHOICES = ['warn', 'block', 'none'] as const;
export const AGENT_CHOICES = [...AGENT_NAMES, 'all', 'found', 'none'] as const;

/** The options of `init`. Anything left out is detected, or not set up. */
export interface InitInput {
  stack?: string | undefined;
  /** The project's name. Default: the manifest's, else the folder's. */
  name?: string | undefined;
  /** The command that runs the tests: `[checkpoint] verify`. */
  test?: string | undefined;
  /** `[commit] id_pattern` */
  idPattern?: string | undefined;
  /** `[git] default_branch` */
  branch?: string | undefined;
  /** One of `AGENT_CHOICES`, or several names: `claude,codex`. */
  agents?: string | undefined;
  /** The agents may use forge's everyday tools without asking. */
  allow?: boolean | undefined;
  hooks?: string | undefined;
  /** Adds forge's block to the project's own hooks. */
  beside?: boolean | undefined;
  /** Only agents' commits have to follow the protocol. */
  agentsOnly?: boolean | undefined;
}

/** Exit 2 for an invalid choice, before anything is written. */
export function checkChoices(context: Context, input: InitInput): void {
  const { stack, test, idPattern, branch, agents, hooks } = input;
  if (stack !== undefined || test) requireSupervisor(context, 'what features are judged by');
  if (stack !== undefined) oneOf(STACKS, stack, '--stack', 'init.stack');
  const names = agents?.split(',') ?? [];
  const allowed = names.length > 1 ? AGENT_NAMES : AGENT_CHOICES;
  for (const name of names) oneOf<string>(allowed, name, '--agents', 'init.agents');
  if (hooks !== undefined) oneOf(HOOK_CHOICES, hooks, '--hooks', 'init.hooks');
  if (test) splitCommand(checkText(test, { what: '--test', lines: false }));
  const problem = idPattern ? patternProblem(idPattern) : null;
  if (problem !== null)
    throw usage('init.id_pattern', `--id-pattern is not a valid pattern: ${problem}.`, {
      field: 'id-pattern',
      hint: "for example: --id-pattern 'ABC-\\d+'",
    });
  if (branch && !isBranchName(branch))
    throw usage('init.branch', `--branch: ${JSON.stringify(oneLine(branch, 60))} is not a branch name.`, {
      field: 'branch',
    });
}

const isConventional = ({ convention }: Findings): boolean =>
  convention !== null && convention.name !== 'pull requests';

/** The settings that config.toml starts with, besides the defaults. */
export function settingsFor({ test, idPattern, branch, hooks, agentsOnly }: InitInput, found: Findings) {
  const settings: [section: string, key: string, value: string | string[]][] = [];
  const ids = idPattern ?? found.idPattern ?? '';
  if (ids !== '' && ids !== DEFAULT_SETTINGS.id_pattern) settings.push(['commit', 'id_pattern', ids]);
  // In a project with another convention only agents follow the protocol, and their subjects have the usual form.
  if (found.convention || agentsOnly) settings.push(['commit', 'who', 'agents']);
  if (isConventional(found)) settings.push(['commit', 'style', 'conventional']);
  if (hooks === 'warn') settings.push(['commit', 'enforce', 'warn']);
  const main = branch ?? (found.branch?.known === false ? found.branch.name : '');
  if (main) settings.push(['git', 'default_branch', main]);
  if (test) settings.push(['checkpoint', 'verify', [test]]);
  return settings;
}

/** Something that the repository says about itself. */
export interface Proposal {
  name: 'stack' | 'test' | 'id_pattern' | 'branch' | 'commits';
  value: string;
  from: string;
  /** Whether `init` set it up. Commands to run are only set up on request. */
  taken: boolean;
}

export function listProposals(found: Findings, stack: Stack, input: InitInput): Proposal[] {
  const { test, idPattern, branch, convention } = found;
  /** `set`: the value that is in force. Detected settings are, unless another one was given. */
  const row = (
    name: Proposal['name'],
    value: string | undefined | null,
    from: string,
    set = value,
  ): Proposal[] => (value ? [{ name, value, from, taken: set === value }] : []);
  const rest = isConventional(found) ? ', with subjects such as "feat: title"' : '';
  return [
    ...row('stack', found.stack, placesOf(found) || 'no manifest that .forge/init.sh knows', stack),
    ...(input.test !== undefined && input.test !== test?.command
      ? []
      : row('test', test?.command, test?.by ?? '', input.test ?? '')),
    ...row('id_pattern', idPattern, 'recent commits', input.idPattern),
    ...row('branch', branch?.name, branch?.known ? 'git' : 'checked out', input.branch),
    ...row(
      'commits',
      convention && `${convention.name}: only agents’ commits follow the protocol${rest}`,
      convention?.from ?? '',
    ),
  ];
}

/** `package.json, services/api/pyproject.toml; …` */
function placesOf({ parts }: Findings): string {
  const places = parts.map(({ folder, by }) => (folder === '.' ? by : `${folder}/${by}`));
  return firstNames(places, places.length > 4 ? 3 : 4);
}

/** Why a flag had no effect: existing files are never overwritten. */
export function ignoredFlags(input: InitInput, fresh: boolean, hasScript: boolean): string[] {
  const { stack, name, test, idPattern, branch, hooks } = input;
  const isSetting = [name, test, idPattern, branch].some((given) => given !== undefined) || hooks === 'warn';
  return [
    ...(hasScript && stack !== undefined
      ? ['--stack: .forge/init.sh stays as it is; to replace it, remove it and run forge init again']
      : []),
    ...(isSetting && !fresh ? ['config.toml stays as it is; to change it: forge config set NAME VALUE'] : []),
  ];
}

export function explainNoGit(from: string, repository: Repository | null): string[] {
  if (repository) return [];
  const around = findRepository(from);
  if (!around) return ['git: this folder is not a repository; sessions end without a commit'];
  return [
    `git: the repository around this folder is your home folder (${around.root}) and is left alone; for commits and recovery: git init`,
  ];
}

/** Prettier would reformat memory. The last line of the file may have no line feed. */
export const PRETTIER_IGNORE = String.raw`printf '\n.forge/\n' >> .prettierignore`;

/** At most four commands, each of which works as printed. */
export const nextSteps = (context: Context, parts: readonly Part[], canImport: boolean): string[] => [
  ...(lacksPrettierIgnore(context.layout.root) ? [PRETTIER_IGNORE] : []),
  ...(parts.length > 0 ? ['sh .forge/init.sh'] : []),
  ...(canImport ? ['forge import'] : []),
  ...(hasFeatures(context) ? [] : ['forge feature add "First thing to build"']),
  'forge start',
];

/** The commands that need the list report its damage. */
const hasFeatures = (context: Context): boolean => unlessFailed(true, () => readFeatures(context).length > 0);
