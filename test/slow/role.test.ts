import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandOf, everyCommand, withEverything } from '../support/commands.js';
import { forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { type Logged, logOf, verify } from '../support/memory.js';
import { changedPaths, makeRepository, type Project } from '../support/project.js';

const BUILDER = { env: { FORGE_ROLE: 'builder' } };

async function ready(): Promise<Project> {
  const project = makeRepository();
  await forgeJson(project, ['init', '--yes']);
  await forgeJson(project, ['feature', 'add', '--no-run', 'FORGE-001', 'Login works', '--test', 'npm test']);
  await forgeJson(project, ['session', 'start']);
  project.git('add', '.forge');
  project.git('commit', '-q', '-m', 'Set up');
  return project;
}

/** What LTM-12 keeps from a builder, and whatever else lets its own tests pass. */
const DENIED: string[][] = [
  ['knowledge', 'add', 'invariant', 'x'],
  ['learn', 'x', '--as', 'invariant'],
  ['knowledge', 'remove', '0123456789'],
  ['note', 'remove', '01234567'],
  ['architecture', 'edit', '-'],
  ['config', 'set', 'briefing.budget', '500'],
  ['trust', '--revoke'],
  ['feature', 'add', '--no-run', 'B', 'b', '--test', 'true'],
  ['feature', 'edit', 'FORGE-001', '--test', 'true'],
  ['feature', 'remove', 'FORGE-001'],
  ['feature', 'import', '-'],
  ['import', '--yes'],
  ['feature', 'confirm', 'FORGE-001'],
  ['guard', 'allow', 'abcdef', '--reason', 'x'],
  ['note', 'add', 'x'],
  ['note', 'promote', 'kfr-1'],
  ['memory', 'record', '--task', 'A', '--exit-code', '0'],
  ['memory', 'repair', '--reason', 'x'],
  ['memory', 'override', 'acknowledge', '--reason', 'x'],
  ['memory', 'override', 'freeze', '--reason', 'x'],
  ['memory', 'override', 'reset', 'note', '--reason', 'x'],
  ['memory', 'redact', 'f'.repeat(64), '--reason', 'x'],
  ['memory', 'consolidate'],
  ['checkpoint', 'create', 'X', '--verify', 'true'],
  ['recover', '--yes'],
  ['recover', '--undo', '--yes'],
  ['undo'],
  ['recover', '--worktree', '../elsewhere'],
  ['cycle', 'touch', 'ran'],
  ['loop', '--max-cycles', '1', 'touch', 'ran'],
  ['agent', 'install', 'claude'],
  ['agent', 'install', 'all', '--user'],
  ['agent', 'uninstall', 'claude'],
  ['hooks', 'install'],
  ['hooks', 'uninstall'],
];
const DENIED_IN_PART: string[][] = [
  ['session', 'end', '--learned', 'x'],
  ['session', 'end', '--failed', 'x'],
  ['feature', 'edit', 'FORGE-001', '--status', 'passing', '--reason', 'x'],
];

/** Calls of commands of which other calls are denied, and of one that agents make. */
const ALLOWED_IN_PART: string[][] = [
  ['trust', '--show'],
  ['feature', 'add', 'D', 'd'],
  ['feature', 'edit', 'D', '--priority', '1'],
  ['recover', '--plan'],
  ['recover', '--list'],
  ['doctor', '--fix'],
  ['hook', 'claude', 'stop'],
];
const ALLOWED = [
  ...['claim', 'fleet', 'release', 'where', 'status', 'briefing', 'prime', 'next', 'recall', 'ci', 'mcp'],
  ...[
    'skill list',
    'skill show',
    'skill resource',
    'skill check',
    'skill match',
    'skill new',
    'skill export',
  ],
  ...['skill import', 'artifact add', 'artifact list', 'artifact show', 'artifact verify', 'linear new'],
  ...['linear list', 'linear show', 'linear start', 'linear done', 'linear template', 'knowledge list'],
  ...['knowledge search', 'architecture show', 'note list', 'note show', 'memory verify', 'memory log'],
  ...['memory show', 'memory stats', 'memory promote', 'memory report', 'guard scan', 'agent status'],
  ...['hooks status', 'doctor', 'checkpoint list', 'checkpoint verify', 'export html', 'export markdown'],
  ...['export json', 'schema', 'complete', 'config list', 'config get', 'finding add', 'finding extract'],
  ...['finding list', 'finding has', 'finding summary', 'finding stats', 'finding clear', 'progress add'],
  ...['progress next', 'progress show', 'focus set', 'focus show', 'focus clear', 'kfr patch', 'kfr list'],
  ...['kfr inject', 'kfr clear', 'feature list', 'feature show', 'feature verify', 'commit check'],
  ...['commit template', 'commit', 'session status', 'session list', 'session show', 'session start'],
  'session end',
];
/** Need a server or a checkpoint, run until Ctrl-C, or begin or throw away nothing that is known. */
const UNTRIED = [
  ...['linear pull', 'linear push', 'linear sync', 'events tail', 'events list', 'events replay'],
  ...['events flush', 'ui', 'watch', 'init', 'checkpoint show', 'session discard', 'hook'],
];

async function expectDenied(project: Project, options: RunOptions): Promise<void> {
  const denied = [...DENIED, ...DENIED_IN_PART];
  for (const args of denied) {
    const error = await forgeError(project, args, { ...options, terminal: true, stdin: '- c\n' });
    expect([error.exitCode, error.code], args.join(' ')).toEqual([3, 'role.denied']);
  }
  expect(changedPaths(project).filter((path) => !path.includes('/ledger/'))).toEqual([]);
  const { records } = await forgeJson<{ records: Logged[] }>(project, [
    ...['memory', 'log', '--tier', 'audit', '--limit', '100'],
  ]);
  // The home folder is no part of memory.
  const inside = denied.filter((args) => !args.includes('--user'));
  expect(records.map(({ kind }) => kind)).toEqual(inside.map(() => 'breach'));
  for (const { record } of records)
    expect(record).toMatchObject({ critical: true, code: 'role.denied', what: expect.any(String) });
  expect((await verify(project)).status).toBe('intact');
}

describe('FORGE_ROLE=builder', () => {
  it('B-07 B-36 LTM-12 refuses what it denies with exit 3, writes nothing else, and records each attempt', async () => {
    const project = await ready();
    await expectDenied(project, BUILDER);
    expect((await forgeJson<{ active: unknown }>(project, ['session', 'status'])).active).not.toBeNull();
  });

  it('LTM-12 GOV-05 gives its notes and lessons to its cycle, without a breach', async () => {
    const project = await ready();
    const file = join(project.dir, '..', `observed-${basename(project.dir)}`);
    writeFileSync(file, '');
    const env = { env: { ...BUILDER.env, FORGE_OBSERVATIONS: file } };
    await forgeJson(project, ['kfr', 'patch', '--plan', 'use port 0']);
    const { entries } = await forgeJson<{ entries: { id: string }[] }>(project, ['kfr', 'list']);
    const id = entries[0]?.id as string;
    for (const args of [
      ['note', 'add', 'a'],
      ['note', 'promote', id],
      ['knowledge', 'add', 'success', 'b'],
      ['knowledge', 'add', 'failure', 'c', '--context', 'in CI', '--resolution', 'port 0'],
    ])
      expect(await forgeJson(project, args, env)).toEqual({ observed: [expect.any(String)] });
    const ended = await forgeJson(project, ['session', 'end', '--learned', 'd', '--failed', 'e'], env);
    expect(ended).toMatchObject({ learned: [], observed: ['d', 'e'] });
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      ...['a', 'use port 0'].map((note) => ({ note })),
      ...['b', 'in CI: c → port 0', 'd', 'e'].map((pattern) => ({ pattern })),
    ]);
    expect(await logOf(project, 'audit')).toEqual([]);
    expect(await logOf(project, 'note')).toEqual([]);
    expect((await forgeJson(project, ['knowledge', 'list'])).learnings).toEqual([]);
  });

  it('LTM-12 lets a builder read, write progress and focus, and verify features', async () => {
    const { project, calls } = await withEverything();
    project.write('src/app.js', 'changed\n');
    const allowed: string[][] = [];
    for (const call of calls)
      if (ALLOWED.includes((await commandOf(call))?.words.join(' ') ?? '')) allowed.push(call);
    expect(allowed.length).toBe(ALLOWED.length);
    for (const args of [...ALLOWED_IN_PART, ...allowed]) {
      const { exitCode } = await runForge(project, args, { ...BUILDER, stdin: '- c\n' });
      // A feature that the builder verified passes in forge ci once its cycle has recorded a run.
      expect(exitCode, args.join(' ')).toBe(args[0] === 'ci' ? 1 : 0);
    }
    expect(await logOf(project, 'audit')).toEqual([]);
  });

  it('LTM-12 restores missing records for the supervisor, not for a builder', async () => {
    const project = await ready();
    await forgeJson(project, ['note', 'add', 'x']);
    project.git('clean', '-qfdx', '.forge/memory/ledger');
    const before = changedPaths(project);
    expect((await runForge(project, ['memory', 'verify'], BUILDER)).exitCode).toBe(1);
    expect(changedPaths(project)).toEqual(before);
    expect((await verify(project)).restored).toHaveLength(1);
  });

  it('LTM-12 each command is denied or allowed', async () => {
    const denied = await Promise.all(DENIED.map(async (call) => (await commandOf(call))?.words.join(' ')));
    const names = (await everyCommand()).map(({ words }) => words.join(' '));
    expect(names.filter((name) => ![...denied, ...ALLOWED, ...UNTRIED].includes(name))).toEqual([]);
  });
});

