import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { startBinary } from '../support/forge.js';
import { containers, type Desk, expectSettled, idsHere, makeDesk, restoredHere } from '../support/ledgers.js';
import { typed, typedError, typedJson } from '../support/typed.js';

interface Recorded {
  execution: { id: string };
  evaluation: { id: string };
}
const RECORD = ['memory', 'record', '--task', 'T-1', '--exit-code', '0', '--classification', 'SUCCESS'];

/**
 * Processes of their own that record one cycle after the other, and what they acknowledged. Where git takes files away
 * all the time a command may give up (exit 4 or 6; exit 3 where git took the lock): nothing is acknowledged
 * then, and nothing halts.
 */
async function appendThere(
  { dir, has, read }: Desk,
  count: number,
  { mayRefuse = false, isEnough = (): boolean => true } = {},
): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < 2 * count || !isEnough()) {
    const child = startBinary(dir, [...RECORD, '--signal', 'tests=pass', '--json']);
    const [out, said] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, 'close'),
    ]);
    // The other one may hold the lock for longer than it waits on a slow machine.
    if (said.includes('lock.held')) continue;
    // git clean took the lock too.
    if (mayRefuse && said.includes('lock.lost')) continue;
    expect(mayRefuse ? [0, 4, 6] : [0], said).toContain(child.exitCode);
    expect(has('.git/forge/halt.json') ? read('.git/forge/halt.json') : '').toBe('');
    if (child.exitCode !== 0) continue;
    const { execution, evaluation } = JSON.parse(out) as Recorded;
    ids.push(execution.id, evaluation.id);
  }
  return ids;
}

/** Does something again and again until the writers have finished. */
async function meanwhile(writers: Promise<string[]>[], again: () => Promise<void>): Promise<string[]> {
  let running = true;
  const done = Promise.allSettled(writers).finally(() => {
    running = false;
  });
  while (running) await again();
  await done;
  return (await Promise.all(writers)).flat();
}

describe('git and readers while others append', () => {
  it('LTM-04 LTM-16 verifies while two others append', async () => {
    const desk = await makeDesk();
    await desk.start();
    let verified = 0;
    const isEnough = (): boolean => verified > 2;
    const writers = [1, 2].map(() => appendThere(desk, 4, { isEnough }));
    const ids = await meanwhile(writers, async () => {
      expect(await desk.verify()).toMatchObject({ status: 'intact', problems: [], restored: [] });
      verified++;
    });
    await expectSettled(desk, ids);
    expect(await restoredHere(desk)).toBe(0);
  });

  it('LTM-16 loses nothing when git cleans, commits and stashes while two others append', async () => {
    const desk = await makeDesk();
    await desk.start();
    const acts = [
      () => desk.git('clean', '-qfdx'),
      () => desk.commit(),
      () => desk.git('stash', 'push', '-q', '-u'),
      () => desk.git('gc', '-q'),
    ];
    let turn = 0;
    const writers = [1, 2].map(() => appendThere(desk, 4, { mayRefuse: true }));
    const ids = await meanwhile(writers, async () => {
      acts[turn++ % acts.length]?.();
      await new Promise((done) => setTimeout(done, 100));
    });
    desk.git('stash', 'clear');
    await expectSettled(desk, ids);
  });

  it('LTM-05 LTM-16 interactively: clean, restore, and the output of each command', async () => {
    const desk = await makeDesk();
    typed(desk, ['session', 'start']);
    const { execution } = typedJson<Recorded>(desk, [...RECORD, '--signal', 'tests=pass']);
    desk.git('clean', '-qfdx');
    const { warnings } = typedJson<{ warnings: string[] }>(desk, ['session', 'start']);
    expect(warnings.join()).toMatch(/restored 2 records that had gone missing/);
    expect(idsHere(desk)).toContain(execution.id);
    expect(typed(desk, ['memory', 'verify'])).toContain('memory is intact');
    expect(typed(desk, ['memory', 'log', '--tier', 'audit'])).toContain('restored');

    const path = containers(desk).find((name) => name.includes('/put-')) ?? '';
    desk.write(path, desk.read(path).replace('"T-1"', '"T-2"'));
    expect((await desk.verify()).status).toBe('corrupted');
    expect(typedError(desk, RECORD)).toMatchObject({
      exitCode: 4,
      code: 'memory.corrupted',
    });
  });

  it('LTM-05 restores nothing during a rebase, and everything after it', async () => {
    const desk = await makeDesk();
    await desk.start();
    const ids: string[] = [];
    for (const branch of ['feature', 'main']) {
      if (branch === 'feature') desk.git('switch', '-qc', branch);
      else desk.git('switch', '-q', branch);
      desk.write('src/app.js', `export const answer = '${branch}';\n`);
      ids.push(...(await desk.record()));
      desk.commit();
    }
    desk.git('switch', '-q', 'feature');
    await desk.verify();
    expect(() => desk.git('rebase', '-q', 'main')).toThrow();
    const { notes, problems } = await desk.verify();
    expect({ problems, notes }).toMatchObject({ problems: [] });
    ids.push(...(await desk.record()));
    desk.git('rebase', '--abort');
    await expectSettled(desk, ids.slice(0, 2));
    expect(ids.slice(4).filter((id) => !idsHere(desk).has(id))).toEqual([]);
  });
});
