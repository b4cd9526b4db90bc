import { describe, expect, it } from 'vitest';
import { nameCandidates } from '../../src/learning/candidates.js';
import { knowledgeId } from '../../src/learning/proven.js';
import { cloneOf } from '../support/ci.js';
import { forgeError, forgeJson } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { commit, record } from '../support/memory.js';
import { cycle, recordAll } from '../support/patterns.js';

const named = (patterns: readonly string[]): Map<string, string> =>
  nameCandidates(patterns.map((pattern) => ({ knowledge_id: knowledgeId('execution', pattern) })));
const PATTERNS = Array.from({ length: 200 }, (_, i) => `lesson ${i}`);

/** Two of them whose ids begin alike. */
function findTwins(): [string, string] {
  for (const a of PATTERNS)
    for (const b of PATTERNS)
      if (a < b && [...named([a, b]).values()].every((id) => id.length > 'C-123'.length)) return [a, b];
  throw new Error('no two ids begin alike');
}

describe('the ids of candidates', () => {
  it('GOV-05 are three digits of the pattern, and more where two begin alike; order changes nothing', () => {
    const all = named(PATTERNS);
    expect(named(PATTERNS.toReversed())).toEqual(all);
    const ids = [...all.values()];
    expect(ids.filter((id) => !/^C-\d{3,9}$/.test(id))).toEqual([]);
    for (const id of ids) expect(ids.filter((other) => other.startsWith(id))).toEqual([id]);
    expect(ids.filter((id) => id.length === 5).length).toBeGreaterThan(100);
  });

  it('GOV-05 are the same in a clone; one that names two is refused with both', async () => {
    const project = await makeForge();
    const [a, b] = findTwins();
    await recordAll(project, [cycle({ pattern: a }), cycle({ pattern: a })]);
    const { rejected } = await forgeJson<{ rejected: { candidate: string }[] }>(project, [
      'memory',
      'promote',
    ]);
    const short = rejected[0]?.candidate ?? '';
    commit(project);
    const clone = cloneOf(project);
    await record(clone, '--confirm', short);
    const counts = await forgeJson(clone, ['memory', 'promote']);
    expect(counts).toMatchObject({ rejected: [{ pattern: a, candidate: short, observed: 3 }] });

    await recordAll(project, [cycle({ pattern: b })]);
    const refused = await forgeError(project, [
      'memory',
      'record',
      '--task',
      'A',
      '--exit-code',
      '0',
      '--confirm',
      short,
    ]);
    expect(refused).toMatchObject({ exitCode: 2, code: 'candidate.ambiguous' });
    expect(refused.message).toMatch(/is ambiguous: 2 candidates match \(C-\d{4,}, C-\d{4,}\)\.$/);
  });
});
