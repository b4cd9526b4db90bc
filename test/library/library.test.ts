import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openForge, systemWorld } from '../../src/index.js';
import { makeForge } from '../support/forge-project.js';

type Method = (input: unknown, watch?: object) => Promise<unknown>;

const methodOf = (forge: object, name: string): Method =>
  name.split('.').reduce((part: unknown, step) => (part as Record<string, unknown>)[step], forge) as Method;

/** The methods in docs/library.md that have an input. */
const METHODS = [...readFileSync('docs/library.md', 'utf8').matchAll(/^forge\.([\w.]+)\([^)\s]/gm)].map(
  ([, name]) => name ?? '',
);

describe('the library', () => {
  it.each<[string, unknown, string]>([
    ['session.show', undefined, 'id: missing, allowed: string.'],
    ['config.set', null, 'name: missing, allowed: string.'],
    ['note.show', { id: 5 }, 'id: found 5, allowed: string.'],
    ['checkpoint.verify', { tag: null }, 'tag: found null, allowed: string.'],
    ['skill.resource', { name: 'qa-review' }, 'file: missing, allowed: string.'],
    ['feature.import', '- Login', 'input: found "- Login", allowed: object.'],
    ['memory.recordMany', [null], '[0]: found null, allowed: object.'],
    ['memory.parse', undefined, 'input: missing, allowed: string.'],
    ['kfr.parse', 5, 'input: found 5, allowed: string.'],
    ['memory.freeze', { reason: 5 }, 'The reason must be text.'],
  ])('VIS-03 %s says of the input %j: %s', async (name, input, message) => {
    const { dir } = await makeForge();
    const call = methodOf(openForge(dir, { world: systemWorld(process.env, true) }), name);
    await expect(call(input)).rejects.toMatchObject({ name: 'ForgeError', kind: 'usage', message });
  });

  it('VIS-03 no method throws anything else for null', async () => {
    expect(METHODS.length).toBeGreaterThan(60);
    const { dir } = await makeForge();
    for (const name of METHODS) {
      const error = await methodOf(openForge(dir), name)(null, {}).then(
        () => null,
        (thrown) => thrown,
      );
      if (error !== null)
        expect([name, error.name, error.message]).toEqual([name, 'ForgeError', error.message]);
    }
  });
});
