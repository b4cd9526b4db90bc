import { describe, expect, it } from 'vitest';
import { canMount, onSmallDisk, start } from '../support/faults.js';
import { BIN } from '../support/forge.js';
import { begun, contents, errorOf, expectWorksAgain, record } from '../support/limits.js';
import { expectIntact } from '../support/memory-truth.js';
import type { Ended, Project } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

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
