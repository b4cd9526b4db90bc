import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { genesisLine } from '../../src/domain/ledger/ledger.js';
import { planLines } from '../../src/domain/ledger/segment.js';
import { growthOf } from '../../src/routines/memory/growth.js';
import { forgeError, forgeJson, runBinary, runForge } from '../support/forge.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';
import {
  fixedOf,
  flipByte,
  HUMAN,
  linesOf,
  logOf,
  putLines,
  record,
  segmentsOf,
  typeHint,
  verify,
} from './memory.js';
import { makeForge, makePlainForge } from './project.js';

const ARCHIVE = '.forge/memory/archive';
interface Compacted {
  archived: number;
  archive: string | null;
  audit?: { id: string };
}

/** So many cycles at once. */
async function recordMany(project: Project, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, i) =>
    JSON.stringify({ task_id: `T${i + 1}`, exit_code: 0, idempotency_key: `key-${i + 1}` }),
  );
  await forgeJson(project, ['memory', 'record', '-'], { stdin: lines.join('\n') });
}

const keysOf = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => (JSON.parse(line) as { key?: string }).key ?? []);
const commit = (project: Project): void => {
  project.git('add', '.');
  project.git('commit', '-qm', 'Memory');
};

describe('forge memory compact', () => {
  it('LTM-10 seals all but the last 1,000 cycles in an archive named by its SHA-256, and nothing is lost', async () => {
    const project = await makeForge();
    await recordMany(project, 1205);
    const dry = await forgeJson<Compacted>(project, ['memory', 'compact', '-n']);
    expect([dry.archived, project.has(ARCHIVE)]).toEqual([205, false]);
    const { archived, archive, audit } = await forgeJson<Compacted>(project, ['memory', 'compact']);
    expect(archived).toBe(205);
    expect(readdirSync(project.path(ARCHIVE))).toEqual([`${archive}.jsonl`]);
    const file = `${ARCHIVE}/${archive}.jsonl`;
    expect(
      createHash('sha256')
        .update(readFileSync(project.path(file)))
        .digest('hex'),
    ).toBe(archive);
    const sealed = linesOf(project, file);
    expect(keysOf(sealed)).toEqual(Array.from({ length: 205 }, (_, i) => `key-${i + 1}`));
    expect(keysOf(linesOf(project, fixedOf('execution')))).toEqual(
      Array.from({ length: 1000 }, (_, i) => `key-${i + 206}`),
    );
    expect(segmentsOf(project, 'execution')).toEqual([]);
    const [first] = await logOf(project, 'audit');
    expect(first).toMatchObject({ id: audit?.id, record: { kind: 'compacted', archive, count: 205 } });
    const ids = sealed.map((line) => `${createHash('sha256').update(line).digest('hex')}\n`).sort();
    expect((await logOf(project, 'execution')).at(-1)?.record).toMatchObject({
      kind: 'archive',
      archive,
      count: 205,
      ids_sha256: createHash('sha256').update(ids.join('')).digest('hex'),
      from: 2,
      to: 206,
    });
    const before = await verify(project);
    expect(before).toMatchObject({ status: 'intact', exitCode: 0 });
    expect(before.tiers[0]?.records).toBe(1207);
    commit(project);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    expect(await forgeJson(project, ['memory', 'compact'])).toEqual({ archived: 0, archive: null });
    expect((await runForge(project, ['memory', 'compact'])).stdout).toBe(
      'Nothing is old enough to be sealed.\n',
    );
    // What is sealed is found, by its id and by its key.
    const id = ids[7]?.trim() ?? '';
    expect((await forgeJson<{ id: string }>(project, ['memory', 'show', id.slice(0, 12)])).id).toBe(id);
    expect(await record(project, '--key', 'key-3')).toMatchObject({ cycle: 3, known: true });
    expect((await forgeJson<{ archives: object }>(project, ['memory', 'stats'])).archives).toEqual({
      count: 1,
      bytes: statSync(project.path(file)).size,
    });
    // One byte of it, and it is found; git has it.
    flipByte(project, file, 1000);
    const { problems, exitCode } = await verify(project);
    expect([exitCode, problems.map(({ code }) => code)]).toEqual([4, expect.arrayContaining(['archive'])]);
    expect(problems.every((problem) => problem.file === file)).toBe(true);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    // The next 10 make another one.
    await recordMany(project, 1215);
    const second = await forgeJson<Compacted>(project, ['memory', 'compact']);
    expect([second.archived, readdirSync(project.path(ARCHIVE)).length]).toEqual([10, 2]);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  }, 60_000);

  it("LTM-10 is done by a session's end, which needs nobody for it", async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start']);
    await recordMany(project, 1101);
    await forgeJson(project, ['session', 'end']);
    const cycles = linesOf(project, fixedOf('execution')).filter((line) => line.includes('"kind":"cycle"'));
    expect(cycles).toHaveLength(1000);
    expect(project.git('status', '--porcelain')).toBe('');
    expect(project.git('ls-files', '.forge/memory/archive')).toMatch(
      /^\.forge\/memory\/archive\/[0-9a-f]{64}\.jsonl$/m,
    );
    expect(await verify(project)).toMatchObject({ status: 'intact', tiers: { 0: { records: 1103 } } });
  }, 20_000);

  it('LTM-10 seals an archive that a kill left without its record', async () => {
    const project = await makeForge();
    await recordMany(project, 1003);
    const copy = projectAt(makeFolder());
    execFileSync('cp', ['-a', `${project.dir}/.`, copy.dir]);
    const { archive } = await forgeJson<Compacted>(copy, ['memory', 'compact']);
    const file = `${ARCHIVE}/${archive}.jsonl`;
    project.write(file, copy.read(file));
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    expect(await forgeJson<Compacted>(project, ['memory', 'compact'])).toMatchObject({
      archived: 3,
      archive,
    });
    expect(linesOf(project, fixedOf('execution')).join('\n')).toContain(`"archive":"${archive}"`);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  }, 60_000);

  it('LTM-10 is done on the default branch, by whoever may write memory', async () => {
    const project = await makeForge();
    await record(project);
    commit(project);
    project.git('switch', '-qc', 'side');
    for (const [how, code] of [
      ['compact', 'compact.branch'],
      ['fold', 'fold.branch'],
    ] as const)
      expect(await forgeError(project, ['memory', how])).toMatchObject({
        exitCode: 3,
        code,
        hint: expect.stringContaining('default branch'),
      });
    expect((await forgeError(project, ['memory', 'fold'])).message).toMatch(
      /this is side, the default branch is main/,
    );
    expect(segmentsOf(project, 'execution')).toHaveLength(1);
  });
});

