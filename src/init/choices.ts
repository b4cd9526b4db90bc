import { AGENT_NAMES } from '../agent/agents.js';
import { DEFAULT_SETTINGS } from '../commit/rules.js';
import { splitCommand } from '../core/argv.js';
import { usage } from '../core/error.js';
import { patternProblem } from '../core/pattern.js';
import { checkText, isBranchName, oneLine } from '../core/text.js';
import { type Context, requireSupervisor } from '../project/project.js';
import { STACKS } from './stack.js';
import type { Findings } from './survey.js';

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
  /** A feature list: the open tasks (`- [ ] …`) of a Markdown file, or JSON. */
  features?: { file: string; text: string } | undefined;
  /** One of `AGENT_CHOICES`. */
  agents?: string | undefined;
  /** The agents may use forge's everyday tools without asking. */
  allow?: boolean | undefined;
  /** One of `HOOK_CHOICES`. */
  hooks?: string | undefined;
}

/** Exit 2 for an invalid choice, before anything is written. */
export function checkChoices(context: Context, input: InitInput): void {
  const { stack, test, idPattern, branch, features, agents, hooks } = input;
  if (stack !== undefined || test || features) requireSupervisor(context, 'what features are judged by');
  checkWord('stack', stack, STACKS);
  checkWord('agents', agents, AGENT_CHOICES);
  checkWord('hooks', hooks, HOOK_CHOICES);
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

function checkWord(flag: string, given: string | undefined, allowed: readonly string[]): void {
  if (given !== undefined && !allowed.includes(given))
    throw usage(
      `init.${flag}`,
      `--${flag}: found ${JSON.stringify(oneLine(given, 40))}, allowed: ${allowed.join(' | ')}.`,
      { field: flag },
    );
}

/** The settings that config.toml starts with, besides the defaults. */
export function settingsFor({ test, idPattern, branch, hooks }: InitInput, found: Findings) {
  const settings: [section: string, key: string, value: string | string[]][] = [];
  const ids = idPattern ?? found.idPattern ?? '';
  if (ids !== '' && ids !== DEFAULT_SETTINGS.id_pattern) settings.push(['commit', 'id_pattern', ids]);
  // Beside another convention only agents follow the protocol; commitlint also checks the form of all messages.
  if (found.convention) settings.push(['commit', 'who', 'agents']);
  if (found.convention?.name === 'commitlint') settings.push(['commit', 'style', 'conventional']);
  if (hooks === 'warn') settings.push(['commit', 'enforce', 'warn']);
  const unsure = found.branch && !found.branch.known ? found.branch.name : '';
  if (branch ?? unsure) settings.push(['git', 'default_branch', branch ?? unsure]);
  if (test) settings.push(['checkpoint', 'verify', [test]]);
  return settings;
}
