import { describe, expect, it } from 'vitest';
import { fileOf, gitState, list, type Made } from '../support/checkpoints.js';
import { forgeError, forgeJson } from '../support/forge.js';
import { CONFIG, makeForge, makePlainForge } from '../support/forge-project.js';
import { record } from '../support/memory.js';

describe('forge checkpoint create', () => {
  it('GIT-05 a failing, missing or slow command refuses with exit 1, and leaves nothing', async () => {
    const project = await makeForge();
    await record(project);
    const config = project.read(CONFIG);
    const before = gitState(project);
    for (const [command, message, seconds = 600] of [
      ['false', /^false: exit code 1; no checkpoint was made\.$/],
      ['no-such-program', /not found/],
      ['sleep 1000', /stopped after 1 s/, 1],
      ['node -e "process.kill(process.pid)"', /ended by a signal/],
    ] as const) {
      project.write(CONFIG, config.replace('#timeout_seconds = 600', `timeout_seconds = ${seconds}`));
      const args = ['checkpoint', 'create', 'X', '--verify', 'true', '--verify', command];
      const error = await forgeError(project, args);
      expect([command, error.exitCode, error.code]).toEqual([command, 1, 'checkpoint.failed']);
      expect(error.message).toMatch(message);
      expect(gitState(project)).toEqual(before);
    }
    expect(project.has('.git/forge/checkpoints')).toBe(false);
    expect(project.has(fileOf('X-v1'))).toBe(false);
  });

  it('GIT-05 a tree that is dirty outside .forge/ is refused with its files: changed, staged, untracked, hidden from git', async () => {
    const project = await makeForge();
    project.write('new file', 'x');
    project.write('src/app.js', 'changed\n');
    project.git('update-index', '--assume-unchanged', 'package.json');
    project.write('package.json', '{}\n');
    const error = await forgeError(project, ['checkpoint', 'create', 'X', '--verify', 'true']);
    expect(error).toMatchObject({
      exitCode: 3,
      code: 'checkpoint.dirty',
      files: ['new file', 'package.json', 'src/app.js'],
    });
    expect(error.message).toContain('new file, package.json, src/app.js');
    expect(project.git('tag')).toBe('');
  });

  it('GIT-05 a command that changes files judges another state: refused', async () => {
    const project = await makeForge();
    const write = "node -e \"fs.writeFileSync('written', 'x')\"";
    const error = await forgeError(project, ['checkpoint', 'create', 'X', '--verify', write]);
    expect(error).toMatchObject({ exitCode: 1, code: 'checkpoint.changed', files: ['written'] });
    project.write('.gitignore', 'written\n');
    project.git('add', '.gitignore');
    project.git('commit', '-qm', 'Ignore');
    expect((await forgeJson<Made>(project, ['checkpoint', 'create', 'X', '--verify', write])).tag).toBe(
      'checkpoint/X-v1',
    );
  });

  it('GIT-05 a commit that comes in while the commands run is refused', async () => {
    const project = await makeForge();
    const error = await forgeError(project, [
      ...['checkpoint', 'create', 'X', '--verify'],
      'sh -c \'echo x >other && git add other && git commit -qm "Meanwhile"\'',
    ]);
    expect(error.code).toMatch(/^checkpoint\.(moved|changed)$/);
    expect(project.git('tag')).toBe('');
  });

  it('GIT-05 without git it is refused', async () => {
    const project = await makePlainForge();
    expect(await forgeError(project, ['checkpoint', 'create', 'X', '--verify', 'true'])).toMatchObject({
      exitCode: 3,
      code: 'git.none',
    });
    expect(await list(project)).toEqual([]);
  });
});