describe('folding', () => {
  it('LTM-17 moves the segments into the fixed files, once, with the same records', async () => {
    const project = await makeForge();
    await record(project, '--classification', 'SUCCESS');
    await record(project);
    await runForge(project, ['note', 'add', 'n']);
    const before = (await verify(project)).tiers.map(({ records, heads }) => [records, heads]);
    const { stdout } = await runForge(project, ['memory', 'fold']);
    expect(stdout).toBe(
      'execution: 2 records from 1 segment\nevaluation: 1 record from 1 segment\nnotes: 1 record from 1 segment\n',
    );
    const after = await verify(project);
    expect(after.tiers.map(({ records, heads }) => [records, heads])).toEqual(before);
    expect(after.tiers.every(({ containers }) => containers.length === 1)).toBe(true);
    expect((await runForge(project, ['memory', 'fold'])).stdout).toBe('Nothing to fold.\n');
    expect((await record(project)).cycle).toBe(3);
  });

  it.each([
    ['auto', 'main', true],
    ['never', 'main', false],
    ['auto', 'side', false],
  ])('LTM-17 [memory] fold = "%s" on %s: the end of a session folds: %s', async (fold, branch, folds) => {
    const project = await makeForge();
    await forgeJson(project, ['config', 'set', 'memory.fold', fold]);
    if (branch !== 'main') project.git('switch', '-qc', branch);
    await forgeJson(project, ['session', 'start']);
    await record(project);
    await forgeJson(project, ['session', 'end']);
    expect(segmentsOf(project, 'execution')).toHaveLength(folds ? 0 : 1);
    expect(linesOf(project, fixedOf('execution'))).toHaveLength(folds ? 2 : 1);
    expect(project.git('status', '--porcelain', '.forge')).toBe('');
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0, problems: [] });
  });

  it('B-94 another word for fold is refused with the words that are allowed', async () => {
    const project = await makePlainForge();
    const error = await forgeError(project, ['config', 'set', 'memory.fold', 'sometimes']);
    expect(error).toMatchObject({ exitCode: 2 });
    expect(error.message).toMatch(/auto.*never/);
    expect(await forgeJson(project, ['config', 'get', 'memory.fold'])).toMatchObject({ value: 'auto' });
  });
});

