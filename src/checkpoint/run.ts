import { formatArgv, splitCommand } from '../core/argv.js';
import { ForgeError, usage } from '../core/error.js';
import { type ProcessRun, whyFailed } from '../core/process.js';
import { checkText } from '../core/text.js';
import { presentCommands } from '../feature/feature.js';
import { type Feature, isProven } from '../feature/rules.js';
import { readFeatures } from '../feature/store.js';
import { runTest, type TestWatch } from '../feature/verify.js';
import { type Context, readConfig } from '../project/project.js';
import { requireTrust } from '../trust/trust.js';
import type { CheckEvidence, Manifest } from './rules.js';

export interface CheckpointWatch extends TestWatch {
  /** A command is about to run. */
  onStart?(command: string): void;
}

/** The result of one command. `why` is null if it passed. `run` is absent if it was not approved. */
interface Outcome {
  command: string;
  why: string | null;
  run?: ProcessRun;
}

/** Runs commands once each. One that a person has not approved is not run. No lock is held. */
function runnerFor(context: Context, watch: CheckpointWatch): (command: string) => Promise<Outcome> {
  const outcomes = new Map<string, Promise<Outcome>>();
  const run = async (command: string): Promise<Outcome> => {
    try {
      requireTrust(context, [command]);
    } catch (error) {
      if (!(error instanceof ForgeError) || error.code !== 'trust.needed') throw error;
      return { command, why: 'not approved on this machine (forge trust)' };
    }
    watch.onStart?.(command);
    const made = await runTest(context, splitCommand(command), watch, 'Interrupted; nothing was changed.');
    return { command, why: whyFailed(made), run: made };
  };
  return (command) => {
    const outcome = outcomes.get(command) ?? run(command);
    outcomes.set(command, outcome);
    return outcome;
  };
}

interface Claim {
  id: string;
  commands: string[];
}

/** The commands that must pass. */
export interface Checks {
  /** In POSIX quoting, without duplicates. */
  commands: string[];
  /** They were just typed, which approves them. */
  areTyped: boolean;
  /** Features that claim to pass, each with the commands of its tests. */
  claims: Claim[];
}

/**
 * The typed commands, else `[checkpoint] verify`, else the tests of the passing features. Exit 2 without any. A feature's
 * file is only a claim, so the tests of the others are run as well.
 */
export function chooseChecks(context: Context, typed: readonly string[]): Checks {
  const areTyped = typed.length > 0;
  const set = areTyped
    ? typed.map((text) => checkText(text, { what: 'A verify command' }))
    : readConfig(context).checkpoint.verify;
  const claims = listPassing(context).flatMap((feature): Claim[] => {
    const commands = presentCommands(context, feature) ?? [];
    return commands.length > 0 ? [{ id: feature.id, commands }] : [];
  });
  const chosen =
    set.length > 0
      ? set.map((command) => formatArgv(splitCommand(command)))
      : claims.flatMap(({ commands }) => commands);
  if (chosen.length === 0)
    throw usage('checkpoint.no_verify', 'No command verifies this state, so it cannot be a checkpoint.', {
      hint: 'forge checkpoint create NAME --verify "COMMAND"\nforge config set checkpoint.verify "COMMAND"   # for each one from now on',
    });
  const commands = [...new Set(chosen)];
  if (!areTyped) requireTrust(context, commands);
  return { commands, areTyped, claims };
}

/** Features that pass, with evidence for their current tests. */
export function listPassing(context: Context): Feature[] {
  return readFeatures(context).filter(
    (feature) => feature.status === 'passing' && isProven(feature, presentCommands(context, feature)),
  );
}

/** What passed on a tree: the commands of a checkpoint, and the features whose tests passed on it. */
export type Proof = Required<Pick<Manifest, 'verified_by' | 'evidence' | 'features_passing'>>;

/**
 * Runs the commands, which must all pass (exit 1), then the remaining tests of features. A feature that fails,
 * or cannot be run, is left out with a warning.
 */
