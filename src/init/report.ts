import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { oneLine, plural } from '../core/text.js';
import { readFeatures } from '../feature/store.js';
import { findRepository, type Repository } from '../git/repository.js';
import type { Context } from '../project/project.js';
import type { InitInput } from './choice.js';
import type { Findings, FoundFeatures } from './look.js';
import type { Convention } from './proposal.js';
import type { ScriptPlan } from './script.js';
import type { Part } from './stack.js';

/** Something that the repository says about itself. */
export interface Proposal {
  name: 'stack' | 'test' | 'id_pattern' | 'branch' | 'commits' | 'features';
  value: string;
  /** Where that was seen. */
  from: string;
  /** Whether it is set up so. What makes something run, or fills memory, is done only when it is asked for. */
  taken: boolean;
  /** What to add to `forge init` for it. */
  flag: string;
}

/** What was found, beside what was made of it. */
export function listProposals(found: Findings, script: ScriptPlan, input: InitInput): Proposal[] {
  const { test, idPattern, branch, convention, features } = found;
  const one = (
    name: Proposal['name'],
    flag: string,
    value: string | undefined | null,
    from: string,
    taken: string | undefined,
  ): Proposal[] =>
    value ? [{ name, value, from, taken: taken === value, flag: formatArgv([flag, value]) }] : [];
  return [
    ...one('stack', '--stack', found.stack, placesOf(found.parts) || 'no manifest found', script.stack),
    ...one('test', '--test', test?.command, test?.by ?? '', input.test),
    ...one('id_pattern', '--id-pattern', idPattern, 'recent commits', input.idPattern ?? idPattern ?? ''),
    ...one(
      'branch',
      '--branch',
      branch?.name,
      branch?.known ? 'git' : 'checked out',
      input.branch ?? branch?.name,
    ),
    ...(convention ? [describeConvention(convention)] : []),
    ...(features ? [listProposal(features, input)] : []),
  ];
}

/** Set up in config.toml, to be changed there. */
const describeConvention = ({ name, from }: Convention): Proposal => ({
  name: 'commits',
  value: `${name}: only agents’ commits follow the protocol${name === 'commitlint' ? ', but for the subject' : ''}`,
  from,
  taken: true,
  flag: '',
});

function listProposal({ file, names, leftOut }: FoundFeatures, input: InitInput): Proposal {
  return {
    name: 'features',
    value: `${plural(names.length, 'feature')} (${oneLine(names.join('; '), 50)})`,
    from: leftOut > 0 ? `${file}, ${leftOut} of it left out` : file,
    taken: input.features?.file === file,
    flag: formatArgv(['--features', file]),
  };
}

/** `package.json, services/api/pyproject.toml` */
function placesOf(parts: readonly Part[]): string {
  const places = parts.map(({ folder, by }) => (folder === '.' ? by : `${folder}/${by}`));
  return places.length > 4
    ? `${places.slice(0, 3).join(', ')} and ${places.length - 3} more`
    : places.join(', ');
}

/** Flags that came too late: what is there stays. */
export function whatHadNoEffect(input: InitInput, fresh: boolean, script: ScriptPlan): string[] {
  const reasons: string[] = [];
  if (input.stack !== undefined && script.edited)
    reasons.push(
      `--stack ${input.stack}: init.sh was changed by hand and stays; to have forge's: remove it, then forge init again`,
    );
  if (fresh) return reasons;
  const settings: readonly (readonly [flag: string, given: string | undefined, how: string])[] = [
    ['--name', input.name, 'forge config set project.name NAME'],
    ['--test', input.test, 'forge config set checkpoint.verify "COMMAND"'],
    ['--id-pattern', input.idPattern, 'forge config set commit.id_pattern PATTERN'],
    ['--branch', input.branch, 'forge config set git.default_branch NAME'],
  ];
  for (const [flag, given, how] of settings)
    if (given !== undefined) reasons.push(`${flag}: config.toml is there already; ${how}`);
  if (input.hooks === 'warn')
    reasons.push('--hooks warn: config.toml is there already; forge config set commit.enforce warn');
  return reasons;
}

export function whyNoGit(from: string, repository: Repository | null): string[] {
  if (repository) return [];
  const around = findRepository(from);
  return [
    around
      ? `git: the repository around this folder is all of ${around.root}, your home folder, and is left alone; for commits and recovery: git init`
      : 'git: this folder is not a repository; sessions end without a commit',
  ];
}

/** What to type now: four lines at most, each of which works as it stands. */
export function nextSteps(
  context: Context,
  { parts, features }: { parts: readonly Part[]; features: readonly string[] },
  found: Findings,
): string[] {
  const test = found.test === null ? '' : ` --test ${JSON.stringify(found.test.command)}`;
  const add = found.features
    ? formatArgv(['forge', 'init', '--features', found.features.file])
    : `forge feature add "First thing to build"${test}${missingTool(context, found.test?.command)}`;
  return [
    ...(parts.length > 0 ? ['sh .forge/init.sh'] : []),
    ...(features.length > 0 || hasFeatures(context) ? [] : [add]),
    'forge start',
  ];
}

/** A remark where the tests need a program that is not installed. */
function missingTool({ world }: Context, command: string | undefined): string {
  const tool = command?.split(' ')[0] ?? '';
  if (command === undefined || tool.includes('/')) return '';
  const files = [tool, `${tool}.exe`, `${tool}.cmd`];
  const folders = (world.env.PATH ?? '').split(delimiter);
  const isThere = folders.some((folder) => files.some((file) => existsSync(join(folder, file))));
  return isThere ? '' : `   # ${tool} is not installed here`;
}

function hasFeatures(context: Context): boolean {
  try {
    return readFeatures(context).length > 0;
  } catch {
    // It is for the commands that need the list to say what is wrong with it.
    return true;
  }
}
