import { describe, expect, it } from 'vitest';
import { makeConflict } from '../support/conflicts.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { startBinary } from '../support/forge.js';
import { featureFile, storedFeature } from '../support/forge-project.js';
import { makeFolder, run } from '../support/project.js';

/** The feature that both sides changed. */
const FILE = featureFile('A');

const FIX = ['doctor', '--fix'];

describe('forge doctor --fix, with a person', () => {
  it('LAY-09 shows its plan, asks, and acts only after a yes', async () => {
    const project = await makeConflict();
    const before = project.read(FILE);
    const no = await atTerminal(project, FIX, [['Do it?', 'n\r']]);
    expect([no.exitCode, project.read(FILE)]).toEqual([3, before]);
    expect(no.shown.indexOf('name')).toBeLessThan(no.shown.indexOf('Do it?'));
    expect(no.shown).toContain('Canceled: this needs confirmation (--yes).');
    const stopped = await atTerminal(project, FIX, [['Do it?', '\u0003']]);
    expect([stopped.exitCode, project.read(FILE)]).toEqual([130, before]);
    const yes = await atTerminal(project, FIX, [['Do it?', 'y\r']]);
    expect([yes.exitCode, project.git('ls-files', '-u')]).toEqual([0, '']);
    expect(yes.shown).toContain('done:');
  });

  it('LAY-09 of two concurrent runs one does the work, and both succeed', async () => {
    const project = await makeConflict();
    const start = (): Promise<number | null> =>
      new Promise((done) => startBinary(project.dir, [...FIX, '--yes']).on('close', done));
    const codes = await Promise.all([start(), start(), start()]);
    expect(codes).toContain(0);
    expect(project.git('ls-files', '-u')).toBe('');
    expect(storedFeature(project, 'A')?.name).toBe('ours');
  });

  it('LAY-09 a closed reader does not interrupt the work', async () => {
    const project = await makeConflict();
    const bin = new URL('../../bin/forge.js', import.meta.url).pathname;
    run(project.dir, 'sh', ['-c', `'${process.execPath}' '${bin}' doctor --fix --yes | true`], {
      env: { XDG_STATE_HOME: makeFolder() },
    });
    expect(storedFeature(project, 'A')?.name).toBe('ours');
  });
});
