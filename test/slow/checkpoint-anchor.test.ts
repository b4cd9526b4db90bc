import { describe, expect, it } from 'vitest';
import { check, create } from '../support/checkpoints.js';
import { forgeJson } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { containerOf, logOf, verify } from '../support/memory.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';

/** A clone that has no memory of its own: no journal, no anchor. */
function clone(project: Project, ...flags: string[]): Project {
  const copy = projectAt(makeFolder());
  project.git('clone', '-q', ...flags, `file://${project.dir}`, copy.dir);
  return copy;
}

const notesOf = async (project: Project): Promise<unknown[]> =>
  (await logOf(project, 'note')).map(({ record }) => record.text);

/** `main` begun anew, without history, and without the file. */
function rewrite(project: Project, file: string): void {
  project.git('checkout', '-q', '--orphan', 'anew');
  project.git('rm', '-qf', file);
  project.git('commit', '-qm', 'As if it had never been');
  project.git('branch', '-qM', 'anew', 'main');
}

async function withCheckpoint(): Promise<{ project: Project; file: string }> {
  const project = await makeForge();
  await forgeJson(project, ['note', 'add', 'what was agreed on']);
  const file = containerOf(project);
  await create(project, 'X');
  return { project, file };
}

describe('memory and checkpoints', () => {
  it('LTM-04 GIT-05 a fresh clone gets a rewritten history without the records; the tag keeps them', async () => {
    const { project, file } = await withCheckpoint();
    rewrite(project, file);
    const fresh = clone(project);
    expect(fresh.has(file)).toBe(false);
    expect(await verify(fresh)).toMatchObject({ status: 'intact', restored: [], problems: [] });
    fresh.git('checkout', '-q', 'checkpoint/X-v1', '--', file);
    expect(await notesOf(fresh)).toEqual(['what was agreed on']);
    expect(await verify(fresh)).toMatchObject({ status: 'intact', problems: [] });
  });

  it('LTM-04 GIT-05 in the original clone they are restored when the tag is missing too', async () => {
    const { project, file } = await withCheckpoint();
    rewrite(project, file);
    expect((await verify(project)).notes.join()).toContain('not in this tree');
    project.git('tag', '-d', 'checkpoint/X-v1');
    project.git('reflog', 'expire', '--expire=now', '--all');
    expect((await verify(project)).restored).toHaveLength(1);
    expect(await notesOf(project)).toEqual(['what was agreed on']);
  });

  it('LTM-04 GIT-05 does not report records that were redacted later as missing', async () => {
    const { project } = await withCheckpoint();
    const [note] = await logOf(project, 'note');
    await forgeJson(project, ['memory', 'redact', note?.id ?? '', '--reason', 'it had to go'], {
      terminal: true,
    });
    project.git('add', '.');
    project.git('commit', '-qm', 'Redacted');
    expect(await verify(project)).toMatchObject({ status: 'intact', problems: [] });
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [] });
  });
});
