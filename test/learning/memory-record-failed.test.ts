import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BIN, forgeError, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import { BASE, containerOf, cyclesOf, LEDGER, record, verify } from '../support/memory.js';
import { makeFolder, run } from '../support/project.js';

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

  it('LTM-16 a file size limit is exit 6, leaves no half line, and the cycle comes with the next', async () => {
    const project = await makePlainForge();
    await record(project);
    const file = containerOf(project);
    const before = project.read(file);
    const log = `${makeFolder()}/log`;
    run(project.dir, 'sh', ['-c', `head -c 4000 /dev/zero | tr '\\0' x > ${log}`]);
    // The limit is in blocks of 512 bytes: the line does not fit, what is kept for the next does not either way.
    const script = `ulimit -f 9; exec "$0" "$@"`;
    const { exitCode, stderr } = run(project.dir, 'sh', [
      '-c',
      script,
      process.execPath,
      BIN,
      ...BASE,
      '--log',
      log,
    ]);
    expect([exitCode, stderr]).toEqual([
      6,
      expect.stringMatching(/^forge: .*(disk is full|too large|EFBIG|limit)/i),
    ]);
    expect(project.read(file)).toBe(before);
    expect((await verify(project)).status).toBe('intact');
    await record(project);
    const stored = (await cyclesOf(project)).length;
    expect([2, 3]).toContain(stored);
  });
});
