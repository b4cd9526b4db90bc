import * as z from 'zod/mini';
import { Manifest } from '../checkpoint/rules.js';
import { Feature } from '../feature/rules.js';
import { Entry } from '../kfr/rules.js';
import { Focus } from '../session/focus-rules.js';

/** The answers of the page's API (VIS-03). docs/page-api.md is made from these. Times are ISO 8601, sizes are bytes. */

const text = z.string();
const count = z.int();
const textOrNull = z.nullable(z.string());
const lines = z.array(z.string());

const Command = text;
const Tier = z.enum(['execution', 'evaluation', 'knowledge', 'audit', 'note']);
const Color = z.enum(['neutral', 'green', 'yellow', 'red']);
const Kind = z.enum(['long-term', 'short-term', 'artifacts', 'linear', 'git', 'other']);
const MemoryState = z.enum(['intact', 'removed', 'corrupted', 'halted', 'secret']);

/** Something that waits for a person. */
const Decision = z.strictObject({ what: text, why: text, commands: z.array(Command) });

const Counts = z.record(text, count);

const Session = z.strictObject({
  id: text,
  status: z.enum(['running', 'ended', 'interrupted', 'discarded']),
  started_at: text,
  ended_at: textOrNull,
  branch: textOrNull,
  next: textOrNull,
  resumed_from: z.optional(text),
  resumed_by: z.optional(text),
});

const Running = z.extend(Session, { holder: text, task: textOrNull, open_questions: count });

export const Row = z.strictObject({
  id: text,
  tier: Tier,
  n: count,
  kind: text,
  at: textOrNull,
  session: textOrNull,
  bytes: count,
  text,
  cycle: z.optional(count),
  task_id: z.optional(text),
  exit_code: z.optional(z.nullable(count)),
  classification: z.optional(textOrNull),
  execution: z.optional(text),
});

const Commit = z.strictObject({
  hash: text,
  short: text,
  at: text,
  author: text,
  subject: text,
  parents: count,
});

const Checkpoint = z.strictObject({
  tag: text,
  commit: textOrNull,
  timestamp: textOrNull,
  features_passing: lines,
  can_rollback_to: z.boolean(),
  state: text,
  why: z.optional(text),
});

const Candidate = z.strictObject({ id: text, title: text, reason: text });

const Overview = z.strictObject({
  /** `root` is the project's folder, `branch` null without git or on a detached HEAD. */
  project: z.strictObject({ name: text, root: text, branch: textOrNull, git: z.boolean() }),
  /** RFC-9060 §8.1. */
  health: z.array(z.strictObject({ name: text, color: Color, reasons: lines, fix: z.array(Command) })),
  worst: Color,
  session: z.nullable(Running),
  focus: Focus,
  next_step: textOrNull,
  next_task: z.nullable(Candidate),
  next_commands: z.array(Command),
  features: z.nullable(Counts),
  memory: z.strictObject({
    status: MemoryState,
    records: count,
    bytes: count,
    /** Consolidation pauses from this size on. */
    limit: count,
  }),
  decisions: z.array(Decision),
  /** Files that could not be read. */
  problems: lines,
});

const Node: z.ZodMiniType = z.lazy(() =>
  z.strictObject({
    name: text,
    kind: Kind,
    bytes: z.optional(count),
    children: z.optional(z.array(Node)),
    more: z.optional(count),
  }),
);

const Log = z.strictObject({ records: z.array(Row), total: count, offset: count });

const Learning = z.looseObject({ kind: z.enum(['success', 'failure', 'invariant']), id: text });

const Known = z.looseObject({
  knowledge_id: text,
  pattern: text,
  scope: text,
  status: z.enum(['valid', 'contested', 'invalid', 'unproven']),
  evidence_cycles: z.array(count),
  created_at: text,
  tested: count,
  reported: count,
});

const Problem = z.looseObject({ code: text, message: text, hint: text, file: text, line: count });

const Series = z.strictObject({ at: z.array(count), values: z.array(z.array(count)), names: lines });

const Artifact = z.looseObject({
  id: text,
  path: text,
  type: text,
  name: text,
  sha256: text,
  bytes: count,
  at: text,
});

const Issue = z.looseObject({ linear_id: text, title: text, type: text, state: text });

const Skill = z.looseObject({
  name: text,
  description: text,
  version: textOrNull,
  approved: z.boolean(),
  requires: lines,
});

