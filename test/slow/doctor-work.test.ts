import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Diagnosis, StartedSession, Where } from '../../src/index.js';
import { forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { containerOf, record, verify } from '../support/memory.js';
import { makeFolder, type Project } from '../support/project.js';

const SCRIPT = '.git/forge/hook';
const RECOVER = '.git/forge/recover.json';

async function doctor(project: Project): Promise<Diagnosis['findings']> {
  return (JSON.parse((await runForge(project, ['doctor', '--json'])).stdout) as Diagnosis).findings;
}

const found = async (project: Project): Promise<string[]> =>
  (await doctor(project)).map(
    ({ severity, observed, commands }) => `${severity}: ${observed} → ${commands[0]}`,
  );

/** Memory that was damaged and is intact again. */
async function waiting(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['hooks', 'install']);
  await record(project);
  const file = containerOf(project);
  const whole = project.read(file);
  project.write(file, whole.replace('"task_id":"A"', '"task_id":"Z"'));
  await verify(project);
  project.write(file, whole);
  await verify(project);
  return project;
}

const start = (project: Project, options: RunOptions = {}): Promise<StartedSession> =>
  forgeJson(project, ['session', 'start'], options);

describe('work that waits for a human', () => {
  it('LTM-05 is reported by forge, doctor and each session start until a human has reviewed it', async () => {
    const project = await waiting();
    const said = /memory was damaged and is intact again .* wait for a human's review/i;
    const [finding] = await doctor(project);
    expect(finding).toMatchObject({
      severity: 'blocking',
      observed: expect.stringMatching(said),
      commands: ['forge memory override acknowledge --reason "TEXT"'],
    });
    for (let i = 0; i < 2; i++) {
      const { warnings } = await start(project);
      expect(warnings.filter((text) => said.test(text)).length).toBe(1);
      expect(warnings.join()).toContain('forge memory override acknowledge --reason "TEXT"');
    }
    const where = await forgeJson<Where>(project, []);
    expect(where).toMatchObject({ paused: expect.stringMatching(said), recovering: false });
    expect(where.next.slice(0, 1)).toEqual(finding?.commands);
    expect((await runForge(project, [])).stdout).toMatch(/^Paused {4}Memory was damaged/m);
    expect((await runForge(project, ['cycle', 'true'])).exitCode).toBe(3);

    await forgeJson(project, ['memory', 'override', 'acknowledge', '--reason', 'seen'], { terminal: true });
    expect(await found(project)).toEqual([]);
    expect((await start(project)).warnings).toEqual([]);
    expect((await forgeJson<Where>(project, [])).paused).toBeNull();
  });
});

describe('a rollback that waits', () => {
  it('GIT-06 is reported by forge, doctor and session start, with the command that completes it', async () => {
    const project = await makeForge();
    await forgeJson(project, ['hooks', 'install']);
    project.write(RECOVER, '{ "half": ');
    expect(await found(project)).toEqual([
      'blocking: a rollback or its undo was interrupted → forge recover',
    ]);
    const where = await forgeJson<Where>(project, []);
    expect([where.recovering, where.next[0]]).toEqual([true, 'forge recover']);
    expect((await runForge(project, [])).stdout).toMatch(/^Recovery {2}a rollback/m);
    expect((await start(project)).warnings.join()).toMatch(
      /A recovery was interrupted and waits: .*forge recover/,
    );
  });
});

describe('forge doctor about git hooks', () => {
  it('GIT-03 reports missing hooks and missing programs', async () => {
    const project = await makeForge();
    expect(await found(project)).toEqual(["advisory: git's hooks are not installed → forge hooks install"]);
    await forgeJson(project, ['hooks', 'install']);
    expect(await found(project)).toEqual([]);
    const script = project.read(SCRIPT);
    for (const name of ['forge_node', 'forge_program']) {
      project.write(SCRIPT, script.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}='/gone/it'\\''s'`));
      expect(await found(project)).toEqual([
        "degraded: git's hooks start /gone/it's, which does not exist → forge hooks install",
      ]);
    }
    project.write(SCRIPT, script);
    rmSync(project.path('.git/hooks/commit-msg'));
    expect(await found(project)).toEqual(['degraded: commit-msg: not installed → forge hooks install']);
    rmSync(project.path(SCRIPT));
    expect(await found(project)).toContainEqual(
      expect.stringMatching(
        /^degraded: git's hooks start \S+hook, which does not exist → forge hooks install$/,
      ),
    );
    await forgeJson(project, ['hooks', 'install']);
    expect(await found(project)).toEqual([]);
  });

  it('GIT-03 reports nothing when they are turned off, and why they cannot be installed', async () => {
    const project = await makeForge();
    project.git('config', 'core.hooksPath', makeFolder());
    expect(await found(project)).toEqual([
      expect.stringMatching(
        /^advisory: git's hooks are not installed: .* belongs to more than this repository → forge hooks status$/,
      ),
    ]);
    await forgeJson(project, ['config', 'set', 'commit.enforce', 'off']);
    expect(await found(project)).toEqual([]);
  });
});
