import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import * as z from 'zod/mini';
import { formatArgv, inShell, testArgv } from '../core/argv.js';
import { commandEnvironment } from '../core/environment.js';
import { ForgeError, refused, unlessFailed, usage } from '../core/error.js';
import { listFolder } from '../core/files.js';
import { type ProcessRun, runProcess, whyFailed } from '../core/process.js';
import { checkInput } from '../core/schema.js';
import { oneLine, tellingLine } from '../core/text.js';
import { hasClaimed } from '../events/local-claims.js';
import { readTreeStatus } from '../git/status.js';
import { storeRecords } from '../ledger/memory.js';
import {
  type Context,
  isBuilding,
  orWarn,
  readConfig,
  requireRepository,
  timestamp,
} from '../project/project.js';
import { requireTrust } from '../trust/trust.js';
import {
  type Feature,
  type FeatureStatus,
  isUnprovenPass,
  judged,
  requireFeature,
  testsDiffer,
  trustTests,
} from './rules.js';
import { readFeatures, updateFeatures } from './store.js';
import { folderOf, isTestFile } from './test-files.js';

export const FeatureChoice = z.strictObject({
  ids: z.optional(z.array(z.string())),
  all: z.optional(z.boolean()),
});
export type FeatureChoice = z.infer<typeof FeatureChoice>;

/** Exit 2 unless the caller names features or wants all. */
export function checkChoice(raw: FeatureChoice, verb: 'verify' | 'confirm'): { ids: string[]; all: boolean } {
  const { ids = [], all = false } = checkInput(FeatureChoice, raw);
  if (all !== ids.length > 0) return { ids, all };
  throw usage('feature.which', `Name the features to ${verb}, or give --all${all ? ', not both' : ''}.`, {
    hint: verb === 'verify' ? 'forge done --all' : 'forge feature confirm --all',
  });
}

export interface TestWatch {
  /** Gets the first MiB of the output as it arrives. */
  onOutput?(chunk: string): void;
  signal?: AbortSignal | undefined;
  /** In a governed cycle: run the tests, which the builder may have written, with a builder's rights. */
  asBuilder?: boolean;
  /** Results by command: one that several features have runs once. */
  known?: Map<string, ProcessRun>;
}

export interface VerifyWatch extends TestWatch {
  onStart?(feature: string, command: string): void;
  onResult?(result: FeatureResult): void;
  onRun?(feature: string, run: ProcessRun): void;
  /** Gets features that cannot be judged, which then do not stop the others. */
  onRefused?(feature: string, error: ForgeError): void;
}

interface Ran {
  status: FeatureStatus;
  /** Of the first command that failed, else 0; null when it was stopped or could not start. */
  exit_code: number | null;
  duration_ms: number;
  /** The first command that failed, else the last one. */
  command: string;
  /** Why the tests could not run (`uv: command not found`, not approved); the status is unchanged. */
  not_run?: string;
}

export interface FeatureResult extends Ran {
  id: string;
  before: FeatureStatus;
  /** Only with --dry-run: nothing was run. */
  planned?: true;
  /** Its tests are not approved, so they were not run. */
  refused?: true;
  /** Its tests pass but have never failed, so it stays in progress. */
  unproven?: true;
  /** Its test failed, and passed when it was run once more. */
  flaky?: true;
  /** Why it failed, the line of its output that says most, and the end of its output. */
  failure?: string;
  line?: string;
  output?: string;
}

/** What the evaluation tier keeps of a feature's run. */
export interface VerificationRun extends Ran {
  feature: string;
  output_bytes: number;
  output_sha256: string;
}

/**
 * FEA-02: runs the features' tests and records the results. Exit 3 `trust.needed` if none is approved. No lock is held
 * while they run.
 */
