import { expect, it } from 'vitest';
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
