import * as z from 'zod/mini';
import { CHECKPOINT } from '../checkpoint/rules.js';
import { checkInput, type Format } from '../core/schema.js';
import { noSuch } from '../core/text.js';
import { EVENT_FORMATS } from '../events/event.js';
import { FeatureInput } from '../feature/rules.js';
import { FEATURE, FEATURES } from '../feature/store.js';
import { ACTIVE_ISSUES } from '../feature/tasks.js';
import { FeatureChoice } from '../feature/verify.js';
import { OPERATIONS } from '../kfr/patch.js';
import { KFR, KINDS } from '../kfr/rules.js';
import { KNOWLEDGE, LEARNED_LIST } from '../knowledge/rules.js';
import { CycleInput } from '../learning/evaluation.js';
import { configSchema } from '../project/config.js';
import { BriefingInput } from '../session/briefing.js';
import { SessionEndInput } from '../session/end.js';
import { FocusInput } from '../session/focus.js';
import { ARCHIVED_SESSION, FOCUS, RUNNING_SESSION, SessionStartInput } from '../session/rules.js';

/** An entry in a separate file has all fields; a missing value is null. */
function orNull({ shape }: z.ZodMiniObject): z.ZodMiniType {
  const isOptional = (type: unknown): boolean => type instanceof z.ZodMiniOptional;
  const fields = Object.entries(shape).map(([name, type]) => [
    name,
    isOptional(type) ? z.nullable(type as z.ZodMiniType) : type,
  ]);
  return z.looseObject(Object.fromEntries(fields) as z.core.$ZodShape);
}

const FORMATS = [
  FEATURES,
  { ...FEATURE, schema: orNull(FEATURE.schema as unknown as z.ZodMiniObject) },
  KNOWLEDGE,
  LEARNED_LIST.entry,
  FOCUS,
  KFR,
  RUNNING_SESSION,
  ARCHIVED_SESSION,
  ACTIVE_ISSUES,
  CHECKPOINT,
  ...(EVENT_FORMATS as readonly Format<never>[]),
  // The input of `forge memory record FILE`.
  { name: 'cycle', schema: CycleInput },
];

/** The names of the published formats. */
export function schemaNames(): string[] {
  return ['config', ...FORMATS.map(({ name }) => name)].sort();
}

/** The JSON Schema (draft 2020-12) of a format, from the schema that validates it. Exit 2 for an unknown name. */
export function schemaOf(name: string): Record<string, unknown> {
  const schema = name === 'config' ? configSchema() : FORMATS.find((format) => format.name === name)?.schema;
  if (!schema) throw noSuch('format', name, `Formats: ${schemaNames().join(', ')}`, 'schema');
  const { $schema, ...rest } = z.toJSONSchema(schema as z.ZodMiniType, {
    io: 'input',
    unrepresentable: 'any',
  });
  return { $schema, title: `forge ${name}`, type: 'object', ...rest };
}

const text = z.optional(z.string());

/** The patch reports what each operation needs. */
const Operation = z.looseObject({
  op: z.enum(OPERATIONS),
  kind: z.optional(z.enum(KINDS)),
  text,
  requires_resolution: z.optional(z.boolean()),
  id: text,
  resolution: text,
  reason: text,
});

/** The inputs of the MCP tools: the schemas of the operations behind them, cut to what a tool needs. */
const TOOL_INPUTS = {
  session_working_memory_update: z.strictObject({ operations: z.array(Operation) }),
  session_note_promote: z.strictObject({ id: z.string() }),
  session_start: z.pick(SessionStartInput, {
    goal: true,
    resume: true,
    join: true,
    budget: true,
    reverify: true,
  }),
  session_end: z.pick(SessionEndInput, { learned: true, confirm: true, failed: true, next: true }),
  briefing: z.pick(BriefingInput, { budget: true }),
  progress_add: z.strictObject({ text: z.string(), next: text }),
  focus_set: FocusInput,
  feature_add: z.pick(FeatureInput, { id: true, name: true, tests: true, blocked_by: true, priority: true }),
  feature_verify: z.pick(FeatureChoice, { ids: true }),
  memory_record: z.pick(CycleInput, {
    task_id: true,
    exit_code: true,
    classification: true,
    environment_valid: true,
    regression_flags: true,
    patterns: true,
  }),
  recall: z.strictObject({ query: z.string() }),
  learn: z.strictObject({ text: z.string(), kind: z.optional(z.enum(['lesson', 'note'])) }),
};
export type ToolName = keyof typeof TOOL_INPUTS;

/** Properties that models get wrong. */
const DESCRIBED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  session_start: { goal: 'a task or its id', join: 'work beside its holder' },
  session_end: { learned: 'a list, one lesson each', confirm: 'candidates: C-317204' },
  memory_record: { patterns: 'what this cycle taught' },
};

/** The JSON Schema of each tool's input. Short, because every prompt contains them. */
export function toolSchemas(): Record<ToolName, Record<string, unknown>> {
  const entries = Object.entries(TOOL_INPUTS).map(([name, schema]) => {
    const { $schema: _, ...json } = z.toJSONSchema(schema as z.ZodMiniType, { io: 'input' });
    const short = shorten(json) as { properties: Record<string, object> };
    for (const [key, description] of Object.entries(DESCRIBED[name] ?? {}))
      Object.assign(short.properties[key] as object, { description });
    return [name, short];
  });
  return Object.fromEntries(entries);
}

/** Removes bounds that do not help a model. */
function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key]) =>
      !['additionalProperties', 'minLength', 'maxLength', 'maxItems', 'minimum', 'maximum'].includes(key),
  );
  return Object.fromEntries(kept.map(([key, child]) => [key, shorten(child)]));
}

/** Exit 2 names the invalid field. The operations of a patch are checked one by one later. */
export function checkToolInput(name: ToolName, input: unknown): Record<string, unknown> {
  const patch = name === 'session_working_memory_update';
  return checkInput(patch ? Patch : (TOOL_INPUTS[name] as z.ZodMiniType), input) as Record<string, unknown>;
}

const Patch = z.strictObject({ operations: z.array(z.unknown()) });
