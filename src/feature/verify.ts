import * as z from 'zod/mini';
import { formatArgv, testArgv } from '../core/argv.js';
import { commandEnvironment } from '../core/environment.js';
import { ForgeError, refused, usage } from '../core/error.js';
import { type ProcessOptions, type ProcessRun, runProcess, whyFailed } from '../core/process.js';
import { checkInput } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { readLog } from '../git/read.js';
import { requireMemory, storeRecords } from '../ledger/memory.js';
import { type Context, isBuilding, readConfig, timestamp } from '../project/project.js';
import { requireTrust } from '../trust/trust.js';
import { type Feature, type FeatureStatus, firstSeen, isUnprovenPass, judged, testsDiffer } from './rules.js';
import { readFeatures, requireFeature, updateFeatures } from './store.js';
import { ranNoTest } from './test-output.js';

export const FeatureVerifyInput = z.strictObject({
  ids: z.optional(z.array(z.string())),
  all: z.optional(z.boolean()),
});

export interface TestWatch {
  /** Gets the first MiB of the output as it arrives. */
  onOutput?(chunk: string): void;
  /** The command runs as this process. */
  onProcess?: ProcessOptions['onStart'];
  signal?: AbortSignal;
  /** In a governed cycle: what a builder wrote has no more rights than a builder when it is run. */
  asBuilder?: boolean;
}

export interface VerifyWatch extends TestWatch {
  /** A command is about to run. */
  onStart?(feature: string, command: string): void;
  onResult?(result: FeatureResult): void;
  /** A command has ended: what it showed. */
  onRun?(feature: string, run: ProcessRun): void;
}

export interface FeatureResult {
  id: string;
  status: FeatureStatus;
  before: FeatureStatus;
  /** Of the first command that failed, else 0; null when it was stopped or could not start. */
  exit_code: number | null;
  duration_ms: number;
  /** That command, else the last one. */
  command: string;
  /** Only with --dry-run: nothing was run. */
  planned?: true;
  /** Why no test could show anything (`uv: command not found`); the status is what it was. */
  not_run?: string;
  /** Its tests pass and were never seen to fail, so it stays in progress. */
  unproven?: true;
  /** Why it failed, and the end of its output. */
  failure?: string;
  output?: string;
}

/** FEA-02: runs the features' own tests; the only way to `passing`. Nothing runs before trust; no lock is held. */
export async function verifyFeatures(
  context: Context,
  raw: z.infer<typeof FeatureVerifyInput>,
  watch: VerifyWatch = {},
): Promise<{ results: FeatureResult[] }> {
  const input = checkInput(FeatureVerifyInput, raw);
  const features = chooseFeatures(context, input);
  const template = readConfig(context).features.test_command;
  const plans = features.map((feature) => ({
    feature,
    commands: (feature.tests ?? []).map((test) => testArgv(test, template)),
  }));
  requireTrust(
    context,
    plans.flatMap(({ commands }) => commands.map(formatArgv)),
  );
  if (context.disk.dryRun) return { results: plans.map((plan) => planned(plan.feature, plan.commands)) };
  const results: FeatureResult[] = [];
  const runs: VerificationRun[] = [];
  try {
    for (const { feature, commands } of plans) {
      const { result, run } = await verifyOne(context, feature, commands, watch);
      watch.onResult?.(result);
      results.push(result);
      runs.push(run);
    }
  } finally {
    // After an interruption, the features that were done count.
    await recordRuns(context, runs);
  }
  return { results };
}

/** With --dry-run: what would be run; the status stays. */
function planned({ id, status }: Feature, commands: readonly string[][]): FeatureResult {
  const command = commands.map(formatArgv).join('; ');
  return { id, status, before: status, exit_code: null, duration_ms: 0, command, planned: true };
}

function chooseFeatures(
  context: Context,
  { ids = [], all = false }: z.infer<typeof FeatureVerifyInput>,
): Feature[] {
  const features = readFeatures(context);
  if (all === ids.length > 0)
    throw usage('feature.which', `Name the features to verify, or give --all${all ? ', not both' : ''}.`, {
      hint: 'forge done --all',
    });
  const chosen = all ? features.filter(hasTests) : ids.map((id) => requireFeature(features, id));
  const untested = chosen.find((feature) => !hasTests(feature));
  if (untested)
    throw usage('feature.no_tests', `${untested.id} has no tests, so nothing can prove it.`, {
      hint: `forge feature edit ${untested.id} --test "COMMAND"`,
    });
  return chosen;
}