/** A notes ledger of about so many bytes, made of records of just under 1 MB. */
function fill(project: Project, bytes: number): void {
  const [genesis = ''] = linesOf(project, fixedOf('notes'));
  const { ledger } = JSON.parse(genesis) as { ledger: string };
  expect(genesisLine('notes', ledger)).toBe(genesis);
  const count = Math.ceil(bytes / 1_000_000);
  const text = 'x'.repeat(Math.floor((bytes - genesis.length) / count) - 400);
  const bodies = Array.from({ length: count }, () => ({ kind: 'note', actor: 'supervisor', text }));
  const tip = { ledger, heads: [createHash('sha256').update(genesis).digest('hex')], maxN: 1 };
  const lines = planLines('notes', tip, null, bodies).lines.map(({ line }) => line);
  const used = [genesis, ...lines].reduce((sum, line) => sum + line.length + 1, 0);
  const last = JSON.parse(lines.pop() as string) as { text: string };
  last.text = last.text.padEnd(last.text.length + bytes - used, 'y');
  putLines(project, fixedOf('notes'), [genesis, ...lines, JSON.stringify(last)]);
  expect(statSync(project.path(fixedOf('notes'))).size).toBe(bytes);
}

describe('the growth of memory', () => {
  it.each([
    [0, 'normal'],
    [79_999_999, 'normal'],
    [80_000_000, 'large'],
    [99_999_999, 'large'],
    [100_000_000, 'paused'],
    [5_000_000_000, 'paused'],
  ])('LTM-11 %i bytes are %s', (bytes, growth) => {
    expect(growthOf(bytes)).toBe(growth);
  });

  it.each([
    [79_000_000, null, 'green', 'normal'],
    [
      80_000_000,
      /^! Memory has 80 MB; at 100 MB consolidation pauses.*forge memory compact$/m,
      'yellow',
      'large',
    ],
    [100_000_000, /^! Memory has 100 MB: consolidation is paused.*forge memory compact$/m, 'red', 'paused'],
    [101_000_000, /^! Memory has 101 MB: consolidation is paused.*forge memory compact$/m, 'red', 'paused'],
  ])(
    'B-66 at %i bytes recording goes on, and says what is due',
    async (bytes, warning, color, growth) => {
      const project = await makePlainForge();
      fill(project, bytes);
      for (let i = 0; i < 2; i++) {
        const { exitCode, stderr } = await runForge(project, [
          'memory',
          'record',
          '--task',
          'A',
          '--exit-code',
          '0',
        ]);
        expect([exitCode, stderr]).toEqual([0, warning === null ? '' : expect.stringMatching(warning)]);
      }
      const warnings = (await logOf(project, 'audit')).filter(({ kind }) => kind === 'governance_warning');
      expect(warnings.map(({ record: { code } }) => code)).toEqual(
        growth === 'paused' ? ['memory.size'] : [],
      );
      const stats = await forgeJson<{ color: string; growth: string; next: string[]; status: string }>(
        project,
        ['memory', 'stats'],
      );
      expect(stats).toMatchObject({
        color,
        growth,
        status: 'intact',
        next: growth === 'normal' ? [] : ['forge memory compact'],
      });
      const { stdout } = await runForge(project, ['memory', 'stats']);
      expect(stdout.includes('consolidation is paused')).toBe(growth === 'paused');
    },
    20_000,
  );

  it('B-66 a sparse file of 500 MB is named and not read into memory', async () => {
    const project = await makeForge();
    await record(project);
    const file = '.forge/memory/execution.d/solo-00000000.jsonl';
    project.write(file, '');
    truncateSync(project.path(file), 500_000_000);
    project.write(
      '.git/peak.cjs',
      "process.on('exit', () => require('fs').writeFileSync('.git/peak', String(process.resourceUsage().maxRSS)));\n",
    );
    const env = { NODE_OPTIONS: `--require ${project.path('.git/peak.cjs')}` };
    const { exitCode, stdout } = runBinary(project.dir, ['memory', 'verify'], { env });
    expect(exitCode).toBe(4);
    expect(stdout).toContain(`${file}:1 (byte 0)\n    it has 500000000 bytes; a record has 1 MB at most`);
    expect(Number(project.read('.git/peak')) / 1024).toBeLessThan(150);
  });

  it('LTM-08 LTM-11 consolidation pauses above the limit, while recording goes on', async () => {
    const project = await makePlainForge();
    fill(project, 100_100_000);
    const clean = ['--classification', 'SUCCESS', '--environment-valid', 'true', '--pattern', 'p'];
    for (let i = 0; i < 10; i++) await record(project, ...clean);
    expect((await logOf(project, 'evaluation')).filter(({ kind }) => kind === 'cycle')).toHaveLength(10);
    expect(await logOf(project, 'knowledge')).toEqual([]);
    const refused = await forgeError(project, ['memory', 'consolidate']);
    expect(refused).toMatchObject({
      exitCode: 3,
      code: 'consolidation.waits',
      message: expect.stringContaining('100 MB'),
    });
  }, 20_000);

  it('LTM-11 a batch that crosses the limit is warned of once more after a compaction', async () => {
    const project = await makePlainForge();
    fill(project, 100_100_000);
    await recordMany(project, 1001);
    await forgeJson(project, ['memory', 'compact']);
    await record(project);
    await record(project);
    const kinds = (await logOf(project, 'audit')).map(({ kind }) => kind);
    expect(kinds).toEqual(['governance_warning', 'compacted', 'governance_warning']);
  }, 20_000);
});

