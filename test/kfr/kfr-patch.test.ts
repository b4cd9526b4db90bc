import { describe, expect, it } from 'vitest';
import type { KfrPatched } from '../../src/index.js';
import { expectError, fixedClock, forgeError, forgeJson, runForge, wordsOf } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { add, ask, KFR, list, makeWorking, patch, patchError, textsOf } from '../support/kfrs.js';
import { changedPaths } from '../support/project.js';

describe('forge kfr patch', () => {
  it('KFR-02 accepts operations from flags, a file and stdin', async () => {
    const project = await makeWorking();
    const world = fixedClock();
    const goal = ['--goal', 'logout works', '--plan', '1. read\n2. wire'];
    const more = ['--add', 'Constraint: no new packages', '--add', 'open question:which cookie?'];
    const first = await forgeJson<KfrPatched>(project, ['kfr', 'patch', ...goal, ...more], { world });
    expect(first).toEqual({
      session: expect.stringMatching(/^\d{4}-\d\d-\d\d-session-001$/),
      entries: [
        ['kfr-1', 'Goal', 'logout works'],
        ['kfr-2', 'Plan', '1. read\n2. wire'],
        ['kfr-3', 'Constraint', 'no new packages'],
        ['kfr-4', 'OpenQuestion', 'which cookie?'],
      ].map(([id, kind, text]) => ({
        ...{ id, kind, text, created_at: '2026-03-01T10:00:00.000Z' },
        requires_resolution: kind === 'OpenQuestion',
      })),
      tokens: expect.any(Number),
      applied: [
        { index: 0, op: 'replace', id: 'kfr-1', kind: 'Goal' },
        { index: 1, op: 'replace', id: 'kfr-2', kind: 'Plan' },
        { index: 2, op: 'add', id: 'kfr-3', kind: 'Constraint' },
        { index: 3, op: 'add', id: 'kfr-4', kind: 'OpenQuestion' },
      ],
      warnings: [],
    });
    project.write(
      'patch.json',
      '[{"op":"park","id":"kfr-4","reason":"ask Ada"},{"op":"remove","id":"kfr-3"}]',
    );
    await forgeJson(project, ['kfr', 'patch', 'patch.json']);
    await patch(project, [{ op: 'resolve', id: 'kfr-4', resolution: 'sid' }]);
    await forgeJson(project, ['kfr', 'patch', '--goal', '-'], { stdin: 'logout works everywhere\n' });
    expect(textsOf(await list(project))).toEqual(['kfr-2 1. read\n2. wire', 'kfr-5 logout works everywhere']);
    expect(changedPaths(project)).toEqual(['?? patch.json']);
  });

  it('KFR-02 flags that settle come first, so that one call can answer and replace', async () => {
    const project = await makeWorking();
    await patch(project, [add('Goal', 'one', { requires_resolution: true }), add('OpenQuestion', 'a?')]);
    const words = wordsOf('--goal two --add Constraint:b --resolve kfr-1=done --dismiss "kfr-2=no = no"');
    await forgeJson(project, ['kfr', 'patch', ...words]);
    expect(textsOf(await list(project))).toEqual(['kfr-3 two', 'kfr-4 b']);
    expect(project.json<{ closed: object[] }>(KFR).closed).toMatchObject([
      { id: 'kfr-1', outcome: 'resolved', words: 'done' },
      { id: 'kfr-2', outcome: 'dismissed', words: 'no = no' },
    ]);
  });

  it('KFR-02 all or nothing: exit 3 names each failed operation, and the file is unchanged', async () => {
    const project = await makeWorking();
    await ask(project);
    const before = snapshot(project.dir);
    const error = await patchError(project, [
      add('Constraint', 'fine'),
      { op: 'remove', id: 'kfr-1' },
      add('Todo', 'x'),
      add('Constraint', 'Fine.'),
    ]);
    expect(error).toMatchObject({ exitCode: 3, exit: 3, kind: 'refused', code: 'kfr.patch' });
    expect(error.operations).toEqual([
      {
        index: 1,
        op: 'remove',
        code: 'requires_resolution',
        message: expect.stringContaining('"op":"resolve"'),
      },
      { index: 2, op: 'add', code: 'unknown_kind', message: expect.stringContaining('Unknown kind "Todo"') },
      { index: 3, op: 'add', code: 'duplicate', message: 'kfr-2 (Constraint) says that already.' },
    ]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    const { stderr } = await runForge(project, ['kfr', 'patch', '--remove', 'kfr-1', '--add', 'Todo:x']);
    expect(stderr).toMatch(
      /^forge: Nothing was changed:\n {2}remove kfr-1: kfr-1 .*\n {2}add Todo "x": Unknown kind "Todo"\. .*\n$/,
    );
  });

  it('KFR-02 a missing text or kind is answered with the command to type', async () => {
    const project = await makeWorking();
    await patch(project, [add('Goal', 'ship'), add('OpenQuestion', 'which cookie?')]);
    const hintOf = async (...flags: string[]): Promise<string | undefined> =>
      (await forgeError(project, ['kfr', 'patch', ...flags])).hint;
    expect(await hintOf('--resolve', 'Q1')).toBe('forge kfr patch --resolve Q1="the answer"');
    expect(await hintOf('--add', 'which port?')).toBe('forge kfr patch --add "OpenQuestion:which port?"');
  });

  it('KFR-02 a malformed operation is exit 2', async () => {
    const project = await makeWorking();
    const before = snapshot(project.dir);
    for (const [stdin, code] of [
      ['', 'kfr.json'],
      ['{"operations":[', 'kfr.json'],
      ['[]', 'input.invalid'],
      ['{"operations":[],"more":1}', 'input.invalid'],
      ['{"operations":[]}', 'kfr.nothing'],
      ['{"operations":{}}', 'input.invalid'],
      ['{"operations":[5]}', 'kfr.patch'],
      ['{"operations":[{"op":"add","kind":"Goal"}]}', 'kfr.patch'],
    ] as const) {
      const error = await forgeError(project, ['kfr', 'patch', '-'], { stdin });
      expect([stdin, error.exitCode]).toEqual([stdin, 2]);
      if (code !== 'input.invalid') expect([stdin, error.code]).toEqual([stdin, code]);
    }
    const flags = ['--add "no kind"', '--add :x', '--resolve kfr-1', '--resolve =x', '--goal " "'];
    for (const words of ['', 'nosuch.json', ...flags, '- --goal x'])
      expect([words, (await forgeError(project, `kfr patch ${words}`)).exitCode]).toEqual([words, 2]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('KFR-06 the limits are settings', async () => {
    const project = await makeWorking();
    await forgeJson(project, ['config', 'set', 'kfr.entry_characters', '40']);
    await forgeJson(project, ['config', 'set', 'kfr.tokens', '100']);
    expect((await patchError(project, [add('Goal', 'x'.repeat(41))])).operations).toMatchObject([
      { code: 'too_long', message: expect.stringContaining('40 are allowed') },
    ]);
    const many = [...Array(9).keys()].map((n) => add('Constraint', `${n} ${'x'.repeat(37)}`));
    const message = expect.stringMatching(/100 are allowed.*promote it to a note: kfr-/);
    expect((await patchError(project, many)).operations).toMatchObject([
      { index: 8, code: 'budget', message },
    ]);
    expect(project.has(KFR)).toBe(false);
  });

  it('KFR-12 warns on stderr, and in the answer', async () => {
    const project = await makeWorking();
    const { stdout, stderr, exitCode } = await runForge(project, 'kfr patch --goal "sid instead of uid"');
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('kfr-1')]);
    expect(stderr).toMatch(
      /replace Goal "sid instead of uid": it reads like a rejected alternative; .*\(rejected_alternative\)/,
    );
    const { warnings } = await patch(project, [add('Constraint', 'short names, e.g. sid')]);
    expect(warnings).toEqual([expect.stringContaining('(example)')]);
  });

  it('KFR-13 refuses a patch without a session', async () => {
    const project = await makeForge();
    for (const words of ['kfr patch --goal x', 'kfr clear --yes', 'note promote kfr-1'])
      await expectError(project, words, '3 session.none');
    expect(await list(project)).toEqual({ session: null, entries: [], tokens: 0 });
    expect((await runForge(project, ['kfr', 'list'])).stdout).toBe('No session is running.\n');
  });

  it('LTM-13 B-106 refuses a secret in a patch, even escaped in its JSON, without a trace', async () => {
    const secret = ['glp', 'at-', 'a1b2c3d4e5f6g7h8i9j0'].join('');
    const escaped = [...secret].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join('');
    for (const text of [secret, escaped]) {
      const project = await makeWorking();
      const stdin = `{"operations":[{"op":"add","kind":"Constraint","text":"use ${text}"}]}`;
      const { exitCode, stderr } = await runForge(project, ['kfr', 'patch', '-'], { stdin });
      expect([exitCode, stderr.includes(secret)]).toEqual([5, false]);
      expect((await list(project)).entries).toEqual([]);
      expect(project.has(KFR)).toBe(false);
    }
  });
});
