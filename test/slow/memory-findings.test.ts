import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SettledLedgers } from '../../src/index.js';
import { genesisLine, ledgerId } from '../../src/ledger/rules/record.js';
import { planLines } from '../../src/ledger/rules/segment.js';
import { note, putForeign, RESTORED } from '../support/findings.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import {
  fixedOf,
  HALT,
  HUMAN,
  linesOf,
  logOf,
  putLines,
  record,
  segmentOf,
  segmentsOf,
  typeHint,
  verify,
} from '../support/memory.js';
import type { Project } from '../support/project.js';

const NOTES = fixedOf('notes');
const texts = async (project: Project): Promise<string[]> =>
  (await forgeJson<{ notes: { text: string }[] }>(project, ['note', 'list'])).notes.map(({ text }) => text);

describe('line ends', () => {
  it.each([
    ['a committed fixed file', NOTES],
    ['a segment', ''],
  ])('B-30 CR LF in %s is one finding whose hint really fixes it', async (_, name) => {
    const project = await makeForge();
    await runForge(project, ['note', 'add', 'a']);
    await runForge(project, ['note', 'add', 'b']);
    const file = name || segmentOf(project, 'notes');
    const before = project.read(file);
    project.write(file, before.replaceAll('\n', '\r\n'));
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems.map(({ code, line }) => [code, line])]).toEqual([4, [['crlf', 1]]]);
    expect((await forgeError(project, ['note', 'add', 'c'])).code).toBe('memory.corrupted');
    expect(project.has(HALT)).toBe(false);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(project.read(file)).toBe(before);
    expect(await verify(project)).toMatchObject(RESTORED);
    expect(await texts(project)).toEqual(['a', 'b']);
  });

  it('B-31 U+2028 and a carriage return inside a string are content', async () => {
    const project = await makeForge();
    const text = 'one\u2028two\u2029three\tfour';
    await forgeJson(project, ['note', 'add', text]);
    expect(await texts(project)).toEqual([text]);
    expect(await verify(project)).toMatchObject(RESTORED);
  });
});

describe('merges', () => {
  it('B-34 conflict markers are named line by line, and the hinted command keeps both sides', async () => {
    const project = await makeForge();
    await runForge(project, ['note', 'add', 'ours']);
    const ours = segmentOf(project, 'notes');
    const [line = ''] = linesOf(project, ours);
    const theirs = await putForeign(project, 'notes', [note('theirs')]);
    const [other = ''] = linesOf(project, theirs);
    putLines(project, ours, ['<<<<<<< HEAD', line, '||||||| base', '=======', other, '>>>>>>> theirs']);
    rmSync(project.path(theirs));
    const { exitCode, problems } = await verify(project);
    expect(exitCode).toBe(4);
    expect(problems.map(({ code, file, line }) => [code, file, line])).toEqual(
      [1, 3, 4, 6].map((at) => ['conflict_marker', ours, at]),
    );
    expect(project.has(HALT)).toBe(false);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject(RESTORED);
    expect(await texts(project)).toEqual(['ours', 'theirs']);
  });

  it('B-34 LTM-17 two branches that both appended merge without a conflict, and the next record ties them', async () => {
    const project = await makeForge();
    for (const branch of ['a', 'b']) {
      project.git('switch', '-q', '-c', branch, 'main');
      await runForge(project, ['note', 'add', `on ${branch}`]);
      await record(project, '--classification', 'SUCCESS');
      project.git('add', '.');
      project.git('commit', '-qm', branch);
    }
    project.git('switch', '-q', 'main');
    project.git('merge', '-q', 'a', 'b', '-m', 'Both');
    const merged = await verify(project);
    expect(merged).toMatchObject(RESTORED);
    expect((await texts(project)).sort()).toEqual(['on a', 'on b']);
    const headsOf = ({ tiers }: typeof merged) => tiers.find(({ tier }) => tier === 'notes')?.heads.length;
    expect(headsOf(merged)).toBe(2);
    await runForge(project, ['note', 'add', 'after']);
    const after = await verify(project);
    expect([after.status, headsOf(after)]).toEqual(['intact', 1]);
  });
});

