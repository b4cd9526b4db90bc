import * as z from 'zod/mini';
import { requireFormat } from './schema.js';

/** The JSON Schema (draft 2020-12) of a format, from the schema that validates it. */
export function schemaOf(name: string): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(requireFormat(name), {
    io: 'input',
    unrepresentable: 'any',
  });
  return { $schema, title: `forge ${name}`, type: 'object', ...rest };
}
