import { rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { approve, CHECK, makeClone, pull, show, stateOf, type Verified, verify } from '../support/clones.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { typed, typedError, typedJson } from '../support/typed.js';

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
    const path = '.forge/memory/long-term/features.d/F-1.json';
    const feature = clone.json<{ tests: string[] }>(path);
    pull(origin, clone, path, JSON.stringify({ ...feature, tests: ['sh -x .forge/check.sh'] }, null, 2));
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
