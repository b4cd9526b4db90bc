import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trivariate } from '../../src/artifact/artifact.js';
import type { Artifact, ArtifactProblem } from '../../src/index.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { commitAll } from '../support/project.js';

const NOWHERE = { path: '', type: '' };
const NOBODY = { session: null, issue: null, skill: null };

describe('forge artifact', () => {
  // Published values of MurmurHash3 x64-128 with seed 0.
  it.each([
    ['', '00000000000000000000000000000000'],
    ['hello', 'cbd8a7b341bd9b025b1e906a48ae1d19'],
    ['hello, world', '342fac623a5ebc8e4cdcbc079642414d'],
    ['19 Jan 2038 at 3:14:07 AM', 'b89e5988b737affc664fc2950231b2cb'],
    ['The quick brown fox jumps over the lazy dog.', 'cd99481f9ee902c9695da1a38987b6e7'],
  ])('ART-02 the hash of %j is %s', (text, hash) => {
    expect(trivariate(Buffer.from(text), NOWHERE, NOBODY).startsWith(`triv:${hash}_`)).toBe(true);
    expect(trivariate(Buffer.from(''), { path: text, type: '' }, NOBODY)).toMatch(
      /^triv:0{32}_[0-9a-f]{32}_[0-9a-f]{32}$/,
    );
  });

  it('ART-01 keeps a copy under its hash, with session, skill and issue', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start', '--task', 'Review the release']);
    await forgeJson(project, ['focus', 'set', '--issue', 'APP-7', '--skill', 'qa-review']);
    project.write('out/qa_report.json', '{"ok":true}\n');
    const added = await forgeJson<Artifact>(project, 'artifact add out/qa_report.json --type reports');
    expect(added.path).toMatch(/^\.forge\/memory\/artifacts\/reports\/triv_[0-9a-f]{12}_qa_report\.json$/);
    expect(project.read(added.path)).toBe('{"ok":true}\n');
    expect(added).toMatchObject({
      issue: 'APP-7',
      skill: 'qa-review',
      session: expect.stringMatching(/-session-001$/),
    });
    expect(added.triv).toMatch(/^triv:[0-9a-f]{32}_[0-9a-f]{32}_[0-9a-f]{32}$/);
    // Adding it again changes nothing.
    expect(await forgeJson(project, 'artifact add out/qa_report.json --type reports')).toEqual(added);
    expect((await forgeJson<{ artifacts: Artifact[] }>(project, 'artifact list')).artifacts).toEqual([added]);
    const { stdout } = await runForge(project, ['artifact', 'show', 'qa_report.json']);
    expect(stdout).toContain(added.triv);
    expect(await forgeJson(project, ['artifact', 'verify'])).toEqual({ verified: 1, problems: [] });
  });

  it('ART-01 verify names changed and missing files', async () => {
    const project = await makeForge();
    for (const name of ['a.md', 'b.md', 'c.md']) project.write(name, `# ${name}\n`);
    const paths: string[] = [];
    for (const name of ['a.md', 'b.md', 'c.md'])
      paths.push((await forgeJson<Artifact>(project, ['artifact', 'add', name, '--type', 'docs'])).path);
    const [a = '', b = ''] = paths;
    project.write(a, 'changed\n');
    rmSync(join(project.dir, b));
    const { stdout, exitCode } = await runForge(project, ['artifact', 'verify', '--json']);
    const { verified, problems } = JSON.parse(stdout) as { verified: number; problems: ArtifactProblem[] };
    expect([exitCode, verified]).toEqual([1, 1]);
    expect(problems.map(({ problem }) => problem).sort()).toEqual([
      'its content is not what was added',
      'the file is missing',
    ]);
    // Adding a file again restores its copy.
    for (const name of ['a.md', 'b.md'])
      await forgeJson(project, ['artifact', 'add', name, '--type', 'docs']);
    expect([project.read(a), project.read(b)]).toEqual(['# a.md\n', '# b.md\n']);
    expect(await forgeJson(project, ['artifact', 'verify'])).toEqual({ verified: 3, problems: [] });
  });

  it('ART-01 two branches that add artifacts merge without a conflict', async () => {
    const project = await makeForge();
    for (const [branch, text] of [
      ['one', '1'],
      ['two', '2'],
    ] as const) {
      project.git('switch', '-qc', branch, 'main');
      project.write(`${branch}.md`, text);
      await forgeJson(project, ['artifact', 'add', `${branch}.md`, '--type', 'docs']);
      commitAll(project, branch);
    }
    project.git('merge', '-q', '--no-edit', 'one');
    expect(await forgeJson(project, ['artifact', 'verify'])).toMatchObject({ verified: 2, problems: [] });
  });

  it('ART-01 AGT-03 recall finds an artifact by its name and its type', async () => {
    const project = await makeForge();
    project.write('retry-report.tap', 'ok 1\n');
    await forgeJson(project, ['artifact', 'add', 'retry-report.tap', '--type', 'reports']);
    for (const query of ['retry-report', 'tier:artifact reports'])
      expect((await runForge(project, ['recall', query])).stdout).toMatch(/^artifact .*-retry-report\.tap/);
  });

  it('ART-01 keeps a picture', async () => {
    const project = await makeForge();
    const bytes = Buffer.from([
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x1b, 0x9b, 0xff,
    ]);
    writeFileSync(join(project.dir, 'screen.png'), bytes);
    const added = await forgeJson<{ path: string }>(project, 'artifact add screen.png --type reports');
    expect(readFileSync(join(project.dir, added.path)).equals(bytes)).toBe(true);
    project.git('add', '-A');
    const scan = await runForge(project, ['guard', 'scan', '--staged']);
    expect([scan.exitCode, scan.stdout]).toEqual([0, expect.stringContaining('nothing found')]);
  });

  it('LTM-13 a secret in an artifact is refused, and nothing is left', async () => {
    const project = await makeForge();
    project.write('key.txt', `token = ghp_${'a1B2c3D4e5F6'.repeat(3)}\n`);
    await expectError(project, 'artifact add key.txt --type docs', '5');
    expect(
      readdirSync(join(project.dir, '.forge/memory/artifacts'), { recursive: true }).join(),
    ).not.toContain('triv_');
  });

  it.each([
    ['a missing file', ['none.md']],
    ['a folder', ['.']],
    ['another type', ['a.md', '--type', 'video']],
    ['a name with a path', ['a.md', '--name', '../x']],
  ])('ART-01 %s is refused', async (_, args) => {
    const project = await makeForge();
    project.write('a.md', 'a');
    const { exitCode } = await forgeError(project, ['artifact', 'add', ...args]);
    expect([2, 4]).toContain(exitCode);
  });

  it('B-20 an artifact folder that is a link is not written through', async () => {
    const project = await makeForge();
    project.write('a.md', 'a');
    rmSync(join(project.dir, '.forge/memory/artifacts'), { recursive: true });
    symlinkSync('/tmp', join(project.dir, '.forge/memory/artifacts'));
    await expectError(project, 'artifact add a.md --type docs', '4');
  });
});
