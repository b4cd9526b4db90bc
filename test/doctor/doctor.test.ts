import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doctor, SERVERS, SETTINGS, wire } from '../support/doctored.js';
import { git } from '../support/fixes.js';
import { forgeJson, runForge } from '../support/forge.js';
import { differences, makeForge, makePlainForge, snapshot } from '../support/forge-project.js';
import { commitAll, makeFolder, makeRepository, projectAt } from '../support/project.js';

describe('forge doctor', () => {
  it('reports in one line that nothing is wrong, and changes nothing', async () => {
    const project = await makeForge();
    await forgeJson(project, ['hooks', 'install']);
    const before = snapshot(project.dir);
    expect(await runForge(project, ['doctor'])).toEqual({
      stdout: '✓ Nothing is wrong.\n',
      stderr: '',
      exitCode: 0,
    });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('shows one block per finding', async () => {
    const { stdout, exitCode } = await runForge(makeRepository(), ['doctor']);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^✗ There is no \.forge\/ .*or above it\. {2}\(blocking\)\n {4}expected {2}a \.forge.*\n {4}why {7}.*\n {4}type {6}forge init\n$/,
    );
  });

  it('VIS-01 the files that a pick, a rebase or a revert brings are no foreign edit', async () => {
    const project = await makeForge();
    commitAll(project, 'Add forge');
    await forgeJson(project, ['learn', 'Retry once', '--as', 'success']);
    project.write('src/app.js', 'ours\n');
    const learned = commitAll(project, 'Learn');
    const topic = projectAt(`${makeFolder()}/topic`);
    project.git('worktree', 'add', '-q', '--detach', topic.dir, 'HEAD^');
    topic.write('src/app.js', 'theirs\n');
    const other = commitAll(topic, 'Differ');
    const isNamed = async (...args: string[]): Promise<boolean> => {
      expect(git(topic, ...args)).toBe(1);
      expect(topic.git('status', '--short')).toMatch(/^A {2}\.forge\/.+\nUU src\/app\.js$/);
      return (await runForge(topic, 'doctor')).stdout.includes('edited outside forge');
    };
    expect(await isNamed('cherry-pick', learned)).toBe(false);
    const [file = ''] = topic.git('diff', '--cached', '--name-only', '--diff-filter=A').split('\n');
    topic.write(file, topic.read(file).replace('Retry once', 'Retry twice'));
    expect((await runForge(topic, 'doctor')).stdout).toContain(
      `edited outside forge and not committed: ${file}`,
    );
    topic.git('reset', '-q', '--hard');
    topic.git('checkout', '-q', learned);
    expect(await isNamed('rebase', other)).toBe(false);
    topic.git('rebase', '--abort');
    topic.git('revert', '--no-edit', learned);
    topic.write('src/app.js', 'theirs\n');
    topic.git('commit', '-qam', 'Differ');
    expect(await isNamed('revert', '--no-edit', 'HEAD^')).toBe(false);
  });

  it('LAY-05 works without git, and reports the consequences', async () => {
    const plain = await makePlainForge();
    expect(await doctor(plain)).toEqual({
      exitCode: 0,
      found: ['advisory: the project is not in a git repository'],
      commands: ['git init'],
    });
    const noGit = { env: { PATH: makeFolder() } };
    expect((await doctor(plain, [], noGit)).found).toEqual([
      'degraded: git was not found',
      'advisory: the project is not in a git repository',
    ]);
    expect(await doctor(await makeForge(), [], noGit)).toMatchObject({
      exitCode: 1,
      found: ['blocking: git was not found'],
    });
  });
});

describe('forge doctor --agent', () => {
  it('AGT-01 reports a forge that is missing on the PATH, and missing and damaged parts', async () => {
    const project = await makeForge();
    wire(project);
    const git = makeFolder();
    symlinkSync(project.git('--exec-path').concat('/git'), join(git, 'git'));
    const found = async (options = {}): Promise<string[]> =>
      (await doctor(project, ['--agent'], options)).found;
    expect(await found({ env: { PATH: git } })).toEqual(['blocking: there is no forge on the PATH']);
    project.write(SERVERS, '{}');
    expect(await found()).toEqual(['degraded: Claude Code is partly wired: see .mcp.json']);
    project.write(
      SERVERS,
      '\ufeff{ // mine\n "mcpServers": {"forge": {"type": "stdio", "command": "forge", "args": ["mcp"], "alwaysLoad": true,},}, }',
    );
    expect(await found()).toEqual([]);
    project.write(SERVERS, '{ bad');
    expect(await found()).toEqual([expect.stringMatching(/^blocking: \.mcp\.json:1: /)]);
    project.write(SETTINGS, '{"hooks": ');
    expect(await found()).toEqual([
      expect.stringMatching(/^blocking: \.claude\/settings\.json:1: /),
      expect.stringMatching(/^blocking: \.mcp\.json:1: /),
    ]);
  });
});
