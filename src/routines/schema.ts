import * as z from 'zod/mini';
import { CHECKPOINT } from '../domain/checkpoint/checkpoint.js';
import { CycleInput } from '../domain/cycle/cycle.js';
import { usage } from '../domain/error.js';
import { FEATURES } from '../domain/feature/feature.js';
import { KFR } from '../domain/kfr/kfr.js';
import { KNOWLEDGE } from '../domain/knowledge/knowledge.js';
import { ACTIVE_ISSUES } from '../domain/linear.js';
import { FOCUS } from '../domain/session/focus.js';
import { ARCHIVED_SESSION, RUNNING_SESSION } from '../domain/session/session.js';
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
