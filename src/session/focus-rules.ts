import * as z from 'zod/mini';
import type { Format } from '../core/schema.js';

/** RFC-9060 §3.2, `short-term/focus.json`, plus the active skill (§4.4). */
export const Focus = z.looseObject({
  schema_version: z.optional(z.string()),
  task: z.nullable(z.string()),
  linear_issue: z.nullable(z.string()),
  files: z.array(z.string()),
  phase: z.nullable(z.string()),
  blockers: z.array(z.string()),
  skill: z.optional(z.nullable(z.string())),
  started_at: z.nullable(z.string()),
});
export type Focus = z.infer<typeof Focus>;

export const FOCUS: Format<Focus> = { name: 'focus', version: '1.0', schema: Focus };

export const NO_FOCUS: Focus = {
  schema_version: '1.0',
  task: null,
  linear_issue: null,
  files: [],
  phase: null,
  blockers: [],
  skill: null,
  started_at: null,
};

/** Whether the task is this feature or issue: `F-1: Login works`. */
export const isAbout = ({ task }: Pick<Focus, 'task'>, id: string): boolean =>
  task === id || task?.startsWith(`${id}: `) === true;

export interface FocusChange {
  task?: string | undefined;
  linear_issue?: string | null | undefined;
  files?: string[] | undefined;
  phase?: string | undefined;
  blockers?: string[] | undefined;
  skill?: string | null | undefined;
}

/** True when the change leaves the task: a context switch (AGN-025 §7, §9). */
export function switchesContext(focus: Focus, change: FocusChange): boolean {
  return focus.task !== null && change.task !== undefined && change.task !== focus.task;
}

/**
 * The focus after a change. Another task starts fresh: files, blockers, phase and issue of the old one do not
 * belong to it.
 */
export function planFocus(focus: Focus, change: FocusChange, now: string): Focus {
  const base = switchesContext(focus, change) ? { ...focus, ...NO_FOCUS } : focus;
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const after: Focus = { ...base, ...given, schema_version: focus.schema_version ?? FOCUS.version };
  const fresh = base.started_at === null || base.task !== after.task;
  return {
    ...after,
    phase: after.phase ?? (after.task === null ? null : 'PLAN'),
    started_at: fresh ? now : base.started_at,
  };
}
