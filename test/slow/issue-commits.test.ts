import { describe, expect, it } from 'vitest';
import { create } from '../support/checkpoints.js';
import { forgeJson } from '../support/forge.js';
import { ISSUES, makeForge } from '../support/forge-project.js';
import { MESSAGE } from '../support/message.js';
import { changedPaths, type Project } from '../support/project.js';

const HISTORY = '.forge/linear/history';

interface Refs {
  branch: string | null;
  commits: string[];
}

function putIssues(project: Project, ...ids: string[]): void {
  const issues = ids.map((linear_id) => ({ linear_id, title: `Title of ${linear_id}` }));
  for (const issue of issues)
    project.write(`.forge/linear/active.d/${issue.linear_id}.json`, `${JSON.stringify(issue, null, 2)}\n`);
  project.git('add', '-A');
  project.git('commit', '-qm', 'Plan');
}

const refsOf = (project: Project, id: string): Refs | undefined =>
  project
    .json<{ issues: { linear_id: string; git_refs?: Refs }[] }>(ISSUES)
    .issues.find(({ linear_id }) => linear_id === id)?.git_refs;

function commit(project: Project, message: string, ...flags: string[]): string {
  project.git('commit', '-q', '--allow-empty', '-m', message, ...flags);
  return project.git('rev-parse', 'HEAD');
}

async function session(project: Project, ...flags: string[]): Promise<string[]> {
  await forgeJson(project, ['session', 'start']);
  return (await forgeJson<{ warnings: string[] }>(project, ['session', 'end', ...flags])).warnings;
}

describe('commits that name an issue', () => {
  it('LIN-04 are in its git_refs at the end of a session, oldest first, and nothing is left to commit', async () => {
    const project = await makeForge();
    putIssues(project, 'SX9-123', 'SX9-12', 'SX9-9');
    const own = commit(project, MESSAGE);
    const plain = commit(project, 'Mend the login (SX9-123)');
    commit(project, '[FORGE] About nothing, and SX9-1234, xSX9-12, SX9-12x');
    const traced = commit(
      project,
      MESSAGE.replace('[SX9-123]', '[FORGE]').replace('Linear: SX9-123', 'Linear: SX9-12'),
    );
    const before = project.read(ISSUES);
    expect([project.read(ISSUES), changedPaths(project)]).toEqual([before, []]);
    await session(project);
    expect(refsOf(project, 'SX9-123')).toEqual({ branch: null, commits: [own, plain] });
    expect(refsOf(project, 'SX9-12')).toEqual({ branch: null, commits: [traced] });
    expect(refsOf(project, 'SX9-9')).toBeUndefined();
    expect(changedPaths(project)).toEqual([]);
    expect(project.git('show', 'HEAD:.forge/linear/active.d/SX9-123.json')).toContain(plain);
    // A branch and other fields of git_refs stay.
    project.write(
      ISSUES,
      project.read(ISSUES).replace(/("SX9-123"[^}]*"branch": )null/, '$1"feature/x", "more": 1'),
    );
    const last = commit(project, MESSAGE);
    await session(project);
    const refs = { branch: 'feature/x', more: 1, commits: [own, plain, last] };
    expect([refsOf(project, 'SX9-123'), refsOf(project, 'SX9-12')?.commits]).toEqual([refs, [traced]]);
  });

  it('LIN-04 made by forge commit, and by the end of a session itself, are found the next time', async () => {
    const project = await makeForge();
    putIssues(project, 'SX9-123');
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['focus', 'set', '--task', 'Login', '--issue', 'SX9-123']);
    project.write('src/login.js', '1\n');
    project.git('add', '.');
    const { commit: made } = await forgeJson<{ commit: { hash: string } }>(project, ['commit', '--why', 'x']);
    expect(changedPaths(project)).toEqual([]);
    const ended = await forgeJson<{ commit: { hash: string } }>(project, ['session', 'end']);
    expect(refsOf(project, 'SX9-123')?.commits).toEqual([made.hash]);
    await session(project);
    expect(refsOf(project, 'SX9-123')?.commits).toEqual([made.hash, ended.commit.hash]);
  });

  it('LIN-04 a checkpoint includes them', async () => {
    const project = await makeForge();
    putIssues(project, 'SX9-123');
    const own = commit(project, MESSAGE);
    const made = await create(project, 'SX9-123');
    expect(refsOf(project, 'SX9-123')?.commits).toEqual([own]);
    expect(project.git('show', `${made.commit}:.forge/linear/active.d/SX9-123.json`)).toContain(own);
    expect(changedPaths(project)).toEqual([]);
  });

  it('LIN-04 of a done issue go to its file in history', async () => {
    const project = await makeForge();
    const done = (id: string) => `${HISTORY}/${id}.json`;
    for (const id of ['SX9-123', 'SX9-7'])
      project.write(
        done(id),
        `${JSON.stringify({ schema_version: '1.0', linear_id: id, title: 't', state: 'done' })}\n`,
      );
    project.git('add', '.');
    project.git('commit', '-qm', 'Done');
    const own = commit(project, MESSAGE);
    const untouched = project.read(done('SX9-7'));
    await session(project);
    expect(project.json(done('SX9-123'))).toMatchObject({ state: 'done', git_refs: { commits: [own] } });
    expect(project.read(done('SX9-7'))).toBe(untouched);
  });
});
