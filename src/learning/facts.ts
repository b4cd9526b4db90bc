import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { commitsTouching } from '../git/read.js';
import { textsIn } from '../ledger/container.js';
import { gitFolder } from '../ledger/files.js';
import { type Identified, type Memory, readMemory } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { openCandidates, type PatternCandidate } from './candidates.js';
import { assess, whyWaiting } from './consolidation.js';
import { type KnownPattern, listKnown, readKnowledge } from './knowledge.js';

/** What memory holds as known, and what may become knowledge. */
export interface Learned {
  known: KnownPattern[];
  candidates: PatternCandidate[];
  /** How many more evaluated cycles make consolidation due, and why it waits. */
  consolidation: { due_in: number; waits: string | null };
}

export function listLearned(context: Context): Learned {
  const { due_in, memory } = assess(context);
  return {
    known: listKnown(context, memory),
    candidates: openCandidates(memory, readKnowledge(context, memory)),
    consolidation: { due_in, waits: due_in === 0 ? whyWaiting(context, memory) : null },
  };
}

/** One cycle that shows a piece of knowledge. */
interface Link {
  cycle: number | null;
  task_id: string | null;
  classification: string | null;
  at: string | null;
  /** The ids of the records. */
  evaluation: string;
  execution: string | null;
  exit_code: number | null;
  /** Commands that forge ran in this cycle. */
  commands: string[];
  /** The file of the ledger that has the evaluation, and the commit that has the file. */
  file: string | null;
  commit: string | null;
}

/** LTM-06: why something counts as known: fact, cycles, records, commits. */
export interface Chain {
  knowledge: KnownPattern;
  /** The records about it, oldest first: promoted, confirmed, contested, corrected. */
  records: { id: string; kind: string; at: string | null }[];
  evidence: Link[];
}

const MAX_LINKS = 50;

/** Exit 2 without knowledge of that id. */
export async function showChain(context: Context, { id }: { id: string }): Promise<Chain> {
  const memory = readMemory(context);
  const knowledge = listKnown(context, memory).find(({ knowledge_id }) => knowledge_id === id);
  if (!knowledge)
    throw usage('knowledge.unknown', `There is no knowledge ${JSON.stringify(oneLine(id, 40))}.`, {
      hint: 'forge memory report',
    });
  const records = memory.records('knowledge').filter(({ record }) => record.knowledge_id === id);
  const ids = new Set(records.flatMap(({ record }) => textsIn(record.evidence)));
  const evaluations = memory.records('evaluation').filter((entry) => ids.has(entry.id));
  const chosen = evaluations.slice(-MAX_LINKS);
  const executions = executionsOf(memory, chosen);
  const commits = new Map<string, Promise<string | null>>();
  return {
    knowledge,
    records: records.map(({ id, record }) => ({ id, kind: record.kind, at: record.at ?? null })),
    evidence: await Promise.all(
      chosen.map((entry) => {
        const file = memory.graph.containers.find((container) => container.ids.includes(entry.id))?.name;
        const commit = file === undefined ? null : remember(commits, file, () => commitOf(context, file));
        return toLink(entry, executions, file ?? null, commit);
      }),
    ),
  };
}

function executionsOf(memory: Memory, evaluations: readonly Identified[]): Map<string, Identified> {
  const wanted = new Set(evaluations.map(({ record }) => record.execution));
  const found = memory.records('execution').filter(({ id }) => wanted.has(id));
  return new Map(found.map((entry) => [entry.id, entry]));
}

async function toLink(
  { id, record }: Identified,
  executions: ReadonlyMap<string, Identified>,
  file: string | null,
  commit: Promise<string | null> | null,
): Promise<Link> {
  const { cycle, task_id, classification, at = null, execution, evidence } = record;
  const run = executions.get(String(execution))?.record;
  const commands = Array.isArray(evidence)
    ? evidence.flatMap((one: { command?: unknown }) =>
        typeof one?.command === 'string' ? [one.command] : [],
      )
    : [];
  return {
    cycle: typeof cycle === 'number' ? cycle : null,
    task_id: typeof task_id === 'string' ? task_id : null,
    classification: typeof classification === 'string' ? classification : null,
    ...{ at, evaluation: id, execution: typeof execution === 'string' ? execution : null },
    exit_code: typeof run?.exit_code === 'number' ? run.exit_code : null,
    ...{ commands, file, commit: await commit },
  };
}

/** The last commit that changed a file of the ledger. Null while it is not committed. */
async function commitOf(context: Context, file: string): Promise<string | null> {
  if (!context.git) return null;
  const path = `${gitFolder(context)}/${file}`;
  return (await commitsTouching(context.git, path, 1))[0] ?? null;
}

function remember<T>(known: Map<string, T>, key: string, make: () => T): T {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}
