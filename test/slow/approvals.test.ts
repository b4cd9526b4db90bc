import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECK, cloneOf, makeClone, pull, show, type Verified, verify } from '../support/clones.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { makeFolder, projectAt } from '../support/project.js';
import { makeForgeRepository, typed, typedError, typedJson, workAndEnd } from '../support/typed.js';

describe('without a person', () => {
  it('B-88 never trusts without a terminal, whatever the flags and the input', () => {
    const { clone } = makeClone();
    for (const [env, ...flags] of [[{ CI: '1' }, '--yes'], [{}, '--yes'], [{}, '--no-input'], [{}]] as const)
      expect(typedError(clone, ['trust', ...flags], { env, input: 'y\n' })).toMatchObject({
        exitCode: 3,
        code: 'trust.no_terminal',
        hint: expect.stringContaining('FORGE_TRUST='),
      });
    expect(show(clone).trusted).toBe(false);
  });

  it('B-88 does not take --no-input or --json at a terminal for a yes', async () => {
    const { clone } = makeClone();
    for (const flag of ['--no-input', '--json']) {
      const { exitCode } = await atTerminal(clone, ['trust', flag]);
      expect({ flag, exitCode, trusted: show(clone).trusted }).toEqual({ flag, exitCode: 3, trusted: false });
    }
  });

  it('B-88 runs with FORGE_TRUST=<digest>, until something changed', () => {
    const { origin, clone, ran } = makeClone();
    const env = { CI: '1', FORGE_TRUST: show(clone).digest };

    expect(typedError(clone, verify, { env: { ...env, FORGE_TRUST: 'a'.repeat(64) } }).code).toBe(
      'trust.needed',
    );
    expect(typedJson<Verified>(clone, verify, { env }).results[0]?.status).toBe('passing');
    expect(typedError(clone, verify, { env: { CI: '1' } }).code).toBe('trust.needed');
    expect(ran()).toBe(1);

    clone.git('checkout', '-q', '.');
    pull(origin, clone, '.forge/check.sh', `${CHECK}\n`);
    expect(typedError(clone, verify, { env }).code).toBe('trust.needed');
    expect(typed(clone, ['trust', '--show'], { env })).not.toContain(env.FORGE_TRUST);
    expect(ran()).toBe(1);
  });
});

describe('what was entered here', () => {
  it('B-38 runs in linked worktrees of the same repository, but in no second clone or copy', () => {
    const project = makeForgeRepository();
    typed(project, ['feature', 'add', '--no-run', 'F-1', 'Entered', '--test', 'node -e 0']);
    typed(project, verify);
    workAndEnd(project);

    const tree = projectAt(join(makeFolder(), 'tree'));
    project.git('worktree', 'add', '-q', tree.dir);
    typed(tree, verify);

    const copy = projectAt(join(makeFolder(), 'copy'));
    cpSync(project.dir, copy.dir, { recursive: true });
    for (const place of [cloneOf(project), copy])
      expect(typedError(place, verify)).toMatchObject({ exitCode: 3, code: 'trust.needed' });
  });

  it('B-85 B-94 keeps approvals outside the repository, for this person alone', () => {
    const project = makeForgeRepository();
    typed(project, ['feature', 'add', '--no-run', 'F-1', 'Entered', '--test', 'node -e 0']);
    const state = join(process.env.XDG_STATE_HOME ?? '', 'forge', 'trust');
    const own = readdirSync(state).filter((name) =>
      readFileSync(join(state, name), 'utf8').includes(project.dir),
    );
    expect(own).toHaveLength(1);
    expect(statSync(join(state, own[0] ?? '')).mode & 0o077).toBe(0);

    project.write('.forge/config.toml', `${project.read('.forge/config.toml')}\n[trust]\nall = true\n`);
    project.write(
      '.forge/memory/long-term/features.json',
      project.read('.forge/memory/long-term/features.json').replace('node -e 0', 'node -e 1'),
    );
    expect(typedError(project, verify).code).toBe('trust.needed');

    const elsewhere = makeFolder();
    expect(
      typedError(project, ['feature', 'verify', '--all'], { env: { XDG_STATE_HOME: elsewhere } }).code,
    ).toBe('trust.needed');
    rmSync(join(state, own[0] ?? ''));
    expect(typedError(project, verify).code).toBe('trust.needed');
  });
});
