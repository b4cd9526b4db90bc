import { rmSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { containerOf, record, recordMany } from '../support/memory.js';
import type { Project } from '../support/project.js';
import { component } from '../support/statuses.js';

describe('forge status and the ledgers', () => {
  const edit = (project: Project): void =>
    project.write(containerOf(project), project.read(containerOf(project)).replace('"n":2', '"n":7'));

  async function recorded(): Promise<Project> {
    const project = await makeForge();
    await record(project);
    return project;
  }

  it('VIS-01 B-25 an edited ledger is red with the place and the command, and status changes nothing', async () => {
    const project = await recorded();
    edit(project);
    const before = snapshot(project.dir);
    const told = await component(project, 'long-term');
    expect([told.color, told.fix]).toEqual(['red', ['forge memory verify']]);
    expect(told.reasons[0]).toContain(containerOf(project));
    const changed = differences(before, snapshot(project.dir));
    expect(changed).toEqual([]);
  });

  it('VIS-01 LTM-05 a halt is red with its reason, in the prompt too', async () => {
    const project = await recorded();
    edit(project);
    await runForge(project, ['memory', 'verify']);
    const told = await component(project, 'long-term');
    expect([told.color, told.fix]).toEqual(['red', ['forge memory verify']]);
    expect(told.reasons[0]).toMatch(/^memory is halted: /);
    expect((await runForge(project, ['status', '--short'])).stdout).toBe('forge ○····\n');
  });

  it('VIS-01 LTM-04 many lost records are yellow, as memory verify leaves them to a person', async () => {
    const project = await makeForge();
    await recordMany(project, 21);
    project.git('clean', '-qfdx', '.forge/memory');
    const told = await component(project, 'long-term');
    expect([told.color, told.fix]).toEqual(['yellow', ['forge memory verify']]);
    expect(told.reasons[0]).toMatch(/^2\d records written here have disappeared; none was restored$/);
  });
});

describe('operations that take more than a second', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([['status'], ['session', 'start'], ['memory', 'consolidate']])(
    'VIS-01 LTM-04 %s %s: a bar on stderr while memory is read, gone before the answer; none without a terminal',
    async (...args) => {
      let slow = 0;
      // Each look at the clock is more than half a second after the one before.
      vi.spyOn(performance, 'now').mockImplementation(() => (slow += 600));
      const run = async (terminal: boolean): Promise<{ stdout: string; stderr: string }> => {
        const project = await makeForge();
        for (let i = 0; i < 3; i++) {
          await record(project);
          project.git('add', '-A');
        }
        rmSync(project.path('.git/forge/cache/containers.json'), { force: true });
        return runForge(project, args, { terminal });
      };
      const seen = await run(true);
      expect(seen.stderr).toMatch(/\rreading memory █*░* \d+%/);
      expect(seen.stderr.slice(seen.stderr.lastIndexOf('\r'))).toContain('\r\u001b[K');
      expect(seen.stdout).not.toContain('\r');
      expect((await run(false)).stderr).not.toContain('\r');
    },
  );
});
