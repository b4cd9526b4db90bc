import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeConflict } from '../support/conflicts.js';
import { fixedClock, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makeStarted } from '../support/forge-project.js';
import { commitAll, makeRepository } from '../support/project.js';

interface Where {
  root: string | null;
  next: string[];
  session: { id: string; task: string | null } | null;
}

describe('forge alone', () => {
  it('LAY-05 without a .forge it is not a failure, and explains how to start', async () => {
    const project = makeRepository();
    const { stdout, stderr, exitCode } = await runForge(project, []);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      "forge keeps a memory that coding agents can trust, in a project's .forge/. There is no .forge/ here yet.\n" +
        'Begin with: forge init   (all commands: forge --help)\n',
    );
    expect((await forgeJson<Where>(project, [])).root).toBeNull();
  });

  it('LAY-09 names doctor --fix in a merge, and doctor for markers that somebody committed', async () => {
    const project = await makeConflict();
    const nextOf = async (): Promise<string | undefined> => (await forgeJson<Where>(project, [])).next[0];
    expect(await nextOf()).toBe('forge doctor --fix');
    commitAll(project, 'With markers');
    expect(await nextOf()).toBe('forge doctor');
  });

  it('SES-08 shows the state of the work and three commands that work', async () => {
    const project = await makeForge();
    const world = fixedClock();
    const step = async (): Promise<Where> => {
      const where = await forgeJson<Where>(project, [], { world });
      expect(where.next.length).toBeGreaterThan(0);
      expect(where.next.length).toBeLessThanOrEqual(3);
      return where;
    };
    expect((await step()).next[0]).toMatch(/^forge feature add /);
    await forgeJson(project, ['feature', 'add', '--no-run', 'FORGE-001', 'Login', '--test', 'true'], {
      world,
    });
    await forgeJson(project, ['feature', 'add', 'FORGE-002', 'Logout'], { world });
    const idle = await step();
    expect(idle.next).toEqual(['forge start', 'forge briefing']);
    for (const line of idle.next)
      expect([
        line,
        (await runForge(project, line.replace(/ +#.*/, '').split(' ').slice(1), { world })).exitCode,
      ]).toEqual([line, 0]);

    const running = await step();
    expect(running.session).toMatchObject({ id: '2026-03-01-session-001', task: 'FORGE-001: Login' });
    expect(running.next.slice(0, 2)).toEqual([
      'forge log "what you just did"',
      'forge done FORGE-001   # Login',
    ]);
    expect((await runForge(project, [], { world })).stdout).toBe(`Project   ${project.dir} (main)
Session   2026-03-01-session-001, since 10:00 UTC
Task      FORGE-001: Login
Features  2 features: 2 not_implemented
Health    green

Next:
${running.next.map((line) => `  ${line}`).join('\n')}
`);
  });

  it('KFR-09 VIS-01 reports an open question, with the command that shows it', async () => {
    const project = await makeStarted();
    await forgeJson(project, ['kfr', 'patch', '--add', 'OpenQuestion:is it?']);
    const { stdout } = await runForge(project, []);
    expect(stdout).toMatch(/^Open {6}1 open entry in working memory: forge kfr list$/m);
    expect(stdout).toContain('Next:\n  forge kfr list\n');
  });

  it('LAY-05 explains how to add a .forge/ that this checkout leaves out', async () => {
    const project = await makeForge();
    project.git('status', '-s');
    project.git('sparse-checkout', 'set', '--no-cone', '/src/', '/package.json');
    const { stdout, exitCode } = await runForge(project, []);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/leaves it out\.\nBegin with: git sparse-checkout add \.forge/);
  });

  it('LAY-05 a .forge/ that was deleted comes back from git, not from init', async () => {
    const project = await makeForge();
    commitAll(project);
    rmSync(project.path('.forge'), { recursive: true });
    const { stdout } = await runForge(project, []);
    expect(stdout).toMatch(/its files were removed here\.\nBegin with: git restore \.forge /);
    project.git('restore', '.forge');
    expect(project.git('status', '--porcelain')).toBe('');
  });
});
