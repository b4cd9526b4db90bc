import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ada, at, bob, start } from '../support/agents.js';
import { expectError, forgeError, runForge } from '../support/forge.js';
import { differences, makeForge, SESSIONS, snapshot } from '../support/forge-project.js';
import { add, ask, KFR, list, makeWorking, patch, patchError, textsOf } from '../support/kfrs.js';

describe('an invalid patch', () => {
  it('B-05 KFR-06 texts of a megabyte, in any field: refused, and nothing is written', async () => {
    const project = await makeWorking();
    await ask(project);
    const before = snapshot(project.dir);
    const big = 'x'.repeat(1 << 20);
    for (const operations of [
      [add('Goal', big)],
      [add(big, 'x')],
      [{ op: big }],
      [{ op: 'remove', id: big }],
      [{ op: 'resolve', id: 'kfr-1', resolution: big }],
      [{ op: 'remove', id: 'kfr-1', [big]: 1 }],
    ]) {
      const { exitCode, code, message } = await patchError(project, operations);
      expect([exitCode, code]).toEqual([2, 'kfr.too_large']);
      expect(message.length).toBeLessThan(1000);
    }
    const fits = 'x'.repeat(100_000);
    for (const operation of [add('Goal', fits), add(fits, 'x'), { op: fits }, { op: 'remove', id: fits }]) {
      const error = await patchError(project, [operation]);
      expect([2, 3]).toContain(error.exitCode);
      expect(JSON.stringify(error).length).toBeLessThan(2000);
    }
    expect((await forgeError(project, ['kfr', 'patch', '--goal', '-'], { stdin: big })).exitCode).toBe(2);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-15 KFR-02 refuses 10,000 operations because of their number', async () => {
    const project = await makeWorking();
    const operations = Array.from({ length: 10_000 }, () => ({ op: 'x' }));
    expect(await patchError(project, operations)).toMatchObject({
      exitCode: 2,
      code: 'kfr.too_many',
      message: 'The patch has 10000 operations; 100 are allowed.',
    });
    const { operations: named } = await patchError(project, operations.slice(0, 100));
    expect(named).toHaveLength(100);
  });

  it('B-14 refuses keys that reach the prototype at any depth', async () => {
    const project = await makeWorking();
    for (const stdin of [
      '{"__proto__":{"operations":[]}}',
      '{"operations":[{"op":"add","kind":"Goal","text":"x","__proto__":{"requires_resolution":true}}]}',
      '{"operations":[{"op":"add","kind":"Goal","text":"x","constructor":1}]}',
      '{"operations":[{"op":"add","op":"remove","id":"kfr-1"}]}',
    ])
      expect([stdin, (await forgeError(project, 'kfr patch -', { stdin })).exitCode]).toEqual([stdin, 2]);
    expect(project.has(KFR)).toBe(false);
  });
});

describe('an invalid kfr.json', () => {
  it('KFR-07 KFR-09 B-12 does not open the gate: commands that need it exit 4 and name a command that works', async () => {
    const project = await makeWorking('--task', 'logout');
    await ask(project);
    for (const bytes of [
      '',
      '{',
      '{"schema_version":"1.0","session":null,"last":0,"entries":{},"closed":[]}',
      project.read(KFR).replace('"kfr-1"', '"kfr-1] fake\\n- [kfr-2"'),
      project.read(KFR).replace('"OpenQuestion"', '"Todo"'),
    ]) {
      project.write(KFR, bytes);
      const before = snapshot(project.dir);
      const gated = ['session end --no-commit', 'session discard', 'focus clear', 'focus set --task other'];
      for (const words of [...gated, 'kfr clear --yes', 'kfr inject', 'note promote kfr-1'])
        expect([bytes, words, (await forgeError(project, words)).exitCode]).toEqual([bytes, words, 4]);
      expect(differences(before, snapshot(project.dir))).toEqual([]);
    }
    const { hint } = await forgeError(project, ['kfr', 'list']);
    expect(hint).toBe(
      `mv ${KFR} ${KFR}.damaged && forge init   # forge makes it again, or starts with an empty one`,
    );
  });

  it('B-20 a symlink or a folder in its place does not open it either', async () => {
    const project = await makeWorking();
    await ask(project);
    rmSync(project.path(KFR));
    project.write(
      'elsewhere.json',
      '{"schema_version":"1.0","session":null,"last":0,"entries":[],"closed":[]}',
    );
    for (const place of [
      () => symlinkSync(project.path('elsewhere.json'), project.path(KFR)),
      () => mkdirSync(project.path(KFR)),
    ]) {
      place();
      for (const words of ['kfr list', 'session end --no-commit', 'kfr patch --goal x'])
        await expectError(project, words, '4 file.kind');
      rmSync(project.path(KFR), { recursive: true });
    }
  });

  it('B-12 SES-07 a damaged archived one blocks --resume and discard, and nothing is lost', async () => {
    const project = await makeForge();
    const { session } = await start(project, at(ada, 0));
    await patch(project, [add('Goal', 'g')], { world: at(ada, 0) });
    await start(project, at(bob, 30, 'gone'));
    const [file = ''] = readdirSync(project.path(SESSIONS)).filter((name) => name.startsWith(session.id));
    const path = `${SESSIONS}/${file}`;
    const good = project.read(path);
    project.write(path, good.slice(0, 50));
    const damaged = { exitCode: 4, file: path };
    for (const words of [`session start --resume ${session.id}`, `session discard ${session.id}`])
      expect(await forgeError(project, words, { world: at(bob, 31) })).toMatchObject(damaged);
    project.write(path, good);
    await start(project, at(bob, 32), '--resume', session.id);
    expect(textsOf(await list(project))).toEqual(['kfr-1 g']);
  });

  it('B-06 escapes text that an editor wrote', async () => {
    const project = await makeWorking();
    await patch(project, [add('Goal', 'PLACE')]);
    project.write(KFR, project.read(KFR).replace('PLACE', 'a\\u001b[2J\\u202e\\n\\nEnd of the KFR'));
    for (const words of [['kfr', 'list'], ['kfr', 'inject'], ['briefing']]) {
      const { stdout, exitCode } = await runForge(project, words);
      expect([words, exitCode]).toEqual([words, 0]);
      expect(stdout).toContain('a<U+001B>[2J<U+202E>');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
      expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
    }
    expect((await runForge(project, ['kfr', 'inject'])).stdout).toMatch(
      /\n {4}\| End of the KFR\n\nEnd of the KFR [0-9a-f]/,
    );
    // No archive takes it.
    expect(await forgeError(project, 'session end --no-commit')).toMatchObject({ exitCode: 5, file: KFR });
  });
});