export async function verifyFeatures(
  context: Context,
  raw: FeatureChoice,
  watch: VerifyWatch = {},
): Promise<{ results: FeatureResult[] }> {
  const features = chooseFeatures(context, checkChoice(raw, 'verify'));
  const refused: FeatureResult[] = [];
  const blank = ({ id, status, tests = [] }: Feature) => ({
    ...{ id, status, before: status, exit_code: null, duration_ms: 0, command: tests.join('; ') },
  });
  const onRefused = (id: string, error: ForgeError): void => {
    if (error.code !== 'trust.needed' || refused.length + 1 === features.length) throw error;
    const not_run = 'not approved here; for a person: forge trust';
    refused.push({ ...blank(requireFeature(features, id)), not_run, refused: true });
  };
  const plans = await planRuns(context, features, { onRefused, ...watch });
  if (context.disk.dryRun)
    return {
      results: plans.map(({ feature, commands }) => ({
        ...{ ...blank(feature), planned: true },
        command: commands.map(formatArgv).join('; '),
      })),
    };
  const results: FeatureResult[] = [];
  const runs: VerificationRun[] = [];
  let at: Tested = { commit: null };
  try {
    for (const { feature, commands } of plans)
      try {
        const { result, run, tree } = await verifyOne(context, feature, commands, watch);
        at = tree;
        watch.onResult?.(result);
        results.push(result);
        runs.push(run);
      } catch (error) {
        passOn(watch, feature, error);
      }
  } finally {
    // Record the finished features after an interruption too. A builder's runs are no evidence: the cycle runs them again.
    if (runs.length > 0 && !isBuilding(context))
      storeRecords(context, [{ tier: 'evaluation', kind: 'verification', actor: 'forge', ...at, runs }]);
  }
  for (const { id, status } of results)
    if (status === 'passing' && hasClaimed(context, id))
      await (await import('../events/claim-work.js')).finishClaim(context, id);
  return { results: [...results, ...refused] };
}

interface Plan {
  feature: Feature;
  commands: string[][];
}

/** Plans all, else one by one without those that are refused. */
async function planRuns(context: Context, features: readonly Feature[], watch: VerifyWatch): Promise<Plan[]> {
  try {
    const template = readConfig(context).features.test_command;
    const plans = features.map((feature) => ({ feature, commands: testCommands(feature, template) }));
    const owners = new Map(
      plans.flatMap(({ feature, commands }) => commands.map((argv) => [formatArgv(argv), feature.id])),
    );
    requireTrust(context, [...owners.keys()], [], owners);
    const claimed = features.flatMap(({ id }) => (hasClaimed(context, id) ? [id] : []));
    if (claimed.length > 0 && !context.disk.dryRun)
      await (await import('../events/claim.js')).refuseLost(context, claimed);
    return plans;
  } catch (error) {
    const [feature, ...others] = features;
    if (!feature || !watch.onRefused) throw error;
    const plans: Plan[] = [];
    if (others.length === 0) passOn(watch, feature, error);
    else for (const each of features) plans.push(...(await planRuns(context, [each], watch)));
    return plans;
  }
}

function passOn({ onRefused }: VerifyWatch, { id }: Feature, error: unknown): void {
  if (!onRefused || !(error instanceof ForgeError) || !['refused', 'usage'].includes(error.kind)) throw error;
  onRefused(id, error);
}

const testCommands = ({ tests = [] }: Feature, template: string): string[][] =>
  tests.map((test) => testArgv(test, template));

function chooseFeatures(context: Context, { ids, all }: { ids: string[]; all: boolean }): Feature[] {
  const features = readFeatures(context);
  const hasTests = ({ tests = [] }: Feature): boolean => tests.length > 0;
  const named = new Set(ids.map((id) => requireFeature(features, id)));
  const chosen = all ? features.filter(hasTests) : [...named];
  const untested = chosen.find((feature) => !hasTests(feature));
  if (untested)
    throw usage('feature.no_tests', `${untested.id} has no tests, so nothing can prove it.`, {
      hint: `forge feature edit ${untested.id} --test "COMMAND"`,
    });
  return chosen;
}

