import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identify } from '../../src/core/process-identity.js';
import type { Redaction } from '../../src/index.js';
import { cycle, MARK, type Stored, sh, storedCycles } from '../support/cycles.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { HUMAN, logOf, type Recorded, verify } from '../support/memory.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';

const WORD = 'swordfish-plover-mandolin';
const KEYS = '.git/forge/redacted-keys';

function traces(project: Project): string[] {
  const args = ['-rl', WORD, '.', '--exclude-dir=objects'];
  return spawnSync('grep', args, { cwd: project.dir, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
}

const redact = (project: Project, ...args: string[]): Promise<Redaction> =>
  forgeJson(project, ['memory', 'redact', ...args, '--reason', 'it had to go'], HUMAN);

interface Killed {
  key: string;
  ids: string[];
  mark: Record<string, unknown>;
}

/** A cycle that was killed between its record and the end of its mark. */
async function killed(project: Project): Promise<Killed> {
  const observe = `echo '{"pattern":"${WORD}","scope":"execution"}' > $FORGE_OBSERVATIONS`;
  await cycle(project, ['--task', 'A', ...sh(`${observe}; echo ${WORD}`)]);
  const [stored] = await storedCycles(project);
  const [execution] = (await logOf(project, 'execution')).slice(-1);
  const [evaluation] = (await logOf(project, 'evaluation')).slice(-1);
  const { key, log, started_at, stages } = (stored as Stored).execution;
  const input = { task_id: 'A', exit_code: 0, log, classification: 'SUCCESS', idempotency_key: key };
  const holder = { ...identify(process.pid), pid: 4_000_000, started: '1' };
  const mark = {
    schema_version: '1.0',
    key,
    holder,
    started_at,
    task_id: 'A',
    stage: 'memory',
    stages,
    input,
  };
  return { key, ids: [execution?.id ?? '', evaluation?.id ?? ''], mark };
}

const executionsOf = async (project: Project): Promise<string[]> =>
  (await logOf(project, 'execution')).filter(({ kind }) => kind === 'cycle').map(({ id }) => id);

describe('a redacted cycle that was cut off', () => {
  it.each<[string, (killed: Killed) => object]>([
    ['under its own mark', ({ mark }) => mark],
    [
      'that a later one had found',
      ({ mark }) => ({ ...mark, key: 'b'.repeat(16), input: undefined, stage: 'task', left: [mark] }),
    ],
  ])('LTM-19 leaves nothing in cycle.json %s, and does not come back', async (_, put) => {
    const project = await makeForge();
    const left = await killed(project);
    project.write(MARK, JSON.stringify(put(left)));
    const folder = join(tmpdir(), `forge-cycle-${left.key}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'observations.jsonl'), WORD);
    const dry = await redact(project, ...left.ids, '-n');
    expect(project.read(MARK)).toContain(WORD);
    const { files } = await redact(project, ...left.ids);
    expect(files).toContain(MARK);
    expect(dry.files).toEqual(files);
    expect(traces(project)).toEqual([]);
    expect(existsSync(folder)).toBe(false);
    expect(await executionsOf(project)).toEqual([]);
    await cycle(project, ['--', 'true']);
    // The one that was running, and in the second row the one that had found it.
    const tasks = (await storedCycles(project)).map(({ execution }) => execution.key);
    expect(tasks).not.toContain(left.key);
    expect(tasks.length).toBe(put(left) === left.mark ? 1 : 2);
    expect([traces(project), project.has(MARK)]).toEqual([[], false]);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it('LTM-19 is recorded by nobody who had read its mark before, and running it again takes out a late one', async () => {
    const project = await makeForge();
    const left = await killed(project);
    await redact(project, ...left.ids);
    project.write(MARK, JSON.stringify(left.mark));
    expect((await redact(project, left.ids[0] as string)).files).toEqual([MARK]);
    expect((await redact(project, left.ids[0] as string)).files).toEqual([]);
    project.write(MARK, JSON.stringify(left.mark));
    const { warnings } = await cycle(project, ['--', 'true']);
    expect(warnings.join('\n')).toMatch(/1 cycle came again under its key, of which something was redacted/);
    expect((await storedCycles(project)).length).toBe(1);
    expect(traces(project)).toEqual([]);
  });

  it('LTM-19 what cannot be read as a mark is named, and the redaction done', async () => {
    const project = await makeForge();
    const left = await killed(project);
    project.write(MARK, `{"key": "${WORD}"`);
    const { stderr } = await runForge(project, ['memory', 'redact', ...left.ids, '--reason', 'text'], HUMAN);
    expect(stderr).toMatch(/remove \.git\/forge\/cycle\.json by hand/);
    expect(traces(project)).toEqual([`./${MARK}`]);
  });
});

describe('the key of a redacted cycle', () => {
  const again = (project: Project, task = WORD): Promise<Recorded & { redacted?: true }> =>
    forgeJson(project, ['memory', 'record', '-'], {
      stdin: JSON.stringify({
        ...{ task_id: task, exit_code: 0, classification: 'SUCCESS', idempotency_key: 'build-17' },
      }),
    });

  it.each([
    ['both records', 2],
    ['its execution record', 1],
  ])(
    'LTM-19 B-58 stays taken when %s went: here, in other worktrees, and for what waits',
    async (_, count) => {
      const project = await makeForge();
      const { execution, evaluation } = await again(project, count === 2 ? WORD : 'A');
      project.git('add', '-A');
      project.git('commit', '-qm', 'Work');
      await redact(project, ...[execution.id, evaluation?.id ?? ''].slice(0, count));
      expect(project.read(KEYS)).not.toContain('build-17');
      const said = await again(project);
      expect(said).toMatchObject({ cycle: 1, execution: { id: execution.id }, known: true, redacted: true });
      project.write(
        '.git/forge/pending/0123456789abcdef.json',
        JSON.stringify({ task_id: WORD, exit_code: 0, idempotency_key: 'build-17' }),
      );
      const next = await runForge(project, ['memory', 'record', '--task', 'B', '--exit-code', '0']);
      expect(next.stderr).toMatch(/of which something was redacted/);
      expect(next.stderr).not.toMatch(/is in memory/);
      expect((await executionsOf(project)).length).toBe(1);
      expect(traces(project)).toEqual([]);
      const side = projectAt(join(makeFolder(), 'side'));
      project.git('worktree', 'add', '-q', side.dir, 'HEAD~1');
      await again(side, `${WORD} aside`);
      expect(spawnSync('grep', ['-rq', 'aside', side.dir, project.path('.git/worktrees')]).status).toBe(1);
    },
  );

  it('LTM-19 stays taken when its evaluation alone went: the judgement does not come back', async () => {
    const project = await makeForge();
    const { evaluation } = await again(project);
    await redact(project, evaluation?.id ?? '');
    expect(await again(project)).toMatchObject({
      known: true,
      redacted: true,
      evaluation: { id: evaluation?.id },
    });
    expect((await logOf(project, 'evaluation')).filter(({ kind }) => kind === 'cycle')).toEqual([]);
  });
});
