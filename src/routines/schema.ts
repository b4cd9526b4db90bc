import * as z from 'zod/mini';
import { CHECKPOINT } from '../domain/checkpoint.js';
import { CycleInput } from '../domain/cycle.js';
import { usage } from '../domain/error.js';
import { FEATURES } from '../domain/feature.js';
import { FOCUS } from '../domain/focus.js';
import { KFR } from '../domain/kfr.js';
import { KNOWLEDGE } from '../domain/knowledge.js';
import { ACTIVE_ISSUES } from '../domain/linear.js';
import { ARCHIVED_SESSION, RUNNING_SESSION } from '../domain/session.js';
import { configSchema } from '../domain/settings.js';
import { oneLine } from '../domain/text.js';

const FORMATS = [
  FEATURES,
  KNOWLEDGE,
  FOCUS,
  KFR,
  RUNNING_SESSION,
  ARCHIVED_SESSION,
  ACTIVE_ISSUES,
  CHECKPOINT,
  // No file, but what `forge memory record FILE` takes.
  { name: 'cycle', schema: CycleInput },
];

/** Every published format's name. */
export function schemaNames(): string[] {
  return ['config', ...FORMATS.map(({ name }) => name)].sort();
}

/** The JSON Schema (draft 2020-12) of a format, from the same source that validates it. */
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
  return { $schema, title: `forge ${name}`, ...rest };
}
