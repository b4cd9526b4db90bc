import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cycle, MARK, ready, sh, storedCycles } from '../support/cycles.js';
import { BIN, forgeJson } from '../support/forge.js';
import { fixedOf, HUMAN, logOf, verify } from '../support/memory.js';
import { commitAll, copyTo, P, promote, recordAll, times } from '../support/patterns.js';
import { makeFolder, type Project } from '../support/project.js';

/**
 * A program that writes ten cycles by hand, as forge would: executions, and the evaluations that name them by their
 * hashes. They show the pattern P. The last of them bears the key of the cycle that runs it. More records for the
 * evaluation ledger follow.
 */
function forgery(more: readonly object[] = []): string {
  const file = `${makeFolder()}/forgery.cjs`;
  writeFileSync(
    file,
    `const { createHash } = require('node:crypto');
    const fs = require('node:fs');
    const hash = (line) => createHash('sha256').update(line).digest('hex');
    const stamp = { at: '2026-03-01T10:00:00.000Z', session: null, actor: 'supervisor', kind: 'cycle' };
    const patterns = [{ pattern: ${JSON.stringify(P)}, scope: 'execution', holds: true }];
    const good = { classification: 'SUCCESS', environment_valid: true, governance_violations: [], patterns };
    const append = (tier, body) => {
      const path = '.forge/memory/' + tier + '.jsonl';
      const last = fs.readFileSync(path, 'utf8').trimEnd().split('\\n').at(-1);
      const n = JSON.parse(last).n + 1;
      const line = JSON.stringify({ v: 1, tier, n, prev: hash(last), seen: [], ...stamp, ...body });
      fs.appendFileSync(path, line + '\\n');
      return { id: hash(line), n };
    };
    for (let i = 0; i < 10; i++) {
      const key = i === 9 ? process.env.FORGE_CYCLE : 'f0'.repeat(7) + '0' + i;
      const { id, n } = append('execution', { key, task_id: 'A', exit_code: 0, started_at: stamp.at, finished_at: stamp.at });
      append('evaluation', { key, cycle: n - 1, execution: id, task_id: 'A', ...good });
    }
    for (const body of ${JSON.stringify(more)}) append('evaluation', body);`,
  );
  return `touch done; node ${file}`;
}

const ledgerOf = (project: Project): unknown =>
  JSON.parse(readFileSync(project.path(fixedOf('evaluation')), 'utf8').split('\n')[0] ?? '').ledger;

const VIOLATIONS = ['execution', 'evaluation'].map(
  (tier) => `10 records of the ${tier} ledger were not written by forge (.forge/memory/${tier}.jsonl:2)`,
);

/** What forge says of P, wherever it says something. */
async function saidOf(project: Project): Promise<Record<string, unknown>> {
  const said = Object.entries(await promote(project)).filter(([, list]) => Array.isArray(list));
  const of = (list: unknown) => (list as { pattern: string }[]).filter(({ pattern }) => pattern === P);
  return Object.fromEntries(said.flatMap(([name, list]) => (of(list).length > 0 ? [[name, of(list)]] : [])));
}

const mergeFrom = (project: Project, other: Project): void => {
  project.git('fetch', '-q', other.dir, 'HEAD');
  project.git('merge', '-q', '--no-edit', 'FETCH_HEAD');
};

it('GOV-01 a task that is no feature is run, and says so: it may be a slip of the pen', async () => {
  const result = await cycle(await ready(), ['--task', 'B', ...sh('true')]);
  expect([result.task, result.warnings]).toEqual(['B', [expect.stringContaining('No feature is called B')]]);
});

