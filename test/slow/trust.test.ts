import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  approve,
  CHECK,
  cloneOf,
  makeClone,
  pull,
  show,
  stateOf,
  type Verified,
  verify,
} from '../support/clones.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { makeFolder, projectAt } from '../support/project.js';
import { makeForgeRepository, typed, typedError, typedJson, workAndEnd } from '../support/typed.js';

describe('commands that came with a clone', () => {
  it('B-85 runs after a person at a terminal answered yes, and not after no', async () => {
    const { clone, ran } = makeClone();

    const no = await atTerminal(clone, ['trust'], [['Let forge run', 'n\r']]);
    expect(no).toMatchObject({ exitCode: 3 });
    expect(no.shown).toContain('echo ran');
    expect(typedError(clone, verify).code).toBe('trust.needed');

    expect((await approve(clone)).exitCode).toBe(0);
    expect(show(clone).trusted).toBe(true);
    expect(typedJson<Verified>(clone, verify).results[0]?.status).toBe('passing');
    expect(ran()).toBe(1);

    typed(clone, ['trust', '--revoke']);
    expect(typedError(clone, verify).code).toBe('trust.needed');
    expect(ran()).toBe(1);
  });

  it('B-88 does not approve with --no-input or --json at a terminal', async () => {
    const { clone } = makeClone();
    for (const flag of ['--no-input', '--json']) {
      const { exitCode } = await atTerminal(clone, ['trust', flag]);
      expect({ flag, exitCode, trusted: show(clone).trusted }).toEqual({ flag, exitCode: 3, trusted: false });
    }
  });

  it.each([['check.sh'], ["it's my prüfung~1.sh"]])(
    'B-86 is untrusted again when a pull changed one byte of %s, and shows the difference',
    async (name) => {
      const { origin, clone, ran } = makeClone(CHECK, name);
      await approve(clone);
      typed(clone, verify);
      pull(origin, clone, `.forge/${name}`, CHECK.replace('ran >>', 'run >>'));

      expect(typedError(clone, verify)).toMatchObject({ exitCode: 3, code: 'trust.needed' });
      expect(ran()).toBe(1);
      const shown = typed(clone, ['trust', '--show']);
      expect(shown).toContain(`.forge/${name}  changed since it was approved\n`);
      expect(shown).toMatch(/^ {2}-echo ran >>/m);
      expect(shown).toMatch(/^ {2}\+echo run >>/m);
      expect(stateOf(clone, '.forge/init.sh')).toBe('trusted');

      pull(origin, clone, `.forge/${name}`, CHECK);
      typed(clone, verify);
    },
  );

  it('B-86 is untrusted again when the command of a feature changed', async () => {
    const { origin, clone } = makeClone();
    await approve(clone);
    const path = '.forge/memory/long-term/features.d/F-1.json';
    const feature = clone.json<{ tests: string[] }>(path);
    pull(origin, clone, path, JSON.stringify({ ...feature, tests: ['sh -x .forge/check.sh'] }, null, 2));
    expect(typedError(clone, verify).code).toBe('trust.needed');
    expect(typed(clone, ['trust', '--show'])).toMatch(
      /^feature F-1 {2}changed .*\n {2}-sh \.forge\/check\.sh\n {2}\+sh -x \.forge\/check\.sh$/m,
    );
  });

  it('B-87 runs no script that is too large to show and store', async () => {
    const { origin, clone, ran } = makeClone();
    await approve(clone);
    pull(origin, clone, '.forge/check.sh', `${CHECK}#${'x'.repeat(9 * 1024 * 1024)}\n`);
    expect(typedError(clone, verify).exitCode).not.toBe(0);
    expect(ran()).toBe(0);
  });
});

describe('commands that were entered here', () => {
  it('B-38 runs in linked worktrees of the same repository, but not in another clone or copy', () => {
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

  it('B-85 B-94 keeps approvals outside the repository, private to this person', () => {
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
