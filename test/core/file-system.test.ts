import { describe, expect, it } from 'vitest';
import { unreliable, unreliableFileSystem } from '../../src/core/file-system.js';
import { hasShim, runFaulty } from '../support/faults.js';
import { runForge } from '../support/forge.js';
import { makeFolder } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

describe('the file system', () => {
  it.each([
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    // As a signed number, which some systems give.
    [0xff534d42 | 0, 'CIFS'],
    [0xfe534d42, 'SMB'],
    [0x01021997, '9p'],
    [0x65735546, 'FUSE'],
    [0xef53, null],
    [0x9123683e, null],
    [0x58465342, null],
    [0x01021994, null],
    [0x794c7630, null],
  ])('B-65 number %i is %s', (type, name) => {
    expect(unreliable(type)).toBe(name);
  });

  it('B-65 of this test says nothing, and nor does one that is not there', async () => {
    expect(unreliableFileSystem('/no/such/folder')).toBeNull();
    const { stderr } = await runForge(makeForgeRepository(), ['memory', 'verify']);
    expect(stderr).not.toContain('reliable');
    expect(unreliableFileSystem(makeFolder())).toBeNull();
  });

  it.skipIf(!hasShim)(
    'B-65 is named at session start and at memory verify when it cannot be relied on',
    () => {
      const project = makeForgeRepository();
      const warning = 'is on NFS, where locks, renames and fsync are not reliable';
      const nfs = { path: '/.forge', statfs: 0x6969 };
      const started = runFaulty(project.dir, ['session', 'start'], nfs);
      expect(started).toMatchObject({
        exitCode: 0,
        stderr: expect.stringContaining(`${project.dir}/.forge ${warning}`),
      });
      const verified = runFaulty(project.dir, ['memory', 'verify'], { ...nfs, path: '/.git' });
      expect(verified).toMatchObject({
        exitCode: 0,
        stderr: expect.stringContaining(`/.git/forge ${warning}`),
      });
      expect(verified.stderr.match(/NFS/g)).toHaveLength(1);
      expect(typed(project, ['memory', 'verify'])).toContain('intact');
    },
  );
});
