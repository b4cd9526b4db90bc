import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { check, create, fileOf, statesOf } from '../support/checkpoints.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { HALT, logOf, segmentOf, verify } from '../support/memory.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';

/** A clone that has no memory of its own: no journal, no anchor. */
function clone(project: Project, ...flags: string[]): Project {
  const copy = projectAt(makeFolder());
  project.git('clone', '-q', ...flags, `file://${project.dir}`, copy.dir);
  return copy;
}

const notesOf = async (project: Project): Promise<unknown[]> =>
  (await logOf(project, 'notes')).map(({ record }) => record.text);

/** `main` begun anew, without history, and without the file. */
function rewrite(project: Project, file: string): void {
  project.git('checkout', '-q', '--orphan', 'anew');
  project.git('rm', '-qf', file);
  project.git('commit', '-qm', 'As if it had never been');
  project.git('branch', '-qM', 'anew', 'main');
}

async function withCheckpoint(): Promise<{ project: Project; segment: string }> {
  const project = await makeForge();
  await forgeJson(project, ['note', 'add', 'what was agreed on']);
  const segment = segmentOf(project, 'notes');
  await create(project, 'X');
  return { project, segment };
}

describe('a checkpoint as an anchor of memory', () => {
  it('LTM-04 GIT-05 a record that only a manifest knows is missed: not intact, halted', async () => {
    const { project, segment } = await withCheckpoint();
    rewrite(project, segment);
    const fresh = clone(project, '--single-branch', '--no-tags');
    expect(fresh.has(fileOf('X-v1'))).toBe(true);
    const found = await verify(fresh);
    expect(found).toMatchObject({ status: 'corrupted', exitCode: 4 });
    expect(found.problems).toMatchObject([
      { code: 'anchor', tier: 'notes', message: expect.stringContaining('checkpoint/X-v1 saw a record') },
    ]);
    expect(fresh.has(HALT)).toBe(true);
    expect((await runForge(fresh, ['session', 'start'])).exitCode).toBe(4);
    // The way out is a human's, as for every other anchor.
    await forgeJson(fresh, ['memory', 'repair', '--reason', 'it is nowhere'], { terminal: true });
    expect(await verify(fresh)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it('LTM-04 GIT-05 a record that only a tag of this branch has comes back where history was rewritten', async () => {
    const { project, segment } = await withCheckpoint();
    rewrite(project, segment);
    const fresh = clone(project);
    expect(fresh.has(segment)).toBe(false);
    const found = await verify(fresh);
    expect(found.restored).toMatchObject([{ tier: 'notes', records: 1 }]);
    expect(await notesOf(fresh)).toEqual(['what was agreed on']);
    expect(found.status).toBe('intact');
  });

  it('LTM-04 GIT-05 a tag of another branch, and of one that is behind its remote, take nothing along', async () => {
    const { project } = await withCheckpoint();
    const start = project.git('rev-list', '--max-parents=0', 'HEAD');
    project.git('branch', 'other', 'HEAD~2');
    project.git('switch', '-q', 'other');
    project.git('branch', '-qD', 'main');
    const fresh = clone(project);
    fresh.git('fetch', '-q', '--tags');
    expect(await verify(fresh)).toMatchObject({ status: 'intact', restored: [], problems: [] });
    expect(fresh.git('rev-list', '--max-parents=0', 'HEAD')).toBe(start);

    const { project: origin } = await withCheckpoint();
    const behind = clone(origin);
    behind.git('reset', '-q', '--hard', 'HEAD~2');
    expect(await verify(behind)).toMatchObject({ status: 'intact', restored: [], problems: [] });
  });

  it('LTM-04 GIT-05 a manifest that somebody copied here says nothing of this memory', async () => {
    const { project: other } = await withCheckpoint();
    const project = await makeForge();
    project.write(fileOf('X-v1'), other.read(fileOf('X-v1')));
    expect(await verify(project)).toMatchObject({ status: 'intact', problems: [] });
    expect(await check(project)).toMatchObject({ exitCode: 1, codes: ['unknown'] });
  });

  it('LTM-04 GIT-05 a picked manifest is a note: the tag has the records', async () => {
    const { project } = await withCheckpoint();
    const manifest = project.git('rev-parse', 'HEAD');
    project.git('switch', '-qc', 'other', 'HEAD~2');
    rmSync(project.path('.git/forge'), { recursive: true });
    project.git('cherry-pick', manifest);
    const found = await verify(project);
    expect(found).toMatchObject({ status: 'intact', problems: [] });
    expect(found.notes.join('\n')).toContain('in another branch');
    expect(await statesOf(project)).toEqual(['X-v1 ok']);
  });

  it('LTM-04 GIT-05 what is archived, folded or redacted later is not missed', async () => {
    const { project } = await withCheckpoint();
    const [note] = await logOf(project, 'notes');
    await forgeJson(project, ['memory', 'fold']);
    await forgeJson(project, ['memory', 'redact', note?.id ?? '', '--reason', 'it had to go'], {
      terminal: true,
    });
    project.git('add', '.');
    project.git('commit', '-qm', 'Redacted');
    expect(await verify(project)).toMatchObject({ status: 'intact', problems: [] });
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [] });
  });
});
