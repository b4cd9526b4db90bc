import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GROUPS } from '../../src/cli/groups.js';
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
  ['memory', 'override', 'append', 'text', '--reason', 'x'],
  ['memory', 'override', 'invalidate', 'text', '--reason', 'x'],
  ['memory', 'override', 'freeze', '--reason', 'x'],
  ['memory', 'override', 'unfreeze', '--reason', 'x'],
  ['memory', 'override', 'reset', 'note', '--reason', 'x'],
  ['memory', 'redact', 'f'.repeat(64), '--reason', 'x'],
  ['memory', 'consolidate'],
  ['checkpoint', 'create', 'X', '--verify', 'true'],
  ['recover', '--yes'],
  ['recover', '--undo', '--yes'],
  ['undo'],
  ['recover', '--worktree', '../elsewhere'],
  ['cycle', 'true'],
  ['loop', '--max-cycles', '1', 'true'],
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

const ALLOWED: string[][] = [
  ['claim', 'FORGE-001'],
  ['fleet'],
  ['release', 'FORGE-001'],
  ['skill', 'list'],
  ['skill', 'show', 'qa-review'],
  ['skill', 'resource', 'qa-review', 'checklists/review.md'],
  ['skill', 'check'],
  ['skill', 'match', 'x'],
  ['skill', 'new', 'made'],
  ['skill', 'export', 'qa-review'],
  ['artifact', 'add', 'package.json'],
  ['artifact', 'list'],
  ['artifact', 'show', 'package.json'],
  ['artifact', 'verify'],
  ['linear', 'new', 'x'],
  ['linear', 'list'],
  ['linear', 'show', 'LOCAL-1'],
  ['linear', 'start', 'LOCAL-1'],
  ['linear', 'done', 'LOCAL-1'],
  ['linear', 'template'],
  ['where'],
  ['status'],
  ['briefing'],
  ['prime'],
  ['next'],
  ['knowledge', 'list'],
  ['knowledge', 'search', 'x'],
  ['architecture', 'show'],
  ['note', 'list'],
  ['memory', 'verify'],
  ['memory', 'log'],
  ['memory', 'stats'],
  ['memory', 'promote'],
  ['memory', 'report'],
  ['guard', 'scan'],
  ['agent', 'status'],
  ['hooks', 'status'],
  ['doctor'],
  ['doctor', '--fix', '--yes'],
  ['checkpoint', 'list'],
  ['checkpoint', 'verify'],
  ['recover', '--plan'],
  ['recover', '--list'],
  ['mcp'],
  ['export', 'html'],
  ['export', 'markdown'],
  ['export', 'json'],
  ['hook', 'claude', 'stop'],
  ['schema'],
  ['complete', 'bash'],
  ['config', 'list'],
  ['config', 'get', 'briefing.budget'],
  ['trust', '--show'],
  ['recall', 'FORGE-001'],
  ['finding', 'add', 'text', '--tool', 'Read', '--query', 'src/app.js'],
  ['finding', 'extract', '--tool', 'Read', '--query', 'src/app.js', '-'],
  ['finding', 'list'],
  ['finding', 'has', '--tool', 'Read', '--query', 'src/app.js'],
  ['finding', 'summary'],
  ['finding', 'stats'],
  ['finding', 'clear'],
  ['progress', 'add', 'wired the form'],
  ['progress', 'next', 'logout'],
  ['progress', 'show'],
  ['focus', 'set', '--phase', 'BUILD'],
  ['kfr', 'patch', '--goal', 'x'],
  ['kfr', 'list'],
  ['kfr', 'inject'],
  ['kfr', 'clear', '--yes'],
  ['focus', 'show'],
  ['focus', 'clear'],
  ['feature', 'list'],
  ['feature', 'add', 'B', 'b'],
  ['feature', 'edit', 'B', '--priority', '1'],
  ['feature', 'show', 'FORGE-001'],
  ['feature', 'verify', 'FORGE-001'],
  ['commit', 'check', '--range', 'HEAD..HEAD'],
  ['commit', 'template'],
  ['ci', '--range', 'HEAD..HEAD'],
  ['commit', '-a', '-m', 'x', '--why', 'y', '--learned', 'z'],
  ['session', 'status'],
  ['session', 'list'],
  ['session', 'start'],
  ['session', 'end', '--no-commit'],
];
/** Need a folder, a key or an id that is there; they read, begin or throw away nothing that is known. */
const UNTRIED = [
  ...['skill import', 'linear pull', 'linear push', 'linear sync'],
  ...['events tail', 'events list', 'events replay', 'events flush'],
  // They run until Ctrl-C, and write nothing.
  ...['ui', 'watch'],
  'init',
  'checkpoint show',
  'session show',
  'session discard',
  'memory show',
  'note show',
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
    expect(record).toMatchObject({
      critical: true,
      code: 'role.denied',
      what: expect.any(String),
    });
  expect((await verify(project)).status).toBe('intact');
}

