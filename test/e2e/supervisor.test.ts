import { describe, expect, it } from 'vitest';
import { atTerminal } from '../support/e2e-terminal.js';
import { makeFolder } from '../support/project.js';
import { keyOf } from '../support/seals.js';
import { makeForgeRepository, typed, typedError, typedJson } from '../support/typed.js';

interface Verified {
  status: string;
  signatures: { seals: { valid: boolean; known: boolean }[] };
}

describe('a supervisor at a terminal', () => {
  it('LTM-18 makes a key with a passphrase, typed twice and never shown, and types it again to seal', async () => {
    const project = makeForgeRepository();
    const env = { XDG_CONFIG_HOME: makeFolder(), XDG_STATE_HOME: makeFolder() };
    const machine = { env };
    const at = (args: string[], answers: [string, string][]) =>
      atTerminal({ ...project, env }, args, answers);
    const made = await at(
      ['supervisor', 'init'],
      [
        ['(empty: none', 'open sesame\r'],
        ['Once more', 'open sesame\r'],
      ],
    );
    expect([made.exitCode, made.shown]).toEqual([0, expect.stringContaining(`${keyOf(machine)}`)]);
    expect(made.shown.replace(/\s+/g, ' ')).toMatch(/with a passphrase/);
    expect(made.shown).not.toContain('sesame');
    typed(project, ['memory', 'record', '--task', 'A', '--exit-code', '0'], machine);
    expect(typedError(project, ['memory', 'seal'], machine)).toMatchObject({
      code: 'key.passphrase',
      exitCode: 3,
    });
    const wrong = await at(['memory', 'seal'], [['Passphrase of the key', 'guess\r']]);
    expect([wrong.exitCode, wrong.shown]).toEqual([3, expect.stringMatching(/passphrase .* is wrong/)]);
    const sealed = await at(['memory', 'seal'], [['Passphrase of the key', 'open sesame\r']]);
    expect([sealed.exitCode, sealed.shown]).toEqual([0, expect.stringMatching(/sealed 7 records/)]);
    const { status, signatures } = typedJson<Verified & Record<string, unknown>>(
      project,
      ['memory', 'verify', '--signatures'],
      machine,
    );
    expect([status, signatures.seals]).toMatchObject(['intact', [{ valid: true, known: true }]]);
    const twice = await at(
      ['supervisor', 'init', '--key', `${makeFolder()}/other.pem`],
      [
        ['(empty: none', 'one\r'],
        ['Once more', 'two\r'],
      ],
    );
    expect([twice.exitCode, twice.shown]).toEqual([2, expect.stringMatching(/passphrases differ/)]);
  });
});
