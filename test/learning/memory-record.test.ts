import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordId } from '../../src/ledger/record.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import {
  BASE,
  commit,
  containerOf,
  cyclesOf,
  HUMAN,
  LEDGER,
  linesOf,
  putLines,
  type Recorded,
  record,
  verify,
} from '../support/memory.js';
import { type Project, run } from '../support/project.js';

const INPUT = {
  task_id: 'FORGE-001',
  exit_code: 1,
  started_at: '2026-03-01T09:00:00.000Z',
  finished_at: '2026-03-01T09:10:00.000Z',
  log: 'line\n'.repeat(2000),
  classification: 'PARTIAL_SUCCESS',
  environment_valid: true,
  governance_violations: ['none was asked'],
  quality_signals: { coverage: 81.5, lint: true, tool: 'vitest', missing: null },
  regression_flags: ['slower'],
  improvement_proposals: ['cache it'],
  patterns: [{ pattern: 'tests first', scope: 'execution', holds: false }],
  idempotency_key: 'run-1',
};

/** Both records of INPUT, as they must be stored. */
async function expectStored(project: Project): Promise<void> {
  const [[execution], [evaluation]] = [await cyclesOf(project), await cyclesOf(project, 'evaluation')];
  const {
    log,
    task_id,
    exit_code,
    started_at,
    finished_at,
    idempotency_key: key,
    patterns,
    ...judged
  } = INPUT;
  expect(execution?.record).toMatchObject({ actor: 'supervisor', cycle: 1, key, task_id, exit_code });
  expect(execution?.record).toMatchObject({ started_at, finished_at });
  expect(execution?.record.log).toEqual({ tail: log.slice(-4096), bytes: log.length, sha256: recordId(log) });
  expect(evaluation?.record).toMatchObject({ ...judged, patterns, cycle: 1, key, task_id });
  expect(evaluation?.record.execution).toBe(execution?.id);
}