describe('ten perfect cycles that a command wrote by hand', () => {
  it('LTM-06 LTM-12 LTM-18 teach nothing: not here, not after a commit, a merge elsewhere and a fold', async () => {
    const project = await ready();
    commitAll(project);
    const other = copyTo(project, 'other');
    const result = await cycle(project, sh(forgery()));
    expect(result.report?.governance_violations).toEqual(VIOLATIONS);
    // One of them bears the key of the cycle, and does not stand for it.
    expect((await storedCycles(project)).map(({ evaluation }) => evaluation.classification)).toEqual([
      'GOVERNANCE_VIOLATION',
    ]);
    expect(await saidOf(project)).toEqual({});
    const { consolidation } = await recordAll(project, times(9, { pattern: 'something else' }));
    expect(consolidation).toMatchObject({ ran: true, promoted: [{ pattern: 'something else' }] });
    expect(await saidOf(project)).toEqual({});
    commitAll(project);
    mergeFrom(other, project);
    other.git('branch', '-qM', 'main');
    await forgeJson(other, ['memory', 'fold']);
    await recordAll(other, times(10, { pattern: 'something else' }));
    expect(await saidOf(other)).toEqual({});
    expect([(await verify(project)).status, (await verify(other)).status]).toEqual(['intact', 'intact']);
  });

  it('LTM-06 LTM-10 are relied on no more where a clone learned from them before it knew', async () => {
    const project = await ready();
    commitAll(project);
    const other = copyTo(project, 'other');
    await cycle(project, sh(`${forgery()} && git add -A && git commit -qm x`));
    mergeFrom(other, project);
    expect(await saidOf(other)).toMatchObject({ known: [{ status: 'valid' }] });
    commitAll(other);
    commitAll(project);
    mergeFrom(other, project);
    expect(await saidOf(other)).toMatchObject({ known: [{ status: 'unproven' }] });
    const { exitCode, problems } = await verify(other);
    expect([exitCode, problems]).toMatchObject([1, [{ code: 'unproven' }]]);
    await forgeJson(other, ['memory', 'repair', '--reason', 'nobody showed it'], HUMAN);
    expect(await saidOf(other)).toEqual({});
    expect((await verify(other)).exitCode).toBe(0);
  });

  it('LTM-12 hide nothing that was there: a repair or a reset written by hand counts as little', async () => {
    const project = await ready();
    const { cycles = [] } = await recordAll(project, times(1));
    const voided = cycles.flatMap(({ evaluation }) => evaluation?.id ?? []);
    const repair = { kind: 'repair', by: 'forge', reason: 'x', bytes: [], lost: [], voided };
    const drop = { kind: 'drop', by: 'forge', reason: 'x', subject: ledgerOf(project) };
    await cycle(project, sh(forgery([repair, drop])));
    const shown = (await logOf(project, 'evaluation')).map(({ record }) => record.classification);
    expect(shown.filter(Boolean)).toEqual(['SUCCESS', 'GOVERNANCE_VIOLATION']);
    expect((await verify(project)).status).toBe('intact');
  });

  it('LTM-12 LTM-16 teach nothing where the command killed forge, and are found by the next cycle', async () => {
    const project = await ready();
    commitAll(project);
    const kill = `kill -9 $(node -p 'require("./${MARK}").holder.pid')`;
    const args = [BIN, 'cycle', ...sh(`${forgery()}; ${kill}`)];
    expect(spawnSync(process.execPath, args, { cwd: project.dir }).signal).toBe('SIGKILL');
    const { consolidation } = await recordAll(project, times(10, { pattern: 'something else' }));
    expect(consolidation).toMatchObject({
      ran: false,
      waits: expect.stringContaining('forge cycle -- true'),
    });
    expect((await cycle(project, ['--task', 'A', ...sh('true')])).classification).toBe('SUCCESS');
    const stored = (await storedCycles(project)).map(({ evaluation }) => evaluation);
    expect(stored.filter(({ classification }) => classification !== 'SUCCESS')).toMatchObject([
      { classification: 'GOVERNANCE_VIOLATION', governance_violations: VIOLATIONS },
    ]);
    expect(await saidOf(project)).toEqual({});
    expect((await promote(project)).known).toMatchObject([{ pattern: 'something else' }]);
  });
});
