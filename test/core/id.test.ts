import { basename, posix, win32 } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkId, isId } from '../../src/core/schema.js';
import { failure } from '../support/failure.js';

describe('checkId', () => {
  it.each(['a', '1', 'FORGE-001', 'SX9-123', 'v1.2_b-3', 'console', 'a'.repeat(64)])('takes %j', (id) => {
    expect(checkId(id)).toBe(id);
  });

  it('B-06 shows a bad id with visible escapes, and describes valid ids', () => {
    const error = failure(() => checkId('a\u001b[2J'));
    expect(error.message).toBe('"a<U+001B>[2J" is not a valid id.');
    expect(error.hint).toBe(
      'An id starts with a letter or digit and has letters, digits, ".", "_" and "-", at most 64 in all.',
    );
  });

  it('B-02 takes only names that are valid on every system', () => {
    const pieces = fc.constantFrom('nul', ...'aB7.-_/\\:% \n~*');
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), (parts) => {
        const id = parts.join('');
        fc.pre(isId(id));
        expect([basename(id), win32.basename(id), posix.normalize(id)]).toEqual([id, id, id]);
        expect(id).not.toMatch(/^[-.]|[.:%\s]$|\.\./);
      }),
      { numRuns: 500 },
    );
  });
});