describe('what does not belong', () => {
  it('B-35 a number that is not above its parent is found; a repair declares it void', async () => {
    const project = await makeForge();
    await runForge(project, ['note', 'add', 'a']);
    const file = await putForeign(project, 'notes', [note('low')], { maxN: 0 });
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems.map(({ code, file: at, line }) => [code, at, line])]).toEqual([
      4,
      [['number', file, 1]],
    ]);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject(RESTORED);
    expect(await texts(project)).toEqual(['a']);
    await runForge(project, ['note', 'add', 'b']);
    expect(await texts(project)).toEqual(['a', 'b']);
  });

  it('B-35 a time before that of the record it follows is no damage', async () => {
    const project = await makeForge();
    await runForge(project, ['note', 'add', 'now']);
    await putForeign(project, 'notes', [{ ...note('then'), at: '1999-01-01T00:00:00.000Z' }]);
    expect(await verify(project)).toMatchObject(RESTORED);
    expect(await texts(project)).toEqual(['now', 'then']);
  });

  it.each([
    ['adopt', ['ours', 'theirs']],
    ['drop', ['ours']],
  ])('B-35 a foreign ledger is found, and forge memory %s settles it for good', async (how, left) => {
    const project = await makeForge();
    await runForge(project, ['note', 'add', 'ours']);
    const other = ledgerId('notes', 'another root');
    const genesis = genesisLine('notes', other);
    const tip = { ledger: other, heads: [], maxN: 1 };
    const [theirs] = planLines('notes', tip, null, [note('theirs')]).lines;
    const file = '.forge/memory/notes.d/theirs.jsonl';
    putLines(project, file, [genesis, theirs?.line ?? '']);
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems.map(({ code, file: at, line }) => [code, at, line])]).toEqual([
      4,
      [['foreign_ledger', file, 1]],
    ]);
    expect(problems[0]?.hint).toContain(`forge memory ${how} ${other.slice(0, 12)} --reason`);
    expect((await forgeError(project, ['note', 'add', 'x'])).exitCode).toBe(4);
    const call = ['memory', how, other.slice(0, 12), '--reason', 'they are ours'];
    expect(await forgeError(project, call)).toMatchObject({ exitCode: 3, code: 'human.required' });
    for (const id of ['feedfeed', '', '(', other.slice(0, 4), `${other}0`])
      expect(await forgeError(project, ['memory', how, id, '--reason', 'r'], HUMAN)).toMatchObject({
        exitCode: 2,
        code: id === 'feedfeed' ? 'ledger.unknown' : 'ledger.id',
      });
    const { audit, settled } = await forgeJson<SettledLedgers>(project, call, HUMAN);
    expect(settled).toEqual([{ ledger: other, tiers: ['notes'], audit }]);
    expect(await verify(project)).toMatchObject(RESTORED);
    // Both have number 2, so their ids decide.
    expect((await texts(project)).sort()).toEqual(left);
    expect((await logOf(project, 'audit')).at(-1)?.record).toMatchObject({
      kind: how === 'adopt' ? 'adopted' : 'dropped',
      subject: other,
      by: 'terminal',
      reason: 'they are ours',
    });
    await runForge(project, ['note', 'add', 'more']);
    expect((await texts(project)).sort()).toEqual(['more', ...left]);
    await forgeJson(project, ['memory', 'fold']);
    expect((await texts(project)).sort()).toEqual(['more', ...left]);
    expect(await verify(project)).toMatchObject(RESTORED);
  });

  it('B-35 several foreign ledgers are settled together, and none while one of the ids is wrong', async () => {
    const project = await makeForge();
    const [one, two] = ['one', 'two'].map((root) => ledgerId('notes', root)) as [string, string];
    for (const id of [one, two])
      putLines(project, `.forge/memory/notes.d/${id.slice(0, 8)}.jsonl`, [genesisLine('notes', id)]);
    expect((await verify(project)).problems.map(({ ledger }) => ledger).sort()).toEqual([one, two].sort());
    const reason = ['--reason', 'r'];
    const before = await logOf(project, 'audit');
    expect(await forgeError(project, ['memory', 'adopt', one, 'feedfeed', ...reason], HUMAN)).toMatchObject({
      code: 'ledger.unknown',
      message: expect.stringContaining('nothing was settled'),
    });
    expect(await logOf(project, 'audit')).toEqual(before);
    const call = ['memory', 'adopt', one, two.slice(0, 12), one.slice(0, 6), ...reason];
    const { audit, settled } = await forgeJson<SettledLedgers>(project, call, HUMAN);
    expect(settled.map(({ ledger, tiers }) => [ledger, tiers])).toEqual([
      [one, ['notes']],
      [two, ['notes']],
    ]);
    expect(audit).toEqual(settled[1]?.audit);
    expect(await verify(project)).toMatchObject(RESTORED);
    expect((await logOf(project, 'audit')).slice(before.length).map(({ record }) => record.subject)).toEqual([
      one,
      two,
    ]);
  });

  it.each([
    ['notes', { kind: 'repair', lost: 5, voided: {}, bytes: [null] }],
    ['notes', { kind: 'repair', lost: [5, 'x'], voided: [null], bytes: 5 }],
    ['evaluation', { kind: 'cycle', patterns: [null] }],
    ['knowledge', { kind: 'consolidation', answered: [null], covers: 5 }],
  ] as const)(
    'B-35 a record of %s whose fields have no form of forge (%j) stops nobody',
    async (tier, draft) => {
      const project = await makeForge();
      await putForeign(project, tier, [{ actor: 'supervisor', ...draft }]);
      expect((await verify(project)).exitCode).toBe(0);
      for (const args of [
        ['session', 'start'],
        ['memory', 'promote'],
        ['memory', 'report'],
      ])
        expect((await runForge(project, args)).exitCode, args.join(' ')).toBe(0);
    },
  );

  it('B-36 what a builder wrote is memory.unauthorised; a repair declares it void', async () => {
    const project = await makeForge();
    await runForge(project, ['note', 'add', 'ours']);
    const file = await putForeign(project, 'notes', [{ ...note('sly'), actor: 'builder' }]);
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems.map(({ code, file: at, line }) => [code, at, line])]).toEqual([
      4,
      [['unauthorised', file, 1]],
    ]);
    expect(problems[0]?.message).toContain('memory.unauthorised');
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject(RESTORED);
    expect(await texts(project)).toEqual(['ours']);
    expect((await logOf(project, 'audit')).at(-1)?.record).toMatchObject({
      kind: 'repaired',
      reason: 'because',
    });
  });

  it('a record of another ledger is found where it stands', async () => {
    const project = await makeForge();
    await record(project);
    await runForge(project, ['note', 'add', 'a']);
    const file = segmentOf(project, 'notes');
    putLines(project, file, [
      ...linesOf(project, file),
      ...linesOf(project, segmentOf(project, 'execution')),
    ]);
    const { problems } = await verify(project);
    expect(problems).toMatchObject([{ code: 'wrong_tier', file, line: 2, last_good: { line: 1, n: 2 } }]);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject(RESTORED);
    expect(
      (await forgeJson<{ records: unknown[] }>(project, ['memory', 'log', '--tier', 'execution'])).records,
    ).toHaveLength(1);
  });
});

