import * as z from 'zod/mini';
import type { Format } from '../core/schema.js';

/** What `forge hooks install` did in a repository, so that uninstall leaves no trace. Machine-local. */
export const HooksRecord = z.looseObject({
  schema_version: z.string(),
  /** When the hooks were installed first. */
  installed_at: z.optional(z.string()),
  /** Files that were not there before, from the top folder of the repository, or from its git dir. */
  made: z.array(z.string()),
});
export type HooksRecord = z.infer<typeof HooksRecord>;

export const HOOKS_RECORD: Format<HooksRecord> = { name: 'hooks', version: '1.0', schema: HooksRecord };
export const NO_HOOKS: HooksRecord = { schema_version: '1.0', made: [] };
