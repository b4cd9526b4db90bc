import { existsSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Fault, hasShim, hasStrace, runFaulty } from '../support/faults.js';
import { type FailedForge, forgeJson, runForge } from '../support/forge.js';
import { kills } from '../support/kills.js';
import { begun, contents, errorOf, expectWorksAgain, record } from '../support/limits.js';
import { containersOf } from '../support/memory.js';
import { expectIntact, foundRecords, recordArgs, verify } from '../support/memory-truth.js';
import type { Project } from '../support/project.js';
import { makeForgeRepository } from '../support/typed.js';

const LEDGER = '/memory/ledger/';
const failing = (project: Project, key: string, fault: Fault): FailedForge =>
  errorOf(runFaulty(project.dir, record(key), fault));

describe.skipIf(!hasShim)('a disk that becomes full', () => {
  it('B-59 LTM-16 at any byte of a cycle’s records', async () => {
    const project = begun();
    const [before = ''] = contents(project);
    const { length } = before;
    expect(length).toBeGreaterThan(400);
    const step = kills(Math.ceil(length / 8), 1);
    for (let k = 0; k < length; k += step) {
      const error = failing(project, `full-${k}`, { path: LEDGER, budget: k });
      expect(error, `byte ${k}`).toMatchObject({ exitCode: 6, exit: 6, code: 'disk.enospc' });
      expect(error.message).toMatch(/is full.*it is kept, and the next/);
      expect(contents(project), `byte ${k}`).toEqual([before]);
      rmSync(project.path('.git/forge/pending'), { recursive: true });
    }
    const last = failing(project, 'last', { path: LEDGER, budget: 30 });
    expect(last.exitCode).toBe(6);
    await expectWorksAgain(project, ['last']);
  });

  it('B-59 LTM-16 keeps the cycle, and the next command records it as a FAILURE without patterns', async () => {
    const project = begun();
    const fault = { path: LEDGER, budget: 10 };
    const args = [...record('kept'), '--pattern', 'tests first', '--proposal', 'go faster'];
    expect(errorOf(runFaulty(project.dir, args, fault)).message).toContain('The cycle counts as FAILURE');

    const { stderr } = await runForge(project, recordArgs('next'));

    expect(stderr).toContain('which could not be written before, is recorded now, as FAILURE');
    const kept = foundRecords(project).find(
      ({ key, tier }) => key === 'kept' && tier === 'evaluation',
    ) as unknown as { governance_violations: string[] };
    expect(kept).toMatchObject({
      classification: 'FAILURE',
      patterns: [],
      improvement_proposals: [],
    });
    expect(kept.governance_violations).toEqual([expect.stringContaining('memory write failed')]);
    expect(readdirSync(project.path('.git/forge/pending'))).toEqual([]);
  });

  it('B-59 if there is no room for a new file, none is left behind', () => {
    const project = makeForgeRepository();
    expect(failing(project, 'a', { path: LEDGER, budget: 40 }).exitCode).toBe(6);
    expect(containersOf(project)).toEqual([]);
  });

  it('B-60 fails if nothing can be written, and correctly reports whether the cycle is kept', async () => {
    const project = begun();
    const full = { call: 'write', lasts: true, error: 'ENOSPC' } as const;
    expect(failing(project, 'b', { ...full, path: 'forge' })).toMatchObject({
      exitCode: 6,
      code: 'disk.enospc',
    });
    const waits = () => {
      const folder = project.path('.git/forge/pending');
      return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')).length : 0;
    };
    const said = { kept: 0, lost: 0 };
    for (let nth = 1; nth <= 8; nth++) {
      const before = waits();
      const ended = runFaulty(project.dir, record(`full-${nth}`), { ...full, path: 'forge', nth });
      if (ended.exitCode === 0) continue;
      const error = errorOf(ended);
      expect([nth, error.exitCode, error.code]).toEqual([nth, 6, 'disk.enospc']);
      const isKept = /it is kept, and the next/.test(error.message);
      expect([nth, waits() - before]).toEqual([nth, isKept ? 1 : 0]);
      said[isKept ? 'kept' : 'lost']++;
    }
    expect(said.lost).toBeGreaterThan(0);
    const late = failing(project, 'c', { ...full, path: LEDGER });
    expect([late.message, waits() > 0]).toEqual([expect.stringContaining('it is kept'), true]);
    await expectWorksAgain(project, ['c']);
  });
});

describe.skipIf(!hasStrace || !hasShim)('a disk that reports errors', () => {
  it('B-61 LTM-16 reports a failed fsync as unknown, does not retry it, and verifies next', async () => {
    const project = begun();
    const error = failing(project, 'maybe', { path: LEDGER, call: 'fsync', error: 'EIO' });
    expect(error).toMatchObject({ exitCode: 6, code: 'disk.eio' });
    expect(error.message).toContain('whether it was written is unknown');
    await expectIntact(project);
    await forgeJson(project, recordArgs('maybe'));
    await expectWorksAgain(project, ['maybe']);
  });

  it('B-61 LTM-16 writes an unacknowledged record to a new file before its key is answered', async () => {
    const project = begun();
    failing(project, 'maybe', { path: LEDGER, call: 'fsync', error: 'EIO' });
    const [former = ''] = containersOf(project);
    const notes = async () => (await verify(project)).notes.filter((note) => note.includes('/ledger/'));
    expect(await notes()).toEqual([expect.stringContaining('forge did not write here')]);
    await forgeJson(project, recordArgs('maybe'));
    // The disk may never have got what its fsync failed for.
    expect(project.has(former)).toBe(false);
    expect(await notes()).toEqual([]);
    await expectWorksAgain(project, ['maybe']);
  });
});

describe.skipIf(!hasShim)('errors below a write', () => {
  it.each(['EINTR', 'EAGAIN'] as const)('B-62 %s at a write', async (error) => {
    const project = begun();
    const ended = runFaulty(project.dir, record('again'), { path: LEDGER, call: 'write', error });
    expect(ended.exitCode, ended.stderr).toBe(error === 'EINTR' ? 0 : 6);
    await forgeJson(project, recordArgs('again'));
    await expectWorksAgain(project, ['again']);
  });

  it.each([
    ['a write', 'write'],
    ['an fsync', 'fsync'],
  ])(
    'B-64 LTM-03 what %s that lied has lost is found by the next verification, and comes back',
    async (_name, call) => {
      const project = begun();
      const [before = ''] = contents(project);
      const { exitCode } = runFaulty(project.dir, record('lied'), { path: LEDGER, call, lie: true });
      // The power fails.
      truncateSync(project.path(containersOf(project)[0] ?? ''), Buffer.byteLength(before));

      const { restored, status } = await verify(project);

      expect([status, restored.length]).toEqual(['intact', exitCode === 0 ? 2 : 0]);
      await forgeJson(project, recordArgs('lied'));
      await expectWorksAgain(project, ['lied']);
    },
  );
});