describe('FORGE_ROLE=builder', () => {
  it('B-07 B-36 LTM-12 refuses what it denies with exit 3, writes nothing else, and records each attempt', async () => {
    const project = await ready();
    await expectDenied(project, BUILDER);
    expect((await forgeJson<{ active: unknown }>(project, ['session', 'status'])).active).not.toBeNull();
  });

  it('LTM-12 GOV-05 turns its notes and lessons in a cycle into observations, without a breach', async () => {
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
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      ['a', 'use port 0', 'b', 'in CI: c → port 0', 'd', 'e'].map((pattern) => ({ pattern })),
    );
    expect(await logOf(project, 'audit')).toEqual([]);
    expect(await logOf(project, 'note')).toEqual([]);
    expect((await forgeJson(project, ['knowledge', 'list'])).learnings).toEqual([]);
  });

  it('LTM-12 lets a builder read, write progress and focus, and verify features', async () => {
    const project = await ready();
    for (const args of ALLOWED)
      expect((await runForge(project, args, BUILDER)).exitCode, args.join(' ')).toBe(0);
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
    const groups = await Promise.all(
      GROUPS.map(async ({ name, load }) => ({ name, ...(await load()).group })),
    );
    const all = groups.flatMap(({ name, commands }) =>
      commands.map((spec) => (spec.name === name ? name : `${name} ${spec.name}`)),
    );
    const known = [...DENIED, ...ALLOWED].map(([group = '', word = '']) =>
      all.includes(`${group} ${word}`) ? `${group} ${word}` : group,
    );
    expect(all.filter((name) => !known.includes(name) && !UNTRIED.includes(name))).toEqual([]);
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
  it.each(['bulider', 'builder,', 'admin'])(
    'B-07 LTM-12 %s is not a role: exit 2, nothing is written',
    async (role) => {
      const project = await ready();
      for (const args of [
        ['knowledge', 'add', 'invariant', 'x'],
        ['config', 'set', 'briefing.budget', '500'],
        ['memory', 'record', '--task', 'A', '--exit-code', '0'],
        ['memory', 'verify'],
        ['note', 'add', 'x'],
        ['session', 'start'],
      ]) {
        const error = await forgeError(project, args, { env: { FORGE_ROLE: role } });
        expect([args, error.exitCode, error.code]).toEqual([args, 2, 'role.unknown']);
        expect(error.message).toBe(`FORGE_ROLE: found "${role}", allowed: builder | supervisor.`);
      }
      expect(changedPaths(project)).toEqual([]);
    },
  );

  it.each(['', ' ', 'supervisor', 'Supervisor'])('"%s" may write', async (role) => {
    const project = await ready();
    const args = ['knowledge', 'add', 'invariant', 'x'];
    expect((await runForge(project, args, { env: { FORGE_ROLE: role } })).exitCode).toBe(0);
  });
});
