import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { decodeDocument, type Format } from '../../src/core/schema.js';
import { failure } from '../support/failure.js';

const Sample = z.looseObject({
  schema_version: z.string(),
  items: z.array(
    z.looseObject({
      id: z.string().check(z.regex(/^[A-Z]+$/)),
      status: z.optional(z.enum(['open', 'done'])),
      priority: z.optional(z.int().check(z.gte(1), z.lte(4))),
      needs: z.optional(z.union([z.null(), z.string(), z.array(z.string())])),
    }),
  ),
});
const FORMAT: Format<z.infer<typeof Sample>> = { name: 'sample', version: '3.1', schema: Sample };

const file = '.forge/sample.json';
const decode = (content: unknown) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
  return decodeDocument(FORMAT, Buffer.isBuffer(content) ? content : Buffer.from(text), file);
};

describe('the version of a file', () => {
  const items = [{ id: 'A' }];

  it('LAY-08 reads a missing version as 1, and a number like a text', () => {
    const first: Format<z.infer<typeof Sample>> = { ...FORMAT, version: '1.0' };
    const read = decodeDocument(first, Buffer.from('{"items": []}'), file);
    expect(read).toEqual({ schema_version: '1.0', items: [] });
    expect(decode({ schema_version: 3, items })).toEqual({ schema_version: '3', items });
    expect(failure(() => decode({ schema_version: 4, items })).code).toBe('file.newer');
  });

  it.each([[''], ['v3'], ['3.x'], ['-1'], ['0.9'], ['1e3'], [null], [[3]], [{}]])(
    'LAY-08 refuses the version %j',
    (version) => {
      expect(failure(() => decode({ schema_version: version, items }))).toMatchObject({
        exit: 4,
        code: 'file.version',
      });
    },
  );
});

describe('a damaged file', () => {
  it.each(['[]', '"text"', '7', 'null', 'true'])('B-12 %s is not an object', (text) => {
    expect(failure(() => decode(text)).message).toBe(`${file}:1: it is not a JSON object.`);
  });

  it.each([
    ['another value', { status: 'later' }, 'items[1].status', '"later"', '"open" | "done"', 9],
    ['a missing field', {}, 'items[1].id', null, 'string', 1],
    ['a value of another type', { id: 7 }, 'items[1].id', '7', 'string', 8],
    ['a text of another form', { id: 'a/b' }, 'items[1].id', '"a/b"', 'text like /^[A-Z]+$/', 8],
    ['a broken number', { priority: 1.5 }, 'items[1].priority', '1.5', 'a whole number', 9],
    ['a number too small', { priority: 0 }, 'items[1].priority', '0', 'at least 1', 9],
    ['a number too large', { priority: 5 }, 'items[1].priority', '5', 'at most 4', 9],
    ['a value of no form', { needs: 7 }, 'items[1].needs', '7', 'null or string or array', 9],
    ['a wrong list', { needs: [7] }, 'items[1].needs', '[7]', 'null or string or a list of string', 9],
  ])('B-12 names line, field, what it found and allows: %s', (_, bad, field, found, allowed, line) => {
    const second = 'id' in bad || Object.keys(bad).length === 0 ? bad : { id: 'B', ...bad };
    const error = failure(() => decode({ schema_version: '3.1', items: [{ id: 'A' }, second] }));
    expect(error).toMatchObject({ exit: 4, code: 'file.schema', details: { file, line, field } });
    const what = found === null ? 'missing' : `found ${found}`;
    expect(error.message).toBe(`${file}:${line}: ${field}: ${what}, allowed: ${allowed}.`);
  });

  it('B-12 B-06 shows a long or hostile value in one short line', () => {
    const status = `\u001b]0;x\u0007\n${'y'.repeat(500)}`;
    const { message } = failure(() => decode({ schema_version: '3.1', items: [{ id: 'A', status }] }));
    expect(message).toMatch(/^[\x20-\x7e…]+$/);
    expect(message.length).toBeLessThan(200);
  });
});
