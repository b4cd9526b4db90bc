import { existsSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import type { InitResult } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge } from '../support/forge-project.js';
import { commitAll, makePlainProject, makeRepository, projectAt, run } from '../support/project.js';

describe('forge init', () => {
  it('LAY-02 writes missing views of the ledger in a clone, and reports it once', async () => {
    const project = await makeForge();
    await forgeJson(project, ['note', 'add', 'one']);
    commitAll(project, 'Note');
    const clone = cloneOf(project);
    const notes = '.forge/memory/long-term/notes.jsonl';
    expect((await forgeJson<InitResult>(clone, ['init'])).repaired).toContain(notes);
    expect(clone.read(notes)).toBe(project.read(notes));
    expect((await forgeJson<InitResult>(clone, ['init'])).repaired).toEqual([]);
  });

  it('LAY-02 does not put back a skill that was removed by a commit', async () => {
    const project = await makeForge();
    project.git('rm', '-rq', '.forge/skills/linear-integration');
    project.git('commit', '-qm', 'Retire a skill');
    run(project.dir, 'rm', ['-r', '.forge/skills/qa-review']);
    const { repaired } = await forgeJson<InitResult>(project, ['init']);
    expect(repaired.every((path) => path.includes('skills/qa-review'))).toBe(true);
    expect(project.has('.forge/skills/qa-review/skill.toml')).toBe(true);
    expect(project.has('.forge/skills/linear-integration')).toBe(false);
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('LAY-04 GIT-03 AGT-01 --agents and --hooks wire forge, and nothing is wired without them', async () => {
    const project = makeRepository();
    const plain = await forgeJson<InitResult & { commit: string[] }>(project, ['init']);
    expect(plain).toMatchObject({ agents: [], hooks: [], commit: [] });
    expect(existsSync(project.path('.git/hooks/commit-msg'))).toBe(false);
    const wired = await forgeJson<InitResult & { commit: string[] }>(project, [
      ...['init', '--agents', 'claude', '--hooks', 'warn'],
    ]);
    expect(wired).toMatchObject({ agents: ['claude'], commit: ['.claude/settings.json', '.mcp.json'] });
    expect(existsSync(project.path('.git/hooks/commit-msg'))).toBe(true);
    expect(wired.skipped.join()).toContain('forge config set commit.enforce warn');

    const fresh = makeRepository();
    fresh.write('.git/info/exclude', '.claude/\n');
    const { stdout } = await runForge(fresh, ['init', '--agents', 'claude', '--hooks', 'warn']);
    expect(stdout).toContain('git ignores .claude/settings.json: install in each clone');
    expect(parse(fresh.read(CONFIG))).toMatchObject({ commit: { enforce: 'warn' } });
    // The lines it prints work as they stand.
    const [, commit = ''] = /together: (.*)/.exec(stdout) ?? [];
    run(fresh.dir, 'sh', ['-ec', commit]);
    expect(fresh.git('status', '--porcelain')).toBe('');
    const [, remove = ''] = /take this back: (.*)/.exec(stdout) ?? [];
    run(fresh.dir, 'sh', ['-ec', remove]);
    expect(existsSync(fresh.path('.forge'))).toBe(false);
    expect(existsSync(fresh.path('.git/hooks/commit-msg'))).toBe(false);
    expect(existsSync(fresh.path('.mcp.json'))).toBe(false);
  });

  it('LAY-04 AGT-05 names forge import where another tool keeps something', async () => {
    const project = makeRepository();
    project.write('CLAUDE.md', '# Style\n\nTabs.\n');
    expect((await runForge(project, ['init'])).stdout).toMatch(
      /Next:\n(?: .*\n)* {2}forge import {3}# take over/,
    );
    // A file that forge wrote has nothing to import.
    const own = makeRepository();
    expect((await runForge(own, ['init', '--agents', 'codex'])).stdout).not.toContain('forge import');
  });

  it('LAY-04 names the line that keeps prettier from memory, until it is typed', async () => {
    const project = makeRepository();
    project.write('package.json', '{"devDependencies":{"prettier":"3"}}');
    project.write('.prettierignore', 'dist');
    const line = String.raw`printf '\n.forge/\n' >> .prettierignore`;
    expect((await runForge(project, ['init'])).stdout).toContain(`\n  ${line}   # prettier would`);
    run(project.dir, 'sh', ['-ec', line]);
    expect(project.read('.prettierignore')).toBe('dist\n.forge/\n');
    expect((await runForge(project, ['init'])).stdout).not.toContain(line);
  });

  it('LAY-04 if a hook cannot be installed, .forge/ is still created, with the command to type', async () => {
    const project = makePlainProject();
    const result = await forgeJson<InitResult>(project, ['init', '--hooks', 'block', '--agents', 'none']);
    expect(result.created).toContain('.forge/config.toml');
    expect(result.skipped.join('\n')).toMatch(/^hooks: /m);
    for (const flag of ['agents', 'hooks'])
      expect(await forgeError(makePlainProject(), ['init', `--${flag}`, 'cluade'])).toMatchObject({
        exit: 2,
        message: expect.stringContaining(`--${flag}: found "cluade", allowed: `),
      });
  });

  it('LAY-04 never asks without a terminal, and accepts every answer as a flag', async () => {
    const project = makeRepository();
    // A question would read this test's stdin and hang.
    const { exitCode, stderr } = await runForge(project, ['init']);
    expect([exitCode, stderr]).toEqual([0, '']);
    const all = ['--stack', 'none', '--test', '', '--name', 'a', '--agents', 'none', '--hooks', 'none'];
    for (const flags of [['--yes'], ['--no-input'], all]) {
      const other = makeRepository();
      expect((await runForge(other, ['init', ...flags], { terminal: true })).exitCode).toBe(0);
    }
    const named = makePlainProject();
    await forgeJson(named, ['init', '--stack', 'node', '--name', 'A "quoted" \\ name']);
    expect(parse(named.read(CONFIG))).toMatchObject({ project: { name: 'A "quoted" \\ name' } });
    expect(named.read('.forge/init.sh')).toContain('package.json');
    const error = await forgeError(named, ['init', '--stack', 'cobol']);
    expect(error).toMatchObject({ exitCode: 2, code: 'init.stack', field: 'stack' });
    expect(error.message).toMatch(/"cobol".*node \| python \| rust \| go \| mixed \| none/);
  });

  it('LAY-05 from a subfolder works at the top of the repository', async () => {
    const project = makeRepository();
    const result = await forgeJson<InitResult>(projectAt(project.path('src')), ['init']);
    expect(result.root).toBe(project.dir);
    expect(project.has('src/.forge')).toBe(false);
    expect(project.has(CONFIG)).toBe(true);
  });
});
