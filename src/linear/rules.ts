import * as z from 'zod/mini';
import { oneLine, sha256 } from '../core/text.js';
import type { Unit } from '../feature/tasks.js';
import type { Answers } from './form.js';

/** LIN-01: RFC-9060 §5.1, with what Linear and the forms add. */
export interface Issue extends Unit {
  type: string;
  memory_trace: { created_from: string | null; parent_issue: string | null; context_snapshot: string | null };
  agent_state: {
    assigned_persona: string | null;
    harness_mode: string | null;
    estimated_complexity: string | null;
  };
  acceptance_criteria: string[];
  git_refs: { branch: string | null; commits: string[] };
  description: string;
  state: string;
  labels: string[];
  priority: number | null;
  fields: Answers;
  created_at: string;
  updated_at: string;
  /** Linear's own id, once it knows the issue. */
  uuid?: string;
  url?: string;
}

/** Missing fields are filled in, in the order of the RFC. The others stay where they are, so that a pull changes no line. */
export function toIssue(unit: Unit): Issue {
  const { memory_trace, agent_state, git_refs, ...rest } = unit as Partial<Issue> & Unit;
  return {
    ...unit,
    type: unit.type ?? 'feature',
    memory_trace: { created_from: null, parent_issue: null, context_snapshot: null, ...memory_trace },
    agent_state: { assigned_persona: null, harness_mode: null, estimated_complexity: null, ...agent_state },
    acceptance_criteria: rest.acceptance_criteria ?? [],
    git_refs: { ...git_refs, branch: git_refs?.branch ?? null, commits: git_refs?.commits ?? [] },
    description: rest.description ?? '',
    state: unit.state ?? 'unstarted',
    labels: unit.labels ?? [],
    priority: unit.priority ?? null,
    fields: rest.fields ?? {},
    created_at: unit.created_at ?? '',
    updated_at: rest.updated_at ?? unit.created_at ?? '',
  };
}

const MAX_TITLE = 200;

/** An issue from the answers of a form. `used`: the ids of other issues. */
export function fromAnswers(used: readonly string[], template: string, answers: Answers, now: string): Issue {
  const { title: given, description, parent_rfc, acceptance_criteria, ...fields } = answers;
  const text = (value: string | string[] | undefined): string => [value ?? ''].flat().join('\n').trim();
  const title = oneLine(text(given), MAX_TITLE);
  const parts = [
    text(description),
    ...Object.entries(fields)
      .filter(([, value]) => text(value) !== '')
      .map(([name, value]) => `## ${headline(name)}\n\n${text(value)}`),
  ];
  return toIssue({
    linear_id: localId(title, used),
    title,
    type: template,
    memory_trace: { created_from: text(parent_rfc) || `form ${template}` },
    acceptance_criteria: [acceptance_criteria ?? []].flat(),
    description: parts.filter(Boolean).join('\n\n'),
    labels: [template],
    fields,
    created_at: now,
    updated_at: now,
  });
}

const headline = (name: string): string => {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** `LOCAL-` and four digits from the title, so that two clones do not give the same id to different issues. */
function localId(title: string, used: readonly string[]): string {
  let digits = 1000 + (Number.parseInt(sha256(title).slice(0, 8), 16) % 9000);
  while (used.includes(`LOCAL-${digits}`)) digits++;
  return `LOCAL-${digits}`;
}

/** `feature/APP-7-login-works`, or `fix/…` for a bug. */
export function branchName({ linear_id, title, type }: Pick<Issue, 'linear_id' | 'title' | 'type'>): string {
  const slug = title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/^\[[a-z]+\]\s*/, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return `${type === 'bug' ? 'fix' : 'feature'}/${linear_id}${slug === '' ? '' : `-${slug}`}`;
}

/** A UUID that follows from a text: sending the same thing again is recognized as the same. */
export const uuidFrom = (text: string): string =>
  sha256(`forge\0${text}`).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');

const OPTIONAL_TEXT = z.nullish(z.string());

export const REMOTE_ISSUE = z.object({
  id: z.string(),
  identifier: z.string(),
  title: z.string(),
  description: OPTIONAL_TEXT,
  priority: z.nullish(z.number()),
  branchName: OPTIONAL_TEXT,
  url: OPTIONAL_TEXT,
  updatedAt: OPTIONAL_TEXT,
  createdAt: OPTIONAL_TEXT,
  state: z.nullish(z.object({ name: z.string(), type: z.string() })),
  labels: z.nullish(z.object({ nodes: z.array(z.object({ name: z.string() })) })),
  parent: z.nullish(z.object({ identifier: z.string() })),
});
export type RemoteIssue = z.infer<typeof REMOTE_ISSUE>;

/** A text that differs here and there. Linear's is kept. */
export interface Conflict {
  id: string;
  field: string;
  ours: string;
  theirs: string;
}

export const isDone = (type: string | undefined): boolean =>
  ['completed', 'canceled', 'duplicate'].includes(type ?? '');

/**
 * An issue after a pull: Linear's text wins, and notes of forge and people stay. A conflict is a text that was changed
 * here since the last pull; `replaced` keeps it.
 */
export function mergeRemote(local: Issue | null, remote: RemoteIssue, now: string) {
  const labels = remote.labels?.nodes.map(({ name }) => name) ?? [];
  const type = labels.map((label) => label.toLowerCase()).find((label) => /^(bug|feature)$/.test(label));
  const theirs = {
    title: oneLine(remote.title, MAX_TITLE),
    description: remote.description ?? '',
    state: remote.state?.type ?? 'unstarted',
    labels,
    priority: remote.priority || null,
  };
  const base = (local?.['pulled'] ?? {}) as Partial<typeof theirs>;
  const conflicts = (['title', 'description'] as const).flatMap((field) => {
    const ours = local?.[field];
    const isEdited = ours !== undefined && base[field] !== undefined && ours !== base[field];
    return isEdited && ours !== theirs[field]
      ? [{ id: remote.identifier, field, ours, theirs: theirs[field] }]
      : [];
  });
  const criteria = [...theirs.description.matchAll(/^\s*[-*] \[[ xX]\] (.+)$/gm)].map(([, text = '']) =>
    text.trim(),
  );
  const start: Issue =
    local ??
    toIssue({
      linear_id: remote.identifier,
      title: theirs.title,
      type: type ?? 'feature',
      created_at: remote.createdAt ?? now,
      memory_trace: { created_from: 'Linear', parent_issue: remote.parent?.identifier ?? null },
    });
  const issue: Issue = {
    ...start,
    ...theirs,
    linear_id: remote.identifier,
    uuid: remote.id,
    acceptance_criteria: criteria.length > 0 ? criteria : start.acceptance_criteria,
    git_refs: { ...start.git_refs, branch: start.git_refs.branch ?? remote.branchName ?? null },
    updated_at: remote.updatedAt ?? now,
    ...(remote.url ? { url: remote.url } : {}),
    pulled: { title: theirs.title, description: theirs.description },
  };
  if (conflicts.length > 0) {
    const ours = Object.fromEntries(conflicts.map((conflict) => [conflict.field, conflict.ours]));
    issue['replaced'] = { ...(local?.['replaced'] as object | undefined), ...ours };
  }
  return { issue, conflicts };
}
