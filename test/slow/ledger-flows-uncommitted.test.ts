import { expect, it } from 'vitest';
import { runForge } from '../support/forge.js';
import { idsHere, makeDesk, restoredHere } from '../support/ledgers.js';

it('LTM-16 a fold that is not committed yet is no edit: what git clean takes then still comes back', async () => {
  const desk = await makeDesk();
  const before = await desk.record();
  desk.commit();
  expect((await runForge(desk, ['memory', 'fold'])).exitCode).toBe(0);
  const after = await desk.record();
  expect(desk.git('status', '--porcelain')).toContain(' D .forge/memory/execution.d/');

  desk.git('clean', '-qfdx');

  await desk.start();
  expect(await restoredHere(desk)).toBe(after.length);
  for (const id of [...before, ...after]) expect(idsHere(desk)).toContain(id);
  expect((await desk.verify()).status).toBe('intact');
});
