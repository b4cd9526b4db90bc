import { formatArgv, splitCommand, testArgv } from '../core/argv.js';
import { usage } from '../core/error.js';
import { featuresFile } from '../core/paths.js';
import type { ProcessRun } from '../core/process.js';
import { checkText } from '../core/text.js';
import { presentCommands } from '../feature/feature.js';
import { FEATURES, type Feature, isProven } from '../feature/rules.js';
import { runTest, type TestWatch } from '../feature/verify.js';
import { type Context, readConfig } from '../project/project.js';
import { requireTrust } from '../trust/trust.js';
import type { CheckEvidence } from './rules.js';

export interface CheckpointWatch extends TestWatch {
  /** A command is about to run. */
  onStart?(command: string): void;
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
): Promise<ProcessRun[]> {
  const interrupted = 'Interrupted; not all commands were run, and nothing was marked.';
  const runs: ProcessRun[] = [];
  for (const command of commands) {
    watch.onStart?.(command);
    const run = await runTest(context, splitCommand(command), watch, interrupted);
    runs.push(run);
    if (run.exit_code !== 0) break;
  }
  return runs;
}

export const toEvidence = (
  runs: readonly ProcessRun[],
  commands: readonly string[],
  tree: string,
): CheckEvidence[] =>
  runs.map(({ exit_code, duration_ms, output }, i) => ({
    command: commands[i] ?? '',
    exit_code,
    duration_ms,
    output_sha256: output.sha256,
    tree,
  }));