/** Each answer by the name that its route has. */
export const ANSWERS = {
  overview: Overview,
  findings: z.strictObject({
    findings: z.array(
      z.looseObject({
        observed: text,
        expected: text,
        why: text,
        commands: z.array(Command),
        severity: text,
      }),
    ),
  }),
  tree: Node,
  features: z.strictObject({
    features: z.array(Feature),
    next: z.nullable(Candidate),
    /** Files that could not be believed or read. */
    warnings: lines,
  }),
  feature: z.strictObject({
    feature: Feature,
    /** Records of its task, newest first. */
    history: z.array(Row),
    checkpoints: z.array(Checkpoint),
  }),
  kfr: z.strictObject({
    session: textOrNull,
    entries: z.array(Entry),
    tokens: count,
    /** What an agent's prompt contains; null without entries. */
    injected: textOrNull,
  }),
  sessions: z.strictObject({ active: z.nullable(Running), sessions: z.array(Session), more: z.boolean() }),
  session: z.strictObject({
    session: z.extend(Session, { learned: lines, failed: lines, goal: textOrNull }),
    focus: Focus,
    kfr: z.array(Entry),
    /** `time` is `HH:MM` in UTC. */
    progress: z.array(z.strictObject({ time: text, text })),
    commits: z.array(Commit),
    records: z.array(Row),
  }),
  knowledge: z.strictObject({
    known: z.array(Known),
    candidates: z.array(z.strictObject({ id: text, pattern: text, scope: text, seen: count })),
    learnings: z.array(Learning),
    consolidation: z.strictObject({ due_in: count, waits: textOrNull }),
  }),
  chain: z.strictObject({
    knowledge: Known,
    records: z.array(z.strictObject({ id: text, kind: text, at: textOrNull })),
    evidence: z.array(
      z.strictObject({
        cycle: z.nullable(count),
        task_id: textOrNull,
        classification: textOrNull,
        at: textOrNull,
        evaluation: text,
        execution: textOrNull,
        exit_code: z.nullable(count),
        commands: lines,
        file: textOrNull,
        commit: textOrNull,
      }),
    ),
  }),
  ledger: z.strictObject({
    status: MemoryState,
    tiers: z.array(
      z.strictObject({ tier: Tier, records: count, bytes: count, heads: lines, containers: lines }),
    ),
    notes: lines,
    problems: z.array(Problem),
    restored: lines,
    signatures: z.optional(
      z.array(
        z.looseObject({
          kind: z.enum(['commit', 'tag']),
          commit: text,
          status: text,
          heads: count,
          missing: lines,
        }),
      ),
    ),
  }),
  log: Log,
  record: z.looseObject({ id: text, tier: Tier, n: count, kind: text, at: textOrNull, session: textOrNull }),
  checkpoints: z.strictObject({ checkpoints: z.array(Checkpoint) }),
  checkpoint: z.looseObject({ ...z.partial(Manifest).shape, tag: text, state: text }),
  skills: z.strictObject({ skills: z.array(Skill), warnings: lines }),
  issues: z.strictObject({ issues: z.array(Issue), done: lines, without_commits: lines }),
  artifacts: z.looseObject({ artifacts: z.array(Artifact) }),
  recall: z.strictObject({
    query: text,
    hits: z.array(
      z.looseObject({
        ...{ id: text, source: text, score: z.number(), text },
        ...{ at: textOrNull, session: textOrNull, why: lines },
      }),
    ),
    took_ms: z.number(),
    index: z.strictObject({ records: count, fresh: z.boolean() }),
  }),
  charts: z.strictObject({
    /** Seconds since 1970, and a line of numbers for each name. */
    features: Series,
    cycles: Series,
    memory: Series,
    limit: count,
    /** What the running session's agent asked twice (EXM-05). */
    reads: z.record(text, z.number()),
  }),
  fleet: z.strictObject({
    /** `machine`: only what this clone knows, because events are off or their server is away. */
    source: z.enum(['server', 'machine']),
    rows: z.array(
      z.strictObject({
        host: text,
        place: text,
        session: textOrNull,
        branch: textOrNull,
        task: textOrNull,
        since: textOrNull,
        last: z.nullable(z.looseObject({ type: text, at: text })),
        health: z.enum(['working', 'idle', 'lost', 'ended']),
        lease_seconds: z.nullable(z.number()),
      }),
    ),
  }),
  error: z.strictObject({
    error: z.looseObject({ kind: text, code: text, message: text, exit: count, hint: z.optional(text) }),
  }),
};

export type Answers = { [K in keyof typeof ANSWERS]: z.infer<(typeof ANSWERS)[K]> };

/** The JSON Schema of each answer, for docs/page-api.md. */
export const answerSchemas = (): Record<string, Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(ANSWERS).map(([name, schema]) => {
      const { $schema: _, ...json } = z.toJSONSchema(schema as z.ZodMiniType, { unrepresentable: 'any' });
      return [name, json];
    }),
  );
