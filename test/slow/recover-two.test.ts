import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemWorld } from '../../src/index.js';
import { hasStrace, strike } from '../support/faults.js';
import { runBinary, startBinary } from '../support/forge.js';
import { follow, type Project } from '../support/project.js';
import { backups, CHECKPOINT, differsFrom, files, makeBroken, undo } from '../support/recovery.js';

const CLAIM = '.git/forge/recover-claim.json';

const benches = (project: Project): string[] =>
  readdirSync(project.path('.git/forge')).filter((name) => name.startsWith('recover'));

describe('two recoveries at once', () => {
  it('GIT-06 one rolls back, the others report that and do nothing; undo restores everything', async () => {
    const project = await makeBroken();
    const before = files(project);
    const children = [1, 2, 3].map(() => startBinary(project.dir, 'recover --yes'));
    const ended = await Promise.all(children.map((child) => follow(child).ended));
    const refused = ended.filter(({ exitCode }) => exitCode !== 0);
    // Who comes when all is over finds nothing to roll back, or that work goes on.
    expect(refused.map(({ exitCode }) => exitCode)).toEqual(refused.map(() => 3));
    for (const { stderr } of refused)
      expect(stderr).toMatch(
        /^(?:grep [^\n]*\n)?forge: [^\n]*(nothing was (changed|done)|HEAD moved)[^\n]*\n {2}→ [^\n]+\n$/,
      );
    expect([differsFrom(project, CHECKPOINT), benches(project)]).toEqual(['', []]);
    expect((await backups(project)).backups).toHaveLength(1);
    await undo(project);
    expect(files(project)).toEqual(before);
  });

  it('GIT-06 is refused while another one runs, and takes over from a dead one', async () => {
    const project = await makeBroken();
    const before = files(project);
    const self = systemWorld(process.env, false).self();
    project.write(CLAIM, JSON.stringify(self));
    const other = runBinary(project.dir, ['recover', '--yes']);
    expect([other.exitCode, other.stderr]).toEqual([
      3,
      expect.stringMatching(
        /^grep [^\n]*\nforge: Another recovery is running here; nothing was changed\.\n {2}→ forge recover --plan {3}# once it is done; .*recover-claim\.json\n$/,
      ),
    ]);
    expect(runBinary(project.dir, ['recover', '--undo', '--yes']).exitCode).toBe(2);
    expect([files(project), project.has(CLAIM)]).toEqual([before, true]);
    project.write(CLAIM, JSON.stringify({ ...self, started: 'before' }));
    expect(runBinary(project.dir, ['recover', '--yes']).exitCode).toBe(0);
    expect([differsFrom(project, CHECKPOINT), benches(project)]).toEqual(['', []]);
  });
});

describe.skipIf(!hasStrace)('a full disk', () => {
  it('B-59 GIT-06 before any change is reported in one line', async () => {
    const project = await makeBroken();
    const before = files(project);
    const struck = strike(
      project.dir,
      ['recover', '--yes'],
      { name: 'copy_file_range', nth: 1 },
      'error=ENOSPC',
    );
    expect([struck.exitCode, struck.stderr]).toEqual([
      6,
      expect.stringMatching(
        /^grep [^\n]*\nforge: \S+: the disk is full, or has no free inode\.\n {2}→ df -h [^\n]*\n$/,
      ),
    ]);
    expect([files(project), benches(project)]).toEqual([before, []]);
    expect(runBinary(project.dir, ['recover', '--yes']).exitCode).toBe(0);
  });
});
