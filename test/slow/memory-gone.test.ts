import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeJson } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import {
  JOURNAL,
  linesOf,
  logOf,
  putLines,
  record,
  segmentOf,
  typeHint,
  verify,
  withCommitted,
  withCycles,
} from '../support/memory.js';

describe('what is gone as a whole', () => {
  it('B-29 LTM-04 a committed fixed file that is missing is no new memory', async () => {
    const { project, file } = await withCommitted();
    rmSync(project.path(file));
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems.length]).toEqual([4, 1]);
    expect(problems[0]).toMatchObject({ file, tier: 'execution' });
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    expect((await record(project)).cycle).toBe(4);
  });

  it('B-29 without git, the journal has what a removed segment had', async () => {
    const { project, file } = await withCycles(makePlainForge);
    rmSync(project.path(file));
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems.map(({ code }) => code)]).toEqual([4, ['lost']]);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    expect((await logOf(project, 'execution')).filter(({ kind }) => kind === 'cycle')).toHaveLength(3);
  });

  it('B-28 a file rewritten with a valid chain is forked at the first record that is another', async () => {
    const { project, file, lines } = await withCycles();
    const other = await makeForge();
    for (let i = 0; i < 3; i++) await record(other, '--key', `other-${i}`);
    const theirs = linesOf(other, segmentOf(other, 'execution'));
    putLines(project, file, theirs);
    const { problems, exitCode } = await verify(project);
    expect(exitCode).toBe(4);
    expect(problems).toMatchObject([{ code: 'rewritten', file, line: 1, last_good: null }]);
    expect(problems[0]?.message).toMatch(/forked at record 2, 3 records gone, 3 others in their place/);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    const cycles = (await logOf(project, 'execution')).filter(({ kind }) => kind === 'cycle');
    expect(cycles.map(({ record }) => record.key)).toEqual(lines.map((line) => JSON.parse(line).key));
  });

  it('B-104 an override or audit record that is removed is found', async () => {
    const { project, file, lines } = await withCycles();
    putLines(project, file, lines.slice(1));
    await verify(project);
    await forgeJson(project, ['memory', 'restore', '--reason', 'a slip'], { terminal: true });
    const audit = segmentOf(project, 'audit');
    for (const empty of [false, true]) {
      const kept = linesOf(project, audit);
      putLines(project, audit, empty ? [] : kept.slice(0, -1));
      const { problems, exitCode } = await verify(project);
      expect([exitCode, problems.map(({ tier, code }) => [tier, code])]).toEqual([4, [['audit', 'removed']]]);
      putLines(project, audit, kept);
    }
    rmSync(project.path(JOURNAL));
    expect((await verify(project)).problems).toEqual([]);
  });
});