const hasTests = (feature: Feature): boolean => (feature.tests ?? []).length > 0;

/** What the evaluation ledger keeps of a feature's run. */
export interface VerificationRun {
  feature: string;
  status: FeatureStatus;
  exit_code: number | null;
  command: string;
  duration_ms: number;
  output_bytes: number;
  output_sha256: string;
  not_run?: string;
}

async function verifyOne(
  context: Context,
  feature: Feature,
  commands: readonly string[][],
  watch: VerifyWatch,
): Promise<{ result: FeatureResult; run: VerificationRun }> {
  const runs = await runTests(context, feature, commands, watch);
  const last = runs.at(-1) as ProcessRun;
  const ok = last.exit_code === 0;
  const shared = {
    id: feature.id,
    before: feature.status,
    exit_code: last.exit_code,
    duration_ms: runs.reduce((sum, run) => sum + run.duration_ms, 0),
    command: formatArgv(last.argv),
  };
  const describeRun = (status: FeatureStatus): VerificationRun => ({
    ...{ feature: feature.id, status, exit_code: last.exit_code, command: shared.command },
    ...{
      duration_ms: shared.duration_ms,
      output_bytes: last.output.bytes,
      output_sha256: last.output.sha256,
    },
  });
  const output = last.output.tail.slice(-4096);
  const not_run = whyNotRun(last);
  if (not_run !== null) {
    const { status } = feature;
    return { result: { ...shared, status, not_run, output }, run: { ...describeRun(status), not_run } };
  }
  const commit = await headOf(context);
  const evidence = { ok, at: timestamp(context), commit, commands: commands.map(formatArgv) };
  // Looked at before any lock is taken.
  if (!ok && feature.status === 'passing') requireMemory(context);
  const judgment = recordResult(context, feature, evidence, last);
  const { status } = judgment;
  const result = {
    ...shared,
    status,
    ...(isUnprovenPass(judgment) ? { unproven: true as const } : {}),
    ...(ok ? {} : { failure: whyTestFailed(last), output }),
  };
  return { result, run: describeRun(status) };
}

/** In order; the first that fails ends it. */
export async function runTests(
  context: Context,
  feature: Feature,
  commands: readonly string[][],
  watch: VerifyWatch,
  interrupted = 'Interrupted; nothing was recorded for this feature.',
): Promise<ProcessRun[]> {
  const runs: ProcessRun[] = [];
  for (const argv of commands) {
    watch.onStart?.(feature.id, formatArgv(argv));
    const run = await runTest(context, argv, watch, interrupted);
    watch.onRun?.(feature.id, run);
    runs.push(run);
    if (run.exit_code !== 0) break;
  }
  return runs;
}

/** Runs one test under `[features] timeout_seconds`. Exit 130 with the message `interrupted` when `watch.signal` ended it. */
export async function runTest(
  context: Context,
  argv: readonly string[],
  watch: TestWatch,
  interrupted: string,
): Promise<ProcessRun> {
  const run = await runProcess(argv, {
    cwd: context.layout.root,
    env: { ...commandEnvironment(context.world.env), ...(watch.asBuilder ? { FORGE_ROLE: 'builder' } : {}) },
    timeoutMs: readConfig(context).features.timeout_seconds * 1000,
    stop: watch.signal,
    killAtOnce: true,
    // Enough for the 4096 characters that a failure shows.
    keepBytes: 16 * 1024,
    onStart: watch.onProcess,
    onOutput: (text, sampled) => {
      if (!sampled) watch.onOutput?.(text);
    },
  });
  if (watch.signal?.aborted) throw new ForgeError('interrupted', 'interrupted', interrupted);
  return run;
}

export function whyTestFailed(run: ProcessRun): string {
  const hint = run.started ? '' : '; tests are commands unless [features] test_command says how to run them';
  return `${whyFailed(run)}${hint}`;
}

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

