import { rmSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Where } from '../../src/status/where.js';
import { claude } from '../support/agent-hooks.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import {
  differences,
  FOCUS,
  makeForge,
  makeStarted,
  PROGRESS,
  SESSION,
  snapshot,
} from '../support/forge-project.js';
import { HALT, HUMAN, type Logged, logOf, verify } from '../support/memory.js';
import { commitAll, makeFolder, type Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const breaches = async (project: Project): Promise<Logged[]> =>
  (await logOf(project, 'audit')).filter(({ kind }) => kind === 'breach');
const acknowledge = ['memory', 'override', 'acknowledge', '--reason', 'it was revoked'];

describe('personal data that does not halt', () => {
  it.each(['email', 'phone', 'ip'] as const)(
    'LTM-13 %s is refused with the placeholder to write, or replaced',
    async (name) => {
      const project = await makeStarted();
      const text = `see ${SAMPLES[name]()} there`;
      const before = project.read(PROGRESS);
      const error = await forgeError(project, ['progress', 'add', text]);
      expect(error).toMatchObject({ exitCode: 5, kind: 'secret', code: `guard.${name}` });
      expect(error.hint).toContain(`Write <${name}> instead, or add --redact. `);
      expect(project.read(PROGRESS)).toBe(before);
      expect(project.has(HALT)).toBe(false);
      for (const how of [{ args: [text] }, { args: ['-'], stdin: text }]) {
        const options = how.stdin === undefined ? {} : { stdin: how.stdin };
        const { exitCode } = await runForge(project, ['progress', 'add', ...how.args, '--redact'], options);
        expect(exitCode).toBe(0);
        expect(project.read(PROGRESS).trimEnd().split('\n').at(-1)).toMatch(
          new RegExp(`see <${name}> there$`),
        );
      }
    },
  );
});

describe('a secret that was refused', () => {
  it('LTM-13 is recorded by rule, place and fingerprint, and halts nothing', async () => {
    const project = await makeStarted();
    const [one, other] = [SAMPLES.secret(), SAMPLES.secret()];
    for (const text of [one, other, one]) {
      const error = await forgeError(project, ['note', 'add', text]);
      expect(error).toMatchObject({
        exitCode: 5,
        code: 'guard.secret',
        message: expect.stringContaining('gitlab-pat'),
      });
    }
    const prints = (await breaches(project)).map(({ record: { critical, findings } }) => {
      expect(critical).toBe(false);
      const [finding, ...more] = findings as { fingerprint: string }[];
      expect(more).toEqual([]);
      expect(finding).toMatchObject({ rule: 'gitlab-pat', class: 'secret', field: 'argument 1' });
      return finding?.fingerprint;
    });
    expect(prints).toEqual([prints[0], prints[1], prints[0]]);
    expect(prints[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(prints[1]).not.toBe(prints[0]);
    expect(project.has(HALT)).toBe(false);
    await forgeJson(project, ['progress', 'add', 'x']);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it('LTM-13 refused three times in one session pauses it, which people and agents see, until a human looks', async () => {
    const project = await makeStarted();
    const secret = SAMPLES.secret();
    for (let times = 0; times < 3; times++) await expectError(project, ['note', 'add', secret], '5');
    const { paused, next } = await forgeJson<Where>(project, []);
    expect(paused).toMatch(/^The session is paused: the guard refused the same text three times/);
    expect(next).toEqual([expect.stringMatching(/^forge guard allow [0-9a-f]{16} --reason "TEXT"/)]);
    const [fix = ''] = next;
    expect((await runForge(project, ['status'])).stdout).toMatch(/^short-term +red +The session is paused/m);
    expect((await runForge(project, ['briefing'])).stdout.split('\n')[1]).toBe(`! ${paused}: ${fix}`);
    expect(JSON.parse((await claude(project, 'stop')).stdout)).toEqual({
      systemMessage: `forge: ${paused}: ${fix}`,
    });
    await expectError(project, ['progress', 'add', 'x'], '3 session.paused');
    expect((await runForge(project, ['progress', 'show'])).exitCode).toBe(0);
    const { stderr, exitCode } = await runForge(project, ['progress', 'add', 'I looked'], HUMAN);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('refused the same text three times')]);
    await forgeJson(project, ['progress', 'add', 'x']);
  });

  it('LTM-13 in stored memory halts every clone that its record reaches, until it is acknowledged', async () => {
    const project = await makeForge();
    project.git('switch', '-qc', 'side');
    await forgeJson(project, ['session', 'start']);
    const progress = project.read(PROGRESS);
    project.write(PROGRESS, `${progress}[10:00] ${SAMPLES.secret()}\n`);
    expect((await forgeError(project, ['session', 'end'])).hint).toContain('Memory is halted');
    expect(project.has(HALT)).toBe(true);
    await expectError(project, ['progress', 'add', 'x'], '4');
    await expectError(project, acknowledge, '3');
    project.write(PROGRESS, progress);
    commitAll(project, 'side');
    rmSync(project.path('.git/forge'), { recursive: true });
    project.git('switch', '-q', 'main');
    await runForge(project, ['note', 'add', 'on main']);
    commitAll(project, 'main');
    project.git('merge', '-q', '--no-edit', 'side');
    await expectError(project, ['session', 'start'], '4');
    expect((await verify(project)).status).toBe('halted');
    await forgeJson(project, acknowledge, HUMAN);
    await forgeJson(project, ['session', 'start']);
  });

  it('LTM-13 in a dry run is refused but not recorded', async () => {
    const project = await makeForge();
    const before = snapshot(project.dir);
    expect((await runForge(project, ['note', 'add', SAMPLES.iban(), '-n'])).exitCode).toBe(5);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });
});

describe('a secret in disguise', () => {
  const secret = SAMPLES.secret();

  it('B-107 a pragma in the text does not allow a secret', async () => {
    const project = await makeStarted();
    const text = `${secret} // gitleaks:allow secretlint-disable-line nosec NOSONAR`;
    await expectError(project, ['progress', 'add', text], 'guard.secret');
  });

  it('B-105 a text of keywords is stored or refused in time', async () => {
    const project = await makeStarted();
    const { guardRules } = await import('../../src/guard/document.js');
    const words = guardRules().flatMap(({ keywords }) => keywords);
    const text = words.join(' ').repeat(20).slice(0, 60_000);
    expect([0, 2, 5]).toContain((await runForge(project, ['progress', 'add', text])).exitCode);
    expect([0, 2, 5]).toContain((await runForge(project, ['note', 'add', 'ey.'.repeat(20_000)])).exitCode);
  });
});

describe('content written by others', () => {
  it.each([
    ['the log', PROGRESS],
    ['the focus', FOCUS],
    ['a file that will be committed', '.forge/skills/deploy/notes.md'],
  ])('LTM-13 a session does not end with a secret in %s; without it, it does', async (_, file) => {
    const project = await makeStarted();
    const before = project.has(file) ? project.read(file) : '# Deploy\n';
    const secret = SAMPLES.secret();
    const evil =
      file === FOCUS
        ? before.replace('"task": null', `"task": "use ${secret}"`)
        : `${before}[10:00] ${secret}\n`;
    expect(evil).toContain(secret);
    project.write(file, evil);
    const error = await forgeError(project, ['session', 'end']);
    expect(error).toMatchObject({ exitCode: 5, code: 'guard.secret', file });
    expect(project.has(SESSION)).toBe(true);
    expect(project.git('log', '-p', '--all')).not.toContain(secret);
    await forgeJson(project, acknowledge, HUMAN);
    project.write(file, before);
    const ended = await forgeJson<{ commit?: { hash: string } }>(project, ['session', 'end']);
    expect(ended.commit?.hash).toMatch(/^[0-9a-f]{40}/);
  });

  it('LTM-13 foreign code and long code are refused in text; owners are configured outside the repository', async () => {
    const project = await makeStarted();
    const home = makeFolder();
    const line = 'Copyright (c) 2024 Example Widgets Ltd. All rights reserved.';
    await forgeJson(project, ['note', 'add', `From the log: ${line}`]);
    const text = `// ${line}\nconst a = f(1);\nconst b = f(2);\nexport { a, b };\n`;
    const env = { XDG_CONFIG_HOME: home };
    await expectError(project, ['note', 'add', text], 'guard.proprietary', { env });
    const { writeFileSync, mkdirSync } = await import('node:fs');
    mkdirSync(`${home}/forge`);
    writeFileSync(`${home}/forge/owners`, '# ours\nExample Widgets\n');
    await forgeJson(project, ['note', 'add', text], { env });
    // A relative one may lead into the repository.
    const inside = { env: { XDG_CONFIG_HOME: relative(process.cwd(), home) } };
    await expectError(project, ['note', 'add', text], 'guard.proprietary', inside);
    const code = Array.from(
      { length: 40 },
      (_, i) => `  const value${i} = compute(${i}, { deep: true });`,
    ).join('\n');
    await expectError(project, ['note', 'add', code], 'guard.proprietary');
    // The project's own code is not foreign.
    project.write('src/values.ts', `export function values() {\n${code}\n}\n`);
    await forgeJson(project, ['note', 'add', code]);
  });
});