describe('looking at memory', () => {
  it('LTM-01 log shows the last records of all tiers by time, or of one; show shows one whole', async () => {
    const project = await makePlainForge();
    expect((await runForge(project, ['memory', 'log'])).stdout).toMatch(
      /^Nothing is recorded yet\. Start with: forge memory record/,
    );
    for (let i = 0; i < 25; i++) await record(project, '--classification', i % 2 ? 'SUCCESS' : 'FAILURE');
    await runForge(project, ['note', 'add', 'a note']);
    const { records } = await forgeJson<{ records: { tier: string; n: number; at: string }[] }>(project, [
      'memory',
      'log',
    ]);
    expect(records).toHaveLength(20);
    expect(records.map(({ at }) => at)).toEqual(records.map(({ at }) => at).sort());
    expect(records.at(-1)).toMatchObject({ tier: 'notes', n: 2 });
    const last = await forgeJson<{ records: { n: number }[] }>(project, [
      'memory',
      'log',
      '--tier',
      'execution',
      '--limit',
      '3',
    ]);
    expect(last.records.map(({ n }) => n)).toEqual([24, 25, 26]);
    const { stdout } = await runForge(project, ['memory', 'log', '--tier', 'evaluation', '--limit', '1']);
    expect(stdout).toMatch(
      /^[0-9a-f]{12} {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}evaluation {2}26 {2}cycle {2}A FAILURE\n$/,
    );
    for (const limit of ['0', '-1', '1e3', '100001'])
      expect((await forgeError(project, ['memory', 'log', '--limit', limit])).exitCode).toBe(2);
    const [{ id } = { id: '' }] = await logOf(project, 'notes');
    expect((await runForge(project, ['memory', 'show', id])).stdout).toMatch(
      new RegExp(`^${id}\\n\\{\\n[^]*"text": "a note"\\n\\}\\n$`),
    );
  });

  it.each([
    ['all of memory', ['.forge/memory'], [7, 7]],
    ['the fixed file', [fixedOf('notes')], [1, 1]],
    ['the segments', ['.forge/memory/execution.d', '.forge/memory/notes.d'], [2, 2]],
    ['another ledger', ['.forge/memory/execution.d'], [0, 0]],
  ])('LTM-04 log and note list say so when %s that git has is gone', async (_, paths, missing) => {
    const project = await makeForge();
    await record(project);
    await runForge(project, ['note', 'add', 'kept']);
    commit(project);
    for (const path of paths) rmSync(project.path(path), { recursive: true });
    for (const [i, call] of [
      ['memory', 'log', '--tier', 'notes'],
      ['note', 'list'],
    ].entries()) {
      const { warnings } = await forgeJson<{ warnings: string[] }>(project, call);
      const count = missing[i] as number;
      const said =
        count === 0 ? [] : [expect.stringMatching(new RegExp(`^${count} memory files? that git has`))];
      expect(warnings).toEqual(said);
      const { stderr, exitCode } = await runForge(project, call);
      expect(exitCode).toBe(0);
      expect(stderr.includes('more: forge memory verify')).toBe(count > 0);
    }
  });

  it.each([
    ['an id that is too short', 'abcde', 'record.id'],
    ['a path', '../../etc', 'record.id'],
    ['no record', 'f'.repeat(64), 'record.unknown'],
  ])('B-02 show: %s is exit 2', async (_, id, code) => {
    const project = await makePlainForge();
    expect(await forgeError(project, ['memory', 'show', id])).toMatchObject({
      exitCode: 2,
      code,
      hint: 'forge memory log',
    });
  });

  it('B-02 an id that means two records is ambiguous', async () => {
    const project = await makePlainForge();
    // Two of these 9,000 share their first 6 digits with near certainty.
    const [genesis = ''] = linesOf(project, fixedOf('notes'));
    const { ledger } = JSON.parse(genesis) as { ledger: string };
    const bodies = Array.from({ length: 12_000 }, (_, i) => ({
      kind: 'note',
      text: `${i}`,
      at: '2026-03-01T10:00:00.000Z',
    }));
    const { lines } = planLines('notes', { ledger, heads: [], maxN: 1 }, null, bodies);
    putLines(project, fixedOf('notes'), [genesis, ...lines.map(({ line }) => line)]);
    const seen = new Set<string>();
    const twice = lines
      .map(({ id }) => id.slice(0, 6))
      .find((start) => seen.has(start) || !seen.add(start)) as string;
    expect(await forgeError(project, ['memory', 'show', twice])).toMatchObject({
      exitCode: 2,
      code: 'record.ambiguous',
      message: `${twice} means 2 records; give more digits.`,
    });
    expect(await forgeError(project, ['note', 'show', twice])).toMatchObject({
      exitCode: 2,
      code: 'note.unknown',
      message: `"${twice}" means 2 notes.`,
    });
    const started = performance.now();
    const { records } = await forgeJson<{ records: { n: number }[] }>(project, [
      'memory',
      'log',
      '--limit',
      '2',
    ]);
    expect(records.map(({ n }) => n)).toEqual([12_000, 12_001]);
    expect(performance.now() - started).toBeLessThan(3000);
  });

  it('LTM-11 stats: how much of what, and what to do', async () => {
    const project = await makeForge();
    await record(project, '--classification', 'SUCCESS');
    const stats = await forgeJson<Record<string, unknown>>(project, ['memory', 'stats']);
    expect(stats).toMatchObject({
      status: 'intact',
      color: 'green',
      growth: 'normal',
      pending: 0,
      next: [],
      archives: { count: 0, bytes: 0 },
    });
    expect(stats.tiers).toEqual(
      ['execution', 'evaluation', 'knowledge', 'audit', 'notes'].map((tier, i) => ({
        tier,
        records: i < 2 ? 2 : 1,
        bytes: expect.any(Number),
        segments: i < 2 ? 1 : 0,
        heads: 1,
      })),
    );
    expect((await runForge(project, ['memory', 'stats'])).stdout).toMatch(
      /^● memory is intact, \d+ B live\n {2}execution {3}2 records {2}\d+ B {2}1 segment {3}1 head\n/,
    );
    putLines(project, segmentsOf(project, 'execution')[0] as string, []);
    const bad = await forgeJson(project, ['memory', 'stats']);
    expect(bad).toMatchObject({ status: 'corrupted', color: 'red', next: ['forge memory verify'] });
    rmSync(project.path('.forge/memory'), { recursive: true });
    const gone = await forgeJson<{ tiers: { segments: number }[] }>(project, ['memory', 'stats']);
    expect(gone.tiers.map(({ segments }) => segments)).toEqual([0, 0, 0, 0, 0]);
  });
});

