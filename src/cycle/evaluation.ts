import { existsSync, lstatSync } from 'node:fs';
import { join, sep } from 'node:path';
import { timeLimit } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { activeIssuesFolder, configFile, FORGE_FOLDER, initScript, shown } from '../core/paths.js';
import { firstNames, oneLine, plural } from '../core/text.js';
import { forgetArrived } from '../events/local-claims.js';
import { listFeatures } from '../feature/feature.js';
import { type Feature, testsDiffer } from '../feature/rules.js';
import { readFeatureFiles, restoreFeatures } from '../feature/store.js';
import { taskLine } from '../feature/tasks.js';
import { isTestFile, readTestFiles, tryRead } from '../feature/test-files.js';
import { type FeatureResult, verifyFeatures, whyNotRun } from '../feature/verify.js';
import { commitAt, isAncestor } from '../git/read.js';
import { missingFrom, restoreFiles } from '../git/status.js';
import { boundEvidence, boundTexts, type Classification, type Evidence } from '../learning/evaluation.js';
import { ledgerFolder } from '../ledger/files.js';
import { requireVerified } from '../ledger/integrity.js';
import { readRecords } from '../ledger/memory.js';
import { restoreFromHead } from '../ledger/repair.js';
import { type Context, contextAt, orWarn } from '../project/project.js';
import { showTrust } from '../trust/trust.js';
import {
  type CycleFacts,
  classify,
  compareFeatures,
  type Findings,
  findRerun,
  type GuardedFile,
  type Judgment,
  type Verdict,
} from './rules.js';
import { type CycleRun, outputOf } from './running.js';

export interface Evaluation {
  classification: Classification;
  found: Judgment;
  passes: boolean;
  /** The working tree before the tests ran. Null when unknown. */
  tree: string | null;
  /** What could not be judged, and why. */
  notes: string[];
  /** The run of the task's tests, if it did not pass. */
  failed: FeatureResult | null;
}

/** Judges a cycle by what forge itself sees and runs: memory, guarded files, the task's tests, what passed before. */
export async function evaluate(run: CycleRun): Promise<Evaluation> {
  const { context, before, environment_valid, ran } = run;
  // First, because everything is read by the settings.
  const [notes, violations]: [string[], string[]] = [[], putBack(run)];
  const back = orWarn(context, 'What was removed in .forge/ was not put back', () => putBackRemoved(run));
  violations.push(...((await back) ?? []));
  await run.claim?.check();
  const isIntact = await checkMemory(context, violations, notes);
  const after = tryFacts(context, violations);
  const changed = ran?.started ? await readChanged(run) : null;
  const tree = changed?.tree ?? null;
  const judge: Judge = { run, evidence: [], notes, tree, results: new Map() };
  // Tests prove nothing if memory or the list of tests is damaged.
  const task = ran?.started && isIntact && after ? await judgeTests(judge, after) : 'unknown';
  // Again, because the tests run what the command wrote.
  violations.push(...putBack(run));
  const end = after && tryFacts(context, violations);
  for (const [id, reason] of end?.breaches ?? []) if (!before.breaches.has(id)) violations.unshift(reason);
  const last = end ?? before;
  const compared = compareFeatures(before, last, judge.results);
  const { passing, gained, regressions, not_run, improved } = compared;
  forgetArrived(context, [...passing, ...regressions]);
  const tests_changed = after ? changedTests(before.testFiles, after.testFiles, changed?.files ?? []) : [];
  const exit_code = ran?.exit_code ?? null;
  const own = judge.results.get(run.task);
  const found: Judgment = {
    governance_violations: boundTexts([...new Set(violations)]),
    regression_flags: boundTexts(regressions),
    tests_changed: boundTexts(tests_changed),
    ...boundEvidence(judge.evidence),
    features_passing: passing.length,
    features: last.features.length,
    gained: boundTexts(gained),
    files_changed: changed?.files.length ?? null,
  };
  return {
    classification: classify({ ...found, not_run, environment_valid, exit_code, task, improved }),
    found,
    passes: passing.includes(run.task),
    ...{ tree, notes },
    failed: own && own.verdict !== 'passing' ? own : null,
  };
}

