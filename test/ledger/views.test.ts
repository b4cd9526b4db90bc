import { appendFileSync, lstatSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordId } from '../../src/ledger/record.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import {
  commit,
  cyclesOf,
  HUMAN,
  logOf,
  putLines,
  record,
  recordMany,
  verify,
  withCycles,
} from '../support/memory.js';
import { copyFolder, makePlainProject, type Project } from '../support/project.js';

const VIEW = '.forge/memory/execution.jsonl';
const NOTES = '.forge/memory/long-term/notes.jsonl';

const linesIn = (project: Project, view = VIEW): string[] =>
  project.has(view) ? readFileSync(project.path(view), 'utf8').split('\n').slice(0, -1) : [];

const start = async (project: Project): Promise<string[]> =>
  (await forgeJson<{ warnings: string[] }>(project, ['session', 'start'])).warnings;

describe('the views of memory', () => {
  it('LTM-01 LTM-10 show the records of a tier as they are appended, newest last, and git ignores them', async () => {
    const project = await makeForge();
    const stored = [await record(project), await record(project)];
    await forgeJson(project, ['note', 'add', 'one']);
    expect(linesIn(project).map(recordId)).toEqual(stored.map(({ execution }) => execution.id));
    expect(linesIn(project, NOTES)).toHaveLength(1);
    commit(project);
    expect(project.git('ls-files', '.forge/memory/*.jsonl', NOTES)).not.toContain('execution.jsonl');
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('LTM-10 the execution view keeps the newest 1,000 cycles, the ledger all, and a start reports no edit', async () => {
    const project = await makeForge();
    await start(project);
    await recordMany(project, 1001);
    await record(project);
    const tasks = linesIn(project).map((line) => (JSON.parse(line) as { task_id: string }).task_id);
    expect([tasks.length, tasks[0], tasks.at(-1)]).toEqual([1000, 'T3', 'A']);
    const log = ['memory', 'log', '--tier', 'execution', '--limit', '2000'];
    expect((await forgeJson<{ records: object[] }>(project, log)).records).toHaveLength(1002);
    expect(await verify(project)).toMatchObject({ status: 'intact' });
    expect(await start(project)).toEqual([]);
    expect(linesIn(project)).toHaveLength(1000);
  });

  it('LTM-01 an edit of a view has no effect, is reported at session start, and is then overwritten', async () => {
    const project = await makeForge();
    const { execution } = await record(project);
    expect(await start(project)).toEqual([]);
    const before = linesIn(project);
    project.write(VIEW, project.read(VIEW).replace('"task_id":"A"', '"task_id":"B"'));
    appendFileSync(project.path(NOTES), '{"v":1,"tier":"note","text":"false"}\n');
    expect((await cyclesOf(project)).map(({ id, record: { task_id } }) => [id, task_id])).toEqual([
      [execution.id, 'A'],
    ]);
    expect(await logOf(project, 'note')).toEqual([]);
    expect(await verify(project)).toMatchObject({ status: 'intact', notes: [] });
    // A record in between does not hide the edit.
    await record(project);
    const warnings = await start(project);
    for (const view of [VIEW, NOTES])
      expect(warnings.filter((text) => text.startsWith(`${view} differed from the records`))).toHaveLength(1);
    expect(linesIn(project).slice(0, 1)).toEqual(before);
    expect(linesIn(project)).toHaveLength(2);
    expect(linesIn(project, NOTES)).toEqual([]);
    expect(await start(project)).toEqual([]);
  });

  it('LTM-01 a view that is missing, or shows another branch, is rebuilt silently', async () => {
    const project = await makeForge();
    project.git('switch', '-qc', 'side');
    await record(project);
    commit(project);
    project.git('switch', '-q', 'main');
    expect(await start(project)).toEqual([]);
    expect(linesIn(project)).toEqual([]);
    project.git('merge', '-q', 'side');
    rmSync(project.path(VIEW), { force: true });
    await forgeJson(project, ['session', 'end']);
    expect(linesIn(project)).toHaveLength(1);
  });

  it('LTM-01 a view that is missing is whole after the next record, and a touch reports no edit', async () => {
    const project = await makeForge();
    for (const text of ['one', 'two']) await forgeJson(project, ['note', 'add', text]);
    rmSync(project.path(NOTES));
    await forgeJson(project, ['note', 'add', 'three']);
    expect(linesIn(project, NOTES)).toHaveLength(3);
    utimesSync(project.path(NOTES), 0, 0);
    expect(await start(project)).toEqual([]);
  });

  it('LTM-01 a copy of the project reports no edit when a record makes a new view', async () => {
    const project = await makeForge();
    await record(project);
    const copy = makePlainProject();
    copyFolder(project.dir, copy.dir);
    const { stderr } = await runForge(copy, 'memory record --task A --exit-code 0 --classification SUCCESS');
    expect(stderr).toBe('');
    expect([VIEW, '.forge/memory/evaluation.jsonl'].map((view) => linesIn(copy, view).length)).toEqual([
      2, 1,
    ]);
    expect(await start(copy)).toEqual([]);
  });

  it('LTM-01 B-20 never writes through a symlink in place of a view', async () => {
    const project = await makeForge();
    rmSync(project.path(VIEW), { force: true });
    project.write('outside.txt', 'mine\n');
    symlinkSync(project.path('outside.txt'), project.path(VIEW));
    await record(project);
    await start(project);
    expect(project.read('outside.txt')).toBe('mine\n');
    expect(linesIn(project)).toHaveLength(1);
    expect(lstatSync(project.path(VIEW)).isFile()).toBe(true);
  });

  it('LTM-19 a redacted record leaves its view, and a dry run names both files that have it', async () => {
    const project = await makeForge();
    const { id } = await forgeJson<{ id: string }>(project, ['note', 'add', 'swordfish']);
    const dry = await runForge(project, ['memory', 'redact', id, '--reason', 'x', '-n'], HUMAN);
    const [, removed = '?'] = /removed from (\S+)/.exec(dry.stdout) ?? [];
    const [, listed = ''] = /would change: (.*)/s.exec(dry.stderr) ?? [];
    expect([removed, NOTES].filter((file) => !listed.includes(file))).toEqual([]);
    await forgeJson(project, ['memory', 'redact', id, '--reason', 'x'], HUMAN);
    expect(linesIn(project, NOTES)).toEqual([]);
  });
});

it('LTM-03 LTM-04 a line that is damaged does not change the ids of the records below it', async () => {
  const { project, file, lines } = await withCycles();
  const before = await cyclesOf(project);
  expect(before.map(({ id }) => id)).toEqual(lines.map((line) => recordId(line.trim())));
  putLines(project, file, lines.toSpliced(1, 0, 'no record'));
  expect(await cyclesOf(project)).toEqual(before);
  expect(await verify(project)).toMatchObject({ status: 'corrupted' });
});
