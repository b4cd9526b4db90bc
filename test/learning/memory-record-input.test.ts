import { truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemWorld } from '../../src/core/world.js';
import { storeRecords } from '../../src/ledger/memory.js';
import { contextAt } from '../../src/project/project.js';
import { expectError, forgeError, runForge } from '../support/forge.js';
import { differences, makePlainForge, snapshot } from '../support/forge-project.js';
import { BASE, cyclesOf, record } from '../support/memory.js';

describe('forge memory record', () => {
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
    const error = await forgeError(project, 'memory record -', { stdin: [good, bad, good].join('\n') });
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
    ['a signal twice', [...BASE, '--signal', 'a=1', '--signal', 'b=1', '--signal', 'a=2'], 'record.signal'],
    ['an environment that is maybe valid', [...BASE, '--environment-valid', 'maybe'], 'record.boolean'],
    ['a key with a space', [...BASE, '--key', 'a b'], 'input.invalid'],
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

  it('B-06 refuses control characters, and shows stored ones escaped', async () => {
    const project = await makePlainForge();
    const task = 'a\u001b]0;title\u0007\u202eb';
    const flags = ['memory', 'record', '--task', task, '--exit-code', '0'];
    await expectError(project, flags, '2 text.hidden_character');
    const stdin = JSON.stringify({ task_id: task, exit_code: 0 });
    await expectError(project, ['memory', 'record', '-'], '5', { stdin });
    expect(await cyclesOf(project)).toEqual([]);
    const context = contextAt(project.dir, null, systemWorld(process.env, false), false);
    context.disk.guard = () => {};
    const draft = { tier: 'execution' as const, kind: 'cycle', cycle: 1, task_id: task, exit_code: 0 };
    const [ref] = storeRecords(context, [draft]);
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

  it('B-32 refuses a line of 17 MB and a record over 1 MB', async () => {
    const project = await makePlainForge();
    const huge = `{"task_id":"${'x'.repeat(17_000_000)}","exit_code":0}`;
    await expectError(project, ['memory', 'record', '-'], '2 input.too_large', { stdin: huge });
    project.write('huge.jsonl', '');
    truncateSync(project.path('huge.jsonl'), 200_000_000);
    const memory = process.memoryUsage().rss;
    await expectError(project, ['memory', 'record', 'huge.jsonl'], '2 input.too_large');
    expect(process.memoryUsage().rss - memory).toBeLessThan(100_000_000);
    const wide = { task_id: 'A', exit_code: 0, regression_flags: Array(20).fill('y'.repeat(60_000)) };
    await expectError(project, 'memory record -', '2 record.too_large', { stdin: JSON.stringify(wide) });
    expect(await cyclesOf(project)).toEqual([]);
  });
});
