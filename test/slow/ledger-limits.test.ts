import { existsSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  canMount,
  type Fault,
  hasShim,
  hasStrace,
  onSmallDisk,
  runFaulty,
  start,
} from '../support/faults.js';
import { BIN, type FailedForge, forgeJson } from '../support/forge.js';
import { kills } from '../support/kills.js';
import { begun, contents, errorOf, expectWorksAgain, record } from '../support/limits.js';
import { containersOf } from '../support/memory.js';
import { expectIntact, recordArgs, verify } from '../support/memory-truth.js';
import type { Ended, Project } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

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

  it('B-59 a feature is stored even if its view has no room, and the command says so', () => {
    const project = begun();
    const fault = { path: 'features.json', call: 'write', error: 'ENOSPC', lasts: true } as const;
    const { exitCode, stderr } = runFaulty(project.dir, ['feature', 'add', 'Alpha', '--no-run'], fault);
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(/Stored, but \S+features\.json is not up to date: /),
    ]);
    expect(typed(project, ['feature', 'list'])).toContain('Alpha');
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
  it('B-61 LTM-16 reports a failed fsync as unknown, and writes the record to a new file before its key is answered', async () => {
    const project = begun();
    const error = failing(project, 'maybe', { path: LEDGER, call: 'fsync', error: 'EIO' });
    expect(error).toMatchObject({ exitCode: 6, code: 'disk.eio' });
    expect(error.message).toContain('whether it was written is unknown');
    await expectIntact(project);
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
  ])('B-64 LTM-03 what %s that lied lost is found by the next verify, and comes back', async (_, call) => {
    const project = begun();
    const [before = ''] = contents(project);
    const { exitCode } = runFaulty(project.dir, record('lied'), { path: LEDGER, call, lie: true });
    // The power fails.
    truncateSync(project.path(containersOf(project)[0] ?? ''), Buffer.byteLength(before));

    const { restored, status } = await verify(project);

    expect([status, restored.length]).toEqual(['intact', exitCode === 0 ? 2 : 0]);
    await forgeJson(project, recordArgs('lied'));
    await expectWorksAgain(project, ['lied']);
  });
});

/** `forge` with the shell's limits. */
const limited = (project: Project, limits: string, key: string): Ended =>
  start(project.dir, 'sh', ['-c', `${limits}; exec "$@"`, 'sh', process.execPath, BIN, ...record(key)]);

describe.skipIf(process.platform !== 'linux')('limits of a process', () => {
  it('B-63 the file size (ulimit -f) is named, and the process is not killed by it', async () => {
    const project = begun();
    typed(project, ['memory', 'record', '--task', 'x'.repeat(6000), '--exit-code', '0']);
    const before = contents(project);
    const error = errorOf(limited(project, 'ulimit -f 8', 'size'));
    expect(error).toMatchObject({ exitCode: 6, code: 'disk.efbig' });
    expect(error.message).toContain('the file size limit is reached');
    expect(contents(project).slice(0, before.length)).toEqual(before);
    await expectIntact(project);
  });

  it('B-63 few open files (ulimit -n): done, or exit 6 with the limit named', async () => {
    const project = begun();
    const acknowledged: string[] = [];
    for (let files = 19; files <= 25; files++) {
      const ended = limited(project, `ulimit -n ${files}`, `files-${files}`);
      if (ended.exitCode === 0) acknowledged.push(`files-${files}`);
      // With fewer, Node itself does not begin.
      else if (ended.stderr.includes('{"error"')) expect(errorOf(ended).exitCode).toBe(6);
    }
    expect(acknowledged.length).toBeGreaterThan(0);
    await expectWorksAgain(project, acknowledged);
  });
});

describe.skipIf(!canMount)('a small disk', () => {
  it('B-59 B-63 that is full: exit 6, earlier data untouched, works once there is room', () => {
    const project = begun();
    const script = `
      cat .forge/memory/ledger/*.jsonl | sha256sum
      dd if=/dev/zero of=filler bs=4k 2>/dev/null
      i=0; while [ $i -lt 40 ]; do said=$(forge memory record --task $(printf %01000d $i) --exit-code 0 --key full-$i); case "$said" in *exit*) break;; esac; i=$((i+1)); done
      echo "$said" | grep -o 'the disk is full' | head -n 1; echo "$said" | tail -n 1
      rm filler
      forge memory record --task T --exit-code 0 --key after --quiet > /dev/null
      forge memory verify --json --quiet | grep -o '"status":"[a-z]*"'
      cat .forge/memory/ledger/*.jsonl | grep -c '"key":"after"'`;
    const [, ...said] = onSmallDisk(project, 'size=3m', script).trim().split('\n');
    expect(said).toEqual(['the disk is full', 'exit 6', '"status":"intact"', '1']);
  });

  it('B-63 that is full: doctor names it, and memory can be read', () => {
    const script = `
      dd if=/dev/zero of=filler bs=4k 2>/dev/null
      forge memory verify --json --quiet | grep -o '"status":"[a-z]*"'
      forge
      forge doctor`;
    const said = onSmallDisk(begun(), 'size=3m', script);
    expect(said).toMatch(/^"status":"intact"\n/m);
    expect(said).not.toContain('Damaged');
    expect(said).toMatch(
      /^✗ the disk is full, or has no free inode {2}\(blocking\)\n(?:.*\n)+? +type +df -h /m,
    );
  });

  it('B-63 without a free inode: the limit is named', () => {
    const project = makeForgeRepository();
    const script = `
      i=0; while touch .git/empty-$i 2>/dev/null; do i=$((i+1)); done
      forge memory record --task T --exit-code 0 --key a
      rm .git/empty-*
      forge memory record --task T --exit-code 0 --key a --quiet
      forge memory verify --json --quiet | grep -o '"status":"[a-z]*"'`;
    const said = onSmallDisk(project, 'size=20m,nr_inodes=400', script);
    expect(said).toContain('no free inode');
    expect(said).toContain('exit 6');
    expect(said).toContain('"status":"intact"');
  });

  it('B-63 that is read-only: recording says so, verifying works', () => {
    const project = begun();
    const script = `
      mount -o remount,ro /mnt
      forge memory record --task T --exit-code 0 --key a
      forge memory verify --json --quiet | grep -o '"status":"[a-z]*"'`;
    const said = onSmallDisk(project, 'size=20m', script);
    expect(said).toContain('the file system is read-only');
    expect(said).toContain('exit 6');
    expect(said).toContain('"status":"intact"');
  });
});