const AGENT = { env: { CLAUDECODE: '1' } };

describe('an agent', () => {
  it('LTM-12 LTM-14 cannot make human decisions: exit 3, no breach, nothing is written', async () => {
    const project = await ready();
    for (const args of [
      ['config', 'set', 'briefing.budget', '500'],
      ['trust', '--revoke'],
      ['hooks', 'install'],
      ['hooks', 'uninstall'],
      ['guard', 'allow', 'abcdef', '--reason', 'x'],
      ['memory', 'repair', '--reason', 'x'],
      ['memory', 'redact', 'f'.repeat(64), '--reason', 'x'],
      ['memory', 'override', 'freeze', '--reason', 'x'],
      ['feature', 'edit', 'FORGE-001', '--status', 'passing', '--reason', 'x'],
    ]) {
      const error = await forgeError(project, args, { ...AGENT, terminal: true });
      expect([args, error.exitCode, error.code]).toEqual([args, 3, 'human.required']);
      expect(error.message).toContain('CLAUDECODE is set');
    }
    expect(changedPaths(project)).toEqual([]);
    expect(await logOf(project, 'audit')).toEqual([]);
  });

  it('LTM-12 keeps notes and knowledge, marked as its own; knowledge.json has no mark', async () => {
    const project = await ready();
    await forgeJson(project, ['note', 'add', 'of a person']);
    expect(await forgeJson(project, ['note', 'add', 'of an agent'], AGENT)).toMatchObject({ by: 'agent' });
    await forgeJson(project, ['session', 'end', '--learned', 'x', '--no-commit'], AGENT);
    const { notes } = await forgeJson<{ notes: { by?: string }[] }>(project, ['note', 'list']);
    expect(notes.map(({ by }) => by)).toEqual([undefined, 'agent']);
    const { learnings } = await forgeJson<{ learnings: object[] }>(project, ['knowledge', 'list']);
    expect(learnings).toMatchObject([{ approach: 'x', by: 'agent' }]);
    expect(project.read('.forge/memory/long-term/knowledge.json')).not.toContain('agent');
  });
});

describe('FORGE_ROLE', () => {
  it.each(['bulider', 'builder,', 'admin'])('B-07 LTM-12 %s is no role: exit 2, no write', async (role) => {
    const project = await ready();
    for (const args of [
      ['knowledge', 'add', 'invariant', 'x'],
      ['memory', 'verify'],
    ]) {
      const error = await forgeError(project, args, { env: { FORGE_ROLE: role } });
      expect([args, error.exitCode, error.code]).toEqual([args, 2, 'role.unknown']);
      expect(error.message).toBe(`FORGE_ROLE: found "${role}", allowed: builder | supervisor.`);
    }
    expect(changedPaths(project)).toEqual([]);
  });

  it.each(['', ' ', 'supervisor', 'Supervisor'])('"%s" may write', async (role) => {
    const project = await ready();
    const args = ['knowledge', 'add', 'invariant', 'x'];
    expect((await runForge(project, args, { env: { FORGE_ROLE: role } })).exitCode).toBe(0);
  });
});