async function verifyOne(
  context: Context,
  feature: Feature,
  commands: readonly string[][],
  watch: VerifyWatch,
): Promise<{ result: FeatureResult; run: VerificationRun; tree: Tested }> {
  const first = await runTests(context, feature, commands, watch);
  // A cycle is judged by it, and nobody watches: one bad run of a test that passed before is not enough.
  const isRepeated = watch.asBuilder && feature.status === 'passing' && (first.at(-1)?.exit_code ?? 0) !== 0;
  const runs = isRepeated ? await runTests(context, feature, commands, watch) : first;
  const last = runs.at(-1) as ProcessRun;
  const { argv, exit_code, output } = last;
  const missing = whyMissing(context.layout.root, last);
  // Without its test file a feature fails if it passed before, or in a cycle. Otherwise the test was not run.
  const isJudged = feature.status === 'passing' || watch.asBuilder;
  const not_run = (isJudged ? null : missing) ?? whyNotRun(last);
  const tree = await readTested(context);
  const after = not_run === null ? recordResult(context, feature, { argvs: commands, last, tree }) : feature;
  const shared = {
    ...{ status: after.status, exit_code, command: formatArgv(argv) },
    duration_ms: runs.reduce((sum, run) => sum + run.duration_ms, 0),
    ...(not_run === null ? {} : { not_run }),
  };
  const isPassed = not_run === null && exit_code === 0;
  const outcome = isPassed
    ? {
        ...(isUnprovenPass(after) && { unproven: true as const }),
        ...(isRepeated && { flaky: true as const }),
      }
    : { output: output.tail.slice(-4096), ...(not_run === null ? describeFailure(last, missing) : {}) };
  return {
    result: { id: feature.id, before: feature.status, ...shared, ...outcome },
    run: { feature: feature.id, ...shared, output_bytes: output.bytes, output_sha256: output.sha256 },
    tree,
  };
}

function describeFailure(run: ProcessRun, missing: string | null = null): { failure: string; line?: string } {
  const line = missing ?? (run.exit_code === null ? '' : tellingLine(run.output.tail));
  return { failure: whyFailed(run) ?? '', ...(line === '' ? {} : { line }) };
}

/** Runs the commands in order up to the first that fails or ran no test. */
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
    const run = watch.known?.get(formatArgv(argv)) ?? (await runTest(context, argv, watch, interrupted));
    watch.known?.set(formatArgv(argv), run);
    watch.onRun?.(feature.id, run);
    runs.push(run);
    if (run.exit_code !== 0 || whyNotRun(run) !== null) break;
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
    // The line that tells why may stand far above the end.
    keepBytes: 128 * 1024,
    onOutput: watch.onOutput,
  });
  if (watch.signal?.aborted) throw new ForgeError('interrupted', 'interrupted', interrupted);
  return run;
}

