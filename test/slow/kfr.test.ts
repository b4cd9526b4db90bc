import { describe, expect, it } from 'vitest';
import { type KfrList, type Note, systemWorld } from '../../src/index.js';
import { hasStrace, strikeCall, traceCalls } from '../support/faults.js';
import { forgeError, forgeJson, startBinary } from '../support/forge.js';
import { abandon, sample } from '../support/kills.js';
import { verify } from '../support/memory.js';
import { type Project, restorer } from '../support/project.js';
import { makeForgeRepository, typed, typedJson } from '../support/typed.js';

/** The holder of what this process does is itself, as it is of the binary's. */
const ME = { world: { holder: () => systemWorld(process.env, false).self() } };
const START = ['session', 'start', '--take-over'];
const PROMOTE = ['note', 'promote', 'kfr-2', '--json', '--quiet'];

function makeWorking(): Project {
  const project = makeForgeRepository();
  typed(project, ['session', 'start']);
  return project;
}

/** Who runs it to its end; its exit code. */
const finished = (project: Project, args: readonly string[]): Promise<number | null> =>
  new Promise((done) => startBinary(project.dir, args).on('close', done));

describe('working memory, as it is typed', () => {
  it('KFR-02 SES-09 two agents that patch at once lose nothing: 20 patches each', async () => {
    const project = makeWorking();
    typed(project, ['config', 'set', 'kfr.tokens', '4000']);
    const agent = async (name: string): Promise<void> => {
      for (let n = 0; n < 20; n++)
        expect(await finished(project, ['kfr', 'patch', '--add', `Constraint:${name} ${n}`])).toBe(0);
    };
    await Promise.all([agent('ada'), agent('bob')]);
    const { entries } = typedJson<KfrList>(project, ['kfr', 'list']);
    expect(entries.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, i) => `kfr-${i + 1}`));
    for (const name of ['ada', 'bob'])
      expect(entries.map(({ text }) => text).filter((text) => text.startsWith(name))).toEqual(
        Array.from({ length: 20 }, (_, n) => `${name} ${n}`),
      );
  });
});

describe.skipIf(!hasStrace)('a kill in the middle of a resume', () => {
  const RESUME = ['session', 'start', '--resume', 'latest', '--json', '--quiet'];

  it('KFR-09 KFR-13 SES-07 no question is lost, and none opens the gate: it is taken along, or still asked for', async () => {
    const project = makeWorking();
    typed(project, ['progress', 'add', 'half of it']);
    typed(project, ['kfr', 'patch', '--goal', 'g', '--add', 'OpenQuestion:which cookie?']);
    abandon(project);
    const restore = restorer(project);
    const calls = traceCalls(project, RESUME);
    expect(calls.length).toBeGreaterThan(10);
    for (const call of sample(calls, 16)) {
      restore();
      const what = call.line.slice(0, 160);
      strikeCall(project.dir, RESUME, calls, call, 'signal=KILL');
      // Whether it is archived, or went on already under the killed one: never a fresh start without it.
      const fresh = await forgeError(project, START, ME);
      expect({ what, code: fresh.code }).toEqual({ what, code: 'gate.closed' });
      const [, wanted = ''] = /--resume (\S+)/.exec(fresh.hint ?? '') ?? [];
      await forgeJson(project, [...START, '--resume', wanted], ME);
      const { entries } = await forgeJson<KfrList>(project, ['kfr', 'list'], ME);
      expect({ what, ids: entries.map(({ id }) => id) }).toEqual({ what, ids: ['kfr-1', 'kfr-2'] });
    }
  });
});

describe.skipIf(!hasStrace)('a kill in the middle of a promotion', () => {
  function makeRig(): Project {
    const project = makeWorking();
    typed(project, ['note', 'add', 'before']);
    typed(project, ['kfr', 'patch', '--goal', 'g', '--add', 'Constraint:no new packages']);
    return project;
  }

  /** Where the entry is, as the two lists tell. */
  async function places(project: Project): Promise<{ kfr: number; notes: number }> {
    const { notes } = await forgeJson<{ notes: Note[] }>(project, ['note', 'list']);
    const { entries } = await forgeJson<KfrList>(project, ['kfr', 'list']);
    return {
      kfr: entries.filter(({ text }) => text === 'no new packages').length,
      notes: notes.filter(({ text }) => text === 'no new packages').length,
    };
  }

  it('KFR-10 at each call with which it changes the disk, the entry is in exactly one place', async () => {
    const project = makeRig();
    const restore = restorer(project);
    const calls = traceCalls(project, PROMOTE);
    expect(calls.length).toBeGreaterThan(10);
    const seen = new Set<string>();
    for (const call of sample(calls, 24)) {
      restore();
      const what = call.line.slice(0, 160);
      strikeCall(project.dir, PROMOTE, calls, call, 'signal=KILL');
      const found = await places(project);
      expect({ what, sum: found.kfr + found.notes }).toEqual({ what, sum: 1 });
      seen.add(JSON.stringify(found));
      // It stays so, memory is whole, and what was not promoted can be.
      expect({ what, ...(await verify(project)) }).toMatchObject({ what, status: 'intact' });
      if (found.kfr === 1) await forgeJson(project, ['note', 'promote', 'kfr-2']);
      expect({ what, ...(await places(project)) }).toEqual({ what, kfr: 0, notes: 1 });
      expect({ what, left: project.has('.git/forge/promotion.json') }).toEqual({ what, left: false });
      expect((await forgeJson<KfrList>(project, ['kfr', 'list'])).entries).toMatchObject([{ id: 'kfr-1' }]);
    }
    // Before the mark stands it is in the KFR, afterwards it is a note.
    expect([...seen].sort()).toEqual(['{"kfr":0,"notes":1}', '{"kfr":1,"notes":0}']);
  });
});
