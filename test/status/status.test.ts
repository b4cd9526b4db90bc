import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fleet, Where } from '../../src/index.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makeStarted, PROGRESS } from '../support/forge-project.js';
import { makeFolder, makeRepository, type Project, projectAt } from '../support/project.js';
import { commitAll, component, statusOf } from '../support/statuses.js';

describe('forge status', () => {
  it('VIS-01 B-01 shows five lines, each with its reason and, unless green, the command', async () => {
    const project = await makeForge();
    const { stdout, stderr, exitCode } = await runForge(project, ['status']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      [
        'long-term   green    knowledge.json is valid and empty',
        'short-term  neutral  no session is running',
        'features    neutral  there are no features yet',
        'git         neutral  clean outside .forge/; no checkpoint yet',
        'linear      neutral  not set up',
        '',
      ].join('\n'),
    );
    const { components, worst } = await statusOf(project);
    expect(worst).toBe('green');
    const reasons = ['clean outside .forge/; no checkpoint yet'];
    expect(components[3]).toEqual({ name: 'git', color: 'neutral', reasons, fix: [] });
  });

  it('SES-06 B-39 a session ends without its commit when the index is damaged, and how to rebuild it is named', async () => {
    const project = await makeForge();
    commitAll(project);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['log', 'some work']);
    project.write('.git/index', 'garbage');
    const ended = await runForge(project, ['session', 'end']);
    const rebuild = 'rm "$(git rev-parse --git-path index)" && git reset ';
    expect([ended.exitCode, ended.stdout]).toEqual([0, expect.stringContaining(`(${rebuild}`)]);
    const verified = await runForge(project, ['memory', 'verify']);
    expect([verified.exitCode, verified.stderr]).toEqual([6, expect.stringContaining(`\n  → ${rebuild}`)]);
  });

  it('VIS-01 the commits that name an issue are counted without forge’s own', async () => {
    const project = await makeForge();
    const { linear_id: id } = await forgeJson<{ linear_id: string }>(project, 'linear new "Wire the login"');
    const own = ['chore: session end: Wire the login', `[${id}] Checkpoint checkpoint/${id}-v1`];
    for (const subject of own) commitAll(project, subject);
    expect((await component(project, 'linear')).reasons).toEqual(['1 active issue']);
    for (const subject of [`[${id}] A`, `[${id}] B`, ...own]) commitAll(project, subject);
    const reasons = ['1 active issue; each of the last 2 commits names one'];
    expect((await component(project, 'linear')).reasons).toEqual(reasons);
  });

  it('VIS-01 --short is one line for a prompt; nothing outside a forge', async () => {
    const project = await makeForge();
    const short = (...args: string[]) => runForge(project, ['status', '--short', ...args]);
    expect(await short()).toEqual({ stdout: 'forge ●····\n', stderr: '', exitCode: 0 });
    project.write('new.txt', 'new\n');
    await forgeJson(project, ['feature', 'add', 'FORGE-002', 'Logout']);
    await forgeJson(project, ['session', 'start']);
    expect((await short()).stdout).toBe('forge ●●·◐· FORGE-002\n');
    expect((await short('--quiet')).stdout).toBe('forge ●●·◐· FORGE-002\n');
    await forgeJson(project, ['focus', 'set', 'fix: the form']);
    expect((await short()).stdout).toBe('forge ●●·◐·\n');
    const nowhere = makeRepository();
    expect(await runForge(nowhere, ['status', '--short'])).toEqual({ stdout: '', stderr: '', exitCode: 0 });
    expect(await forgeError(nowhere, ['status'])).toMatchObject({ exit: 2, code: 'not_a_forge' });
    expect(await forgeError(nowhere, ['status', '--short'])).toMatchObject({ exit: 2, code: 'not_a_forge' });
  });

  it('VIS-01 FEA-05 names what fails; another run of tests that never failed is not suggested', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'LOOSE', 'Loose', '--test', 'true']);
    await runForge(project, ['feature', 'verify', 'LOOSE']);
    await forgeJson(project, ['feature', 'add', 'RED', 'Red', '--test', 'false', '--no-run']);
    await runForge(project, ['feature', 'verify', 'RED']);
    const { reasons, fix } = await component(project, 'features');
    expect(reasons).toEqual([
      '0 of 2 features pass (0 %); failing: RED',
      'LOOSE: the tests pass, and were never seen to fail',
    ]);
    expect(fix).toEqual(['forge done RED', 'forge feature confirm LOOSE']);
    const { next, waiting } = await forgeJson<{ next: string[]; waiting: string[] }>(project, []);
    expect(next).toContain('forge done RED   # Red');
    expect(waiting).toEqual(['1 feature to confirm: forge feature confirm LOOSE']);
    await forgeJson(project, ['session', 'start', 'LOOSE']);
    const { stdout } = await runForge(project, ['briefing']);
    expect(stdout).toMatch(
      /Status: in_progress \(its tests pass and never failed: .* or a person who runs forge feature confirm/,
    );
  });

  it('VIS-01 forge alone names what waits for a person', async () => {
    const project = await makeForge();
    const waiting = async () => /^For you +(.*)$/m.exec((await runForge(project, [])).stdout)?.[1];
    expect(await waiting()).toBeUndefined();
    await forgeJson(project, ['knowledge', 'add', 'invariant', 'Dates are UTC']);
    await forgeJson(project, ['note', 'add', 'For a person: may a name be empty?']);
    await forgeJson(project, ['note', 'add', 'For tests the port is random']);
    expect(await waiting()).toBe(
      '1 thing to approve: forge trust; 1 note for somebody: forge note list --waiting',
    );
    await runForge(project, ['trust', '--yes'], { terminal: true });
    expect(await waiting()).toBe('1 note for somebody: forge note list --waiting');
    const { notes } = await forgeJson<{ notes: { text: string }[] }>(project, ['note', 'list', '--waiting']);
    expect(notes.map(({ text }) => text)).toEqual(['For a person: may a name be empty?']);
    await forgeJson(project, ['knowledge', 'add', 'invariant', 'Names are not empty']);
    project.write('.forge/skills/deploy/skill.toml', '[skill]\nname = "deploy"\ndescription = "Deploy"\n');
    expect(await waiting()).toMatch(/^2 things to approve: forge trust; /);
  });

  it('VIS-01 a missing progress.txt is red; without any time, or dated ahead, it is yellow', async () => {
    const project = await makeStarted();
    rmSync(project.path(PROGRESS));
    const gone = {
      color: 'red',
      reasons: ['progress.txt is missing'],
      fix: ['forge log "what you just did"'],
    };
    expect(await component(project, 'short-term')).toMatchObject(gone);
    // What it names makes it good.
    await forgeJson(project, ['progress', 'add', 'x']);
    expect((await component(project, 'short-term')).color).toBe('green');
    for (const text of ['', 'free text\n', '=== FORGE Session 2999-01-01 ===\n\n[10:00] later\n']) {
      project.write(PROGRESS, text);
      const { color, reasons } = await component(project, 'short-term');
      expect([text, color, reasons[0]]).toEqual([text, 'yellow', expect.stringMatching(/age is unknown$/)]);
    }
  });
});

