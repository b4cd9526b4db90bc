import { describe, expect, it } from 'vitest';
import { forgeJson, startBinary } from '../support/forge.js';
import { type Desk, expectSettled, idsHere, makeDesk, repair, restoredHere } from '../support/ledgers.js';
import { follow } from '../support/project.js';

describe('merges', () => {
  it('LTM-17 merges two branches with 50 records each, and names both heads in the next record', async () => {
    const desk = await makeDesk();
    await desk.start();
    desk.git('switch', '-qc', 'feature');
    await desk.records(50);
    desk.commit();
    desk.git('switch', '-q', 'main');
    await desk.records(50);
    desk.commit();
    desk.git('merge', '-q', '--no-edit', 'feature');

    await expectSettled(desk);
    const [next = ''] = await desk.record();
    const show = ['memory', 'show', next];
    const { record } = await forgeJson<{ record: { seen: string[]; n: number } }>(desk, show);
    expect(record.seen).toHaveLength(2);
    expect(record.n).toBeGreaterThan(101);
    expect(await restoredHere(desk)).toBe(0);
  });
});

interface Recorded {
  execution: { id: string };
  evaluation: { id: string };
}
const RECORD = ['memory', 'record', '--task', 'T-1', '--exit-code', '0', '--classification', 'SUCCESS'];

/**
 * Processes of their own that record one cycle after the other, and what they acknowledged. Since git takes files away
 * all the time a command may give up (exit 4 or 6; exit 3 where git took the lock): nothing is acknowledged
 * then, and nothing halts.
 */
async function appendThere({ dir, has, read }: Desk, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < 2 * count) {
    const child = startBinary(dir, [...RECORD, '--signal', 'tests=pass', '--json']);
    const { exitCode, stdout, stderr } = await follow(child).ended;
    // The other one may hold the lock for longer than it waits on a slow machine, and git clean takes it too.
    if (/lock\.(held|lost)/.test(stderr)) continue;
    expect([0, 4, 6], stderr).toContain(exitCode);
    expect(has('.git/forge/halt.json') ? read('.git/forge/halt.json') : '').toBe('');
    if (exitCode !== 0) continue;
    const { execution, evaluation } = JSON.parse(stdout) as Recorded;
    ids.push(execution.id, evaluation.id);
  }
  return ids;
}

describe('git while others append', () => {
  it('LTM-16 loses nothing when git cleans, commits and stashes while two others append', async () => {
    const desk = await makeDesk();
    await desk.start();
    const acts = [
      () => desk.git('clean', '-qfdx'),
      () => desk.commit(),
      () => desk.git('stash', 'push', '-q', '-u'),
      () => desk.git('gc', '-q'),
    ];
    let running = true;
    const writers = Promise.all([1, 2].map(() => appendThere(desk, 4))).finally(() => {
      running = false;
    });
    for (let turn = 0; running; turn++) {
      acts[turn % acts.length]?.();
      await new Promise((done) => setTimeout(done, 100));
    }
    const ids = (await writers).flat();
    desk.git('stash', 'clear');
    await expectSettled(desk, ids);
  });

  it('LTM-21 names a command that shows the files that went with the records, also of a merge', async () => {
    const desk = await makeDesk();
    await desk.start();
    desk.git('switch', '-qc', 'feature');
    await forgeJson(desk, ['feature', 'add', 'Theirs', '--id', 'THEIRS']);
    await desk.record();
    desk.commit();
    desk.git('switch', '-q', 'main');
    desk.git('merge', '-q', '--no-edit', '--no-ff', '-s', 'ours', 'feature');

    const commit = desk.git('rev-parse', '--short=7', 'HEAD');
    const command = `git show --diff-merges=separate --stat ${commit} -- .forge`;
    expect((await desk.verify()).problems[0]?.message).toContain(`; ${command} shows what went with them`);
    expect(desk.git(...command.split(' ').slice(1))).toContain('features.d/THEIRS.json');
    await repair(desk);
    await expectSettled(desk);
  });

  it('LTM-05 restores nothing during a rebase, and everything after it', async () => {
    const desk = await makeDesk();
    await desk.start();
    for (const branch of ['feature', 'main']) {
      if (branch === 'feature') desk.git('switch', '-qc', branch);
      else desk.git('switch', '-q', branch);
      desk.write('src/app.js', `export const answer = '${branch}';\n`);
      await desk.record();
      desk.commit();
    }
    desk.git('switch', '-q', 'feature');
    await desk.verify();
    expect(() => desk.git('rebase', '-q', 'main')).toThrow();
    const { notes, problems } = await desk.verify();
    expect({ problems, notes }).toMatchObject({ problems: [] });
    await desk.record();
    desk.git('rebase', '--abort');
    await expectSettled(desk, desk.ids.slice(0, 2));
    expect(desk.ids.slice(4).filter((id) => !idsHere(desk).has(id))).toEqual([]);
  });
});
