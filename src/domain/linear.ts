import * as z from 'zod/mini';
import type { Format } from './document.js';

/** RFC-9060 §5.1: an issue as a memory unit. What forge reads of it here; the rest is kept as it stands. */
export const Unit = z.looseObject({
  linear_id: z.string(),
  title: z.string(),
  type: z.optional(z.string()),
  state: z.optional(z.nullable(z.string())),
  priority: z.optional(z.nullable(z.number())),
  labels: z.optional(z.array(z.string())),
  created_at: z.optional(z.string()),
});
export type Unit = z.infer<typeof Unit>;

export const ActiveIssues = z.looseObject({ schema_version: z.optional(z.string()), issues: z.array(Unit) });
export type ActiveIssues = z.infer<typeof ActiveIssues>;

export const ACTIVE_ISSUES: Format<ActiveIssues> = { name: 'active', version: '1.0', schema: ActiveIssues };
