import { expect, it } from 'vitest';
import { openForge } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { forgeJson } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { commit } from '../support/memory.js';
import { cycle, recordAll } from '../support/patterns.js';

it('GOV-05 the id of a candidate is the same in a clone', async () => {
  const project = await makeForge();
  await recordAll(project, [cycle({ pattern: 'p' }), cycle({ pattern: 'p' })]);
  const { rejected } = await forgeJson<{ rejected: { candidate: string }[] }>(project, ['memory', 'promote']);
  const candidate = rejected[0]?.candidate as string;
  commit(project);
  const clone = cloneOf(project);
  await forgeJson(clone, ['session', 'start']);
  await forgeJson(clone, ['session', 'end', '--no-commit', '--confirm', candidate]);
  expect(await forgeJson(clone, ['memory', 'promote'])).toMatchObject({
    rejected: [{ pattern: 'p', candidate, observed: 3 }],
  });
});

it('GOV-05 KNO-01 a lesson that is removed from what was learned is no candidate any more', async () => {
  const project = await makeForge();
  await recordAll(project, [cycle({ pattern: 'seen by a loop' })]);
  await forgeJson(project, ['session', 'start']);
  const { learned } = await forgeJson<{ learned: { id: string }[] }>(
    project,
    'session end --learned "a bad date is a traceback" --learned "npm ci first"',
  );
  const candidates = async (): Promise<string[]> => {
    const { sections } = await forgeJson<{ sections: { key: string; items: string[] }[] }>(
      project,
      'briefing',
    );
    const { items = [] } = sections.find(({ key }) => key === 'candidates') ?? {};
    return items.map((item) => item.replace(/^C-\d+: |, seen.*$/g, '')).sort();
  };
  expect(await candidates()).toEqual(['a bad date is a traceback', 'npm ci first', 'seen by a loop']);
  await forgeJson(project, ['knowledge', 'remove', learned[0]?.id as string]);
  expect(await candidates()).toEqual(['npm ci first', 'seen by a loop']);
  const { text } = await forgeJson<{ text: string }>(project, ['briefing']);
  const [, id = ''] = /(C-\d+): npm ci first/.exec(text) ?? [];
  await forgeJson(project, ['knowledge', 'remove', id]);
  expect(await candidates()).toEqual(['seen by a loop']);
  const known = await openForge(project.path('.')).memory.known();
  expect(known.candidates.map(({ pattern }) => pattern)).toEqual(['seen by a loop']);
  await forgeJson(project, ['session', 'start']);
  const ended = await forgeJson<{ candidates: { pattern: string }[] }>(project, ['session', 'end']);
  expect(ended.candidates.map(({ pattern }) => pattern)).toEqual(['seen by a loop']);
});