describe('forge note', () => {
  it('KNO-02 keeps notes for good: add, list, show, by text or from stdin', async () => {
    const project = await makeForge();
    expect((await runForge(project, ['note', 'list'])).stdout).toBe(
      'No notes yet. Add one with: forge note add "…"\n',
    );
    const first = await forgeJson<{ id: string; at: string }>(project, [
      'note',
      'add',
      'The first\nin two lines',
    ]);
    expect(first).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      text: 'The first\nin two lines',
      at: expect.any(String),
      session: null,
    });
    await forgeJson(project, ['session', 'start']);
    const second = await forgeJson<{ id: string; session: string }>(project, ['note', 'add', '-'], {
      stdin: 'from stdin\n',
    });
    expect(second.session).toMatch(/-session-/);
    const { notes } = await forgeJson<{ notes: { id: string; text: string }[] }>(project, ['note', 'list']);
    expect(notes.map(({ text }) => text)).toEqual(['The first\nin two lines', 'from stdin']);
    expect((await runForge(project, ['note', 'list'])).stdout.split('\n')[0]).toMatch(
      /^[0-9a-f]{12} {2}\S+ \S+ {2}The first/,
    );
    expect(await forgeJson(project, ['note', 'show', first.id.slice(0, 8)])).toEqual(notes[0]);
    expect((await runForge(project, ['note', 'show', first.id])).stdout).toMatch(
      new RegExp(`^${first.id} {2}${first.at} {2}no session\\nThe first\\nin two lines\\n$`),
    );
    for (const id of ['zz', 'abc', 'f'.repeat(64), '../x'])
      expect(await forgeError(project, ['note', 'show', id])).toMatchObject({
        exitCode: 2,
        code: 'note.unknown',
        hint: 'forge note list',
      });
    for (const text of ['', '   ', 'a\u0000b'])
      expect((await forgeError(project, ['note', 'add', text])).exitCode).toBe(2);
    // A cycle's id is no note's.
    const { execution } = await record(project);
    expect((await forgeError(project, ['note', 'show', execution.id])).code).toBe('note.unknown');
    await forgeJson(project, ['session', 'end']);
    expect((await forgeJson<{ notes: unknown[] }>(project, ['note', 'list'])).notes).toHaveLength(2);
    expect(basename(fixedOf('notes'))).toBe('notes.jsonl');
    expect((await runForge(project, ['note', 'list'], HUMAN)).exitCode).toBe(0);
  });
});
