import type { Sides } from '../../src/core/conflict-marks.js';
import { formatJson } from '../../src/core/json.js';
import { mergeState, type StateName } from '../../src/doctor/merge-state.js';

export interface Feature {
  id: string;
  status: string;
  tests: string[];
  [field: string]: unknown;
}

const bytes = (value: unknown): Buffer => Buffer.from(formatJson(value));

/** Merged as the file is; `isSure` says that the base is git's. */
export function merge<T>(name: StateName, sides: Sides<object>, isSure = true) {
  const { ours, theirs, base } = sides;
  const merged = mergeState(
    name,
    { ours: bytes(ours), theirs: bytes(theirs), base: base && bytes(base) },
    'file',
    isSure,
  );
  return { value: JSON.parse(merged.bytes.toString('utf8')) as T, choices: merged.choices };
}

export const features = (sides: Sides<Feature[]>, isSure = true): Feature[] => {
  const file = (list: Feature[]): object => ({ schema_version: '1.0', features: list });
  const { ours, theirs, base } = sides;
  return merge<{ features: Feature[] }>(
    'features',
    { ours: file(ours), theirs: file(theirs), base: base && file(base) },
    isSure,
  ).value.features;
};

/** Of one feature that all sides have; `null`: there is no base. */
export const one = (ours: Feature, theirs: Feature, base: Feature | null = null, isSure = true): Feature =>
  features({ ours: [ours], theirs: [theirs], base: base && [base] }, isSure)[0] as Feature;