/** Why a command could show nothing: it, or what it calls, is not here, or it ran no test. Null when it ran. */
export function whyNotRun({ argv, started, exit_code, ended, output }: ProcessRun): string | null {
  if (!started) return `${argv[0]}: ${ended === 'not found' ? 'command not found' : ended}`;
  if (ranNoTest(output.tail)) return 'no test ran';
  if (exit_code !== NOT_FOUND && exit_code !== NOT_EXECUTABLE) return null;
  const lines = output.tail.trimEnd().split('\n');
  const told = lines.findLast((line) => /not found|permission denied|no such file/i.test(line));
  return oneLine(told ?? `${argv[0]}: exit code ${exit_code}`, 120);
}

export interface FirstRun {
  /** `failed` is as it should be: there is work to do, and the test sees it. */
  result: 'failed' | 'passed' | 'not_run';
  /** Why it failed or did not run. */
  reason?: string;
  command: string;
}

/** FEA-05: the tests of a new feature are run once. Those that pass already prove nothing about work to come. */
export async function runFirst(context: Context, feature: Feature, watch: VerifyWatch): Promise<FirstRun> {
  const template = readConfig(context).features.test_command;
  const commands = (feature.tests ?? []).map((test) => testArgv(test, template));
  requireTrust(context, commands.map(formatArgv));
  const interrupted = `Interrupted; ${feature.id} is in the list, and its tests did not finish.`;
  const last = (await runTests(context, feature, commands, watch, interrupted)).at(-1) as ProcessRun;
  const command = formatArgv(last.argv);
  const not_run = whyNotRun(last);
  if (not_run !== null) return { result: 'not_run', reason: not_run, command };
  const ok = last.exit_code === 0;
  updateFeatures(context, (before) =>
    before.map((now) => (now.id === feature.id && !testsDiffer(now, feature) ? firstSeen(now, ok) : now)),
  );
  return ok ? { result: 'passed', command } : { result: 'failed', reason: whyTestFailed(last), command };
}

/** The evaluation tier keeps every run, also one that changes no status. */
async function recordRuns(context: Context, runs: readonly VerificationRun[]): Promise<void> {
  // What a builder runs is no evidence: the cycle runs it again.
  if (runs.length === 0 || isBuilding(context)) return;
  requireMemory(context);
  const commit = await headOf(context);
  try {
    storeRecords(context, [{ tier: 'evaluation', kind: 'verification', actor: 'forge', commit, runs }]);
  } catch (error) {
    // The features already have the result.
    if (!(error instanceof ForgeError) || error.kind !== 'outside') throw error;
    context.warnings.push(`Verified, but the run was not recorded: ${error.message}`);
  }
}

const headOf = async ({ git }: Context): Promise<string | null> =>
  git ? ((await readLog(git, 1))[0]?.hash ?? null) : null;

/** Tests that were edited while they ran prove nothing about what stands there now. */
function recordResult(
  context: Context,
  ran: Feature,
  evidence: Parameters<typeof judged>[1],
  run: ProcessRun,
): Feature {
  let after = ran;
  updateFeatures(context, (before) => {
    const now = requireFeature(before, ran.id);
    if (testsDiffer(now, ran))
      throw refused(
        'feature.changed',
        `The tests of ${ran.id} were edited while they ran; nothing was recorded.`,
        {
          hint: `forge done ${ran.id}`,
        },
      );
    after = judged(now, evidence);
    // FEA-02: the ledger first. A crash in between reports a regression twice, never not at all.
    if (!evidence.ok && ran.status === 'passing') {
      const passed = { passed_at: ran.verified_at ?? null, passed_commit: ran.verified_commit ?? null };
      const { commit, commands } = evidence;
      const failed = { commit, command: formatArgv(run.argv), exit_code: run.exit_code, commands };
      const record = { kind: 'regression', actor: 'forge', feature: ran.id, ...passed, ...failed };
      storeRecords(context, [{ ...record, tier: 'evaluation' }]);
    }
    return before.map((feature) => (feature === now ? after : feature));
  });
  return after;
}
