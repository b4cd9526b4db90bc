import { rmSync, truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemWorld } from '../../src/adapters/world.js';
import { recordId } from '../../src/domain/ledger/ledger.js';
import { contextAt } from '../../src/routines/context.js';
import { storeRecords, surroundings } from '../../src/routines/memory/ledger.js';
import { BIN, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeFolder, type Project, run } from '../support/project.js';
import {
  commitFolded,
  type Logged,
  linesOf,
  logOf,
  type Recorded,
  record,
  segmentOf,
  segmentsOf,
  verify,
} from './memory.js';
import { differences, makeForge, makePlainForge, snapshot } from './project.js';

const BASE = ['memory', 'record', '--task', 'A', '--exit-code', '0'];
const cyclesOf = async (
  project: Project,
  tier: 'execution' | 'evaluation' = 'execution',
): Promise<Logged[]> => (await logOf(project, tier)).filter(({ kind }) => kind === 'cycle');

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
  it('LTM-02 takes a JSON object from a file or from stdin', async () => {
    for (const stdin of [undefined, JSON.stringify(INPUT, null, 2)]) {
      const project = await makePlainForge();
      project.write('cycle.json', JSON.stringify(INPUT));
      const call = ['memory', 'record', stdin === undefined ? 'cycle.json' : '-'];
      const answer = await forgeJson<Recorded>(project, call, stdin === undefined ? {} : { stdin });
      expect(answer).toEqual({
        cycle: 1,
        execution: { id: expect.stringMatching(/^[0-9a-f]{64}$/), n: 2 },
        evaluation: { id: expect.stringMatching(/^[0-9a-f]{64}$/), n: 2 },
        consolidation: { ran: false, promoted: [], contested: [], reinstated: [], due_in: 9 },
      });
      await expectStored(project);
    }
  });

  it('LTM-02 takes the same by flags; without a judgement there is no evaluation', async () => {
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
    expect(answer.evaluation?.n).toBe(2);
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

  it('LTM-03 stores lines that sha256sum alone can check', async () => {
    const project = await makePlainForge();
    for (let i = 0; i < 3; i++) await record(project);
    const file = segmentOf(project, 'execution');
    const sum = (line: number): string =>
      run(project.dir, 'sh', [
        '-c',
        `sed -n ${line}p ${file} | tr -d '\\n' | sha256sum | cut -c1-64`,
      ]).stdout.trim();
    const prevs = linesOf(project, file).map((line) => JSON.parse(line).prev as string | null);
    expect(prevs).toEqual([null, sum(1), sum(2)]);
    expect((await logOf(project, 'execution')).at(-1)?.id).toBe(sum(3));
  });

  it('LTM-01 only ever appends: what stands there stays byte for byte', async () => {
    const project = await makePlainForge();
    await record(project, '--classification', 'SUCCESS');
    const files = [segmentOf(project, 'execution'), segmentOf(project, 'evaluation')];
    const before = files.map((file) => project.read(file));
    for (let i = 0; i < 3; i++) await record(project, '--classification', 'FAILURE');
    await runForge(project, ['note', 'add', 'x']);
    for (const [i, file] of files.entries())
      expect(project.read(file).startsWith(before[i] as string)).toBe(true);
  });

  it('LTM-02 takes many as JSONL: one answer a cycle, in one segment', async () => {
    const project = await makePlainForge();
    const lines = [1, 2, 3].map((i) =>
      JSON.stringify({ task_id: `T${i}`, exit_code: 0, classification: 'SUCCESS' }),
    );
    project.write('many.jsonl', `${lines.join('\n')}\n\n`);
    const answer = await forgeJson<{ count: number; records: Recorded[] }>(project, [
      'memory',
      'record',
      'many.jsonl',
    ]);
    expect([answer.count, answer.records.map(({ cycle }) => cycle)]).toEqual([3, [1, 2, 3]]);
    expect((await cyclesOf(project)).map(({ record: { task_id } }) => task_id)).toEqual(['T1', 'T2', 'T3']);
    expect(linesOf(project, segmentOf(project, 'evaluation'))).toHaveLength(3);
    expect((await runForge(project, ['memory', 'record', '-'], { stdin: lines.join('\n') })).stdout).toMatch(
      /^3 cycles recorded \(0 of them known already\)/,
    );
  });

  it.each([
    ['no JSON', '{"task_id":"b",', 2, undefined],
    ['a wrong field', '{"task_id":"b","exit_code":"0"}', 2, 'exit_code'],
    ['an unknown field', '{"task_id":"b","exit_code":0,"extra":1}', 2, undefined],
    ['no object', '[]', 2, undefined],
  ])('LTM-02 a batch is all or nothing: %s is named by its line', async (_, bad, line, field) => {
    const project = await makePlainForge();
    await record(project);
    const good = '{"task_id":"a","exit_code":0}';
    const before = snapshot(project.dir);
    const error = await forgeError(project, ['memory', 'record', '-'], {
      stdin: [good, bad, good].join('\n'),
    });
    expect(error).toMatchObject({ exitCode: 2, kind: 'usage', line, ...(field ? { field } : {}) });
    expect(error.message).toMatch(/^Line 2: /);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it.each([
    ['nothing', ['memory', 'record'], 'record.what'],
    ['no exit code', ['memory', 'record', '--task', 'A'], 'record.what'],
    ['an exit code of 256', ['memory', 'record', '--task', 'A', '--exit-code', '256'], 'number.invalid'],
    ['an exit code of 1e2', ['memory', 'record', '--task', 'A', '--exit-code', '1e2'], 'number.invalid'],
    ['an unknown classification', [...BASE, '--classification', 'GOOD'], 'input.invalid'],
    ['an unknown scope', [...BASE, '--pattern', 'p', '--scope', 'all'], 'input.invalid'],
    ['a signal without a value', [...BASE, '--signal', 'coverage'], 'record.signal'],
    ['a signal without a name', [...BASE, '--signal', '=1'], 'record.signal'],
    ['a signal that is named __proto__', [...BASE, '--signal', '__proto__=1'], 'record.signal'],
    ['a signal that is named constructor', [...BASE, '--signal', 'constructor=1'], 'record.signal'],
    ['a signal twice', [...BASE, '--signal', 'a=1', '--signal', 'b=1', '--signal', 'a=2'], 'record.signal'],
    ['an environment that is maybe valid', [...BASE, '--environment-valid', 'maybe'], 'record.boolean'],
    ['a key with a space', [...BASE, '--key', 'a b'], 'input.invalid'],
    ['an empty key', [...BASE, '--key', ''], 'input.invalid'],
    ['an empty pattern', [...BASE, '--pattern', ''], 'input.invalid'],
    ['an empty task', ['memory', 'record', '--task', '', '--exit-code', '0'], 'input.invalid'],
    ['a log that is not there', [...BASE, '--log', 'nosuch.log'], 'file.unreadable'],
    ['a file that is not there', ['memory', 'record', 'nosuch.json'], 'file.unreadable'],
    ['an empty file', ['memory', 'record', 'empty.json'], 'record.what'],
    ['a file and flags', ['memory', 'record', 'one.json', '--task', 'A'], 'record.both'],
  ])('B-01 refuses %s with exit 2 and stores nothing', async (_, args, code) => {
    const project = await makePlainForge();
    project.write('empty.json', '');
    project.write('one.json', '{"task_id":"A","exit_code":0}');
    const before = snapshot(project.dir);
    const error = await forgeError(project, args);
    expect(error).toMatchObject({ exitCode: 2, kind: 'usage', code });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-06 what could move the cursor is refused; what an older forge stored of it is shown escaped', async () => {
    const project = await makePlainForge();
    const task = 'a\u001b]0;title\u0007\u202eb';
    const flags = ['memory', 'record', '--task', task, '--exit-code', '0'];
    expect(await forgeError(project, flags)).toMatchObject({ exitCode: 2, code: 'text.hidden_character' });
    const stdin = JSON.stringify({ task_id: task, exit_code: 0 });
    expect(await forgeError(project, ['memory', 'record', '-'], { stdin })).toMatchObject({ exitCode: 5 });
    expect(await cyclesOf(project)).toEqual([]);
    const context = contextAt(project.dir, null, systemWorld(process.env, false), false);
    context.disk.guard = () => {};
    const draft = { kind: 'cycle', cycle: 1, task_id: task, exit_code: 0 };
    const [ref] = storeRecords(context, await surroundings(context), 'execution', [draft]);
    for (const call of [
      ['memory', 'log'],
      ['memory', 'show', ref?.id ?? ''],
    ]) {
      const { stdout } = await runForge(project, call);
      expect([call, stdout]).toEqual([call, expect.stringContaining('title')]);
      for (const sign of ['\u001b', '\u0007', '\u202e'])
        expect([call, stdout.includes(sign)]).toEqual([call, false]);
    }
  });

  it('B-32 a line of 17 MB is no input, nor is a record over 1 MB', async () => {
    const project = await makePlainForge();
    const huge = `{"task_id":"${'x'.repeat(17_000_000)}","exit_code":0}`;
    expect(await forgeError(project, ['memory', 'record', '-'], { stdin: huge })).toMatchObject({
      exitCode: 2,
      code: 'input.too_large',
    });
    project.write('huge.jsonl', '');
    truncateSync(project.path('huge.jsonl'), 200_000_000);
    const memory = process.memoryUsage().rss;
    expect(await forgeError(project, ['memory', 'record', 'huge.jsonl'])).toMatchObject({
      exitCode: 2,
      code: 'input.too_large',
    });
    expect(process.memoryUsage().rss - memory).toBeLessThan(100_000_000);
    const wide = { task_id: 'A', exit_code: 0, regression_flags: Array(20).fill('y'.repeat(60_000)) };
    expect(
      await forgeError(project, ['memory', 'record', '-'], { stdin: JSON.stringify(wide) }),
    ).toMatchObject({
      exitCode: 2,
      code: 'record.too_large',
    });
    expect(await cyclesOf(project)).toEqual([]);
  });

  it('B-58 the same key again is the same cycle; a batch may repeat one', async () => {
    const project = await makeForge();
    const first = await record(project, '--key', 'K', '--classification', 'SUCCESS');
    const again = await record(project, '--key', 'K', '--classification', 'SUCCESS');
    expect(again).toEqual({ ...first, known: true });
    const one = (key: string) => JSON.stringify({ task_id: 'B', exit_code: 0, idempotency_key: key });
    const stdin = [one('L'), one('K'), one('L')].join('\n');
    const { records } = await forgeJson<{ records: Recorded[] }>(project, ['memory', 'record', '-'], {
      stdin,
    });
    expect(records[0]?.execution).toEqual(records[2]?.execution);
    expect(records[1]?.execution).toEqual(first.execution);
    expect(await cyclesOf(project)).toHaveLength(2);
    // Folded and committed, it is still known.
    await commitFolded(project);
    expect(await record(project, '--key', 'K')).toMatchObject({ execution: first.execution, known: true });
    expect((await runForge(project, [...BASE, '--key', 'K'])).stdout).toMatch(/\(recorded before\)/);
  });

  it('B-58 a cycle whose evaluation was cut off by a crash gets it with the retry', async () => {
    const project = await makePlainForge();
    const first = await record(project, '--key', 'K', '--classification', 'SUCCESS');
    rmSync(project.path(segmentOf(project, 'evaluation')));
    rmSync(project.path('.forge/local/journal.jsonl'));
    const again = await record(project, '--key', 'K', '--classification', 'SUCCESS');
    expect(again).toMatchObject({ execution: first.execution, evaluation: { n: 2 }, known: true });
  });

  it('B-01 a dry run answers the same and writes nothing', async () => {
    const project = await makeForge();
    await record(project);
    const before = snapshot(project.dir);
    const { stdout, stderr, exitCode } = await runForge(project, [
      ...BASE,
      '--classification',
      'SUCCESS',
      '-n',
    ]);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^cycle 2 /)]);
    expect(stderr).toMatch(/nothing was written/);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-07 LTM-12 a builder is refused with exit 3, and nothing is stored', async () => {
    const project = await makeForge();
    await record(project);
    const before = snapshot(project.dir);
    const builder = { env: { FORGE_ROLE: 'builder' } };
    for (const call of [BASE, ['note', 'add', 'x'], ['memory', 'fold'], ['memory', 'compact']])
      expect(await forgeError(project, call, builder)).toMatchObject({ exitCode: 3, code: 'role.denied' });
    // The refusals alone are kept.
    const changed = differences(before, snapshot(project.dir));
    expect(changed.filter((path) => !/memory\/audit\.d|\.git\/forge\//.test(path))).toEqual([]);
    expect((await logOf(project, 'audit')).map(({ kind }) => kind)).toEqual(Array(4).fill('breach'));
    for (const call of [
      ['memory', 'log'],
      ['memory', 'stats'],
      ['memory', 'verify'],
      ['note', 'list'],
    ])
      expect((await runForge(project, call, builder)).exitCode).toBe(0);
  });
});

describe('a record that cannot be written', () => {
  it('LTM-16 the cycle is kept, and the next record stores it as FAILURE, once', async () => {
    const project = await makeForge();
    const folder = '.forge/memory/execution.d';
    rmSync(project.path(folder), { recursive: true });
    project.write(folder, 'a file in place of the folder');
    const flags = ['--classification', 'SUCCESS', '--pattern', 'p', '--proposal', 'q', '--key', 'K'];
    const error = await forgeError(project, [...BASE, ...flags]);
    expect(error).toMatchObject({ exitCode: 6, kind: 'outside' });
    expect(error.message).toMatch(/counts as FAILURE; it is kept and recorded by the next/);
    rmSync(project.path(folder));
    expect((await forgeJson<{ pending: number }>(project, ['memory', 'stats'])).pending).toBe(1);
    expect((await runForge(project, ['memory', 'stats'])).stdout).toContain('1 cycle waiting to be recorded');
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

  it('LTM-16 a file size limit is exit 6, leaves no half line, and the cycle comes with the next', async () => {
    const project = await makePlainForge();
    await record(project);
    const file = segmentOf(project, 'execution');
    const before = project.read(file);
    const log = `${makeFolder()}/log`;
    run(project.dir, 'sh', ['-c', `head -c 4000 /dev/zero | tr '\\0' x > ${log}`]);
    // The limit is in blocks of 512 bytes: the line does not fit, what is kept for the next does not either way.
    const script = `ulimit -f 9; exec "$0" "$@"`;
    const { exitCode, stderr } = run(project.dir, 'sh', [
      '-c',
      script,
      process.execPath,
      BIN,
      ...BASE,
      '--log',
      log,
    ]);
    expect([exitCode, stderr]).toEqual([6, expect.stringMatching(/^forge: .*(too large|EFBIG|limit)/i)]);
    expect(project.read(file)).toBe(before);
    expect((await verify(project)).status).toBe('intact');
    await record(project);
    const stored = (await cyclesOf(project)).length;
    expect([2, 3]).toContain(stored);
    expect(segmentsOf(project, 'execution').length).toBeGreaterThan(0);
  });
});
