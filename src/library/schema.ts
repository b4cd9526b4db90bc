import * as z from 'zod/mini';
import { CHECKPOINT } from '../checkpoint/rules.js';
import { usage } from '../core/error.js';
import type { Format } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { EVENT_FORMATS } from '../events/event.js';
import { FEATURE, FEATURES } from '../feature/store.js';
import { ACTIVE_ISSUES } from '../feature/tasks.js';
import { KFR } from '../kfr/rules.js';
import { KNOWLEDGE, LEARNED_LIST } from '../knowledge/rules.js';
import { CycleInput } from '../learning/evaluation.js';
import { configSchema } from '../project/settings.js';
import { ARCHIVED_SESSION, FOCUS, RUNNING_SESSION } from '../session/rules.js';

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
  if (!schema)
    throw usage('schema.unknown', `There is no format ${JSON.stringify(oneLine(name, 40))}.`, {
      hint: `Formats: ${schemaNames().join(', ')}`,
    });
  const { $schema, ...rest } = z.toJSONSchema(schema as z.ZodMiniType, {
    io: 'input',
    unrepresentable: 'any',
  });
  return { $schema, title: `forge ${name}`, type: 'object', ...rest };
}
