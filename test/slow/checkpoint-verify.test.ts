import { describe, expect, it } from 'vitest';
import { encodeDocument } from '../../src/core/schema.js';
import { openForge, type RecoveryPlan } from '../../src/index.js';
import { check, contentsOf, create, fileOf, list, type Made, statesOf } from '../support/checkpoints.js';
import { cloneOf } from '../support/ci.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { containerOf, logOf, record, verify } from '../support/memory.js';
import { commitAll, type Project } from '../support/project.js';

describe('forge checkpoint verify', () => {
  const damages: [what: string, code: string, damage: (project: Project, made: Made) => void][] = [
    [
      'the tag moved',
      'moved',
      (project) => {
        const contents = contentsOf(project, 'checkpoint/X-v1');
        project.git('tag', '-f', '-a', 'checkpoint/X-v1', '-m', contents, '--cleanup=verbatim', 'HEAD');
      },
    ],
    [
      'the tag was made lightweight',
      'unverified',
      (project, { commit }) => project.git('tag', '-f', 'checkpoint/X-v1', commit),
    ],
    [
      'the manifest is half written',
      'damaged',
      (project) => project.write(fileOf('X-v1'), project.read(fileOf('X-v1')).slice(0, 90)),
    ],
  ];
  it.each(damages)('B-108 GIT-05 %s: %s, exit 1', async (what, code, damage) => {
    const project = await makeForge();
    await record(project);
    const made = await create(project, 'X');
    project.write('src/app.js', 'export const answer = 43;\n');
    commitAll(project, 'More');
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [], checkpoints: ['checkpoint/X-v1'] });
    damage(project, made);
    const found = await check(project);
    expect([found.exitCode, found.codes]).toEqual([1, [code]]);
    for (const { hint, tag } of found.findings)
      expect([hint.length > 5, tag.startsWith('checkpoint/')]).toEqual([true, true]);
    // None of it hinders the work, or is gone back to.
    expect((await runForge(project, ['note', 'add', 'goes on'])).exitCode).toBe(0);
    const rows = await list(project);
    expect(rows.filter(({ state, can_rollback_to }) => state !== 'ok' && can_rollback_to)).toEqual([]);
    if (what === 'the manifest is half written')
      expect((await runForge(project, ['doctor'])).stdout).toContain(`git restore --source=`);
  });

  it('B-108 GIT-05 tag and manifest recreated together for an untested commit: exit 1', async () => {
    const project = await makeForge();
    const made = await create(project, 'X');
    project.write('src/app.js', 'never tested\n');
    commitAll(project, 'Untested');
    const { manifest_commit: _, ...manifest } = made;
    const commit = project.git('rev-parse', 'HEAD');
    const forged = encodeDocument({ ...manifest, commit }).toString();
    project.write(fileOf('X-v1'), forged);
    project.git('tag', '-f', '-a', '--cleanup=verbatim', '-m', `x\n\n${forged}`, 'checkpoint/X-v1', commit);
    expect(await check(project, ['X-v1'])).toMatchObject({ exitCode: 1, codes: ['evidence'] });
  });

  it('GIT-05 --run reruns approved commands, only if the files are the checkpoint’s', async () => {
    const project = await makeForge();
    project.write('.gitignore', 'switch\n');
    project.git('add', '.gitignore');
    project.git('commit', '-qm', 'Ignore');
    await forgeJson(project, ['checkpoint', 'create', 'X', '--verify', 'test ! -e switch']);
    await forgeJson(project, ['note', 'add', 'memory goes on']);
    expect(await check(project, ['--run'])).toMatchObject({ exitCode: 0, evidence: [{ exit_code: 0 }] });
    project.write('switch', '');
    expect(await check(project, ['X-v1', '--run'])).toMatchObject({ exitCode: 1, codes: ['run'] });
    project.write('src/app.js', 'changed\n');
    expect(await forgeError(project, ['checkpoint', 'verify', '--run'])).toMatchObject({
      exitCode: 3,
      code: 'checkpoint.elsewhere',
      hint: expect.stringContaining('git worktree add'),
    });
    project.git('checkout', '-q', 'src/app.js');
    await forgeJson(project, ['trust', '--revoke'], { terminal: true });
    const error = await forgeError(project, ['checkpoint', 'verify', '--run']);
    expect([error.exitCode, error.code]).toEqual([3, 'trust.needed']);
    // forge trust lists the commands of the settings, not those of a checkpoint.
    expect(error.hint).toMatch(/^forge trust {3}# after putting the command into \[checkpoint\] verify/);
    const { checks } = await forgeJson<RecoveryPlan>(project, 'recover --plan');
    expect(checks[0]?.why).toBe(`test '!' -e switch: not approved on this machine: ${error.hint}`);
  });
});

describe('forge checkpoint list and show', () => {
  it('GIT-05 marks a tag that forge did not make', async () => {
    const project = await makeForge();
    project.git('tag', '-a', 'checkpoint/SX9-123-v1', '-m', 'Working ATLAS-NATS connection');
    project.git('tag', 'checkpoint/other');
    expect(await statesOf(project)).toEqual(['SX9-123-v1 unverified']);
  });

  it('GIT-05 the library returns the latest usable checkpoint', async () => {
    const project = await makeForge();
    const latest = async (): Promise<string | undefined> =>
      (await openForge(project.dir).checkpoint.latest())?.name;
    expect(await latest()).toBeUndefined();
    await create(project, 'A');
    await create(project, 'B');
    expect(await latest()).toBe('B-v1');
    project.git('tag', '-f', 'checkpoint/B-v1', 'HEAD');
    expect(await latest()).toBe('A-v1');
    // One of a branch that HEAD does not lead to comes behind those of this one.
    project.git('switch', '-qc', 'side');
    await forgeJson(project, ['note', 'add', 'there']);
    await create(project, 'C');
    project.git('switch', '-q', 'main');
    expect(await latest()).toBe('A-v1');
  });
});

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
    // It has no memory of its own: no journal, no anchor.
    const fresh = cloneOf(project);
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
    commitAll(project, 'Redacted');
    expect(await verify(project)).toMatchObject({ status: 'intact', problems: [] });
    expect(await check(project)).toMatchObject({ exitCode: 0, codes: [] });
  });
});
