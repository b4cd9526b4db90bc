import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeError, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { BASE, cyclesOf, LEDGER, record, verify } from '../support/memory.js';

describe('a record that cannot be written', () => {
  it('LTM-16 the cycle is kept, and the next record stores it as FAILURE, once', async () => {
    const project = await makeForge();
    // No file of the ledger can be made.
    const folder = project.path(LEDGER);
    const away = `${folder}-away`;
    renameSync(folder, away);
    writeFileSync(folder, 'a file in place of the folder');
    const flags = ['--classification', 'SUCCESS', '--pattern', 'p', '--proposal', 'q', '--key', 'K'];
    const error = await forgeError(project, [...BASE, ...flags]);
    expect(error).toMatchObject({ exitCode: 6, kind: 'outside' });
    expect(error.message).toMatch(
      /counts as FAILURE; it is kept, and the next forge memory record records it/,
    );
    rmSync(folder);
    renameSync(away, folder);
    const { stderr } = await runForge(project, ['memory', 'record', '--task', 'B', '--exit-code', '0']);
    expect(stderr).toMatch(/Cycle 1, which could not be written before, is recorded now, as FAILURE/);
    const cycles = await cyclesOf(project);
    expect(cycles.map(({ record: { task_id } }) => task_id)).toEqual(['A', 'B']);
    const [judged, ...more] = await cyclesOf(project, 'evaluation');
    expect(more).toEqual([]);
    expect(judged?.record).toMatchObject({
      classification: 'FAILURE',
      patterns: [],
      improvement_proposals: [],
      governance_violations: ['memory write failed; recorded by a later command'],
      execution: cycles[0]?.id,
    });
    await record(project);
    expect(await cyclesOf(project)).toHaveLength(3);
    // The caller who tries it again gets the cycle that was stored.
    expect(await record(project, '--key', 'K')).toMatchObject({ cycle: 1, known: true });
    expect((await verify(project)).status).toBe('intact');
  });
});
