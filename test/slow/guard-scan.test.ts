import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyForge, expectError, forgeFound, runForge } from '../support/forge.js';
import { differences, makeStarted, PROGRESS, snapshot } from '../support/forge-project.js';
import { commitAll, makeFolder, makePlainProject, makeRepository, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

interface Scan {
  findings: {
    rule: string;
    class: string;
    file: string;
    line: number;
    fingerprint: string;
    commit?: string;
  }[];
  scanned: number;
  skipped: string[];
}

const scan = (project: { dir: string }, ...args: string[]) =>
  forgeFound<Scan>(project, ['guard', 'scan', ...args]);

describe('forge guard scan', () => {
  it('LTM-13 finds secrets in files by place and fingerprint, and writes nothing', async () => {
    const project = makeRepository();
    const secret = SAMPLES.secret();
    project.write('src/a.env', `# ok\nTOKEN=${secret}\n`);
    project.write('.gitignore', 'ignored.txt\n');
    project.write('ignored.txt', secret);
    project.write('image.bin', Buffer.from(`\0\0${secret}`));
    project.write('AUTHORS', `${SAMPLES.email()}\n`);
    const before = snapshot(project.dir);
    const found = await scan(project);
    expect(found).toMatchObject({
      exitCode: 5,
      findings: [{ rule: 'gitlab-pat', class: 'secret', file: 'src/a.env', line: 2 }],
    });
    expect(JSON.stringify(found)).not.toContain(secret);
    expect(
      differences(before, snapshot(project.dir)).filter((path) => !path.startsWith('.git/forge')),
    ).toEqual([]);
    expect((await scan(project)).findings).toEqual(found.findings);
    expect((await scan(project, 'AUTHORS')).exitCode).toBe(0);
    const { stdout, exitCode } = await runForge(project, ['guard', 'scan', 'src']);
    expect([exitCode, stdout]).toEqual([5, expect.stringMatching(/src\/a\.env:2 .*GitLab.*gitlab-pat/)]);
    expect(stdout).not.toContain(secret);
  });

  it('LTM-13 scans named files through symlinks; a missing file is not a clean result', async () => {
    const project = makeRepository();
    const elsewhere = makeFolder();
    writeFileSync(join(elsewhere, 'a.env'), SAMPLES.secret());
    symlinkSync(join(elsewhere, 'a.env'), project.path('link.env'));
    symlinkSync(elsewhere, project.path('folder'));
    for (const path of ['link.env', 'folder', elsewhere, join(elsewhere, 'a.env')])
      expect([path, await scan(project, path)]).toMatchObject([path, { exitCode: 5, scanned: 1 }]);
    execFileSync('mkfifo', [project.path('pipe')]);
    symlinkSync('gone', project.path('dangling'));
    for (const path of ['pipe', 'dangling', 'nosuch'])
      await expectError(project, ['guard', 'scan', path], '2');
  });

  it('LTM-13 as a pre-commit check, scans only staged changes', async () => {
    const project = makeRepository();
    project.write('old.txt', `${SAMPLES.secret()}\n`);
    commitAll(project, 'Old');
    project.write('old.txt', `${project.read('old.txt')}clean\n`);
    project.write('new.txt', 'one\n');
    project.git('add', '-A');
    project.write('new.txt', SAMPLES.secret());
    expect(await scan(project, '--staged')).toMatchObject({ exitCode: 0, findings: [] });
    project.write('ü "x".txt', `one\ntwo\n${SAMPLES.card()}\n`);
    project.git('add', '-A');
    expect(await scan(project, '--staged')).toMatchObject({
      exitCode: 5,
      findings: [
        { class: 'secret', file: 'new.txt', line: 1 },
        { class: 'card', file: 'ü \\"x\\".txt', line: 3 },
      ],
    });
  });

  it('LTM-13 B-51 scans the additions of a range’s commits and their messages, at any size', async () => {
    const project = makeRepository();
    const message = `Big\n\n${'all is well here\n'.repeat(300_000)}\nuse ${SAMPLES.secret()}\n`;
    writeFileSync(project.path('message'), message);
    project.git('commit', '-q', '--allow-empty', '-F', 'message');
    const first = project.git('rev-parse', 'HEAD');
    project.write('a.txt', `x\n${SAMPLES.secret()}\n`);
    project.git('add', 'a.txt');
    project.git('commit', '-qm', 'Two');
    project.git('rm', '-q', 'a.txt');
    project.git('commit', '-qm', 'Three');
    const { findings, exitCode } = await scan(project, '--range', 'HEAD~3..HEAD');
    expect(exitCode).toBe(5);
    expect(findings).toMatchObject([
      { file: 'a.txt', line: 2 },
      { file: 'commit message', line: 300_004, commit: first },
    ]);
    const bad = await runForge(project, ['guard', 'scan', '--range', 'nosuch..HEAD']);
    expect([bad.exitCode, bad.stdout]).toEqual([2, '']);
    const both = await runForge(project, ['guard', 'scan', '--staged', '--range', 'HEAD~1..HEAD']);
    expect(both.exitCode).toBe(2);
  });

  it('LTM-13 of a merge, finds what it adds itself, and of its branches only the commits in the range', async () => {
    const project = makeRepository();
    const [theirs, ours, own] = [SAMPLES.secret(), SAMPLES.iban(), SAMPLES.card()];
    project.git('switch', '-qc', 'side');
    project.write('ours.txt', `${ours}\n`);
    commitAll(project, 'Ours');
    project.git('switch', '-q', 'main');
    project.write('theirs.txt', `a\n${theirs}\n`);
    commitAll(project, 'Theirs');
    project.git('switch', '-q', 'side');
    project.git('merge', '-q', '--no-commit', 'main');
    // Lines that look like those of a patch or of a message.
    const lines = ['+++ b/x', '@@@ -1,1 -1,1 +9,1 @@@', '', '    x', 'commit 1', own];
    project.write('theirs.txt', ['a', ...lines, theirs, ''].join('\n'));
    project.write('nul.txt', `\u0000\n${own}\n`);
    commitAll(project, 'Merge');
    const found = async (range: string) =>
      (await scan(project, '--range', range)).findings.map(({ file, line }) => `${file}:${line}`).sort();
    expect(await found('HEAD^!')).toEqual(['nul.txt:2', 'theirs.txt:7']);
    expect(await found('main..HEAD')).toEqual(['nul.txt:2', 'ours.txt:1', 'theirs.txt:7']);
    expect(await found('HEAD^1..HEAD')).toEqual(['nul.txt:2', 'theirs.txt:2', 'theirs.txt:7']);
  });

  it('LTM-13 needs neither git nor a .forge/', async () => {
    const project = makePlainProject();
    project.write('a/b.txt', `${SAMPLES.iban()}\n`);
    expect(await scan(project)).toMatchObject({
      exitCode: 5,
      findings: [{ class: 'iban', file: 'a/b.txt' }],
    });
    expect((await runForge(project, ['guard', 'scan', '--staged'])).exitCode).toBe(2);
    expect((await runForge(project, ['guard', 'scan', 'nosuch'])).exitCode).toBe(2);
    expect(Object.keys(snapshot(project.dir))).toEqual(['a', 'a/b.txt']);
  });

  it('LTM-13 in .forge/ finds personal data too', async () => {
    const project = await makeStarted();
    project.write('.forge/skills/x.md', `Ask ${SAMPLES.email()}\n`);
    expect(await scan(project)).toMatchObject({
      exitCode: 5,
      findings: [{ class: 'email', file: '.forge/skills/x.md' }],
    });
  });
});

/** Damages the table of the rules, wherever the build has put it. */
function breakRules(file: string): void {
  const table = readFileSync(file, 'utf8');
  expect(table).toMatch(/^github-pat {2,}token/m);
  writeFileSync(file, table.replace(/(?<=^github-pat {2,})token/m, 'nothing'));
}

describe('where the rules cannot be loaded', () => {
  it('LTM-13 nothing is written; reading works', async () => {
    const project = await makeStarted();
    const { home, bin } = copyForge();
    breakRules(join(home, 'templates', 'guard', 'secrets.txt'));
    const forge = (...args: string[]) => run(project.dir, process.execPath, [bin, ...args]);
    const before = project.read(PROGRESS);
    for (const args of [
      ['progress', 'add', 'x'],
      ['note', 'add', 'x'],
      ['session', 'end'],
      ['memory', 'record', '--task', 'A', '--exit-code', '0'],
    ]) {
      const { exitCode, stderr } = forge(...args);
      expect([args, exitCode, stderr]).toEqual([
        args,
        6,
        expect.stringContaining('The guard could not be loaded; nothing was written.'),
      ]);
    }
    expect(project.read(PROGRESS)).toBe(before);
    expect(forge('progress', 'show').exitCode).toBe(0);
  });
});
