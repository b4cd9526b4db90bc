import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openForge, systemWorld } from '../../src/index.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge, makeStarted, SESSION, snapshot } from '../support/forge-project.js';
import { commitAll, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

describe('personal data that does not halt', () => {
  it('LTM-13 halts if the project asks for it; the project cannot ask for less', async () => {
    const project = await makeStarted();
    expect(await forgeError(project, ['config', 'set', 'guard.off', 'true'])).toMatchObject({ exitCode: 3 });
    expect(await forgeError(project, ['config', 'set', 'guard.halt_on', 'none'])).toMatchObject({
      exitCode: 2,
    });
    await forgeJson(project, ['config', 'set', 'guard.halt_on', 'all']);
    expect(project.read(CONFIG)).toContain('halt_on = "all"');
    expect((await runForge(project, ['progress', 'add', SAMPLES.email()])).exitCode).toBe(5);
    expect(await forgeError(project, ['progress', 'add', 'x'])).toMatchObject({ exitCode: 4 });
  });
});

describe('pending writes', () => {
  it('LTM-13 LTM-16 a cycle with a secret is not queued for later', async () => {
    const project = await makeForge();
    const secret = SAMPLES.secret();
    chmodSync(project.path('.forge/memory/ledger'), 0o555);
    const stdin = JSON.stringify({ task_id: 'A', exit_code: 0, log: `token ${secret}` });
    const { exitCode, stderr } = await runForge(project, ['memory', 'record', '-'], { stdin });
    chmodSync(project.path('.forge/memory/ledger'), 0o755);
    expect([5, 6]).toContain(exitCode);
    expect(stderr).not.toContain(secret);
    expect(JSON.stringify(snapshot(project.dir))).not.toContain(secret);
    expect(run(project.dir, 'grep', ['-rlF', secret, '.']).stdout).toBe('');
  });

  it('LTM-13 a session end with a secret in a learning leaves nothing half done', async () => {
    const project = await makeStarted();
    const secret = SAMPLES.secret();
    const forge = openForge(project.dir, { world: systemWorld(process.env, false) });
    await expect(forge.session.end({ learned: [`use ${secret}`] })).rejects.toMatchObject({ kind: 'secret' });
    expect(project.has(SESSION)).toBe(true);
    expect(run(project.dir, 'grep', ['-rlF', secret, '.']).stdout).toBe('');
    await forgeJson(project, ['session', 'end']);
  });
});

describe('a secret in disguise', () => {
  const secret = SAMPLES.secret();
  const half = Math.floor(secret.length / 2);
  it('B-106 is found when it is split over two fields of a record', async () => {
    const project = await makeForge();
    const flags = [secret.slice(0, half), secret.slice(half)];
    const signals = { one: secret.slice(0, half), two: secret.slice(half) };
    for (const split of [{ regression_flags: flags }, { quality_signals: signals }]) {
      const stdin = JSON.stringify({ task_id: 'A', exit_code: 0, ...split });
      const error = await forgeError(project, ['memory', 'record', '-'], { stdin });
      expect(error).toMatchObject({ exitCode: 5, code: 'guard.secret' });
    }
  });
});

describe('content written by others', () => {
  it('LTM-13 content of HEAD does not block a session', async () => {
    const project = await makeForge();
    project.write('.forge/skills/old.md', `Ask ${SAMPLES.email()}\n`);
    commitAll(project, 'Old');
    await forgeJson(project, ['session', 'start']);
    project.write('.forge/skills/old.md', `${project.read('.forge/skills/old.md')}more\n`);
    await forgeJson(project, ['session', 'end']);
  });
});