/** How test runners report that no test ran, or that all were skipped. */
const NOTHING_RAN: readonly RegExp[] = [
  // go test: `ok  example.com/a  0.1s [no tests to run]`, `?  example.com/b  [no test files]`
  /\[(?:no tests to run|no test files|setup failed)\]$/m,
  // cargo test and nextest, node --test, deno
  /^(?:test result: ok\. 0 passed;| *Summary \[.*\] +0 tests run:|error: no tests to run$)/m,
  /^(?:(?:#|ℹ) pass 0$|ok \| 0 passed |error: No test modules found$)/m,
  // pytest, unittest, mocha, jest and vitest
  /^=* *(?:no tests (?:ran|collected)\b|\d+ (?:deselected|skipped)(?:, \d+ (?:deselected|skipped|warnings?))* in )/m,
  /^Ran (?:0 tests in |(\d+) tests? in .*\n+OK \(skipped=\1\)$)/m,
  /^\s*0 passing\b/m,
  /^No tests? (?:files )?found, exiting with code 0/m,
  // phpunit and pest, which counts as jest does
  /^ *Tests:? +(?:\d+ (?:skipped|todos?)[,| ]*)+(?:\d+ total|\(\d+(?: assertions)?\))$/m,
  /^(?:No tests executed!|\s*(?:[A-Z]+ +)?No tests found\.$)/m,
  // rspec, minitest, ExUnit
  /^(?:0 (?:examples|tests), 0 failures|(\d+) (?:example|test)s?, 0 failures, \1 (?:pending|excluded|skipped)|Finished in .*\n0 failures\b)/m,
  /^(\d+) (?:runs|tests), \d+ assertions, 0 failures, 0 errors, \1 (?:skips|pendings)/m,
  /^There are no tests to run|\bbut no test was executed$/m,
  // maven, gradle, .NET, XCTest and Swift Testing
  /^(?:\[\w+\] +)?(?:Tests run: (\d+), Failures: 0, Errors: 0, Skipped: \1\b|No tests to run\.|Tests are skipped\.)/m,
  /\bNo tests (?:matching pattern .+ )?were executed!|^> Task (?!:buildSrc:)\S*:(?:test|\w+Test) (?:NO-SOURCE|SKIPPED)$/m,
  /\bNo tests found for given includes\b|^ *No test (?:is available in|matches the given testcase filter) /m,
  /^ *(?:(?:Passed|Skipped)! +- Failed: +0, Passed: +0,|Test summary: total: 0,|Test run summary: Zero tests ran)/m,
  /^\s*Executed (?:0 tests,|(\d+) tests?, with \1 tests? skipped)|\bTest run with 0 tests /m,
  // ctest, make with a file called test, and pnpm
  /^No tests were found!!!$/m,
  /^g?make: (?:Nothing to be done for )?'[\w-]*(?:test|check)[\w-]*'(?: is up to date)?\.\s*$/,
  /^(?:None of the selected packages has a "|No projects matched the filters)/m,
];

/** How they report that a test ran, or that one did not compile. One command may use several runners. */
const SOME_RAN: readonly RegExp[] = [
  /^(?:ok|FAIL)\s+\S+\s+(?:\d[\d.]*s|\(cached\)|\[build failed\])(?:\s+coverage: (?!.*\[no tests to run\]).*)?$/m,
  // cargo prints one result for each target, and an error if one of them ended without.
  /^(?:test result: (?:FAILED|ok\. [1-9])|error: (?:test failed|could not compile)| *Summary \[.*\] +[1-9][\d/]* tests? run:)/m,
  /^(?:(?:#|ℹ) (?:pass|fail|cancelled) [1-9]|ok \| [1-9]|FAILED \| )/m,
  /^=* *(?:.*, )?\d+ (?:passed|failed|errors?)\b.* in /m,
  /^\s*[1-9]\d* (?:passing|failing)\b/m,
  /^ *Tests:? .*\d+ (?:passed|failed)\b/m,
  /^(?!(\d+) \w+, 0 failures, \1 )(?:.*, )?[1-9]\d* (?:examples?|(?:doc)?tests?|propert(?:y|ies)), \d+ failure/m,
  /^(\d+) (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors, (?!\1 )/m,
  // unittest, phpunit, ctest, Playwright and bun
  /^Ran (?!0 )(\d+) tests? in .*\n+(?!\n|OK \(skipped=\1\))/m,
  /^OK \([1-9]\d* tests?,|^\d+% tests passed, \d+ tests failed out of [1-9]|^ +[1-9]\d* passed \(|^ *[1-9]\d* pass$/m,
  /^(?:\[\w+\] +)?Tests run: (\d+), Failures: \d+, Errors: \d+, Skipped: (?!\1\b)/m,
  /^\[ERROR\] Failed to execute goal \S+:[\w-]*[cC]ompile\w* /m,
  /^(?:> Task \S*:(?:(?:test|\w+Test)(?: UP-TO-DATE| FROM-CACHE)?|compile\w+ FAILED)|\d+ tests? completed, \d+ failed.*)$/m,
  /^ *(?:(?:Pass|Fail)ed! +- Failed: +(?:[1-9]|0, Passed: +[1-9])|(?:Total tests|Test summary: total): [1-9])/m,
  /^Test run summary: (?:Pass|Fail)ed!|: error [A-Z]+\d+: /m,
  /^\s*Executed (?!0 )(\d+) tests?, with (?!\1 tests? skipped)|\bTest run with [1-9]\d* tests? /m,
];

/** How python, npm, cargo, go and make report that what they should run is missing. */
const MISSING: readonly RegExp[] = [
  /^\S*python[\d.]*: No module named \S+$/m,
  /^npm (?:error|ERR!) Missing script: .+$/m,
  /^Unknown command: "[^"]+"$(?=[\s\S]*npm help)/m,
  /^error: no (?:such (?:sub)?command:|test target named) .+$/m,
  /^go \S+: unknown command$/m,
  /^g?make: \*\*\* No (?:rule to make target [^,\n]+|targets specified and no makefile found)\. +Stop\.$/m,
];

/** Make hides the exit code of the program. */
const FAILED_IN_MAKE = /^g?make(?:\[\d+\])?: \*\*\* \[.+\] Error 12[67]$/m;

const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
const UNFOUND = /not found|permission denied|no such file|could not open/i;

/**
 * Why a command shows neither pass nor failure: a program is missing, or no test ran. Null when it shows one. `isFirst`: of
 * a new feature, whose tests may not be there yet.
 */
export function whyNotRun(run: ProcessRun, isFirst = false): string | null {
  const { argv, started, exit_code, ended, output } = run;
  const [program = ''] = argv;
  if (!started) return `${program}: ${ended === 'not found' ? 'command not found' : ended}`;
  // It was stopped, or a signal ended it.
  if (exit_code === null) return null;
  const shown = stripVTControlCharacters(output.tail).replaceAll('\r\n', '\n');
  const isIn = (pattern: RegExp): boolean => pattern.test(shown);
  if ((exit_code === 0 || isFirst) && NOTHING_RAN.some(isIn) && !SOME_RAN.some(isIn)) return 'no test ran';
  if (exit_code === 0) return null;
  const [missing] = MISSING.flatMap((report) => report.exec(shown) ?? []);
  const isUnfound = exit_code === NOT_FOUND || exit_code === NOT_EXECUTABLE || isIn(FAILED_IN_MAKE);
  if (missing === undefined && !isUnfound) return null;
  const cause = shown
    .trimEnd()
    .split('\n')
    .findLast((line) => UNFOUND.test(line));
  return oneLine(missing ?? cause ?? `${program}: exit code ${exit_code}`, 120);
}

export interface FirstRun {
  /** A new feature's tests should have `failed`: there is work to do, and they notice. */
  result: 'failed' | 'passed' | 'not_run';
  reason?: string;
  /** Of a failure's output, the line that says most; that it was stopped. */
  line?: string;
  command: string;
}

/** Without what names a part of a file or a folder: `::test_login`, `:12`, `/...`. */
const fileIn = (word: string): string => word.replace(/(?:::.*|(?::\d+)+|\/\.\.\.)$/s, '');

/** Whether a file has this name, or begins with it: jest, vitest and Playwright take a part of a path. */
const isThere = (path: string): boolean =>
  existsSync(path) ||
  unlessFailed([], () => listFolder(dirname(path))).some((name) => name.startsWith(basename(path)));

/** A path or a file's name: `-k test_login`, `make test_x` and `unittest test_app.T` name no file. */
const isFileName = (word: string): boolean => /\/|\.[a-z]{1,4}$/.test(word) && isTestFile(word);

/**
 * A test file that the command names and that is not there: a failure then says nothing about the work. None in a
 * workspace that the command names by something else than its folder.
 */
export function missingTest(
  root: string,
  argv: readonly string[],
  words = argv.slice(1),
): string | undefined {
  const folder = folderOf(argv.join(' '));
  if (!existsSync(resolve(root, folder))) return undefined;
  // `discover -s tests -p test_app.py`: another word names its folder.
  const places = ['', folder, ...words.map((word) => `${word}/`)];
  const name = words
    .filter((word) => !word.startsWith('-') && !/[*?[{=\s]/.test(word))
    .map(fileIn)
    .find((word) => isFileName(word) && !places.some((place) => isThere(resolve(root, place + word))));
  return name && folder + name;
}

/** Whether `after` has the tests of `before`, which passed, and only test files that are gone have other names. */
function isRenamed(root: string, before: Feature, after: Feature): boolean {
  if (before.status !== 'passing' || before.override) return false;
  const [old = [], now = []] = [before, after].map(({ tests = [] }) => tests.join(' ').split(' '));
  const isMoved = (word: string, to = ''): boolean =>
    missingTest(root, old, [word]) !== undefined && isTestFile(fileIn(to));
  return old.length === now.length && old.every((word, i) => word === now[i] || isMoved(word, now[i]));
}

/** Why a failure shows nothing about the work: the test file is not there. */
export function whyMissing(root: string, { exit_code, argv, output }: ProcessRun): string | null {
  if (exit_code === 0) return null;
  const missing = missingTest(root, argv);
  if (missing !== undefined) return `${missing} does not exist`;
  const shell = inShell(argv);
  const isUnfound = (line: string): boolean => line.includes(shell?.pattern ?? '') && UNFOUND.test(line);
  if (!shell || !output.tail.split('\n').some(isUnfound)) return null;
  return `no shell expands ${shell.pattern} here; this does: ${shell.command}`;
}

/** FEA-05: runs a feature's new tests once. Tests that pass before the work prove nothing. */
export async function runFirst(
  context: Context,
  feature: Feature,
  watch: VerifyWatch,
  before?: Feature,
): Promise<FirstRun> {
  const commands = testCommands(feature, readConfig(context).features.test_command);
  requireTrust(context, commands.map(formatArgv));
  const interrupted = `Interrupted; ${feature.id} is stored, but its tests did not finish.`;
  const last = (await runTests(context, feature, commands, watch, interrupted)).at(-1) as ProcessRun;
  const command = formatArgv(last.argv);
  const not_run = whyMissing(context.layout.root, last) ?? whyNotRun(last, true);
  if (not_run !== null) return { result: 'not_run', reason: not_run, command };
  const ok = last.exit_code === 0;
  const tree = await readTested(context);
  const ran = { ok, at: timestamp(context), commands: commands.map(formatArgv), ...tree };
  const isProven = !ok || (before && isRenamed(context.layout.root, before, feature));
  const after = (now: Feature): Feature => {
    if (isProven) return trustTests(now);
    const unproven = { ...now, unproven: true };
    // Work has begun, so a person can accept this pass.
    return ['in_progress', 'failing'].includes(now.status) ? judged(unproven, ran) : unproven;
  };
  updateFeatures(context, (before) =>
    before.map((now) => (now.id === feature.id && !testsDiffer(now, feature) ? after(now) : now)),
  );
  if (ok) return { result: 'passed', command };
  const { failure: reason, line = last.exit_code === null ? reason : undefined } = describeFailure(last);
  return { result: 'failed', reason, ...(line && { line }), command };
}

/** The commit, and whether files outside `.forge/` differ from it: a pass then proves nothing about the commit. */
async function readTested(context: Context): Promise<{ commit: string | null; dirty?: true }> {
  if (!context.git) return { commit: null };
  const { git, folder } = requireRepository(context);
  // The runs are recorded even if git fails.
  const tree = await orWarn(context, 'The working tree was not read', () => readTreeStatus(git, folder));
  return { commit: tree?.head ?? null, ...(tree?.files.length ? { dirty: true } : {}) };
}

type Tested = Awaited<ReturnType<typeof readTested>>;

/** Stores the feature after a run. Tests that were edited while they ran prove nothing about the new ones. */
function recordResult(
  context: Context,
  ran: Feature,
  { argvs, last, tree }: { argvs: readonly string[][]; last: ProcessRun; tree: Tested },
): Feature {
  const commands = argvs.map(formatArgv);
  const evidence = { ok: last.exit_code === 0, at: timestamp(context), ...tree, commands };
  let after = ran;
  updateFeatures(context, (before) => {
    const now = requireFeature(before, ran.id);
    const edited = `The tests of ${ran.id} were edited while they ran; nothing was recorded.`;
    if (testsDiffer(now, ran)) throw refused('feature.changed', edited, { hint: `forge done ${ran.id}` });
    after = judged(now, evidence);
    // FEA-02: the ledger first. A crash in between reports a regression twice, never not at all.
    if (!evidence.ok && ran.status === 'passing') {
      const passed = { passed_at: ran.verified_at ?? null, passed_commit: ran.verified_commit ?? null };
      const failed = { command: formatArgv(last.argv), exit_code: last.exit_code, commands };
      const regression = { feature: ran.id, ...passed, commit: tree.commit, ...failed };
      storeRecords(context, [{ tier: 'evaluation', kind: 'regression', actor: 'forge', ...regression }]);
    }
    return before.with(before.indexOf(now), after);
  });
  return after;
}
