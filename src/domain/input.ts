import type * as z from 'zod/mini';
import { describeIssue, fieldName } from './document.js';
import { usage } from './error.js';
import { escapeControls } from './text.js';

/** Validates what a caller gave (flags, library arguments): exit 2 naming the field. */
export function checkInput<T>(schema: z.ZodMiniType<T>, input: unknown): T {
  const result = schema.safeParse(input ?? {});
  if (result.success) return result.data;
  const issue = result.error.issues[0] as z.core.$ZodIssue;
  const field = fieldName(issue.path) || 'input';
  throw usage('input.invalid', `${field}: ${describeIssue(issue, input)}.`, { field });
}

/** A whole number from a flag. `1e3`, `0x10`, ` 5 ` and signs are no numbers here. */
export function parseWhole(text: string, name: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw usage(
    'number.invalid',
    `${name}: found ${JSON.stringify(escapeControls(text.slice(0, 40)))}, allowed: a whole number from ${min} to ${max}.`,
    {
      field: name,
    },
  );
}