describe('forge', () => {
  const where = async (project: Pick<Project, 'dir'>) => forgeJson<Where>(project, []);

  it('VIS-01 KFR-09 EVT-03 shows what waits in another worktree, and forge fleet who works there', async () => {
    const project = await makeForge();
    commitAll(project, 'forge');
    const other = projectAt(join(makeFolder(), "it's other"));
    project.git('worktree', 'add', '-q', '-b', 'beside', other.dir);
    expect((await where(project)).waiting).toEqual([]);
    await forgeJson(other, ['start', '--task', 'Wire the login']);
    await forgeJson(other, ['kfr', 'patch', '--add', 'OpenQuestion:which cookie?']);
    await forgeJson(other, ['kfr', 'patch', '--park', 'kfr-1=Ada decides']);
    const [line = ''] = (await where(project)).waiting;
    expect(line).toMatch(/^1 entry waits for a person: forge -C /);
    const { stdout } = await runForge(project, line.replace('1 entry waits for a person: forge ', ''));
    expect(stdout).toContain('which cookie?');
    expect((await where(other)).waiting).toEqual(['1 entry waits for a person: forge kfr list']);
    const { rows } = await forgeJson<Fleet>(project, ['fleet']);
    expect(rows).toMatchObject([
      { own: false, folder: "it's other", branch: 'beside', task: 'Wire the login', health: 'working' },
    ]);
  });

  it('VIS-01 LTM-05 shows damage before a verification halts memory', async () => {
    const project = await makeForge();
    await forgeJson(project, 'memory record --task A --exit-code 1 --classification FAILURE');
    commitAll(project, 'A record');
    const [file = ''] = project.git('ls-files', '.forge/memory/ledger/solo-*').trim().split('\n');
    project.write(file, project.read(file).replace('FAILURE', 'SUCCESS'));
    const { halted, problems, next } = await where(project);
    expect([halted, next[0]]).toEqual([null, 'forge memory verify']);
    expect(problems).toEqual([expect.stringContaining('the record was changed')]);
  });
});
