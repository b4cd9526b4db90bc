import { formatJson } from '../../src/core/json.js';
import { mergeState, type Sides, type StateName } from '../../src/doctor/merge.js';

export interface Feature {
  id: string;
  status: string;
  tests: string[];
  [field: string]: unknown;
}

const bytes = (value: unknown): Buffer => Buffer.from(formatJson(value));

/** Merges values as the files that hold them. */
export function merge<T>(name: StateName, sides: Sides<object>) {
  const { ours, theirs, base } = sides;
  const merged = mergeState(
    name,
    { ours: bytes(ours), theirs: bytes(theirs), base: base && bytes(base) },
    'file',
  );
  return { value: JSON.parse(merged.bytes.toString('utf8')) as T, choices: merged.choices };
}

/** Merges one feature; `null` without a base. */
export const one = (ours: Feature, theirs: Feature, base: Feature | null = null): Feature => {
  const { schema_version: _, ...fields } = merge<Feature>('feature', { ours, theirs, base }).value;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Feature;
};

export interface Issue {
  linear_id: string;
  title: string;
}

/** Merges lists of records in a file. */
export const issues = (sides: Sides<Issue[]>): Issue[] => {
  const file = (list: Issue[]): object => ({ linear_id: 'X', title: 'x', issues: list });
  const { ours, theirs, base } = sides;
  return merge<{ issues: Issue[] }>('done', {
    ours: file(ours),
    theirs: file(theirs),
    base: base && file(base),
  }).value.issues;
};
