import { describe, expect, it } from 'vitest';
import { recordId } from '../../src/ledger/record.js';
import { commandOf, everyCommand, withEverything } from '../support/commands.js';
import { expectError, forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import {
  containersOf,
  cyclesOf,
  HALT,
  HUMAN,
  linesOf,
  logOf,
  putLines,
  record,
  verify,
  withCycles,
} from '../support/memory.js';
import type { Project } from '../support/project.js';

const ACKNOWLEDGE = ['memory', 'override', 'acknowledge'];
const acknowledged = async (project: Project): Promise<number> =>
  (await logOf(project, 'audit')).filter(({ kind }) => kind === 'acknowledged').length;

/** Writing commands that work while memory is halted: what settles it, and what has nothing to do with it. */
const WORKING = ['memory verify', 'memory repair', 'memory override', 'memory redact', 'guard allow'];
/** `init` repairs the folder. It says nothing of memory, and writes none where there is one. `doctor` and `ci` say that it is halted. */
/** Claims are no memory, and events need a server. */
const EVENTS = ['claim', 'release', ...['tail', 'list', 'replay', 'flush'].map((name) => `events ${name}`)];
const FREE = [...WORKING, ...EVENTS, 'init', 'doctor', 'ci', 'ui', 'watch'];

/** A repository whose memory is halted: a line of it was removed. */
async function halted(): Promise<{ project: Project; file: string; lines: string[] }> {
  const { project, file, lines } = await withCycles();
  putLines(project, file, lines.slice(1));
  expect((await verify(project)).exitCode).toBe(4);
  return { project, file, lines };
}

describe('while memory is halted', () => {
  it('LTM-05 every writing command exits 4 memory.corrupted and writes nothing; every reading one works', async () => {
    const { project, calls } = await withEverything();
    await forgeJson(project, ['checkpoint', 'create', 'known', '--verify', 'true']);
    await forgeJson(project, 'finding add text --tool Read --query package.json');
    await record(project);
    const file = containersOf(project).at(-1) ?? '';
    putLines(project, file, ['no record']);
    expect(await verify(project)).toMatchObject({ status: 'corrupted', exitCode: 4 });
    const before = snapshot(project.dir);
    const known = await Promise.all(
      calls.map(async (call) => [(await commandOf(call))?.words.join(' '), call]),
    );
    const callOf = new Map(known as [string, string[]][]);
    callOf.delete('recover');
    for (const { words, spec } of await everyCommand()) {
      const name = words.join(' ');
      if (FREE.includes(name)) continue;
      const call = [...(callOf.get(name) ?? words), '--json'];
      const { exitCode, stderr } = await runForge(project, call, { stdin: '- c\n' });
      // Agents and git's hooks are wired and let go whatever memory says: both, one after the other, leave nothing.
      const halts = spec.writes && name !== 'trust' && !['agent', 'hooks'].includes(words[0] ?? '');
      expect([name, exitCode, halts ? stderr.includes('"code":"memory.corrupted"') : stderr]).toEqual(
        halts ? [name, 4, true] : [name, 0, ''],
      );
    }
    await expectError(project, ['trust', '--revoke'], '4 memory.corrupted', HUMAN);
    // A search index may be made at any time.
    const changed = differences(before, snapshot(project.dir));
    expect(changed.filter((path) => !path.includes('/recall'))).toEqual([]);
  });

  it('LTM-05 the message says why, and where to look', async () => {
    const { project, file } = await halted();
    const error = await forgeError(project, ['note', 'add', 'x']);
    expect(error).toMatchObject({ kind: 'corrupted', hint: expect.stringContaining('forge memory verify') });
    expect(error.message).toBe(`Memory is halted: ${file}:1: "prev" is not the id of the line before.`);
  });

  it('LTM-05 session start finds damage by itself and halts', async () => {
    const { project, file, lines } = await withCycles();
    putLines(project, file, lines.slice(1));
    const error = await forgeError(project, ['session', 'start']);
    expect(error).toMatchObject({ exitCode: 4, code: 'memory.corrupted', file, line: 1 });
    expect(project.has(HALT)).toBe(true);
    expect(project.has('.forge/memory/short-term/session.json')).toBe(false);
  });

  it.each(['no JSON', 'null', '{}', '[]', '{"at":"","reasons":5}'])(
    'LTM-05 an unreadable halt still halts: %s',
    async (text) => {
      const project = await makeForge();
      project.write(HALT, text);
      expect(await forgeJson(project, ['memory', 'stats'])).toMatchObject({ status: 'halted' });
      expect(await forgeJson(project, ['where'])).toMatchObject({
        halted: expect.stringMatching(/halt\.json/),
      });
      expect((await forgeError(project, ['note', 'add', 'x'])).message).toMatch(/halt\.json cannot be read/);
      const done = await forgeJson<{ reasons: string[] }>(
        project,
        [...ACKNOWLEDGE, '--reason', 'spoiled'],
        HUMAN,
      );
      expect(done.reasons).toHaveLength(1);
      expect((await runForge(project, ['note', 'add', 'x'])).exitCode).toBe(0);
    },
  );
});

describe('memory that is intact again', () => {
  const CYCLE = ['cycle', 'true'];

  it('LTM-05 LTM-14 lets sessions go on, and makes cycle and loop wait for a human review', async () => {
    const { project, file, lines } = await halted();
    for (const args of [['session', 'start'], ['progress', 'add', 'x'], CYCLE])
      await expectError(project, args, '4 memory.corrupted');
    putLines(project, file, lines);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0, problems: [] });
    expect(project.has(HALT)).toBe(false);
    const [damage] = await logOf(project, 'audit');
    expect(damage?.record).toMatchObject({
      kind: 'damage',
      found_at: expect.stringMatching(/^20/),
      gone_at: expect.stringMatching(/^20/),
      reasons: expect.arrayContaining([expect.stringContaining('is not the id of the line before')]),
    });
    for (const args of ['session start', 'progress add x', 'kfr patch --goal x', 'note add x'])
      expect((await runForge(project, args)).exitCode, args).toBe(0);
    await record(project);
    for (const args of [CYCLE, ['loop', '--max-cycles', '1', 'true']])
      expect(await forgeError(project, args), args.join(' ')).toMatchObject({ exitCode: 3, code: 'paused' });
    await forgeJson(project, [...ACKNOWLEDGE, '--reason', 'an editor did it'], HUMAN);
    expect((await runForge(project, [...CYCLE, '--json'])).stderr).not.toContain('"code":"paused"');
  });

  it('LTM-14 a repair by a human with a reason ends the halt, and the audit records have who and why', async () => {
    const { project, lines } = await halted();
    await expectError(project, 'memory repair --reason r', '3 human.required');
    await expectError(project, 'memory repair', '2 reason.missing', HUMAN);
    const { stdout } = await runForge(project, 'memory repair --json --reason "an editor"', HUMAN);
    expect(JSON.parse(stdout)).toMatchObject({
      done: [expect.stringMatching(/^replaced .* by a file with its original records$/)],
    });
    expect(project.has(HALT)).toBe(false);
    expect((await logOf(project, 'audit'))[0]?.record).toMatchObject({
      kind: 'repaired',
      by: 'terminal',
      reason: 'an editor',
    });
    const ids = lines.map((line) => recordId(line.trimStart()));
    expect((await cyclesOf(project)).map(({ id }) => id)).toEqual(ids);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    for (const reason of [[], ['--reason', 'r']])
      await expectError(project, ['memory', 'repair', ...reason], '2 memory.intact', HUMAN);
  });

  it('LTM-14 LTM-01 a reset restarts a tier: nothing is deleted, but readers leave it out', async () => {
    const { project, lines } = await withCycles();
    const reset = ['memory', 'override', 'reset', 'execution', '--reason', 'a new design'];
    await expectError(project, reset, '3 human.required');
    expect(await forgeJson(project, reset, HUMAN)).toMatchObject({ tier: 'execution', count: 3 });
    await record(project);
    expect(await cyclesOf(project)).toHaveLength(1);
    const [file = ''] = containersOf(project);
    expect(linesOf(project, file).slice(0, 3)).toEqual(lines);
    expect(await verify(project)).toMatchObject({ status: 'intact', problems: [] });
    expect((await logOf(project, 'audit')).at(-1)?.record).toMatchObject({
      kind: 'reset',
      reset: 'execution',
      reason: 'a new design',
    });
    const audit = ['memory', 'override', 'reset', 'audit', '--reason', 'x'];
    await expectError(project, audit, '3 reset.audit', HUMAN);
  });
});