describe('forge memory record', () => {
  it('LTM-02 accepts a JSON object from a file or from stdin', async () => {
    for (const stdin of [undefined, JSON.stringify(INPUT, null, 2)]) {
      const project = await makePlainForge();
      project.write('cycle.json', JSON.stringify(INPUT));
      const call = ['memory', 'record', stdin === undefined ? 'cycle.json' : '-'];
      const answer = await forgeJson<Recorded>(project, call, stdin === undefined ? {} : { stdin });
      const id = expect.stringMatching(/^[0-9a-f]{64}$/);
      const cycle = { cycle: 1, execution: { id, n: 2 }, evaluation: { id, n: 3 } };
      const consolidation = { ran: false, promoted: [], contested: [], reinstated: [], due_in: 9 };
      expect(answer).toEqual({ ...cycle, consolidation, count: 1, records: [cycle] });
      await expectStored(project);
    }
  });

  it('LTM-02 accepts the same as flags; without a classification there is no evaluation', async () => {
    const project = await makePlainForge();
    project.write('run.log', INPUT.log);
    const flags = '--log run.log --classification PARTIAL_SUCCESS --environment-valid true --key run-1'.split(
      ' ',
    );
    const signals = ['coverage=81.5', 'lint=true', 'tool=vitest', 'path=a=b', 'minus=-3', 'zip=01'];
    const answer = await forgeJson<Recorded>(project, [
      ...['memory', 'record', '--task', 'FORGE-001', '--exit-code', '1', ...flags],
      ...signals.flatMap((signal) => ['--signal', signal]),
      ...['--pattern', 'tests first', '--pattern', 'small steps', '--scope', 'governance'],
      ...['--regression', 'slower', '--proposal', 'cache it', '--violation', 'none was asked'],
    ]);
    expect(answer.evaluation?.n).toBe(3);
    const [[execution], [evaluation]] = [await cyclesOf(project), await cyclesOf(project, 'evaluation')];
    expect(execution?.record.log).toMatchObject({ bytes: INPUT.log.length, sha256: recordId(INPUT.log) });
    expect(evaluation?.record).toMatchObject({
      classification: 'PARTIAL_SUCCESS',
      environment_valid: true,
      quality_signals: { coverage: 81.5, lint: true, tool: 'vitest', path: 'a=b', minus: -3, zip: 1 },
      regression_flags: ['slower'],
      improvement_proposals: ['cache it'],
      governance_violations: ['none was asked'],
      patterns: [
        { pattern: 'tests first', scope: 'governance', holds: true },
        { pattern: 'small steps', scope: 'governance', holds: true },
      ],
    });
    expect(await record(project)).toMatchObject({ cycle: 2 });
    expect(await cyclesOf(project, 'evaluation')).toHaveLength(1);
    const { stdout } = await runForge(project, [...BASE, '--classification', 'FAILURE']);
    expect(stdout).toMatch(/^cycle 3 {2}execution [0-9a-f]{12} {2}evaluation [0-9a-f]{12}\n$/);
  });

  it('LTM-01 LTM-03 appends both records of a cycle to one file, as lines that sha256sum alone can check', async () => {
    const project = await makePlainForge();
    for (let i = 0; i < 2; i++) await record(project, '--classification', 'SUCCESS');
    const file = containerOf(project);
    const sum = (line: number): string =>
      run(project.dir, 'sh', [
        '-c',
        `sed -n ${line}p ${file} | sed 's/^ *//' | tr -d '\\n' | sha256sum | cut -c1-64`,
      ]).stdout.trim();
    const records = linesOf(project, file).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records.map(({ prev }) => prev)).toEqual([null, sum(1), sum(2), sum(3)]);
    expect(records.map(({ tier }) => tier)).toEqual(['execution', 'evaluation', 'execution', 'evaluation']);
    expect(records.map(({ cycle }) => cycle)).toEqual([1, 1, 2, 2]);
    expect(records.map(({ execution }) => execution)).toEqual([undefined, sum(1), undefined, sum(3)]);
    const before = project.read(file);
    await record(project, '--classification', 'FAILURE');
    await runForge(project, ['note', 'add', 'x']);
    expect(project.read(file).startsWith(before)).toBe(true);
  });

  it('LTM-02 accepts many as JSONL: one result per cycle, in one file', async () => {
    const project = await makePlainForge();
    const lines = [1, 2, 3].map((i) =>
      JSON.stringify({ task_id: `T${i}`, exit_code: 0, classification: 'SUCCESS' }),
    );
    project.write('many.jsonl', `${lines.join('\n')}\n\n`);
    const answer = await forgeJson<{ count: number; records: Recorded[] }>(
      project,
      'memory record many.jsonl',
    );
    expect([answer.count, answer.records.map(({ cycle }) => cycle)]).toEqual([3, [1, 2, 3]]);
    // The last one stands outside as well: of one cycle the answer has the same shape.
    expect(answer).toMatchObject(answer.records[2] as Recorded);
    const alone = await forgeJson<{ records: Recorded[] }>(project, 'memory record -', {
      stdin: lines[0] as string,
    });
    expect(Object.keys(alone)).toEqual(Object.keys(answer));
    expect(alone.records).toHaveLength(1);
    const tasks = (await cyclesOf(project)).map(({ record: { task_id } }) => task_id);
    expect(tasks).toEqual(['T1', 'T2', 'T3', 'T1']);
    expect(linesOf(project, containerOf(project))).toHaveLength(8);
    expect((await runForge(project, ['memory', 'record', '-'], { stdin: lines.join('\n') })).stdout).toMatch(
      /^3 cycles recorded \(0 of them recorded before\)/,
    );
  });

  it('B-58 the same key again is the same cycle; a batch may repeat one', async () => {
    const project = await makeForge();
    const first = await record(project, '--key', 'K', '--classification', 'SUCCESS');
    const again = await record(project, '--key', 'K', '--classification', 'SUCCESS');
    const { cycle, execution, evaluation } = first;
    const stored = { cycle, execution, evaluation, known: true };
    expect(again).toMatchObject({ ...stored, count: 1, records: [stored] });
    const one = (key: string) => JSON.stringify({ task_id: 'B', exit_code: 0, idempotency_key: key });
    const stdin = [one('L'), one('K'), one('L')].join('\n');
    const { records } = await forgeJson<{ records: Recorded[] }>(project, 'memory record -', { stdin });
    expect(records[0]?.execution).toEqual(records[2]?.execution);
    expect(records[1]?.execution).toEqual(first.execution);
    expect(await cyclesOf(project)).toHaveLength(2);
    // Committed, it is still known.
    commit(project);
    expect(await record(project, '--key', 'K')).toMatchObject({ execution: first.execution, known: true });
    expect((await runForge(project, [...BASE, '--key', 'K'])).stdout).toMatch(/\(recorded before\)/);
  });

  it('B-58 a retry adds the evaluation that a crash cut off', async () => {
    const project = await makePlainForge();
    const first = await record(project, '--key', 'K', '--classification', 'SUCCESS');
    const [execution = ''] = linesOf(project, containerOf(project));
    putLines(project, containerOf(project), [execution]);
    rmSync(project.path('.forge/local/journal'), { recursive: true });
    const again = await record(project, '--key', 'K', '--classification', 'SUCCESS');
    expect(again).toMatchObject({ cycle: 1, execution: first.execution, known: true });
    const [evaluation, ...more] = await cyclesOf(project, 'evaluation');
    expect(evaluation).toMatchObject({ id: again.evaluation?.id, record: { execution: first.execution.id } });
    expect(more).toEqual([]);
  });

  it('LTM-19 a cycle with a redacted record is not recorded again under its key', async () => {
    const project = await makeForge();
    const first = await record(project, '--key', 'K', '--classification', 'SUCCESS');
    const { id } = first.execution;
    await runForge(project, ['memory', 'redact', id, '--reason', 'a name'], HUMAN);
    const again = await record(project, '--key', 'K');
    expect(again).toMatchObject({ execution: { id }, known: true, redacted: true });
    expect(await cyclesOf(project)).toEqual([]);
  });
});

