import { expect, it } from 'vitest';
import { candidateId } from '../../src/learning/knowledge.js';
import { knowledgeId } from '../../src/learning/rules.js';
import { cloneOf } from '../support/ci.js';
import { forgeError, forgeJson } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { commit } from '../support/memory.js';
import { cycle, recordAll } from '../support/patterns.js';
import type { Project } from '../support/project.js';

const idOf = (pattern: string): string => candidateId(knowledgeId('execution', pattern));
const PATTERNS = Array.from({ length: 100 }, (_, i) => `lesson ${i}`);

/** Two patterns whose ids have the same first three digits. */
function findTwins(): [string, string] {
  const start = (pattern: string): string => idOf(pattern).slice(0, 5);
  for (const a of PATTERNS) for (const b of PATTERNS) if (a < b && start(a) === start(b)) return [a, b];
  throw new Error('no two ids have the same start');
}

it('GOV-05 the id of a candidate is the same in a clone, and a start that two have is refused with both', async () => {
  const confirm = (where: Project, id: string): string[] => {
    where.write(`src/${id}.js`, 'export const made = 1;\n');
    return ['session', 'end', '--no-commit', '--confirm', id];
  };
  const project = await makeForge();
  const [a, b] = findTwins();
  await recordAll(project, [cycle({ pattern: a }), cycle({ pattern: a })]);
  commit(project);
  const clone = cloneOf(project);
  await forgeJson(clone, ['session', 'start']);
  await forgeJson(clone, confirm(clone, idOf(a).slice(0, 5)));
  expect(await forgeJson(clone, ['memory', 'promote'])).toMatchObject({
    rejected: [{ pattern: a, candidate: idOf(a), observed: 3 }],
  });

  await recordAll(project, [cycle({ pattern: b })]);
  await forgeJson(project, ['session', 'start']);
  const refused = await forgeError(project, confirm(project, idOf(a).slice(0, 5)));
  expect(refused).toMatchObject({ exitCode: 2, code: 'candidate.ambiguous' });
  for (const pattern of [a, b]) expect(refused.message).toContain(idOf(pattern));
});
