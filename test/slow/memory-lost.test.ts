import { chmodSync, existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { note, putForeign, RESTORED } from '../support/findings.js';
import { runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import {
  commitFolded,
  fixedOf,
  HUMAN,
  JOURNAL,
  linesOf,
  logOf,
  putLines,
  record,
  segmentOf,
  typeHint,
  verify,
} from '../support/memory.js';
import { signHead } from '../support/project.js';

describe('what does not belong', () => {
  it('LTM-04 damage that was committed has a way out too: records come back from history', async () => {
    const project = await makeForge();
    for (let i = 0; i < 3; i++) await record(project);
    await commitFolded(project);
    const file = fixedOf('execution');
    const [genesis, , ...rest] = linesOf(project, file);
    putLines(project, file, [genesis, 'garbage', ...rest] as string[]);
    project.git('commit', '-qam', 'Damage');
    const { problems, exitCode } = await verify(project);
    expect(exitCode).toBe(4);
    expect(problems[0]).toMatchObject({ code: 'edited', file, line: 2 });
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject(RESTORED);
    const cycles = (await logOf(project, 'execution')).filter(({ kind }) => kind === 'cycle');
    expect(cycles.map(({ n }) => n)).toEqual([2, 3, 4]);
  });

  it('B-40 no program of .git/config runs while history is looked through', async () => {
    const project = await makeForge();
    for (let i = 0; i < 3; i++) await record(project);
    await commitFolded(project);
    const file = fixedOf('execution');
    putLines(project, file, linesOf(project, file).slice(0, -1));
    project.git('commit', '-qam', 'Drop');
    signHead(project);
    const mark = project.path('.git/ran');
    project.write('.git/verify.sh', `#!/bin/sh\ntouch '${mark}'\nexit 1\n`);
    chmodSync(project.path('.git/verify.sh'), 0o755);
    for (const [key, value] of [
      ['log.showSignature', 'true'],
      ['gpg.program', project.path('.git/verify.sh')],
    ])
      project.git('config', key as string, value as string);
    rmSync(project.path(JOURNAL), { force: true });
    expect((await verify(project)).exitCode).toBe(4);
    expect(existsSync(mark)).toBe(false);
    project.git('log', '-1');
    expect(existsSync(mark)).toBe(true);
  });

  it('B-27 a record that a commit dropped comes back from history', async () => {
    const project = await makeForge();
    for (let i = 0; i < 3; i++) await record(project);
    await commitFolded(project);
    const file = fixedOf('execution');
    putLines(project, file, linesOf(project, file).slice(0, -1));
    project.git('commit', '-qam', 'Drop');
    const { problems, exitCode } = await verify(project);
    expect([exitCode, problems.map(({ code }) => code)]).toEqual([4, ['dropped']]);
    expect(problems[0]?.message).toContain(
      `commit ${project.git('rev-parse', 'HEAD').slice(0, 12)} dropped record 4`,
    );
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject(RESTORED);
    expect((await logOf(project, 'execution')).map(({ n }) => n)).toEqual([2, 3, 4]);
    expect((await logOf(project, 'audit')).at(-1)?.record).toMatchObject({
      kind: 'restored',
      reason: 'because',
    });
  });

  it('B-28 a head that a commit message names and that is nowhere is found, and can be named as lost', async () => {
    const project = await makeForge();
    await record(project);
    const head = 'ab'.repeat(32);
    project.git('add', '.');
    project.git('commit', '-q', '-m', `End\n\nForge-Ledger: execution 12 ${head}`);
    const { problems, exitCode } = await verify(project);
    expect([exitCode, problems.map(({ code, tier }) => [code, tier])]).toEqual([
      4,
      [['anchor', 'execution']],
    ]);
    expect(problems[0]?.message).toMatch(/saw record 12 \(abababababab…\).*which is nowhere/);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject(RESTORED);
    expect((await logOf(project, 'execution')).at(-1)?.record).toMatchObject({
      kind: 'repair',
      lost: [head],
    });
  });

  it('LTM-04 an evaluation of an execution that is no record here is a note', async () => {
    const project = await makeForge();
    await putForeign(project, 'evaluation', [
      { ...note('x'), kind: 'evaluation', execution: 'cd'.repeat(32) },
    ]);
    expect(await verify(project)).toMatchObject({
      status: 'intact',
      notes: ['1 evaluation names an execution that no record here is'],
    });
  });

  it('B-29 records that are nowhere are named as lost, and the rest goes on', async () => {
    const project = await makePlainForge();
    for (let i = 0; i < 3; i++) await record(project);
    const file = segmentOf(project, 'execution');
    const [first = '', , third = ''] = linesOf(project, file);
    rmSync(project.path('.forge/local/journal.jsonl'));
    putLines(project, file, [first, third]);
    const { problems } = await verify(project);
    expect(problems).toMatchObject([{ code: 'removed', file, line: 2, last_good: { line: 1 } }]);
    const dry = await runForge(project, ['memory', 'repair', '--reason', 'r', '-n'], HUMAN);
    expect([dry.exitCode, dry.stdout]).toEqual([0, expect.stringContaining('1 named as lost')]);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject(RESTORED);
    expect((await record(project)).cycle).toBeGreaterThan(3);
  });
});
