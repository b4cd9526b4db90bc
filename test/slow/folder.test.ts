import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge, makePlainForge, makeStarted, PROGRESS } from '../support/forge-project.js';
import { changedPaths, commitAll, makePlainProject, makeRepository, projectAt } from '../support/project.js';

describe('finding the .forge folder', () => {
  it('LAY-05 from any subfolder, and with -C and FORGE_DIR from elsewhere', async () => {
    const project = await makeForge();
    mkdirSync(project.path('src/deep/er'), { recursive: true });
    const elsewhere = makePlainProject();
    const where = async (dir: string, args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<unknown> =>
      (await forgeJson<{ root: string }>(projectAt(dir), args, { env })).root;
    expect(await where(project.path('src/deep/er'))).toBe(project.dir);
    expect(await where(project.path('.forge/memory'))).toBe(project.dir);
    expect(await where(elsewhere.dir, ['-C', project.path('src')])).toBe(project.dir);
    expect(await where(project.path('src'), ['-C', '..'])).toBe(project.dir);
    expect(await where(elsewhere.dir, [], { FORGE_DIR: project.dir })).toBe(project.dir);
    expect(await where(elsewhere.dir, [], { FORGE_DIR: project.path('.forge') })).toBe(project.dir);
  });

  it('LAY-05 outside one every command ends with exit 2 and names forge init', async () => {
    const project = makeRepository();
    for (const args of [
      ...['briefing', 'next', 'feature list', 'feature add A a', 'knowledge list', 'progress add x'],
      ...['focus show', 'session start', 'config list', 'trust --show'],
    ])
      expect(await forgeError(project, args)).toMatchObject({
        exitCode: 2,
        kind: 'usage',
        code: 'not_a_forge',
        message: expect.stringContaining(project.dir),
        hint: 'forge init',
      });
    const { stderr, stdout } = await runForge(project, ['briefing']);
    expect([stdout, stderr]).toEqual(['', expect.stringMatching(/→ forge init\n$/)]);
    expect(changedPaths(project)).toEqual([]);
  });

  it('LAY-05 without git everything but the commit works, with a note', async () => {
    const project = await makePlainForge();
    const where = await forgeJson<{ git: boolean; branch: string | null }>(project, []);
    expect([where.git, where.branch]).toEqual([false, null]);
    expect((await runForge(project, [])).stdout).toContain('no git');
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['progress', 'add', 'one']);
    const ended = await forgeJson<{ commit?: string; commit_skipped: string; archive: string }>(
      project,
      'session end',
    );
    expect(ended.commit).toBeUndefined();
    expect(ended.commit_skipped).toMatch(/not a git repository/);
    expect(project.read(ended.archive)).toMatch(/\] one",\n/);
  });

  it('LAY-05 -C and FORGE_DIR must name an existing folder', async () => {
    const project = await makeForge();
    await expectError(project, ['-C', 'nowhere', 'next'], '2 folder.missing');
    await expectError(project, ['-C', 'package.json', 'next'], '2');
    expect(await forgeError(project, ['next'], { env: { FORGE_DIR: '/nowhere' } })).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('/nowhere'),
    });
  });
});

describe('committed files', () => {
  it('LAY-07 git ignores machine-local files and sees the team’s', async () => {
    const project = await makeStarted();
    await forgeJson(project, ['feature', 'add', 'FORGE-001', 'Login']);
    for (const path of `local/index.db git/commits.log memory/artifacts/code/triv_a_x.rs memory/sessions/x/y`.split(
      /\s+/,
    ))
      project.write(`.forge/${path}`, 'x\n');
    project.write('.forge/memory/long-term/.features.json.tmp', 'half');

    const ignored = (path: string): boolean => {
      try {
        project.git('check-ignore', '-q', '--', path);
        return true;
      } catch {
        return false;
      }
    };
    const local = `local/index.db memory/short-term/progress.txt memory/short-term/focus.json
      memory/short-term/session.json git/commits.log git/branches.json
      memory/long-term/.features.json.tmp memory/long-term/features.json
      memory/long-term/knowledge.json linear/active.json memory/execution.jsonl`.split(/\s+/);
    const team = `config.toml init.sh .gitignore .gitattributes memory/long-term/features.d/A.json
      memory/artifacts/code/triv_a_x.rs memory/sessions/x/y linear/active.d/APP-1.json
      git/checkpoints/SX9-1-v1.json memory/ledger/solo-00000000.jsonl skills/qa-review/skill.toml`.split(
      /\s+/,
    );
    expect(local.filter((path) => !ignored(`.forge/${path}`))).toEqual([]);
    expect(team.filter((path) => ignored(`.forge/${path}`))).toEqual([]);
    expect(changedPaths(project).sort()).toEqual([
      '?? .forge/memory/artifacts/code/triv_a_x.rs',
      '?? .forge/memory/long-term/features.d/FORGE-001.json',
      '?? .forge/memory/sessions/x/y',
    ]);
    // Locks, ids and approvals are in the git dir and the home: a clean-up of ignored files takes none of them.
    project.git('clean', '-fdxq');
    expect(project.has('.git/forge')).toBe(true);
    expect(project.has(PROGRESS)).toBe(false);
    expect((await runForge(project, ['init'])).exitCode).toBe(0);
    expect(project.has(PROGRESS)).toBe(true);
  });

  it('LAY-07 a clone has the team’s files byte for byte, with git set to CRLF too', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'FORGE-001', 'Login']);
    project.write('.forge/memory/execution.jsonl', '{"a":1}\n');
    commitAll(project, 'More');
    const clone = makePlainProject();
    clone.git('-c', 'core.autocrlf=true', 'clone', '-q', '-c', 'core.autocrlf=true', project.dir, 'here');
    for (const path of project.git('ls-files', '.forge').split('\n'))
      expect([path, clone.read(`here/${path}`)]).toEqual([path, project.read(path)]);
    expect(clone.has(`here/${PROGRESS}`)).toBe(false);
    const here = projectAt(clone.path('here'));
    expect((await forgeJson<{ root: string }>(here, [])).root).toBe(here.dir);
    expect(here.has(CONFIG)).toBe(true);
  });
});