/** LTM-05: finds whatever the command did to memory before anything is judged by it. */
async function checkMemory(context: Context, violations: string[], notes: string[]): Promise<boolean> {
  try {
    const { findings } = await requireVerified(context);
    // No violation, because git moves files too.
    const isSetBack = findings.some(({ code }) => code === 'set_back');
    const files = isSetBack ? await restoreFromHead(context) : [];
    if (files.length > 0)
      context.warnings.push(`Memory: restored ${plural(files.length, 'file')} from HEAD.`);
    return true;
  } catch (error) {
    if (!(error instanceof ForgeError) || !['corrupted', 'outside'].includes(error.kind)) throw error;
    // A failing disk is not a violation.
    const list = error.kind === 'outside' ? notes : violations;
    list.push(`memory after the command: ${error.message}`);
    return false;
  }
}

/** The files that the command changed outside of `.forge/`. Null when the tree before is unknown. */
async function readChanged({ trees }: CycleRun): Promise<{ tree: string; files: string[] } | null> {
  if (!trees) return null;
  const tree = await trees.reader.read();
  const files = tree === trees.before ? [] : await trees.reader.changed(trees.before, tree);
  return { tree, files: files.filter((path) => !path.split('/').includes(FORGE_FOLDER)) };
}

/** The total time for reruns. Features beyond it are named. */
const RERUN_BUDGET_MS = 10 * 60_000;

interface Judge {
  run: CycleRun;
  evidence: Evidence[];
  notes: string[];
  tree: string | null;
  /** The results of forge's own runs, by feature, without those that prove nothing (FEA-05). */
  results: Map<string, FeatureResult & { verdict: Verdict }>;
}

/**
 * Runs the task's own tests, then all features that passed before or claim to pass now: tests may depend on files that git
 * ignores. Tests that came with the work do not count for the task.
 */
async function judgeTests(judge: Judge, after: CycleFacts): Promise<Findings['task']> {
  const { task, before, watch } = judge.run;
  const [old, feature] = [before, after].map(({ features }) => features.find(({ id }) => id === task));
  const isTested = old && feature && (feature.tests ?? []).length > 0 && !testsDiffer(old, feature);
  const [own] = isTested ? await verify(judge, [feature], watch.stop) : [];
  const rerun = findRerun(before, after).filter(
    ({ id, tests = [] }) => id !== task && tests.length > 0 && !judge.results.has(id),
  );
  if (rerun.length > 0 && !watch.stop?.aborted) {
    const limit = timeLimit(RERUN_BUDGET_MS, watch.stop);
    await verify(judge, rerun, limit.signal).finally(limit.release);
  }
  const verdict = judge.results.get(task)?.verdict ?? 'not_run';
  if (!isTested || own?.unproven) return 'untested';
  return verdict === 'not_run' ? 'unknown' : verdict;
}

/** Runs the tests of the task, or of other features, whose output is shown if they fail. What cannot be run is noted. */
async function verify(
  { run, ...judge }: Judge,
  features: readonly Feature[],
  signal: AbortSignal | undefined,
): Promise<FeatureResult[]> {
  const { onOutput } = outputOf(run);
  const note = (what: string, { message, hint }: ForgeError): void =>
    void judge.notes.push(`${what}: ${message}${hint ? ` (${hint})` : ''}`);
  const left = new Map(features.map((feature) => [feature.id, feature.name]));
  const isTask = left.has(run.task);
  const show = (id: string, name = '', output = ''): void =>
    onOutput(`${taskLine({ id, title: name })}\n${output}`);
  try {
    const { results } = await verifyFeatures(
      run.context,
      { ids: [...left.keys()] },
      {
        ...{ asBuilder: true, signal },
        ...(isTask && { onStart: (id) => show(id, left.get(id)), onOutput }),
        onRun: (feature, made) => {
          const { argv, exit_code, duration_ms, output } = made;
          const not_run = whyNotRun(made);
          judge.evidence.push({
            ...{ feature, argv: [...argv], exit_code, ...(not_run === null ? {} : { not_run }), duration_ms },
            ...{ tree: judge.tree, output_bytes: output.bytes, output_sha256: output.sha256 },
          });
        },
        onResult: (result) => {
          const passed = result.status === 'passing' ? 'passing' : 'failing';
          const verdict = result.not_run === undefined ? passed : 'not_run';
          if (result.flaky)
            run.context.warnings.push(`${result.id}: its test failed, and passed when it was run again`);
          if (!result.unproven) judge.results.set(result.id, { ...result, verdict });
          if (verdict !== 'passing' && !isTask) show(result.id, left.get(result.id), result.output);
          left.delete(result.id);
        },
        onRefused: (id, error) => {
          left.delete(id);
          note(id, error);
        },
      },
    );
    return results;
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    const ids = [...left.keys()].join(', ');
    if (signal?.reason === 'time') judge.notes.push(`not rerun within the time limit: ${ids}`);
    else note(ids, error);
    return [];
  }
}

