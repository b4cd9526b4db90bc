import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import {
  commitFolded,
  fixedOf,
  HALT,
  HUMAN,
  linesOf,
  logOf,
  putLines,
  segmentOf,
  segmentsOf,
  typeHint,
  verify,
} from '../support/memory.js';
import type { Project } from '../support/project.js';
import { checkByHand, commit, expectGone, note, redact, traces, WORD } from '../support/redactions.js';

async function expectKeptGone(project: Project, id: string): Promise<void> {
  expect(traces(project)).toEqual([]);
  expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0, problems: [] });
  checkByHand(project, 'notes');
  expect((await runForge(project, ['memory', 'show', id])).stdout).toContain('was redacted by terminal');
}

describe('forge memory redact', () => {
  it('LTM-19 a merge that brings the content back is found, and the hint takes it out again', async () => {
    const project = await makeForge();
    await note(project, 'a');
    const id = await note(project, WORD);
    await commitFolded(project);
    project.git('switch', '-qc', 'side');
    await note(project, 'on the side');
    commit(project);
    project.git('switch', '-q', 'main');
    await redact(project, id);
    await note(project, 'on main');
    await commitFolded(project);
    await expectGone(project, id);
    // The branch has it still.
    project.git('switch', '-q', 'side');
    const found = await verify(project);
    expect([found.exitCode, found.status, found.problems.map(({ code }) => code)]).toEqual([
      5,
      'secret',
      ['redacted_back'],
    ]);
    expect((await logOf(project, 'notes')).map((entry) => entry.id)).not.toContain(id);
    expect(project.has(HALT)).toBe(false);
    // Work goes on, and says so.
    const { stderr } = await runForge(project, ['note', 'add', 'more']);
    expect(stderr).toMatch(/redacted content is back.*forge memory redact/);
    commit(project);
    project.git('switch', '-q', 'main');
    project.git('merge', '-q', '--no-edit', 'side');
    const merged = await verify(project);
    if (merged.exitCode === 5) await typeHint(project, merged.problems[0]?.hint ?? '');
    expect(traces(project)).toEqual([]);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0, problems: [] });
    checkByHand(project, 'notes');
    project.git('switch', '-q', 'side');
    await typeHint(project, (await verify(project)).problems[0]?.hint ?? '');
    expect(traces(project)).toEqual([]);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it('LTM-19 LTM-17 a redaction on one side and a fold on the other merge without conflict', async () => {
    const project = await makeForge();
    await note(project, 'a');
    const id = await note(project, WORD);
    commit(project);
    const { projectAt, makeFolder } = await import('../support/project.js');
    const clone = projectAt(`${makeFolder()}/clone`);
    project.git('clone', '-q', project.dir, clone.dir);
    await note(clone, 'beside');
    await commitFolded(clone);
    const before = segmentOf(project, 'notes');
    await redact(project, id);
    expect([project.has(before), segmentsOf(project, 'notes').length]).toEqual([false, 1]);
    commit(project, 'Redact');
    project.git('pull', '-q', '--no-rebase', '--no-edit', clone.dir, 'main');
    const { status, problems } = await verify(project);
    expect([status, problems.map(({ code, file }) => [code, file])]).toEqual([
      'secret',
      [['redacted_back', fixedOf('notes')]],
    ]);
    await typeHint(project, problems[0]?.hint ?? '');
    await expectKeptGone(project, id);
    commit(project, 'Redact again');
    clone.git('pull', '-q', '--no-rebase', '--no-edit', project.dir, 'main');
    await expectKeptGone(clone, id);
    expect((await logOf(clone, 'notes')).map(({ record }) => record.text)).toEqual(['a', 'beside']);
  });

  it('LTM-19 a second clone gets the tombstone by a pull, and knows the content when it comes back', async () => {
    const project = await makeForge();
    const id = await note(project, WORD);
    await note(project, 'b');
    await commitFolded(project);
    const old = project.git('rev-parse', 'HEAD');
    const { projectAt, makeFolder } = await import('../support/project.js');
    const server = projectAt(`${makeFolder()}/server.git`);
    project.git('clone', '-q', '--bare', project.dir, server.dir);
    const clone = projectAt(`${makeFolder()}/clone`);
    project.git('clone', '-q', server.dir, clone.dir);
    await note(clone, 'beside');
    await redact(project, id);
    commit(project, 'Redact');
    project.git('push', '-q', server.dir, 'main');
    commit(clone);
    clone.git('pull', '-q', '--no-rebase', '--no-edit');
    expect(await verify(clone)).toMatchObject({ status: 'intact', exitCode: 0, problems: [] });
    expect(traces(clone)).toEqual([]);
    clone.git('checkout', '-q', old);
    const { status, problems } = await verify(clone);
    expect([status, problems.map(({ code }) => code)]).toEqual(['secret', ['redacted_back']]);
    clone.git('checkout', '-q', 'main');
    expect(await verify(clone)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it('LTM-19 nothing that puts records back brings the content: the tombstone comes', async () => {
    const project = await makeForge();
    await note(project, 'a');
    const id = await note(project, WORD);
    await note(project, 'b');
    await redact(project, id);
    // Git clean takes the segment: the journal has the tombstone.
    project.git('clean', '-fdxq');
    await verify(project);
    await expectGone(project, id);
    await commitFolded(project);
    // A commit drops all: history has record and tombstone.
    const lines = linesOf(project, fixedOf('notes'));
    putLines(project, fixedOf('notes'), lines.slice(0, 1));
    commit(project, 'Drop');
    await runForge(project, ['memory', 'restore', '--reason', 'text'], HUMAN);
    await runForge(project, ['memory', 'override', 'acknowledge', '--reason', 'text'], HUMAN);
    await expectGone(project, id);
  });

  it('LTM-19 a clone that never saw the tombstone restores it, not the content, out of history', async () => {
    const project = await makeForge();
    await note(project, 'a');
    const id = await note(project, WORD);
    await commitFolded(project);
    const base = project.git('rev-parse', 'HEAD');
    await redact(project, id);
    commit(project, 'Redact');
    // Another branch drops it at the same time, and whoever merges takes that side.
    project.git('switch', '-qc', 'side', base);
    putLines(project, fixedOf('notes'), linesOf(project, fixedOf('notes')).slice(0, 1));
    commit(project, 'Drop');
    project.git('switch', '-q', 'main');
    project.git('merge', '-q', '--no-edit', '-s', 'ours', 'side');
    putLines(project, fixedOf('notes'), linesOf(project, fixedOf('notes')).slice(0, 1));
    commit(project, 'Drop more');
    const { projectAt, makeFolder } = await import('../support/project.js');
    const clone = projectAt(`${makeFolder()}/clone`);
    project.git('clone', '-q', project.dir, clone.dir);
    await runForge(clone, ['memory', 'restore'], HUMAN);
    await expectGone(clone, id);
    expect((await logOf(clone, 'notes')).map(({ record }) => record.text)).toEqual(['a']);
  });

  it('LTM-19 what was committed before comes back as its tombstone, too', async () => {
    const project = await makeForge();
    const id = await note(project, WORD);
    await note(project, 'b');
    await commitFolded(project);
    const start = project.git('rev-parse', 'HEAD~1');
    await verify(project);
    await redact(project, id);
    commit(project, 'Redact');
    await verify(project);
    project.git('reset', '-q', '--hard', start);
    await forgeJson(project, ['session', 'start']);
    await expectGone(project, id);
  });

  it('LTM-19 what was interrupted behind its audit record is due, in every clone that has that record', async () => {
    const project = await makeForge();
    await note(project, 'a');
    const id = await note(project, WORD);
    commit(project);
    const before = segmentOf(project, 'notes');
    const bytes = project.read(before);
    await redact(project, id);
    for (const segment of segmentsOf(project, 'notes')) rmSync(project.path(segment));
    project.write(before, bytes);
    rmSync(project.path('.git/forge/redacted'));
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems.map(({ code, file }) => [code, file])]).toEqual([
      5,
      [['redacted_back', before]],
    ]);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(traces(project)).toEqual([]);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });
});
