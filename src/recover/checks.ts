import { resolve } from 'node:path';
import type { Manifest } from '../checkpoint/rules.js';
import { splitCommand } from '../core/argv.js';
import { ForgeError } from '../core/error.js';
import { type ProcessRun, whyFailed } from '../core/process.js';
import { presentCommands } from '../feature/feature.js';
import type { Feature } from '../feature/rules.js';
import { readFeatures } from '../feature/store.js';
import { runTest, type TestWatch } from '../feature/verify.js';
import type { Context } from '../project/project.js';
import { requireTrust } from '../trust/trust.js';
import type { ProvedCheck } from './rules.js';

export interface RecoverWatch extends TestWatch {
  /** A command is about to run. */
  onStart?(command: string): void;
}

/** A check and its commands; `null`: they cannot be run. */
interface Proved extends Pick<ProvedCheck, 'name' | 'kind'> {
  commands: readonly string[] | null;
  feature?: Feature;
}

/**
 * GIT-06: runs what the checkpoint proved, on the working tree as it is. A feature that is newer than the checkpoint, or was
 * removed since, does not count. `gone` are absolute paths of files that the checkpoint has and the working tree lacks.
 */
export async function runProved(
  context: Context,
  manifest: Manifest,
  gone: ReadonlySet<string>,
  watch: RecoverWatch,
): Promise<(ProvedCheck & { feature?: Feature })[]> {
  const runs = new Map<string, Pick<ProvedCheck, 'state' | 'why'>>();
  const checks: (ProvedCheck & { feature?: Feature })[] = [];
  for (const { name, kind, commands, feature } of listProved(context, manifest)) {
    let result: Pick<ProvedCheck, 'state' | 'why'> =
      commands === null ? { state: 'not_run', why: 'its test is no command' } : { state: 'passed' };
    for (const command of commands ?? []) {
      result = runs.get(command) ?? (await runOne(context, command, gone, watch));
      runs.set(command, result);
      if (result.state !== 'passed') break;
    }
    checks.push({ name, kind, ...result, ...(feature ? { feature } : {}) });
  }
  return checks;
}

/** A command that was a feature's test counts as that feature, with its tests as they are now. */
function listProved(context: Context, { verified_by, evidence = [], features_passing }: Manifest): Proved[] {
  const features = readFeatures(context);
  const ofFeatures = new Set(
    evidence.flatMap(({ command, features: ids = [] }) => (ids.length > 0 ? [command] : [])),
  );
  const commands = [...new Set(verified_by)].filter((command) => !ofFeatures.has(command));
  const proved = new Set(features_passing);
  const present = features.filter(({ id, tests = [] }) => proved.has(id) && tests.length > 0);
  return [
    ...commands.map((name): Proved => ({ name, kind: 'command', commands: [name] })),
    ...present.map(
      (feature): Proved => ({
        name: feature.id,
        kind: 'feature',
        commands: presentCommands(context, feature),
        feature,
      }),
    ),
  ];
}

async function runOne(
  context: Context,
  command: string,
  gone: ReadonlySet<string>,
  watch: RecoverWatch,
): Promise<Pick<ProvedCheck, 'state' | 'why'>> {
  try {
    requireTrust(context, [command]);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'trust.needed') throw error;
    return { state: 'not_run', why: `${command}: not approved on this machine (forge trust)` };
  }
  watch.onStart?.(command);
  const argv = splitCommand(command);
  const run = await runTest(context, argv, watch, 'Interrupted; nothing was changed.');
  const why = whyFailed(run);
  if (why === null) return { state: 'passed' };
  const isGone = argv.some((name) => gone.has(resolve(context.layout.root, name)));
  return { state: isToolMissing(run) && !isGone ? 'not_run' : 'failed', why: `${command}: ${why}` };
}

/** 127: the shell that a command started did not find a program. */
const isToolMissing = ({ started, exit_code }: ProcessRun): boolean => !started || exit_code === 127;
