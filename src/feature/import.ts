import * as z from 'zod/mini';
import { usage } from '../core/error.js';
import { JsonProblem, parseJson } from '../core/json.js';
import { checkId, checkInput, findTwin } from '../core/schema.js';
import { checkText, lineAt } from '../core/text.js';
import { type Feature, type FeatureChange, planFeature, STATUSES } from './rules.js';

const Row = z.looseObject({
  id: z.optional(z.string()),
  name: z.optional(z.string()),
  description: z.optional(z.string()),
  status: z.optional(z.enum(STATUSES)),
  passes: z.optional(z.boolean()),
  tests: z.optional(z.array(z.string())),
  test: z.optional(z.string()),
  blocked_by: z.optional(z.union([z.null(), z.string(), z.array(z.string())])),
  priority: z.optional(z.int().check(z.gte(1), z.lte(4))),
  linear_issue: z.optional(z.nullable(z.string())),
});
type Row = z.infer<typeof Row>;

/** One line of a list to import, before it gets an id. */
interface Entry extends FeatureChange {
  id?: string | undefined;
  name: string;
}

interface ImportPlan {
  added: Feature[];
  /** Ids and names that were there already. */
  known: string[];
}

/**
 * Reads a JSON list (an array, or `{features: […]}`) or a Markdown list (`- [ ] ID: name`, `- name`) and plans the
 * features that are new. All or nothing: one bad line and nothing is imported (exit 2, line named).
 * `passing` is never imported: it has to be verified here.
 */
export function planImport(features: readonly Feature[], text: string, now: string): ImportPlan {
  const entries = /^\s*[[{]/.test(text) ? readJson(text) : readMarkdown(text);
  if (entries.length === 0)
    throw usage('import.empty', 'That list contains no features.', {
      hint: 'A Markdown list ("- FORGE-001: Login works") or a JSON array with "name" fields.',
    });
  const plan: ImportPlan = { added: [], known: [] };
  const all = [...features];
  for (const entry of entries) {
    if (isKnown(all, entry)) {
      refuseSecond(plan.added, entry);
      plan.known.push(entry.id ?? entry.name);
      continue;
    }
    const feature = planFeature(all, entry.id ?? nextId(all), entry, now);
    plan.added.push(feature);
    all.push(feature);
  }
  return plan;
}

const sameName = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();

function isKnown(features: readonly Feature[], entry: Entry): boolean {
  if (entry.id !== undefined) return findTwin(features, entry.id) !== undefined;
  return features.some((feature) => sameName(feature.name, entry.name));
}

/** One id for two things in the same list: taking the first would lose the second. */
function refuseSecond(added: readonly Feature[], { id, name }: Entry): void {
  const first = id === undefined ? undefined : findTwin(added, id);
  if (first && !sameName(first.name, name))
    throw usage(
      'import.twice',
      `${id} stands for two features in that list: "${first.name}" and "${name}".`,
      {
        hint: 'Give one of them another id.',
      },
    );
}

/** The number after the largest `FORGE-NNN` there is. */
function nextId(features: readonly Feature[]): string {
  const numbers = features.map((feature) => Number(/^FORGE-(\d+)$/i.exec(feature.id)?.[1] ?? 0));
  return `FORGE-${String(Math.max(0, ...numbers) + 1).padStart(3, '0')}`;
}

function readJson(text: string): Entry[] {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    const line = lineAt(text, error.offset);
    throw usage('import.json', `Line ${line}: ${error.message}.`, { line });
  }
  const list = Array.isArray(value) ? value : (value as { features?: unknown }).features;
  return checkInput(z.object({ features: z.array(Row) }), { features: list }).features.map(fromRow);
}

function fromRow(row: Row, index: number): Entry {
  const name = row.name ?? row.description ?? row.id;
  if (name === undefined)
    throw usage('import.name', `features[${index}] has no name.`, { field: `features[${index}].name` });
  const tests = row.tests ?? (row.test === undefined ? undefined : [row.test]);
  for (const test of tests ?? []) checkText(test, { what: `features[${index}].tests`, lines: false });
  const blockers = [row.blocked_by ?? []].flat().filter((id) => id !== '');
  for (const id of blockers) checkId(id, `features[${index}].blocked_by`);
  if (row.linear_issue) checkId(row.linear_issue, `features[${index}].linear_issue`);
  return {
    id: row.id,
    name: checkText(name, { what: `features[${index}].name`, lines: false }),
    // What was passing elsewhere has no evidence here.
    status: row.status === 'passing' || row.passes ? 'in_progress' : row.status,
    tests,
    blocked_by: blockers.length > 0 ? blockers : undefined,
    priority: row.priority,
    linear_issue: row.linear_issue,
  };
}

const ITEM =
  /^\s*(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\]\s+)?(?:([A-Za-z][A-Za-z0-9._]*-\d+)\s*[:–—-]?\s+)?(.+?)\s*$/s;

function readMarkdown(text: string): Entry[] {
  const entries: Entry[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const item = ITEM.exec(line);
    if (!item) continue;
    const [, tick, id, name = ''] = item;
    entries.push({
      id,
      name: checkText(name, { what: `Line ${index + 1}`, lines: false }),
      status: tick?.toLowerCase() === 'x' ? 'in_progress' : undefined,
    });
  }
  return entries;
}
