import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GROUPS } from '../../src/cli/groups.js';

it('CHANGELOG.md names every command that help lists', () => {
  const text = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const named = new Set([...text.matchAll(/`forge (\w+)/g)].map(([, name]) => name));
  const listed = GROUPS.filter(({ heading }) => heading !== null).map(({ name }) => name);
  expect(listed.filter((name) => !named.has(name))).toEqual([]);
});
