import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Briefing } from '../../src/index.js';
import { fixedClock, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { full } from '../support/full-briefing.js';
import { patch } from '../support/kfrs.js';
import { HUMAN } from '../support/memory.js';
import { type Project, projectAt, run } from '../support/project.js';

describe('forge briefing', () => {
  it('SES-03 keeps the budget, and reports what was cut and what shows it', async () => {
    const project = await full();
    for (const budget of [200, 450]) {
      const cut = await forgeJson<Briefing>(project, ['briefing', '--budget', String(budget)]);
      expect(cut.tokens).toBeLessThanOrEqual(budget);
      for (const { items, command } of cut.omitted) {
        expect(cut.text).toContain(`${items} of `);
        expect(cut.text).toContain(`(${command})`);
        if (command.startsWith('forge '))
          expect((await runForge(project, command.split(' ').slice(1))).exitCode).toBe(0);
      }
      expect(cut.omitted.length).toBeGreaterThan(0);
    }
    const { stdout } = await runForge(project, ['briefing', '--format', 'markdown', '--budget', '300']);
    expect(stdout).toMatch(/\nCut to fit: .*\(`forge knowledge list`\)/);
    expect((await forgeJson<Briefing>(project, ['briefing'])).tokens).toBeLessThanOrEqual(2000);
    await forgeJson(project, ['config', 'set', 'briefing.budget', '400']);
    expect((await forgeJson<Briefing>(project, ['briefing'])).tokens).toBeLessThanOrEqual(400);
  });

  it('SES-03 works in a repository without a commit', async () => {
    const project = await full();
    project.git('checkout', '-q', '--orphan', 'fresh');
    const { sections } = await forgeJson<Briefing>(project, ['briefing', '--budget', '100000']);
    expect(sections.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['focus', 'next', 'features', 'patterns', 'invariants', 'issues']),
    );
    expect(sections.map(({ key }) => key)).not.toContain('commits');
  });

  it('SES-03 finds the last session on a task behind those on others', async () => {
    const project = await makeForge();
    for (const id of ['B', 'G']) await forgeJson(project, ['feature', 'add', id, `Part ${id}`]);
    const work = async (id: string, next: string): Promise<void> => {
      await forgeJson(project, ['session', 'start', id]);
      await patch(project, [{ op: 'add', kind: 'OpenQuestion', text: `Is ${id} done?` }]);
      await patch(project, [{ op: 'resolve', id: 'kfr-1', resolution: `half of ${id}` }]);
      await forgeJson(project, ['log', `wired ${id}`]);
      await forgeJson(project, ['session', 'end', '--next', next]);
    };
    await work('B', 'flush B earlier');
    for (let n = 1; n <= 5; n++) await work('G', `publish G, step ${n}`);
    const { stdout } = await runForge(project, ['start', 'B']);
    expect(stdout).toMatch(
      /Next step\n {2}flush B earlier \(from [^)]+001\)\n {2}publish G, step 5 \(from [^)]+006 on G: Part G\)\n/,
    );
    expect(stdout).toContain('The last session on this task\n  wired B\n');
    expect(stdout).toMatch(/Questions answered\n {2}Is B done\? → half of B\n/);
    await forgeJson(project, ['session', 'end']);
    const [first] = readdirSync(project.path('.forge/memory/sessions')).sort();
    project.write(`.forge/memory/sessions/${first}`, '{"focus": {"task": "B: Part B"');
    expect((await runForge(project, ['start', 'B'])).exitCode).toBe(0);
  });

  it.each([
    [
      'worktrees',
      '002',
      (project: Project, dir: string) => project.git('worktree', 'add', '-q', dir, '-b', 'beside'),
    ],
    ['clones', '001', (project: Project, dir: string) => project.git('clone', '-q', project.dir, dir)],
  ])('SES-03 shows what sessions in two %s left at the same time', async (_, number, makeOther) => {
    const project = await makeForge();
    const beside = { ...project, dir: `${project.dir}-beside` };
    makeOther(project, beside.dir);
    onTestFinished(() => rmSync(beside.dir, { recursive: true, force: true }));
    const world = fixedClock();
    for (const place of [project, beside])
      await forgeJson(place, ['session', 'start', '--task', 't'], { world });
    world.set('2026-03-01T11:00:00.000Z');
    await forgeJson(beside, ['session', 'end', '--next', 'wire the page'], { world });
    world.set('2026-03-01T12:00:00.000Z');
    await forgeJson(project, ['session', 'end', '--next', 'test the form'], { world });
    project.git('fetch', '-q', beside.dir, 'HEAD');
    project.git('merge', '-q', 'FETCH_HEAD');
    const steps = async () => {
      const { sections } = await forgeJson<Briefing>(project, ['briefing'], { world });
      return sections.find(({ key }) => key === 'next')?.items;
    };
    // Sessions of two clones may have the same name.
    const suffix = number === '001' ? '-[0-9a-f]{6}' : '';
    expect((await steps())?.sort()).toEqual([
      expect.stringMatching(new RegExp(`^test the form \\(from 2026-03-01-session-001${suffix}\\)$`)),
      expect.stringMatching(new RegExp(`^wire the page \\(from 2026-03-01-session-${number}${suffix}\\)$`)),
    ]);
    await forgeJson(project, ['session', 'start', '--task', 't'], { world });
    await forgeJson(project, ['session', 'end', '--next', 'release'], { world });
    expect(await steps()).toEqual([expect.stringMatching(/^release /)]);
  });

  it('SES-03 keeps a person’s next step until that person leaves another', async () => {
    const kim = await makeForge();
    const dana = projectAt(`${kim.dir}-dana`);
    kim.git('clone', '-q', kim.dir, dana.dir);
    run(dana.dir, 'git', ['config', 'user.name', 'Dana']);
    onTestFinished(() => rmSync(dana.dir, { recursive: true, force: true }));
    const bring = (): void => {
      kim.git('fetch', '-q', dana.dir, 'HEAD');
      kim.git('merge', '-q', 'FETCH_HEAD');
    };
    await forgeJson(kim, ['session', 'start', '--task', 't']);
    await forgeJson(kim, ['session', 'end', '--next', 'bisect']);
    run(dana.dir, 'git', ['pull', '-q']);
    await forgeJson(dana, ['session', 'start', '--task', 't']);
    await forgeJson(dana, ['feature', 'add', 'L', 'Logo', '--test', 'test -f logo']);
    dana.write('logo', '');
    await runForge(dana, ['trust', '--yes'], HUMAN);
    await forgeJson(dana, ['done', 'L']);
    await forgeJson(dana, ['session', 'end']);
    bring();
    expect((await runForge(kim, [])).stdout).toMatch(/^NEXT +bisect \(L passed since\)$/m);
    await forgeJson(dana, ['session', 'start', '--task', 't']);
    await forgeJson(dana, ['session', 'end', '--next', 'translate']);
    bring();
    expect((await runForge(kim, [])).stdout).toMatch(
      /^NEXT +bisect \(L passed since\) {2}\(1 more: forge briefing\)$/m,
    );
    const steps = async (place: Project) => {
      const { sections } = await forgeJson<Briefing>(place, ['briefing']);
      const { step } = await forgeJson<{ step: string }>(place, []);
      return [step, ...(sections.find(({ key }) => key === 'next')?.items ?? [])].map(
        (text) => text.split(' ')[0],
      );
    };
    expect(await steps(kim)).toEqual(['bisect', 'bisect', 'translate']);
    expect(await steps(dana)).toEqual(['translate', 'translate', 'bisect']);
    // The same person in another clone.
    run(dana.dir, 'git', ['config', 'user.name', kim.git('config', 'user.name').trim()]);
    await forgeJson(dana, ['session', 'start', '--task', 't']);
    await forgeJson(dana, ['session', 'end', '--next', 'release']);
    bring();
    expect(await steps(kim)).toEqual(['release', 'release']);
  });
});
