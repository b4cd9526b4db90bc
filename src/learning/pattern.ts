import { createHash } from 'node:crypto';
import { wordsOf } from '../core/text.js';

/** Who wrote it how makes no other pattern: case, width, white space and a final mark do not count. */
export const normalisePattern = (text: string): string => wordsOf(text, '.!;');

/** The id of a piece of knowledge: the same on every machine that learns it (LTM-07). */
export function knowledgeId(scope: string, pattern: string): string {
  return createHash('sha256')
    .update(`forge\u0000knowledge\u0000${scope}\u0000${normalisePattern(pattern)}`)
    .digest('hex');
}
