import { expect, it } from 'vitest';
import type { TrustReport } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { commitAll } from '../support/project.js';
import { makeForgeRepository, typed, typedError, typedJson } from '../support/typed.js';

it('B-85 a command of a clone runs after a person at a terminal answered yes, and not after no', async () => {
  const origin = makeForgeRepository();
  origin.write('.forge/check.sh', 'echo ran >>ran\n');
  typed(origin, ['feature', 'add', '--no-run', 'F-1', 'Checked', '--test', 'sh .forge/check.sh']);
  commitAll(origin);
  const clone = cloneOf(origin);
  const answer = (keys: string) => atTerminal(clone, ['trust'], [['on this machine?', keys]]);
  const refused = { exitCode: 3, code: 'trust.needed' };

  const no = await answer('n\r');
  expect(no).toMatchObject({ exitCode: 3, shown: expect.stringContaining('echo ran') });
  expect(typedError(clone, 'feature verify F-1')).toMatchObject(refused);
  expect(clone.has('ran')).toBe(false);

  expect((await answer('y\r')).exitCode).toBe(0);
  expect(typedJson<TrustReport>(clone, 'trust --show').trusted).toBe(true);
  expect(typedJson(clone, 'feature verify F-1')).toMatchObject({ results: [{ status: 'passing' }] });
  expect(clone.read('ran')).toBe('ran\n');

  typed(clone, 'trust --revoke');
  expect(typedError(clone, 'feature verify F-1')).toMatchObject(refused);
});
