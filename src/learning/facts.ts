import { formatArgv } from '../core/argv.js';
import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { commitsTouching } from '../git/read.js';
import { textsIn } from '../ledger/record.js';
import { gitFolder } from '../ledger/files.js';
import { readMemory } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { openCandidates, type PatternCandidate } from './candidates.js';
import { assess } from './consolidation.js';
import { type KnownPattern, listKnown, readKnowledge } from './knowledge.js';
import { objectsIn } from './proven.js';

/** What memory holds as known, and what may become knowledge. */
export interface Learned {
  known: KnownPattern[];
  candidates: PatternCandidate[];
  /** How many more evaluated cycles make consolidation due, and why it waits. */
  consolidation: { due_in: number; waits: string | null };
}

export function listLearned(context: Context): Learned {
  const { due_in, waits, memory } = assess(context);
  return {
    known: listKnown(context, memory),
    candidates: openCandidates(memory, readKnowledge(context, memory)),
    consolidation: { due_in, waits },
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
  const executions = new Map(memory.records('execution').map((entry) => [entry.id, entry.record]));
  const commits = new Map<string, string | null>();
  const evidence: Link[] = [];
  for (const entry of memory
    .records('evaluation')
    .filter((each) => ids.has(each.id))
    .slice(-MAX_LINKS)) {
    const { record } = entry;
    const file = memory.graph.containers.find((container) => container.ids.includes(entry.id))?.name ?? null;
    if (file !== null && !commits.has(file)) commits.set(file, await commitOf(context, file));
    const text = (field: string): string | null =>
      typeof record[field] === 'string' ? (record[field] as string) : null;
    const exit_code = executions.get(String(record.execution))?.exit_code;
    evidence.push({
      cycle: typeof record.cycle === 'number' ? record.cycle : null,
      ...{ task_id: text('task_id'), classification: text('classification'), at: record.at ?? null },
      ...{ evaluation: entry.id, execution: text('execution') },
      exit_code: typeof exit_code === 'number' ? exit_code : null,
      commands: objectsIn(record.evidence).map(({ argv }) => formatArgv(textsIn(argv))),
      ...{ file, commit: commits.get(file ?? '') ?? null },
    });
  }
  return {
    knowledge,
    records: records.map((entry) => ({
      ...{ id: entry.id, kind: entry.record.kind, at: entry.record.at ?? null },
    })),
    evidence,
  };
}

/** The last commit that changed a file of the ledger. Null while it is not committed. */
const commitOf = async (context: Context, file: string): Promise<string | null> =>
  context.git ? ((await commitsTouching(context.git, `${gitFolder(context)}/${file}`, 1))[0] ?? null) : null;
