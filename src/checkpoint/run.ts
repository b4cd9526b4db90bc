import { formatArgv, splitCommand } from '../core/argv.js';
import { ForgeError, usage } from '../core/error.js';
import { type ProcessRun, whyFailed } from '../core/process.js';
import { checkText } from '../core/text.js';
import { presentCommands } from '../feature/feature.js';
import { type Feature, isProven } from '../feature/rules.js';
import { readFeatures } from '../feature/store.js';
import { runTest, type TestWatch, verifyFeatures, whyMissing, whyNotRun } from '../feature/verify.js';
import { type Context, readConfig } from '../project/project.js';
import { howToApprove, requireTrust } from '../trust/trust.js';
import type { CheckEvidence, Manifest } from './rules.js';

export interface CheckpointWatch extends TestWatch {
  onStart?(command: string): void;
  onEnd?(isFailed: boolean): void;
}

/** A command that did not pass, and why. `run` is absent if it was not approved. */
interface Failure {
  command: string;
  why: string;
  run?: ProcessRun;
}

/** The results by command. Each runs once. */
export type Runs = Map<string, ProcessRun>;

/**
 * Runs commands up to the first that does not pass, which it returns. A run in which no test ran proves nothing, and a
 * command that a person has not approved is not run. No lock is held.
 */
export async function findFailure(
  context: Context,
  commands: readonly string[],
  runs: Runs,
  watch: CheckpointWatch,
): Promise<Failure | null> {
  for (const command of commands) {
    const known = runs.get(command);
    const approval = known ? null : howToApprove(context, [command]);
    if (approval !== null) return { command, why: `not approved on this machine: ${approval}` };
    if (!known) watch.onStart?.(command);
    const run =
      known ?? (await runTest(context, splitCommand(command), watch, 'Interrupted; nothing was changed.'));
    const why = whyNotRun(run) ?? whyFailed(run);
    if (!known) watch.onEnd?.(why !== null);
    runs.set(command, run);
    if (why !== null) return { command, why, run };
  }
  return null;
}

export const evidenceOf = (runs: Runs, tree: string): CheckEvidence[] =>
  [...runs].map(([command, { exit_code, duration_ms, output }]) => ({
    ...{ command, exit_code, duration_ms, output_sha256: output.sha256, tree },
  }));

interface Claim {
  id: string;
  commands: string[];
}

export type Checks = ReturnType<typeof chooseChecks>;

/**
 * The typed commands, else `[checkpoint] verify`, else the tests of the passing features: in POSIX quoting, without
 * duplicates. Exit 2 without any. A feature's file is only a claim, so the tests of the others are run as well.
 */
export function chooseChecks(context: Context, typed: readonly string[]) {
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
  const runs: Runs = new Map();
  const failed = await findFailure(context, commands, runs, watch);
  if (failed) {
    await recordFailure(context, claims, failed, runs);
    const { command, why, run } = failed;
    throw new ForgeError('findings', 'checkpoint.failed', `${command}: ${why}; no checkpoint was made.`, {
      data: { command, exit_code: run?.exit_code ?? null, output: run?.output.tail.slice(-4096) ?? '' },
    });
  }
  const proven: Claim[] = [];
  for (const claim of claims) {
    const failed = await findFailure(context, claim.commands, runs, watch);
    if (failed) {
      await recordFailure(context, [claim], failed, runs);
      context.warnings.push(`${claim.id} is not in the checkpoint. ${failed.command}: ${failed.why}`);
    } else proven.push(claim);
  }
  const evidence = evidenceOf(runs, tree).flatMap((run) => {
    const features = proven.flatMap(({ id, commands: tests }) => (tests.includes(run.command) ? [id] : []));
    if (features.length > 0) return [{ ...run, features }];
    return commands.includes(run.command) ? [run] : [];
  });
  return { verified_by: commands, evidence, features_passing: proven.map(({ id }) => id) };
}

/** FEA-02: records the failed run for the features that have this test, without running it again. */
async function recordFailure(
  context: Context,
  claims: readonly Claim[],
  { command, run }: Failure,
  known: Runs,
): Promise<void> {
  const ids = claims.flatMap(({ id, commands }) => (commands.includes(command) ? [id] : []));
  if (ids.length > 0 && run) await verifyFeatures(context, { ids }, { known });
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
  const runs: Runs = new Map();
  const judge = async (
    commands: readonly string[] | null,
  ): Promise<Pick<ProvedCheck, 'state' | 'why' | 'command'>> => {
    if (commands === null) return { state: 'not_run', why: 'its test is not a command' };
    const failed = await findFailure(context, commands, runs, watch);
    if (!failed) return { state: 'passed' };
    const { command, why, run } = failed;
    const missing = run ? whyMissing(context.layout.root, run) : null;
    const isFailed = run !== undefined && missing === null && whyNotRun(run) === null;
    return { state: isFailed ? 'failed' : 'not_run', why: `${command}: ${missing ?? why}`, command };
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
