import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder, type Project, projectAt } from '../support/project.js';
import { atTerminal } from './terminal.js';
import { makeForgeRepository, typed, typedError, typedJson, workAndEnd } from './typed.js';

interface Report {
  digest: string;
  trusted: boolean;
  items: { kind: string; name: string; content: string; state: string; before?: string }[];
}
interface Verified {
  results: { id: string; status: string }[];
}

const CHECK = '#!/bin/sh\necho ran >>"$HOME/ran.$(basename "$PWD")"\n';

/** What came from elsewhere: a clone of a repository with a script, a feature that runs it, and an init.sh. */
function makeClone(check = CHECK, name = 'check.sh'): { origin: Project; clone: Project; ran(): number } {
  const origin = makeForgeRepository();
  origin.write(`.forge/${name}`, check);
  typed(origin, ['feature', 'add', 'F-1', 'Checked', '--test', `sh ".forge/${name}"`]);
  origin.git('add', '-A');
  origin.git('commit', '-qm', 'Work');
  const clone = cloneOf(origin);
  const marks = join(process.env.HOME ?? '', 'ran.clone');
  rmSync(marks, { force: true });
  return {
    origin,
    clone,
    ran: () => (existsSync(marks) ? readFileSync(marks, 'utf8').trim().split('\n').length : 0),
  };
}

function cloneOf(origin: Project): Project {
  const clone = projectAt(join(makeFolder(), 'clone'));
  origin.git('clone', '-q', origin.dir, clone.dir);
  return clone;
}

/** The repository changes, and the clone pulls. */
function pull(origin: Project, clone: Project, path: string, content: string): void {
  origin.write(path, content);
  origin.git('add', '-f', path);
  origin.git('commit', '-qm', 'Change');
  clone.git('pull', '-q', '--ff-only');
}

const verify = ['feature', 'verify', 'F-1'];
const show = (place: Project): Report => typedJson<Report>(place, ['trust', '--show']);
const approve = (place: Project) => atTerminal(place, ['trust'], [['Let forge run', 'y\r']]);
const stateOf = (place: Project, name: string): string | undefined =>
  show(place).items.find((item) => item.name === name)?.state;

describe('what came with a clone', () => {
  it('B-85 runs nothing before a person trusts it, and shows all of it, escapes visible', () => {
    const { clone, ran } = makeClone(`${CHECK}# \u001b[2K\u001b]0;harmless\u0007\u202e cilbup\rover it\n`);

    expect(typedError(clone, verify)).toMatchObject({
      exitCode: 3,
      code: 'trust.needed',
      hint: 'forge trust',
    });
    typed(clone, ['session', 'start']);
    typed(clone, ['session', 'end', '--no-commit']);
    expect(typedError(clone, ['feature', 'verify', '--all']).code).toBe('trust.needed');
    expect(ran()).toBe(0);
    expect(
      clone.json<{ features: unknown[] }>('.forge/memory/long-term/features.json').features[0],
    ).toMatchObject({
      status: 'not_implemented',
    });

    const shown = typed(clone, ['trust', '--show']);
    expect(shown).toMatch(/^\.forge\/check\.sh {2}not approved$/m);
    expect(shown).toMatch(/^\.forge\/init\.sh {2}not approved$/m);
    expect(shown).toMatch(/^feature F-1 {2}not approved\n {2}sh \.forge\/check\.sh$/m);
    for (const line of clone.read('.forge/init.sh').trimEnd().split('\n'))
      expect(shown).toContain(`  ${line}\n`);
    expect(shown).toContain('<U+001B>[2K<U+001B>]0;harmless<U+0007><U+202E> cilbup<U+000D>over it');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
    expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e]/);
    expect(shown).toMatch(/^FORGE_TRUST=[0-9a-f]{64}$/m);
  });

  it('B-85 runs it after a person at a terminal said yes, and not after no', async () => {
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

  it.each([['check.sh'], ["it's my prüfung~1.sh"]])(
    'B-86 is untrusted again when one byte of %s came by a pull, and shows the difference',
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

  it('B-86 is untrusted again when the command of a feature changed, or a new one came', async () => {
    const { origin, clone } = makeClone();
    await approve(clone);
    const path = '.forge/memory/long-term/features.json';
    const features = clone.json<{ features: { tests: string[] }[] }>(path);
    for (const feature of features.features) feature.tests = ['sh -x .forge/check.sh'];
    pull(origin, clone, path, JSON.stringify(features, null, 2));
    expect(typedError(clone, verify).code).toBe('trust.needed');
    expect(typed(clone, ['trust', '--show'])).toMatch(
      /^feature F-1 {2}changed .*\n {2}-sh \.forge\/check\.sh\n {2}\+sh -x \.forge\/check\.sh$/m,
    );
  });

  it('B-87 is untrusted again when what a link leads to changes, or the link leads elsewhere', async () => {
    const { clone, ran } = makeClone();
    clone.write('scripts/real.sh', CHECK);
    rmSync(clone.path('.forge/check.sh'));
    symlinkSync('../scripts/real.sh', clone.path('.forge/check.sh'));
    await approve(clone);
    typed(clone, verify);
    expect(ran()).toBe(1);

    clone.write('scripts/real.sh', `${CHECK}# changed\n`);
    expect(typedError(clone, verify).code).toBe('trust.needed');

    clone.write('scripts/real.sh', CHECK);
    clone.write('scripts/other.sh', 'touch other-ran\n');
    rmSync(clone.path('.forge/check.sh'));
    symlinkSync('../scripts/other.sh', clone.path('.forge/check.sh'));
    expect(typedError(clone, verify).code).toBe('trust.needed');
    expect(clone.has('other-ran')).toBe(false);
    expect(ran()).toBe(1);
  });

  it('B-87 runs no script that is too large to be shown and remembered', async () => {
    const { origin, clone, ran } = makeClone();
    await approve(clone);
    pull(origin, clone, '.forge/check.sh', `${CHECK}#${'x'.repeat(9 * 1024 * 1024)}\n`);
    expect(typedError(clone, verify).exitCode).not.toBe(0);
    expect(ran()).toBe(0);
  });
});

describe('without a person', () => {
  it.each([['trust', '--yes'], ['trust', '--no-input'], ['trust', '--yes', '--quiet'], ['trust']])(
    'B-88 never trusts without a terminal: forge %s %s',
    (...args) => {
      const { clone } = makeClone();
      for (const env of [{ CI: '1' }, {}])
        expect(typedError(clone, args, { env, input: 'y\n' })).toMatchObject({
          exitCode: 3,
          code: 'trust.no_terminal',
          hint: expect.stringContaining('FORGE_TRUST='),
        });
      expect(show(clone).trusted).toBe(false);
    },
  );

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
    typed(project, ['feature', 'add', 'F-1', 'Entered', '--test', 'node -e 0']);
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
    typed(project, ['feature', 'add', 'F-1', 'Entered', '--test', 'node -e 0']);
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