export async function prove(
  context: Context,
  { commands, claims }: Checks,
  tree: string,
  watch: CheckpointWatch,
): Promise<Proof> {
  const run = runnerFor(context, watch);
  const { evidence, failed } = await runAll(run, commands, tree);
  if (failed) {
    const { command, why, run: made } = failed;
    throw new ForgeError('findings', 'checkpoint.failed', `${command}: ${why}; no checkpoint was made.`, {
      data: { command, exit_code: made?.exit_code ?? null, output: made?.output.tail.slice(-4096) ?? '' },
    });
  }
  const features_passing: string[] = [];
  for (const { id, commands: tests } of claims) {
    const outcomes: Outcome[] = [];
    for (const command of tests) outcomes.push(await run(command));
    const failed = outcomes.find(({ why }) => why !== null);
    if (failed) {
      context.warnings.push(`${id} is not in the checkpoint. ${failed.command}: ${failed.why}`);
      continue;
    }
    features_passing.push(id);
    for (const { command, run: made } of outcomes) {
      const known = evidence.find((one) => one.command === command);
      if (known) known.features = [...(known.features ?? []), id];
      else if (made) evidence.push({ ...toEvidence(command, made, tree), features: [id] });
    }
  }
  return { verified_by: commands, evidence, features_passing };
}

const toEvidence = (
  command: string,
  { exit_code, duration_ms, output }: ProcessRun,
  tree: string,
): CheckEvidence => ({ command, exit_code, duration_ms, output_sha256: output.sha256, tree });

interface Ran {
  evidence: CheckEvidence[];
  failed: Outcome | null;
}

/** Runs the commands up to the first failure. */
async function runAll(
  run: ReturnType<typeof runnerFor>,
  commands: readonly string[],
  tree: string,
): Promise<Ran> {
  const evidence: CheckEvidence[] = [];
  for (const command of commands) {
    const outcome = await run(command);
    if (outcome.run) evidence.push(toEvidence(command, outcome.run, tree));
    if (outcome.why !== null) return { evidence, failed: outcome };
  }
  return { evidence, failed: null };
}

/** Runs the commands of a checkpoint again. Exit 3 if one is not approved. */
export function runAgain(
  context: Context,
  commands: readonly string[],
  tree: string,
  watch: CheckpointWatch,
): Promise<Ran> {
  requireTrust(context, commands);
  return runAll(runnerFor(context, watch), commands, tree);
}

/** A command or a feature that passed at the checkpoint, and its current result. */
export interface ProvedCheck {
  /** The feature's id, or the command. */
  name: string;
  kind: 'command' | 'feature';
  state: 'passed' | 'failed' | 'not_run';
  /** Why it failed, or was not run. */
  why?: string;
  /** The one that failed, or was not run. */
  command?: string;
  /** Its tests passed at a commit with the same files as HEAD. */
  passedAtHead?: true;
}

/**
 * GIT-06: runs the checkpoint's commands on the current working tree. A feature that is newer than the checkpoint, or was
 * removed since, does not count. A command that was a feature's test counts as that feature, with its current tests.
 */
export async function runProved(
  context: Context,
  { verified_by, evidence = [], features_passing }: Manifest,
  watch: CheckpointWatch,
): Promise<(ProvedCheck & { feature?: Feature })[]> {
  const run = runnerFor(context, watch);
  const judge = async (
    commands: readonly string[] | null,
  ): Promise<Pick<ProvedCheck, 'state' | 'why' | 'command'>> => {
    if (commands === null) return { state: 'not_run', why: 'its test is not a command' };
    for (const command of commands) {
      const { why, run: made } = await run(command);
      if (why === null) continue;
      // 127: the shell that a command started did not find a program.
      const state = !made?.started || made.exit_code === 127 ? 'not_run' : 'failed';
      return { state, why: `${command}: ${why}`, command };
    }
    return { state: 'passed' };
  };
  const features = readFeatures(context)
    .filter(({ id, tests = [] }) => features_passing.includes(id) && tests.length > 0)
    .map((feature) => ({ feature, commands: presentCommands(context, feature) }));
  const ofFeatures = new Set([
    ...evidence.flatMap((run) => ((run.features ?? []).length > 0 ? [run.command] : [])),
    ...features.flatMap(({ commands }) => commands ?? []),
  ]);
  const checks: (ProvedCheck & { feature?: Feature })[] = [];
  for (const name of new Set(verified_by))
    if (!ofFeatures.has(name)) checks.push({ name, kind: 'command', ...(await judge([name])) });
  for (const { feature, commands } of features)
    checks.push({ name: feature.id, kind: 'feature', ...(await judge(commands)), feature });
  return checks;
}
