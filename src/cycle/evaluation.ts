import { elapsed } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { FORGE_FOLDER } from '../core/paths.js';
import type { ProcessRun } from '../core/process.js';
import { testsDiffer } from '../feature/rules.js';
import type { VerifyWatch } from '../feature/verify.js';
import type { TreeReader } from '../git/tree.js';
import {
  type BoundEvidence,
  boundEvidence,
  boundTexts,
  type Classification,
  type Evidence,
} from '../learning/evaluation.js';
import { requireVerified } from '../ledger/integrity.js';
import type { Context } from '../project/project.js';
import type { Observations } from './execution.js';
import { type CycleFacts, changedTests, takeFacts } from './facts.js';
import type { RunWatch } from './mark.js';
import {
  classify,
  type Findings,
  findPassing,
  findRegressions,
  findRerun,
  findViolations,
  hasImproved,
  isPassing,
} from './rules.js';

/** A cycle on its way to the verdict. */
export interface Executed {
  task: string;
  environment_valid: boolean;
  before: CycleFacts;
  /** The working tree before the command; null without git. */
  trees: { reader: TreeReader; before: string } | null;
  /** Null when the command was not run. */
  run: ProcessRun | null;
  observations: Observations;
}

/** What a cycle came to before it is recorded. */
export interface Work extends Executed {
  evaluation: Evaluation;
}

export interface Evaluation {
  classification: Classification;
  violations: string[];
  regressions: string[];
  /** Files that look like tests, or that tests name, and that changed. */
  tests_changed: string[];
  runs: BoundEvidence;
  /** Of features: all, and those that pass. */
  features: number;
  passing: number;
  passing_before: number;
  files_changed: number | null;
  /** The working tree before the tests ran; null where nobody can tell. */
  tree: string | null;
  /** Features that came to pass, as forge itself saw. */
  gained: string[];
  /** What could not be judged, and why. */
  notes: string[];
}

/** Judges by what forge itself sees and runs: memory, what may not be changed, the task's tests, what passed before. */
export async function evaluate(context: Context, ran: Executed, watch: RunWatch): Promise<Evaluation> {
  const isRun = ran.run?.started === true;
  const [notes, violations]: [string[], string[]] = [[], []];
  // Git works while memory is verified.
  const changing = isRun ? readChanged(ran, notes) : Promise.resolve(null);
  changing.catch(() => undefined);
  const isIntact = await checkMemory(context, violations, notes);
  const facts = look(context, violations);
  if (facts) violations.push(...findViolations(ran.before, facts));
  const changed = await changing;
  const tree = changed?.tree ?? null;
  const judge: Judge = { context, watch, evidence: [], notes, tree, shown: new Map() };
  // Tests prove nothing where the list of them, or memory, is not what it was.
  const task = isRun && isIntact && facts ? await judgeTests(judge, ran, facts) : 'unknown';
  const end = look(context, facts ? violations : []);
  // The tests run what the command wrote.
  if (facts && end) violations.push(...findViolations(facts, end));
  return {
    ...verdict(ran, end ?? ran.before, {
      violations,
      task,
      shown: judge.shown,
      tests_changed: facts ? changedTests(ran.before.testFiles, facts.testFiles, changed?.files ?? []) : [],
    }),
    runs: boundEvidence(judge.evidence),
    files_changed: changed?.files.length ?? null,
    tree,
    notes,
  };
}

type Outcome = Pick<Findings, 'task' | 'tests_changed'> & Pick<Judge, 'shown'> & { violations: string[] };

function verdict({ before, environment_valid, run }: Executed, after: CycleFacts, outcome: Outcome) {
  const { violations, task, shown, tests_changed } = outcome;
  const regressions = findRegressions(before, after, shown);
  const improved = hasImproved(before, after, shown);
  const passing = findPassing(before, after, shown);
  const passed = new Set(before.features.filter(isPassing).map(({ id }) => id));
  const gained = passing.filter(({ id }) => !passed.has(id) && shown.get(id) === 'passing');
  const exit_code = run?.exit_code ?? null;
  const findings = { violations, regressions, environment_valid, exit_code, task, improved, tests_changed };
  return {
    classification: classify(findings),
    violations: boundTexts(violations),
    regressions: boundTexts(regressions),
    tests_changed: boundTexts(tests_changed),
    features: after.features.length,
    passing: passing.length,
    passing_before: passed.size,
    gained: gained.map(({ id }) => id),
  };
}

