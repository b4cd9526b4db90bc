import { formatArgv } from '../core/argv.js';
import { oneLine, plural } from '../core/text.js';
import { readFeatures } from '../feature/store.js';
import { findRepository, type Repository } from '../git/repository.js';
import type { Context } from '../project/project.js';
import type { InitInput } from './choices.js';
import type { ScriptPlan } from './script.js';
import type { Part } from './stack.js';
import type { Findings } from './survey.js';

/** Something that the repository says about itself. */
export interface Proposal {
  name: 'stack' | 'test' | 'id_pattern' | 'branch' | 'commits' | 'features';
  value: string;
  /** Where it was found. */
  from: string;
  /** Whether `init` set it up. Commands to run and features are only set up on request. */
  taken: boolean;
  /** The flag of `forge init` that sets it up. */
  flag: string;
}

export function listProposals(found: Findings, script: ScriptPlan, input: InitInput): Proposal[] {
  const { test, idPattern, branch, convention, features } = found;
  /** `set`: the value that is in force. Detected settings are, unless another one was given. */
  const row = (
    name: Proposal['name'],
    option: string,
    value: string | undefined | null,
    from: string,
    set = value,
  ): Proposal[] =>
    value ? [{ name, value, from, taken: set === value, flag: formatArgv([option, value]) }] : [];
  const rest = convention?.name === 'commitlint' ? ', with subjects such as "feat: title"' : '';
  const some = features && oneLine(features.names.join('; '), 50);
  return [
    ...row('stack', '--stack', found.stack, placesOf(found.parts) || 'no manifest found', script.stack),
    ...row('test', '--test', test?.command, test?.by ?? '', input.test ?? ''),
    ...row('id_pattern', '--id-pattern', idPattern, 'recent commits', input.idPattern),
    ...row('branch', '--branch', branch?.name, branch?.known ? 'git' : 'checked out', input.branch),
    ...row(
      'commits',
      '',
      convention && `${convention.name}: only agents’ commits follow the protocol${rest}`,
      convention?.from ?? '',
    ).map((proposal) => ({ ...proposal, flag: '' })),
    ...(features
      ? [
          {
            name: 'features' as const,
            value: `${plural(features.names.length, 'feature')} (${some})`,
            from: features.leftOut > 0 ? `${features.file}, ${features.leftOut} left out` : features.file,
            taken: input.features?.file === features.file,
            flag: formatArgv(['--features', features.file]),
          },
        ]
      : []),
  ];
}

/** `package.json, services/api/pyproject.toml` */
function placesOf(parts: readonly Part[]): string {
  const places = parts.map(({ folder, by }) => (folder === '.' ? by : `${folder}/${by}`));
  return places.length > 4
    ? `${places.slice(0, 3).join(', ')} and ${places.length - 3} more`
    : places.join(', ');
}

/** Why a flag had no effect: existing files are never overwritten. */
export function ignoredFlags(input: InitInput, fresh: boolean, script: ScriptPlan): string[] {
  const isScriptKept = input.stack !== undefined && script.isOwn;
  const settings = [
    ['--name', input.name, 'project.name NAME'],
    ['--test', input.test, 'checkpoint.verify "COMMAND"'],
    ['--id-pattern', input.idPattern, 'commit.id_pattern PATTERN'],
    ['--branch', input.branch, 'git.default_branch NAME'],
    ['--hooks warn', input.hooks === 'warn' || undefined, 'commit.enforce warn'],
  ] as const;
  return [
    ...(isScriptKept
      ? [
          `--stack ${input.stack}: .forge/init.sh stays as it is; to replace it, remove it and run forge init again`,
        ]
      : []),
    ...settings
      .filter(([, given]) => !fresh && given !== undefined)
      .map(([flag, , setting]) => `${flag}: config.toml exists; forge config set ${setting}`),
  ];
}

export function explainNoGit(from: string, repository: Repository | null): string[] {
  if (repository) return [];
  const around = findRepository(from);
  return [
    around
      ? `git: the repository around this folder is your home folder (${around.root}) and is left alone; for commits and recovery: git init`
      : 'git: this folder is not a repository; sessions end without a commit',
  ];
}

/** At most three commands, each of which works as printed. */
export function nextSteps(
  context: Context,
  { parts, features }: { parts: readonly Part[]; features: readonly string[] },
  found: Findings,
): string[] {
  const add = found.features
    ? formatArgv(['forge', 'init', '--features', found.features.file])
    : 'forge feature add "First thing to build"';
  return [
    ...(parts.length > 0 ? ['sh .forge/init.sh'] : []),
    ...(features.length > 0 || hasFeatures(context) ? [] : [add]),
    'forge start',
  ];
}

function hasFeatures(context: Context): boolean {
  try {
    return readFeatures(context).length > 0;
  } catch {
    // The commands that need the list report the damage.
    return true;
  }
}
