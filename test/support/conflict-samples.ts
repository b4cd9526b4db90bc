import { formatJson } from '../../src/core/json.js';
import { mergeState } from '../../src/doctor/merge.js';

export interface Feature {
  id: string;
  status: string;
  tests: string[];
  [field: string]: unknown;
}

const bytes = (value: unknown): Buffer => Buffer.from(formatJson(value));

/** Merges one feature; `null` without a base. */
export const one = (ours: Feature, theirs: Feature, base: Feature | null = null): Feature => {
  const sides = { ours: bytes(ours), theirs: bytes(theirs), base: base && bytes(base) };
  const { schema_version: _, ...fields } = JSON.parse(mergeState('feature', sides, 'file').bytes.toString());
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Feature;
};