/** LTM-05, once more: whatever the command did to memory is found before anything is judged by it. */
async function checkMemory(context: Context, violations: string[], notes: string[]): Promise<boolean> {
  try {
    await requireVerified(context);
    return true;
  } catch (error) {
    if (!(error instanceof ForgeError) || !['corrupted', 'outside'].includes(error.kind)) throw error;
    // A disk that fails is nobody's doing.
    const list = error.kind === 'outside' ? notes : violations;
    list.push(`memory after the command: ${error.message}`);
    return false;
  }
}

/** Null when the command damaged what this is read from; that is named. */
function look(context: Context, violations: string[]): CycleFacts | null {
  try {
    return takeFacts(context);
  } catch (error) {
    if (!(error instanceof ForgeError) || !['corrupted', 'refused', 'outside'].includes(error.kind))
      throw error;
    violations.push(`damaged by the command: ${error.message}`);
    return null;
  }
}

/** What the command changed outside of `.forge/`; null where nobody can tell. */
async function readChanged(
  { trees }: Executed,
  notes: string[],
): Promise<{ tree: string; files: string[] } | null> {
  if (!trees) return null;
  try {
    const tree = await trees.reader.read();
    const files = tree === trees.before ? [] : await trees.reader.changed(trees.before, tree);
    return { tree, files: files.filter((path) => !path.split('/').includes(FORGE_FOLDER)) };
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    notes.push(`what changed is not known: ${error.message}`);
    return null;
  }
}

/** Running again takes no longer than this together; what is left is named. */
const RERUN_BUDGET_MS = 10 * 60_000;

/** What tests are run with, and what they leave. */
interface Judge {
  context: Context;
  watch: RunWatch;
  evidence: Evidence[];
  notes: string[];
  tree: string | null;
  /** What forge's own runs showed, by feature. */
  shown: Map<string, 'passing' | 'failing'>;
}

/** The task's own tests, then what passed before and what is said to pass now. Tests that came with the work do not count. */
async function judgeTests(
  judge: Judge,
  { task, before }: Executed,
  after: CycleFacts,
): Promise<Findings['task']> {
  const [old, feature] = [before, after].map(({ features }) => features.find(({ id }) => id === task));
  const isTested = old && feature && (feature.tests ?? []).length > 0 && !testsDiffer(old, feature);
  const status = isTested ? ((await verify(judge, task)) ?? 'unknown') : 'untested';
  await runAgain(judge, task, before, after);
  return status;
}

/** Runs a feature's tests and keeps what they showed; null when they could not be run. */
async function verify(judge: Judge, id: string): Promise<'passing' | 'failing' | 'untested' | null> {
  const { context, watch, evidence, notes, tree } = judge;
  const onRun: VerifyWatch['onRun'] = (feature, run) => {
    const { argv, exit_code, duration_ms, output } = run;
    const shown = { output_bytes: output.bytes, output_sha256: output.sha256 };
    evidence.push({ feature, argv: [...argv], exit_code, duration_ms, tree, ...shown });
  };
  const { stop: signal, onOutput } = watch;
  const show = (chunk: string): void => onOutput?.(chunk);
  try {
    const watching = { onRun, asBuilder: true, onOutput: show, ...(signal ? { signal } : {}) };
    // Loaded where there is something to run.
    const { verifyFeatures } = await import('../feature/verify.js');
    const { results } = await verifyFeatures(context, { ids: [id] }, watching);
    // Tests that were never seen to fail show nothing (FEA-05).
    if (results[0]?.unproven) return 'untested';
    const status = results[0]?.status === 'passing' ? 'passing' : 'failing';
    judge.shown.set(id, status);
    return status;
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    notes.push(`${id}: ${error.message}${error.hint ? ` (${error.hint})` : ''}`);
    return null;
  }
}

/**
 * What a change touches cannot be told: much that tests depend on is ignored by git, or lies elsewhere. So all that
 * passed, and all that is said to pass now, is run, as far as the time reaches.
 */
async function runAgain(judge: Judge, task: string, before: CycleFacts, after: CycleFacts): Promise<void> {
  const wanted = findRerun(before, after).filter(
    ({ id, tests = [] }) => tests.length > 0 && !judge.shown.has(id),
  );
  const deadline = elapsed() + RERUN_BUDGET_MS;
  for (const [i, { id }] of wanted.entries()) {
    const isLate = elapsed() > deadline;
    if (isLate || judge.watch.stop?.aborted) {
      const left = wanted.slice(i).map((feature) => feature.id);
      if (isLate) judge.notes.push(`not run again, the time was up: ${left.join(', ')}`);
      return;
    }
    if (id !== task) await verify(judge, id);
  }
}