/** What agents set in the commands that they run. */
const AGENTS = [
  ...['CLAUDECODE', 'GEMINI_CLI', 'CODEX_THREAD_ID', 'CODEX_SANDBOX', 'OPENCODE', 'AGENT', 'CURSOR_AGENT'],
];

describe('forge memory override acknowledge', () => {
  /** How a call may decide, and what it is refused with; null: it is not. */
  const DECIDERS: [who: string, options: RunOptions, code: string | null][] = [
    ['nobody at a terminal', {}, 'human.required'],
    ['a builder', { ...HUMAN, env: { FORGE_ROLE: 'builder' } }, 'role.denied'],
    ['a person at a terminal', HUMAN, null],
    ['a person who exports a setting of an agent', { ...HUMAN, env: { CODEX_HOME: '/home/ada' } }, null],
    ...AGENTS.map((name): (typeof DECIDERS)[number] => [
      `an agent at a terminal (${name})`,
      { ...HUMAN, env: { [name]: '1' } },
      'human.required',
    ]),
  ];

  it.each(DECIDERS)('LTM-14 B-103 %s', async (_, given, code) => {
    const { project, file, lines } = await halted();
    putLines(project, file, lines);
    const call = [...ACKNOWLEDGE, '--reason', 'it was a slip'];
    if (code !== null) {
      const error = await forgeError(project, call, given);
      expect(error).toMatchObject({ exitCode: 3, kind: 'refused', code });
      // Whoever is refused may be an agent: nothing that it could type is offered.
      if (code !== 'role.denied') expect(error.hint).toBe('ask a human to run this command at a terminal');
      expect((await logOf(project, 'audit')).map(({ kind }) => kind)).not.toContain('acknowledged');
      return;
    }
    const { stdout, exitCode } = await runForge(project, call, given);
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/^acknowledged: .*is not the id of the line before.*\naudit [0-9a-f]{12}; /s),
    ]);
    expect(project.has(HALT)).toBe(false);
    expect((await logOf(project, 'audit')).at(-1)?.record).toMatchObject({
      kind: 'acknowledged',
      reason: 'it was a slip',
      by: 'terminal',
      reasons: expect.arrayContaining([expect.stringContaining('is not the id of the line before')]),
    });
    expect((await record(project)).cycle).toBe(4);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it('LTM-14 is refused while damage remains, without a reason, and where nothing is halted', async () => {
    const { project, file, lines } = await halted();
    const call = [...ACKNOWLEDGE, '--reason', 'never mind'];
    await expectError(project, call, '4 memory.corrupted', HUMAN);
    expect(project.has(HALT)).toBe(true);
    putLines(project, file, lines);
    await expectError(project, ACKNOWLEDGE, '2 reason.missing', HUMAN);
    for (const reason of ['', ' ', '\u001b[2J'])
      await expectError(project, [...ACKNOWLEDGE, '--reason', reason], '2', HUMAN);
    await expectError(project, ['memory', 'override', 'melt', '--reason', 'x'], '2 override.unknown', HUMAN);
    const dry = await runForge(project, [...call, '-n'], HUMAN);
    expect([dry.exitCode, await acknowledged(project)]).toEqual([0, 0]);
    await forgeJson(project, call, HUMAN);
    expect(await acknowledged(project)).toBe(1);
    await expectError(project, call, '2 halt.none', HUMAN);
  });
});
