import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasStrace, strikeCall, traceCalls, useTerminal } from '../support/faults.js';
import { runForge } from '../support/forge.js';
import { sample } from '../support/kills.js';
import { idsHere } from '../support/ledgers.js';
import { HUMAN, logOf, verify } from '../support/memory.js';
import { commitAll, copyOf, type Project } from '../support/project.js';
import { traces, WORD } from '../support/redactions.js';
import { makeForgeRepository, typed, typedJson } from '../support/typed.js';

/*
 * What a human takes out or begins anew, killed at each call with which it changes the disk. Verify never finds damage,
 * nothing is lost that was to stay, and running it again completes it.
 */

const REASON = ['--reason', 'it had to go'];

interface Rig {
  project: Project;
  /** What has the word: a note in a file that git has, one in the open file. */
  ids: string[];
}

function makeRig(): Rig {
  const project = makeForgeRepository();
  const committed = typedJson<{ id: string }>(project, ['note', 'add', `${WORD} once`]);
  commitAll(project, 'Memory');
  typed(project, ['note', 'add', 'before']);
  const { id } = typedJson<{ id: string }>(project, ['note', 'add', WORD]);
  typed(project, ['note', 'add', 'after']);
  return { project, ids: [committed.id, id] };
}

/** Files that may have the word. The draft of a lock has only a process id, and stays after a kill. */
const drafts = (project: Project): string[] =>
  readdirSync(project.path('.forge'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.tmp') && !name.includes('.lock.'),
  );

/** Kills the command at its calls, each time in a fresh copy, and gives the copy to `check`. */
async function killed(
  rig: Rig,
  args: string[],
  check: (project: Project, what: string) => Promise<void>,
): Promise<void> {
  useTerminal();
  const calls = traceCalls(copyOf(rig.project), args);
  expect(calls.length).toBeGreaterThan(8);
  for (const call of sample(calls, 10)) {
    const project = copyOf(rig.project);
    const what = call.line.slice(0, 160);
    strikeCall(project.dir, args, calls, call, 'signal=KILL');
    await check(project, what);
    expect({ what, ...(await verify(project)) }).toMatchObject({ what, status: 'intact', exitCode: 0 });
  }
}

describe.skipIf(!hasStrace)('a kill in the middle', () => {
  it('LTM-19 of a redaction leaves nothing damaged, and running it again completes it', async () => {
    const rig = makeRig();
    const args = ['memory', 'redact', ...rig.ids, ...REASON, '--json', '--quiet'];
    await killed(rig, args, async (project, what) => {
      const { problems } = await verify(project);
      expect({ what, problems: problems.filter(({ code }) => code !== 'returned') }).toEqual({
        what,
        problems: [],
      });
      expect((await runForge(project, args, HUMAN)).exitCode, what).toBe(0);
      expect({ what, traces: traces(project), drafts: drafts(project) }).toEqual({
        what,
        traces: [],
        drafts: [],
      });
      expect((await logOf(project, 'note')).map(({ record }) => record.text)).toEqual(['before', 'after']);
    });
  });

  it('LTM-14 of a reset leaves nothing damaged, loses nothing, and running it again completes it', async () => {
    const rig = makeRig();
    const before = idsHere(rig.project);
    const args = ['memory', 'override', 'reset', 'note', ...REASON, '--json', '--quiet'];
    await killed(rig, args, async (project, what) => {
      expect({ what, ...(await verify(project)) }).toMatchObject({ what, status: 'intact', exitCode: 0 });
      expect((await runForge(project, args, HUMAN)).exitCode, what).toBe(0);
      expect(await logOf(project, 'note'), what).toEqual([]);
      const after = idsHere(project);
      expect({ what, lost: [...before].filter((id) => !after.has(id)) }).toEqual({ what, lost: [] });
    });
  });
});
