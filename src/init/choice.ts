import { DEFAULT_SETTINGS } from '../commit/rules.js';
import { splitCommand } from '../core/argv.js';
import { usage } from '../core/error.js';
import { patternProblem } from '../core/pattern.js';
import { checkText, isBranchName, oneLine } from '../core/text.js';
import { setTomlValue } from '../core/toml.js';
import { type Context, requireSupervisor } from '../project/project.js';
import type { Findings } from './look.js';
import type { Convention } from './proposal.js';
import { STACKS, type Stack } from './stack.js';
import type { Template } from './templates.js';
import { checkWiring, type WiringWish } from './wire.js';

/** Everything `init` could ask; what is not given is what it finds. */
export interface InitInput extends WiringWish {
  stack?: string | undefined;
  /** The project's name; default: the manifest's, else the folder's. */
  name?: string | undefined;
  /** The command that runs the tests: checkpoints run it (`[checkpoint] verify`). */
  test?: string | undefined;
  /** `[commit] id_pattern` */
  idPattern?: string | undefined;
  /** `[git] default_branch` */
  branch?: string | undefined;
  /** A list of features: of Markdown the open tasks (`- [ ] …`), of JSON all. */
  features?: { file: string; text: string } | undefined;
}

/** Exit 2 for a choice that cannot be; nothing has been written by then. Returns the stack that was chosen. */
export function checkChoices(context: Context, input: InitInput): Stack | undefined {
  const { test, idPattern, branch, features } = input;
  if (test || features) requireSupervisor(context, 'what features are judged by');
  if (test) splitCommand(checkText(test, { what: '--test', lines: false }));
  checkWiring(input);
  const problem = idPattern ? patternProblem(idPattern) : null;
  if (problem !== null)
    throw usage('init.id_pattern', `--id-pattern cannot be matched: ${problem}.`, {
      field: 'id-pattern',
      hint: "for example: --id-pattern 'ABC-\\d+'",
    });
  if (branch && !isBranchName(branch))
    throw usage('init.branch', `--branch: ${JSON.stringify(oneLine(branch, 60))} is not a branch name.`, {
      field: 'branch',
    });
  return input.stack === undefined ? undefined : checkStack(input.stack);
}

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

/** Settings that config.toml begins with; '' is what forge does by itself. */
export interface Settings {
  test: string;
  idPattern: string;
  branch: string;
  convention: Convention | null;
  /** Hooks that warn only. */
  warn: boolean;
}

export function chooseSettings({ test, idPattern, branch, hooks }: InitInput, found: Findings): Settings {
  const unsure = found.branch && !found.branch.known ? found.branch.name : '';
  return {
    test: test ?? '',
    idPattern: idPattern ?? found.idPattern ?? '',
    branch: branch ?? unsure,
    convention: found.convention,
    warn: hooks === 'warn',
  };
}

/** config.toml as it is written for the first time. */
export function withSettings(
  template: Template,
  { test, idPattern, branch, convention, warn }: Settings,
): Template {
  if (template.path !== 'config.toml') return template;
  let text = template.bytes.toString('utf8');
  if (idPattern !== '' && idPattern !== DEFAULT_SETTINGS.id_pattern)
    text = setTomlValue(text, 'commit', 'id_pattern', idPattern);
  if (convention) text = setTomlValue(text, 'commit', 'who', 'agents');
  if (convention?.name === 'commitlint') text = setTomlValue(text, 'commit', 'rules_off', ['subject']);
  if (warn) text = setTomlValue(text, 'commit', 'enforce', 'warn');
  if (branch !== '') text = setTomlValue(text, 'git', 'default_branch', branch);
  if (test !== '') text = setTomlValue(text, 'checkpoint', 'verify', [test]);
  return { ...template, bytes: Buffer.from(text) };
}
