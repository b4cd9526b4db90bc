import type { TreeReader } from '../adapters/git-tree.js';
import type { Classification, Evidence } from '../domain/cycle.js';
import { classify, type Findings, findViolations } from '../domain/cycle-verdict.js';
import { ForgeError } from '../domain/error.js';
import type { Feature } from '../domain/feature.js';
import { readHalt } from '../store/halt.js';
import { FORGE_FOLDER } from '../store/layout.js';
import type { Context } from './context.js';
import type { RunWatch } from './cycle-execution.js';
import { type CycleFacts, takeFacts } from './cycle-facts.js';
import { newStrangers, type Strangers } from './cycle-strangers.js';
import { isPassing, type Judge, judgeTests } from './cycle-tests.js';
import { requireMemory } from './integrity.js';

/** What the stages before it came to. */
export interface Ran {
  task: string;
  before: CycleFacts;
  /** What stood in memory that forge had not written; null where nobody can tell. */
  strangers: Strangers | null;
  /** The working tree before the command; null without git. */
  trees: { reader: TreeReader; before: string } | null;
  environment_valid: boolean;
  /** Null when the command was not run. */
  exit_code: number | null;
  ran: boolean;
}

export interface Evaluation {
  classification: Classification;
  violations: string[];
  regressions: string[];
  evidence: Evidence[];
  /** Of features: all, and those that pass. */
  features: number;
  passing: number;
  passing_before: number;
  files_changed: number | null;
  /** Memory as it was found after the command. */
  integrity: 'intact' | 'corrupted' | 'halted' | 'unknown';
  /** What could not be judged, and why. */
  notes: string[];
}

/** Judges by what forge itself sees and runs: memory, what may not be changed, the task's tests, what passed before. */
export async function evaluate(context: Context, ran: Ran, watch: RunWatch): Promise<Evaluation> {
  const notes: string[] = [];
  // Git works while memory is verified.
  const changing = ran.ran ? readChanged(ran, notes) : Promise.resolve(null);
  changing.catch(() => undefined);
  const memory = await checkMemory(context);
  const violations = memory.violation === undefined ? [] : [memory.violation];
  notes.push(...memory.notes);
  const facts = look(context, violations);
  if (facts) violations.push(...findViolations(ran.before, facts));
  const changed = await changing;
  const judge: Judge = { context, watch, evidence: [], notes, tree: changed?.tree ?? null };
  // Tests prove nothing where the list of them, or memory, is not what it was.
  const usable = ran.ran && memory.integrity === 'intact';
  const task = usable && facts ? await judgeTests(judge, ran, facts.features, changed?.files) : 'unknown';
  const end = look(context, facts ? violations : []);
  // The tests run what the command wrote.
  if (facts && end) violations.push(...findViolations(facts, end));
  violations.push(...(await readStrangers(context, ran, notes)));
  const { integrity } = memory;
  return {
    ...verdict(ran, (end ?? ran.before).features, violations, task),
    evidence: judge.evidence,
    ...countFiles(changed),
    integrity,
    notes,
  };
}

const countFiles = (changed: { files: string[] } | null) => ({
  files_changed: changed?.files.length ?? null,
});

function verdict(ran: Ran, after: readonly Feature[], violations: string[], task: Findings['task']) {
  const before = ran.before.features;
  const regressions = findRegressions(before, after);
  const [passing_before, passing] = [before.filter(isPassing).length, after.filter(isPassing).length];
  const { environment_valid, exit_code } = ran;
  const improved = passing > passing_before;
  const findings = { violations, regressions, environment_valid, exit_code, task, improved };
  return {
    classification: classify(findings),
    violations,
    regressions,
    features: after.length,
    passing,
    passing_before,
  };
}

interface MemoryCheck {
  integrity: Evaluation['integrity'];
  violation?: string;
  notes: string[];
}

/** LTM-05, once more: whatever the command did to memory is found before anything is judged by it. */
async function checkMemory(context: Context): Promise<MemoryCheck> {
  try {
    await requireMemory(context);
    return { integrity: 'intact', notes: [] };
  } catch (error) {
    if (!(error instanceof ForgeError) || !['corrupted', 'outside'].includes(error.kind)) throw error;
    const said = `memory after the command: ${error.message}`;
    // A disk that fails is nobody's doing.
    if (error.kind === 'outside') return { integrity: 'unknown', notes: [said] };
    const integrity = readHalt(context.disk) === null ? 'corrupted' : 'halted';
    return { integrity, violation: said, notes: [] };
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
  { trees }: Ran,
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

/** LTM-12: what the command, or a test that it wrote, put into memory past forge. */
async function readStrangers(context: Context, { strangers }: Ran, notes: string[]): Promise<string[]> {
  if (!strangers) return [];
  try {
    return await newStrangers(context, strangers);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    notes.push(`what was written to memory is not known: ${error.message}`);
    return [];
  }
}

function findRegressions(before: readonly Feature[], after: readonly Feature[]): string[] {
  const now = new Map(after.map((feature) => [feature.id, feature]));
  return before
    .filter((feature) => isPassing(feature) && now.get(feature.id)?.status === 'failing')
    .map(({ id }) => id);
}
