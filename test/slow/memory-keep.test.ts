import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import {
  commit,
  fixedOf,
  flipByte,
  HUMAN,
  linesOf,
  logOf,
  record,
  recordMany,
  segmentsOf,
  typeHint,
  verify,
} from '../support/memory.js';
import { makeFolder, projectAt } from '../support/project.js';

const ARCHIVE = '.forge/memory/archive';
interface Compacted {
  archived: number;
  archive: string | null;
  audit?: { id: string };
}

const keysOf = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => (JSON.parse(line) as { key?: string }).key ?? []);

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
  });

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
  });

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
  });

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
