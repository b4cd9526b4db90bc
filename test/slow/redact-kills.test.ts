import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordId } from '../../src/ledger/rules/record.js';
import { type Call, hasStrace, strikeCall, traceCalls, useTerminal } from '../support/faults.js';
import { forgeJson, runForge } from '../support/forge.js';
import { kills } from '../support/kills.js';
import { HUMAN, linesOf, logOf, verify } from '../support/memory.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';
import { makeForgeRepository, typed, typedJson } from '../support/typed.js';

/*
 * A human's two operations that take lines out of files, killed at each call with which they change the disk. Verify
 * never finds damage, nothing is lost that was to stay, and running it again completes it.
 */

const WORD = 'swordfish-plover-mandolin';
const ARCHIVE = '.forge/memory/archive';
const REASON = ['--reason', 'it had to go'];

interface Rig {
  project: Project;
  /** What has the word: a cycle in an archive, a note in a segment that git has, one in the open segment. */
  ids: string[];
}

function makeRig(): Rig {
  const project = makeForgeRepository();
  const lines = Array.from({ length: 1003 }, (_, i) =>
    JSON.stringify({ task_id: i === 1 ? WORD : `T${i}`, exit_code: 0 }),
  );
  const input = lines.join('\n');
  const { records } = typedJson<{ records: { execution: { id: string } }[] }>(
    project,
    ['memory', 'record', '-'],
    { input },
  );
  typed(project, ['memory', 'compact']);
  const committed = typedJson<{ id: string }>(project, ['note', 'add', `${WORD} once`]);
  project.git('add', '.');
  project.git('commit', '-qm', 'Memory');
  typed(project, ['note', 'add', 'before']);
  const { id } = typedJson<{ id: string }>(project, ['note', 'add', WORD]);
  typed(project, ['note', 'add', 'after']);
  return { project, ids: [records[1]?.execution.id ?? '', committed.id, id] };
}

function copyOf({ project }: Rig): Project {
  const copy = projectAt(makeFolder());
  execFileSync('cp', ['-a', `${project.dir}/.`, copy.dir]);
  return copy;
}

function traces(project: Project): string {
  const args = ['-rl', WORD, '.', '--exclude-dir=objects'];
  return spawnSync('grep', args, { cwd: project.dir, encoding: 'utf8' }).stdout;
}

const drafts = (project: Project): string[] =>
  readdirSync(project.path('.forge'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.tmp'),
  );

/** All ids of a tier, archives included. */
function idsOf(project: Project, fixed: string, folder: string): Set<string> {
  const folders = [folder, ARCHIVE].filter((path) => existsSync(project.path(path)));
  const files = folders.flatMap((path) =>
    readdirSync(project.path(path))
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => `${path}/${name}`),
  );
  return new Set([fixed, ...files].flatMap((file) => linesOf(project, file)).map(recordId));
}

const sample = (all: readonly Call[], size: number): Call[] => {
  const step = Math.max(1, Math.floor(all.length / kills(size, all.length)));
  return all.filter((_, i) => i % step === 0);
};

describe.skipIf(!hasStrace)('a kill in the middle', () => {
  it('LTM-19 of a redaction leaves nothing damaged, and running it again completes it', async () => {
    const rig = makeRig();
    useTerminal();
    const args = ['memory', 'redact', ...rig.ids, ...REASON, '--json', '--quiet'];
    const calls = traceCalls(copyOf(rig), args);
    expect(calls.length).toBeGreaterThan(20);
    for (const call of sample(calls, 10)) {
      const project = copyOf(rig);
      const what = call.line.slice(0, 160);
      strikeCall(project.dir, args, calls, call, 'signal=KILL');
      const found = await verify(project);
      expect({ what, problems: found.problems.filter(({ code }) => code !== 'redacted_back') }).toEqual({
        what,
        problems: [],
      });
      expect((await runForge(project, args, HUMAN)).exitCode, what).toBe(0);
      expect({ what, traces: traces(project), drafts: drafts(project) }).toEqual({
        what,
        traces: '',
        drafts: [],
      });
      expect({ what, ...(await verify(project)) }).toMatchObject({ status: 'intact', exitCode: 0 });
      expect((await logOf(project, 'notes')).map(({ record }) => record.text)).toEqual(['before', 'after']);
      expect(readdirSync(project.path(ARCHIVE)).filter((name) => name.endsWith('.jsonl'))).toHaveLength(1);
    }
  });

  it('LTM-14 of a reset leaves nothing damaged, loses nothing, and running it again completes it', async () => {
    const rig = makeRig();
    useTerminal();
    const args = ['memory', 'override', 'reset', 'notes', ...REASON, '--json', '--quiet'];
    const [fixed, folder] = ['.forge/memory/long-term/notes.jsonl', '.forge/memory/notes.d'];
    const before = idsOf(rig.project, fixed, folder);
    const calls = traceCalls(copyOf(rig), args);
    expect(calls.length).toBeGreaterThan(20);
    for (const call of sample(calls, 10)) {
      const project = copyOf(rig);
      const what = call.line.slice(0, 160);
      strikeCall(project.dir, args, calls, call, 'signal=KILL');
      expect({ what, ...(await verify(project)) }).toMatchObject({ status: 'intact', exitCode: 0 });
      await forgeJson(project, args.slice(0, -2), HUMAN);
      expect({ what, ...(await verify(project)) }).toMatchObject({ status: 'intact', exitCode: 0 });
      expect(
        (await logOf(project, 'notes')).map(({ kind }) => kind),
        what,
      ).toEqual(['reset']);
      const after = idsOf(project, fixed, folder);
      expect({ what, lost: [...before].filter((id) => !after.has(id)) }).toEqual({ what, lost: [] });
      expect(linesOf(project, fixed), what).toHaveLength(2);
    }
  });
});
