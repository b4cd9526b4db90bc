import { formatArgv, splitCommand, testArgv } from '../core/argv.js';
import { ForgeError, usage } from '../core/error.js';
import { featuresFile } from '../core/paths.js';
import { type CommandRun, runCommand } from '../core/shell.js';
import { checkText } from '../core/text.js';
import { presentCommands } from '../feature/feature.js';
import { FEATURES, type Feature, isProven } from '../feature/rules.js';
import { type Context, readConfig } from '../project/project.js';
import { requireTrust } from '../trust/trust.js';
import type { CheckEvidence } from './rules.js';

export interface CheckpointWatch {
  /** A command is about to run. */
  onStart?(command: string): void;
  /** Its output as it comes. */
  onOutput?(chunk: string): void;
  signal?: AbortSignal;
  /** The commands judge what a builder wrote. */
  asBuilder?: boolean;
}

export interface Checks {
  /** As POSIX quoting has them, each once. */
  commands: string[];
  /** They were typed just now, which approves them. */
  areTyped: boolean;
}

/** What has to pass: what was typed, else `[checkpoint] verify`, else the tests of the passing features. Exit 2 without any. */
export function chooseChecks(context: Context, typed: readonly string[]): Checks {
  const { checkpoint, features } = readConfig(context);
  const areTyped = typed.length > 0;
  const set = areTyped
    ? typed.map((text) => checkText(text, { what: 'A verify command' }))
    : checkpoint.verify;
  const tests = set.length > 0 ? [] : listPassing(context).flatMap(({ tests: own = [] }) => own);
  const argvs = [
    ...set.map((command) => splitCommand(command)),
    ...tests.map((test) => testArgv(test, features.test_command)),
  ];
  const commands = [...new Set(argvs.map(formatArgv))];
  if (commands.length === 0)
    throw usage('checkpoint.no_verify', 'No command says that this state works, so it is no checkpoint.', {
      hint: 'forge checkpoint create --verify "npm test"   or [checkpoint] verify = ["npm test"] in .forge/config.toml',
    });
  if (!areTyped) requireTrust(context, commands);
  return { commands, areTyped };
}

/** Features that pass, with evidence of their tests as they stand. */
export function listPassing(context: Context): Feature[] {
  const { features } = context.disk.requireDocument(FEATURES, featuresFile(context.layout)).value;
  return features.filter(
    (feature) => feature.status === 'passing' && isProven(feature, presentCommands(context, feature)),
  );
}

/** In order; the first that fails ends it. Approved by the caller. No lock is held. */
export async function runChecks(
  context: Context,
  commands: readonly string[],
  watch: CheckpointWatch,
): Promise<CommandRun[]> {
  const { timeout_seconds } = readConfig(context).features;
  const runs: CommandRun[] = [];
  for (const command of commands) {
    watch.onStart?.(command);
    const run = await runCommand(splitCommand(command), {
      cwd: context.layout.root,
      env: context.world.env,
      add: watch.asBuilder ? { FORGE_ROLE: 'builder' } : undefined,
      timeoutMs: timeout_seconds * 1000,
      onOutput: watch.onOutput,
      signal: watch.signal,
    });
    if (watch.signal?.aborted)
      throw new ForgeError(
        'interrupted',
        'interrupted',
        'Interrupted; not all commands were run, and nothing was marked.',
      );
    runs.push(run);
    if (run.exit_code !== 0) break;
  }
  return runs;
}

/** Why a run is no proof; null when it is one. */
export function whyFailed({ exit_code, timed_out, failure }: CommandRun, context: Context): string | null {
  if (exit_code === 0) return null;
  if (failure) return failure;
  if (timed_out) return `stopped after ${readConfig(context).features.timeout_seconds} s`;
  return exit_code === null ? 'ended by a signal' : `exit code ${exit_code}`;
}

export const toEvidence = (
  runs: readonly CommandRun[],
  commands: readonly string[],
  tree: string,
): CheckEvidence[] =>
  runs.map(({ exit_code, duration_ms, output_sha256 }, i) => ({
    command: commands[i] ?? '',
    exit_code,
    duration_ms,
    output_sha256,
    tree,
  }));
