import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { checkInput, parseWhole } from '../../src/core/schema.js';
import { failure } from '../support/failure.js';

describe('parseWhole', () => {
  it('B-05 shows 10 MB or escapes in one short line', () => {
    const { message } = failure(() => parseWhole(`\u202e\u001b[2J${'9'.repeat(10_000_000)}`, '--n', 1, 9));
    expect(message).toMatch(/^--n: found "<U\+202E><U\+001B>\[2J9+", allowed/);
    expect(message.length).toBeLessThan(200);
  });
});

describe('checkInput', () => {
  const Input = z.strictObject({
    goal: z.optional(z.string()),
    files: z.optional(z.array(z.string())),
    budget: z.optional(z.int().check(z.gte(50))),
  });

  it.each([
    [{ goal: 7 }, 'goal', 'found 7, allowed: string'],
    [{ files: ['a', null] }, 'files[1]', 'found null, allowed: string'],
    [{ budget: 49 }, 'budget', 'found 49, allowed: at least 50'],
    [{ budget: Number.NaN }, 'budget', 'found null, allowed: number'],
    [{ gaol: 'x' }, 'input', 'found {"gaol":"x"}, allowed: no field "gaol"'],
    ['text', 'input', 'found "text", allowed: object'],
  ])('B-01 refuses %j with the field, what was found and what is allowed', (input, field, reason) => {
    const error = failure(() => checkInput(Input, input));
    expect(error).toMatchObject({ exit: 2, code: 'input.invalid', details: { field } });
    expect(error.message).toBe(`${field}: ${reason}.`);
  });
});
