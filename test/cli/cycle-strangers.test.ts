import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { forgeJson } from '../support/forge.js';
import { makeFolder, type Project } from '../support/project.js';
import { cycle, sh, storedCycles } from './cycles.js';
import { logOf, segmentOf, verify } from './memory.js';
import { commitAll, copyTo, P, promote, recordAll, times } from './patterns.js';
import { makeForge, makePlainForge } from './project.js';

async function ready(make: () => Promise<Project> = makeForge): Promise<Project> {
  const project = await make();
  await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'test -f done']);
  return project;
}

/** A command that adds lines to a file of memory as forge would: with their number, and the hash of the line before. */
function byHand(file: string, bodies: readonly object[]): string {
  const script = `
    const { createHash } = require('node:crypto');
    const fs = require('node:fs');
    let last = fs.readFileSync('${file}', 'utf8').trimEnd().split('\\n').at(-1);
    for (const body of ${JSON.stringify(bodies)}) {
      const { v, tier, n } = JSON.parse(last);
      const prev = createHash('sha256').update(last).digest('hex');
      const stamp = { at: '2026-03-01T10:00:00.000Z', session: null, actor: 'supervisor' };
      last = JSON.stringify({ v, tier, n: n + 1, prev, seen: [], ...stamp, ...body });
      fs.appendFileSync('${file}', last + '\\n');
    }`;
  return `touch done; node -e "${script.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

describe('memory that a governed command wrote by hand', () => {
  it.each([
    ['in a repository', makeForge],
    ['without git', makePlainForge],
  ])('LTM-12 GOV-01 breaks a rule, though every link is as it should be: %s', async (_, make) => {
    const project = await ready(make);
    await forgeJson(project, ['note', 'add', 'from forge']);
    const file = segmentOf(project, 'notes');
    const result = await cycle(project, sh(byHand(file, [{ kind: 'note', text: 'from nobody' }])));
    expect(result.classification).toBe('GOVERNANCE_VIOLATION');
    expect(result.report?.governance_violations).toEqual([
      `1 record of the notes ledger was not written by forge (${file}:2)`,
    ]);
    expect((await storedCycles(project))[0]?.evaluation.classification).toBe('GOVERNANCE_VIOLATION');
    // What stood there before is nothing that the next command did.
    expect((await cycle(project, ['--task', 'A', ...sh('true')])).classification).toBe('SUCCESS');
  });

  it('LTM-12 GOV-01 is found also where it was staged, in a file of its own and in a fixed one', async () => {
    const project = await ready();
    await forgeJson(project, ['note', 'add', 'from forge']);
    const file = segmentOf(project, 'notes');
    const other = file.replace(/[^/]*$/, 'solo-0123456789abcdef.jsonl');
    const script = `cp ${file} ${other}; ${byHand(other, [{ kind: 'note', text: 'from nobody' }])}; git add -A .forge`;
    const result = await cycle(project, sh(script));
    expect(result.report?.governance_violations).toEqual([expect.stringContaining(`(${other}:2)`)]);
    const fixed = '.forge/memory/long-term/notes.jsonl';
    const again = await cycle(project, sh(byHand(fixed, [{ kind: 'note', text: 'once more' }])));
    expect(again.report?.governance_violations).toEqual([expect.stringContaining(`(${fixed}:2)`)]);
  });

  it('LTM-12 is nothing that forge recorded meanwhile, folded, or that git brought', async () => {
    const project = await ready();
    await forgeJson(project, ['note', 'add', 'before']);
    commitAll(project);
    const other = copyTo(project, 'other');
    await recordAll(other, times(10));
    commitAll(other);
    const go = `${makeFolder()}/go`;
    const script = `touch done; git pull -q --no-rebase ${other.dir} other; touch pulled; while [ ! -e ${go} ]; do sleep 0.05; done`;
    const running = cycle(project, sh(script));
    while (!existsSync(project.path('pulled'))) await wait(20);
    await forgeJson(project, ['note', 'add', 'by a person in this worktree']);
    await forgeJson(project, ['memory', 'fold']);
    await forgeJson(project, ['note', 'add', 'and once more']);
    writeFileSync(go, '');
    const result = await running;
    expect([result.classification, result.report?.governance_violations]).toEqual(['SUCCESS', []]);
    expect((await promote(project, P)).known).toMatchObject([{ status: 'valid' }]);
    expect((await logOf(project, 'notes')).map(({ record }) => record.text)).toContain('and once more');
    expect((await verify(project)).status).toBe('intact');
  });
});
