import { createHash } from 'node:crypto';
import type { SCOPES } from './cycle.js';

export type Scope = (typeof SCOPES)[number];

/** Who wrote it how makes no other pattern: case, width, white space and a final mark do not count. */
export function normalisePattern(text: string): string {
  const plain = text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
  // By hand: a regular expression tries each run of marks again from each of its characters.
  let end = plain.length;
  while (end > 0 && '.!; '.includes(plain[end - 1] as string)) end--;
  return plain.slice(0, end);
}

/** The id of a piece of knowledge: the same on every machine that learns it (LTM-07). */
export function knowledgeId(scope: string, pattern: string): string {
  return createHash('sha256')
    .update(`forge\u0000knowledge\u0000${scope}\u0000${normalisePattern(pattern)}`)
    .digest('hex');
}
