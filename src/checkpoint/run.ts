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
import type { CheckEvidence } from './rules.js';

export interface CheckpointWatch extends TestWatch {
  /** A command is about to run. */
  onStart?(command: string): void;
}

/** What has to pass. */
export interface Checks {
  /** As POSIX quoting has them, each once. */
  commands: string[];
  /** They were typed just now, which approves them. */
  areTyped: boolean;
  /** Features that claim to pass, each with the commands of its tests. */
  claims: Claim[];
}

interface Claim {
  id: string;
  commands: string[];
}

/**
 * What was typed, else `[checkpoint] verify`, else the tests of the passing features. Exit 2 without any. A feature's file
 * is only a claim, so the tests of the others are run as well.
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
    throw usage('checkpoint.no_verify', 'No command says that this state works, so it is no checkpoint.', {
      hint: 'forge checkpoint create --verify "npm test"   or [checkpoint] verify = ["npm test"] in .forge/config.toml',
    });
  const commands = [...new Set(chosen)];
  if (!areTyped) requireTrust(context, commands);
  return { commands, areTyped, claims };
}

/** Features that pass, with evidence of their tests as they stand. */
export function listPassing(context: Context): Feature[] {
  const features = readFeatures(context);
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

/** What passed on a tree: the commands of a checkpoint, and the features whose tests were shown to pass on it. */
export interface Proof {
  verified_by: string[];
  evidence: CheckEvidence[];
  features_passing: string[];
}

/**
 * Runs the tests of the features that the commands did not run, and lists those that pass. One that fails, or cannot be
 * run, is left out with a warning.
 */
export async function proveFeatures(
  context: Context,
  claims: readonly Claim[],
  evidence: readonly CheckEvidence[],
  watch: CheckpointWatch,
): Promise<Proof> {
  const passed = new Set(evidence.map(({ command }) => command));
  const failed = new Map<string, string>();
  const more: CheckEvidence[] = [];
  const tree = evidence[0]?.tree ?? '';
  for (const command of new Set(claims.flatMap(({ commands }) => commands))) {
    if (passed.has(command)) continue;
    const why = await runClaim(context, command, watch, (run) =>
      more.push(...toEvidence([run], [command], tree)),
    );
    if (why === null) passed.add(command);
    else failed.set(command, why);
  }
  for (const { id, commands } of claims) {
    const command = commands.find((one) => failed.has(one));
    if (command !== undefined)
      context.warnings.push(`${id} is not in the checkpoint. ${command}: ${failed.get(command)}`);
  }
  const proved = claims.filter(({ commands }) => commands.every((command) => passed.has(command)));
  const all = [...evidence, ...more.filter(({ command }) => passed.has(command))];
  return {
    verified_by: evidence.map(({ command }) => command),
    evidence: all.map((run) => {
      const features = proved.filter(({ commands }) => commands.includes(run.command)).map(({ id }) => id);
      return features.length > 0 ? { ...run, features } : run;
    }),
    features_passing: proved.map(({ id }) => id),
  };
}

async function runClaim(
  context: Context,
  command: string,
  watch: CheckpointWatch,
  keep: (run: ProcessRun) => void,
): Promise<string | null> {
  try {
    requireTrust(context, [command]);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'trust.needed') throw error;
    return 'not approved on this machine (forge trust)';
  }
  const [run] = await runChecks(context, [command], watch);
  if (run) keep(run);
  return run ? whyFailed(run) : null;
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