describe('archives', () => {
  it('LTM-10 an archive that was tampered with is found, and there is a way out of it', async () => {
    const project = await makePlainForge();
    await record(project);
    await forgeJson(project, ['memory', 'fold']);
    const folder = '.forge/memory/archive';
    const name = `${folder}/${'0'.repeat(64)}.jsonl`;
    project.write(name, `${linesOf(project, fixedOf('execution'))[1]}\n`);
    const { problems, exitCode } = await verify(project);
    expect([exitCode, problems.map(({ code, file, line }) => [code, file, line])]).toEqual([
      4,
      [['archive', name, 0]],
    ]);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject(RESTORED);
    // Only these bytes were vouched for.
    truncateSync(project.path(name), 10);
    expect((await verify(project)).exitCode).toBe(4);
  });
});

describe('verify', () => {
  it('LTM-04 shows people where, what, the last good record and what to type', async () => {
    const project = await makePlainForge();
    await record(project);
    await record(project);
    const file = segmentOf(project, 'execution');
    const lines = linesOf(project, file);
    writeFileSync(project.path(file), `${lines[0]}\n${lines[1]}`);
    const { stdout, stderr, exitCode } = await runForge(project, ['memory', 'verify']);
    expect([stderr, exitCode]).toEqual(['', 4]);
    expect(stdout).toMatch(/^memory is corrupted {2}\d\.\d s\n/);
    expect(stdout).toMatch(
      new RegExp(`✗ torn {2}${file}:2 \\(byte ${Buffer.byteLength(lines[0] ?? '') + 1}\\)`),
    );
    expect(stdout).toMatch(/last good record: line 1, number 2, [0-9a-f]{12}…/);
    expect(stdout).toMatch(/→ forge memory repair --reason "…"/);
    const quiet = await verify(project, '--tier', 'notes');
    expect(quiet).toMatchObject({ problems: [], tiers: [{ tier: 'notes' }] });
    expect(await forgeError(project, ['memory', 'verify', '--tier', 'x'])).toMatchObject({
      exitCode: 2,
      field: 'tier',
    });
    expect(segmentsOf(project, 'execution')).toHaveLength(1);
  });
});