describe('a record that cannot be written', () => {
  it('LTM-16 the cycle is kept, and the next record stores it as FAILURE, once', async () => {
    const project = await makeForge();
    // No file of the ledger can be made.
    const folder = project.path(LEDGER);
    const away = `${folder}-away`;
    renameSync(folder, away);
    writeFileSync(folder, 'a file in place of the folder');
    const flags = ['--classification', 'SUCCESS', '--pattern', 'p', '--proposal', 'q', '--key', 'K'];
    const error = await forgeError(project, [...BASE, ...flags]);
    expect(error).toMatchObject({ exitCode: 6, kind: 'outside' });
    expect(error.message).toMatch(
      /counts as FAILURE; it is kept, and the next forge memory record records it/,
    );
    rmSync(folder);
    renameSync(away, folder);
    const { stderr } = await runForge(project, ['memory', 'record', '--task', 'B', '--exit-code', '0']);
    expect(stderr).toMatch(/Cycle 1, which could not be written before, is recorded now, as FAILURE/);
    const cycles = await cyclesOf(project);
    expect(cycles.map(({ record: { task_id } }) => task_id)).toEqual(['A', 'B']);
    const [judged, ...more] = await cyclesOf(project, 'evaluation');
    expect(more).toEqual([]);
    expect(judged?.record).toMatchObject({
      classification: 'FAILURE',
      patterns: [],
      improvement_proposals: [],
      governance_violations: ['memory write failed; recorded by a later command'],
      execution: cycles[0]?.id,
    });
    await record(project);
    expect(await cyclesOf(project)).toHaveLength(3);
    // The caller who tries it again gets the cycle that was stored.
    expect(await record(project, '--key', 'K')).toMatchObject({ cycle: 1, known: true });
    expect((await verify(project)).status).toBe('intact');
  });
});