export function readFacts(context: Context): CycleFacts {
  const { layout } = context;
  const { features } = listFeatures(context);
  const breaches = readRecords(context, 'audit').filter(({ record }) => record.kind === 'breach');
  const reasonOf = (reason: unknown): string =>
    oneLine(String(reason || 'a governance rule was broken'), 500);
  const own = [configFile, initScript].map((file) => shown(layout, file(layout)));
  const names = [...own, ...scriptsOf(context)];
  return {
    features,
    testFiles: readTestFiles(layout.root, features),
    files: Object.fromEntries(names.map((name) => [name, readGuarded(join(layout.root, name))])),
    stored: readFeatureFiles(context),
    breaches: new Map(breaches.map(({ id, record }) => [id, reasonOf(record.reason)])),
  };
}

/** Names of the files that a person approves, and of those that they replace. */
const scriptsOf = (context: Context): string[] =>
  showTrust(context).items.flatMap(({ kind, name }) => (kind === 'file' ? [name] : []));

function readGuarded(path: string): GuardedFile | null {
  const bytes = tryRead(path);
  const stat = bytes && lstatSync(path);
  return stat && { bytes, mode: stat.mode & 0o777 };
}

/** Puts back what the command may not change, and names it as violations. */
function putBack({ context, before }: CycleRun): string[] {
  const { disk, layout } = context;
  return disk.withLock(() => {
    const put = (name: string, file: GuardedFile | null): string[] => {
      const path = join(layout.root, name);
      const now = tryRead(path);
      if (file ? now?.equals(file.bytes) : !now) return [];
      const what = `${name} was ${file ? 'changed' : 'added'} by the command`;
      disk.replaceMoved(path, file?.bytes ?? null, file?.mode);
      return [`${what}, and ${file ? 'put back' : 'removed'}`];
    };
    const found = Object.entries(before.files).flatMap(([name, file]) => put(name, file));
    const features = restoreFeatures(context, before);
    found.push(...features.map((what) => `${what} by the command, and put back`));
    // It is not approved, so nothing runs it.
    const added = scriptsOf(context).filter((name) => !(name in before.files));
    return [...found, ...added.map((name) => `${name} was added by the command`)];
  });
}

/** Puts back the files of `.forge/` in HEAD that the command removed, or removed and committed. */
async function putBackRemoved({ context, trees }: CycleRun): Promise<string[]> {
  const { git, layout, repository } = context;
  if (!git || !repository || !trees?.head) return [];
  const head = await commitAt(git, 'HEAD');
  if (head === null) return [];
  // On another branch other files are right.
  const isAhead = head === trees.head || (await isAncestor(git, trees.head, head));
  const from = isAhead ? trees.head : head;
  // Memory itself restores records of HEAD. An issue that is done moves to another folder.
  const apart = [...(from === head ? [ledgerFolder(layout)] : []), activeIssuesFolder(layout)];
  const isApart = (path: string): boolean => apart.some((folder) => path.startsWith(folder + sep));
  const removed = (await missingFrom(git, from, [layout.dir])).filter((name) => {
    const path = join(layout.root, name);
    return !trees.gone.has(name) && !existsSync(path) && !isApart(path);
  });
  if (removed.length === 0) return [];
  await restoreFiles(git, removed, from);
  const were = `${firstNames(removed, 3)} ${removed.length === 1 ? 'was' : 'were'}`;
  return [`${were} removed by the command, and put back`];
}

/** Null when the command damaged these files, which is a violation. */
function tryFacts(context: Context, violations: string[]): CycleFacts | null {
  try {
    return readFacts(context);
  } catch (error) {
    if (!(error instanceof ForgeError) || !['corrupted', 'refused', 'outside'].includes(error.kind))
      throw error;
    violations.push(`damaged by the command: ${error.message}`);
    return null;
  }
}

/** The same project without cached state, after something else worked in it. */
export function reopen({ layout, repository, world, disk, warnings, unsent }: Context): Context {
  const fresh = contextAt(layout.root, repository, world, disk.dryRun);
  fresh.warnings = warnings;
  fresh.unsent = unsent;
  fresh.disk.guard = disk.guard;
  return fresh;
}

/** GOV-05: changed files that judge the work. A new file that a test names is the work itself. */
function changedTests(
  before: CycleFacts['testFiles'],
  after: CycleFacts['testFiles'],
  changed: readonly string[],
): string[] {
  const named = Object.keys(before).filter((name) => !after[name] || !before[name]?.equals(after[name]));
  return [...new Set([...named, ...changed.filter((path) => isTestFile(path))])].sort();
}
