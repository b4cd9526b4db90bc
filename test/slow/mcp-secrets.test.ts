import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeStarted } from '../support/forge-project.js';
import { logOf } from '../support/memory.js';
import { samples, seeded } from '../support/secrets.js';
import { greeted, type Message } from '../support/servers.js';

const TOKEN = samples.get('github-pat')?.[0]?.(seeded(7)) as string;

/** A secret in every place that a call has; none of them may be repeated. */
const CALLS: [name: string, given: object][] = [
  ['progress_add', { text: `use ${TOKEN}` }],
  ['progress_add', { text: 'x', next: TOKEN }],
  ['session_start', { goal: TOKEN }],
  ['session_end', { learned: ['fine', TOKEN] }],
  ['focus_set', { task: TOKEN }],
  ['focus_set', { files: ['a', TOKEN] }],
  ['feature_verify', { ids: [TOKEN] }],
  ['learn', { text: TOKEN }],
  ['session_note_promote', { id: TOKEN }],
  ['memory_record', { task_id: TOKEN, exit_code: 0 }],
  ['memory_record', { task_id: 'A', exit_code: 0, patterns: [{ pattern: TOKEN, scope: 'execution' }] }],
  ['session_working_memory_update', { operations: [{ op: 'replace', kind: 'Goal', text: TOKEN }] }],
  ['session_working_memory_update', { operations: [{ op: TOKEN }] }],
  // Of a wrong form besides.
  ['progress_add', { text: { deep: [TOKEN] } }],
  ['progress_add', { text: 'x', [TOKEN]: 1 }],
  ['briefing', { budget: TOKEN }],
];

const everything = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');

const codeOf = ({ result }: Message): unknown =>
  (result?.structuredContent as { error?: { code: string } })?.error?.code;

describe('a secret', () => {
  it.each(CALLS)('LTM-13 AGT-02 in an argument of %s is refused: %#', async (name, given) => {
    const project = await makeStarted();
    const wire = await greeted(project);
    const answer = await wire.call(1, name, given);
    expect(answer.error).toBeUndefined();
    // The arguments of a reading tool are not stored. A wrong form is refused without repeating it.
    const code = name === 'briefing' ? 'input.invalid' : 'guard.secret';
    expect([answer.result?.isError, codeOf(answer)]).toEqual([true, code]);
    await wire.lives();
    expect(await wire.close()).toBe(0);
    expect(wire.stdout + wire.stderr).not.toContain(TOKEN);
    expect(everything(project.dir)).not.toContain(TOKEN);
  });

  it('LTM-13 in a write is recorded as a breach without its value', async () => {
    const project = await makeStarted();
    const wire = await greeted(project);
    await wire.call(1, 'learn', { text: TOKEN });
    const records = await logOf(project, 'audit');
    expect(records).toMatchObject([{ kind: 'breach' }]);
    expect(JSON.stringify(records)).not.toContain(TOKEN);
  });

  it('LTM-13 outside of arguments is not repeated', async () => {
    const project = await makeStarted();
    const wire = await greeted(project);
    await wire.call(1, TOKEN);
    await wire.ask(2, 'resources/read', { uri: `forge://${TOKEN}` });
    await wire.ask(3, `no/${TOKEN}`);
    await wire.ask(4, 'tools/call', { name: { [TOKEN]: TOKEN } });
    wire.write(`${TOKEN}\n`);
    await wire.until(({ id }) => id === null);
    expect(wire.messages.slice(1).map(({ error }) => error?.code)).toEqual([
      -32602, -32602, -32601, -32602, -32700,
    ]);
    expect(wire.stdout + wire.stderr).not.toContain(TOKEN);
  });
});
