import { expect, it } from 'vitest';
import { type Briefing, openForge } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { forgeJson, runForge } from '../support/forge.js';
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

it('GOV-05 LTM-06 a lesson of sessions without a verdict says what it lacks', async () => {
  const project = await makeForge();
  const end = async (...args: string[]) => {
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['session', 'end', '--no-commit', ...args]);
  };
  const candidate = async () =>
    /C-\d+: npm ci first.*$/m.exec((await forgeJson<{ text: string }>(project, 'briefing')).text)?.[0] ?? '';
  await end('--learned', 'npm ci first');
  expect(await candidate()).toMatch(/: npm ci first, seen 1 time$/);
  const [id = ''] = (await candidate()).split(':');
  for (let i = 0; i < 2; i++) await end('--confirm', id);
  expect(await candidate()).toBe(
    `${id}: npm ci first, seen 3 times, 0 with passed feature tests (3 are needed)`,
  );
  const { stdout } = await runForge(project, ['memory', 'promote']);
  expect(stdout).toMatch(/npm ci first +a cycle has no verdict, because no test of a feature ran \(C-\d+\)/);
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
    const { sections } = await forgeJson<Briefing>(project, 'briefing');
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
