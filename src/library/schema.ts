import * as z from 'zod/mini';
import { CHECKPOINT } from '../checkpoint/rules.js';
import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { ACTIVE_ISSUES } from '../feature/issue.js';
import { FEATURE, FEATURES } from '../feature/rules.js';
import { KFR } from '../kfr/rules.js';
import { KNOWLEDGE, LEARNED_LIST } from '../knowledge/rules.js';
import { CycleInput } from '../learning/evaluation.js';
import { configSchema } from '../project/settings.js';
import { FOCUS } from '../session/focus-rules.js';
import { ARCHIVED_SESSION, RUNNING_SESSION } from '../session/rules.js';

const FORMATS = [
  FEATURES,
  FEATURE,
  KNOWLEDGE,
  LEARNED_LIST.entry,
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
