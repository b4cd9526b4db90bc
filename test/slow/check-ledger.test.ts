import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { systemWorld } from '../../src/core/world.js';
import { findRepository } from '../../src/git/repository.js';
import { installGuard } from '../../src/guard/guard.js';
import { storeRecords, surroundings } from '../../src/ledger/append.js';
import { foldAll } from '../../src/ledger/fold.js';
import { compactExecution } from '../../src/ledger/store/compact.js';
import type { Integrity } from '../../src/ledger/verify.js';
import { contextAt } from '../../src/project/project.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeRepository, type Project, run } from '../support/project.js';

const SCRIPT = fileURLToPath(new URL('../../docs/check-ledger.sh', import.meta.url));
const FIXED = '.forge/memory/execution.jsonl';

const check = (project: Project, tier = 'execution') => run(project.dir, 'sh', [SCRIPT, tier]);

async function record(project: Project, ...tasks: string[]): Promise<void> {
  const lines = tasks.map((task_id) => JSON.stringify({ task_id, exit_code: 0, classification: 'SUCCESS' }));
  await forgeJson(project, ['memory', 'record', '-'], { stdin: lines.join('\n') });
}

function commit(project: Project, message: string): void {
  project.git('add', '-A', '.forge');
  project.git('commit', '-q', '-m', message);
}

async function begin(): Promise<Project> {
  const project = makeRepository();
  await forgeJson(project, ['init', '--yes']);
  commit(project, 'forge');
  return project;
}

/** Two branches that met, folded, and went on; `keep` cycles stay live, the older ones are in an archive. */
async function grow(keep: number): Promise<Project> {
  const project = await begin();
  await record(project, 'a1', 'a2', 'a3');
  project.git('switch', '-q', '-c', 'side');
  await record(project, 'b1', 'b2');
  commit(project, 'side');
  project.git('switch', '-q', 'main');
  await record(project, 'c1', 'c2');
  commit(project, 'main');
  project.git('merge', '-q', '--no-edit', 'side');
  await record(project, 'd1');
  await forgeJson(project, ['memory', 'fold']);
  await archive(project, keep);
  commit(project, 'folded');
  await record(project, 'e1', 'e2', 'e3');
  return project;
}

async function archive(project: Project, keep: number): Promise<void> {
  const world = systemWorld(process.env, false);
  const context = contextAt(project.dir, findRepository(project.dir), world, false);
  await installGuard(context);
  const around = await surroundings(context);
  compactExecution(context.disk, keep, (anchor) => {
    storeRecords(context, around, 'execution', [{ kind: 'archive', ...anchor }]);
    foldAll(context);
  });
}

/** What verify says of a tier, in the script's words. */
async function verified(project: Project, tier: string): Promise<string> {
  const { stdout } = await runForge(project, ['memory', 'verify', '--tier', tier, '--json']);
  const { tiers, problems } = JSON.parse(stdout) as Integrity;
  expect(problems).toEqual([]);
  const [found] = tiers;
  const heads = found?.heads ?? [];
  return [`${tier}: ${found?.records} records, heads: ${heads.length}`, ...heads.map((id) => `  ${id}`)].join(
    '\n',
  );
}

const sorted = (stdout: string): string => {
  const [first = '', ...heads] = stdout.trimEnd().split('\n');
  return [first, ...heads.sort()].join('\n');
};

describe('docs/check-ledger.sh', () => {
  it('LTM-03 agrees with forge memory verify after merges, folds and an archive', async () => {
    const project = await grow(4);
    expect(readdirSync(project.path('.forge/memory/archive'))).toHaveLength(1);
    expect(readdirSync(project.path('.forge/memory/execution.d'))).toHaveLength(2);

    for (const tier of ['execution', 'evaluation', 'knowledge', 'audit', 'notes']) {
      const { stdout, stderr, exitCode } = check(project, tier);
      expect(stderr).toBe('');
      expect(sorted(stdout)).toBe(await verified(project, tier));
      expect(exitCode).toBe(0);
    }
  });

  it('LTM-03 counts the heads of branches that met', async () => {
    const project = await begin();
    project.git('switch', '-q', '-c', 'side');
    await record(project, 'b1');
    commit(project, 'side');
    project.git('switch', '-q', 'main');
    await record(project, 'c1');
    commit(project, 'main');
    project.git('merge', '-q', '--no-edit', 'side');

    const { stdout, exitCode } = check(project);

    expect(sorted(stdout)).toBe(await verified(project, 'execution'));
    expect(stdout).toContain('execution: 3 records, heads: 2\n');
    expect(exitCode).toBe(0);
  });

  it.each([
    [
      'an edited line',
      (lines: string[]) => lines.map((line) => line.replace('"task_id":"c1"', '"task_id":"cl"')),
    ],
    ['a removed line', (lines: string[]) => lines.filter((line) => !line.includes('"task_id":"c1"'))],
  ])('LTM-03 finds %s, as verify does', async (_name, spoil) => {
    const project = await grow(100);
    const lines = project.read(FIXED).split('\n');
    project.write(FIXED, spoil(lines).join('\n'));

    const { stdout, exitCode } = check(project);

    expect(stdout).toMatch(/execution\.jsonl:\d+: the record that it follows is not here: [0-9a-f]{64}$/m);
    expect(exitCode).toBe(1);
    expect((await runForge(project, ['memory', 'verify'])).exitCode).toBe(4);
  });

  it.each([
    ['a torn last line', (text: string) => text.slice(0, -5), 'does not end in a line feed'],
    ['two lines made one', (text: string) => text.replace('\n', ''), ':1: it is no record'],
    ['a line of something else', (text: string) => `${text}<<<<<<< HEAD\n`, ': it is no record'],
    ['line ends that were converted', (text: string) => text.replaceAll('\n', '\r\n'), ':1: it is no record'],
    ['another ledger’s record', (text: string) => text.replaceAll('"execution"', '"knowledge"'), 'no record'],
  ])('LTM-03 finds %s', async (_name, spoil, said) => {
    const project = await grow(100);
    project.write(FIXED, spoil(project.read(FIXED)));
    const { stdout, exitCode } = check(project);
    expect(stdout).toContain(said);
    expect(exitCode).toBe(1);
  });

  it('LTM-03 finds an archive that was edited', async () => {
    const project = await grow(4);
    const [name] = readdirSync(project.path('.forge/memory/archive'));
    const path = `.forge/memory/archive/${name}`;
    project.write(path, project.read(path).replace('"task_id":"a2"', '"task_id":"A2"'));
    const { stdout, exitCode } = check(project);
    expect(stdout).toContain('its bytes are not those that its name was made of');
    expect(exitCode).toBe(1);
  });

  it('LTM-03 accepts what a repair record vouches for or names as lost', async () => {
    const project = await grow(100);
    const lines = project.read(FIXED).split('\n');
    project.write(FIXED, `${lines.join('\n')}{"v":1,"tier":"execu`);
    expect(check(project).exitCode).toBe(1);
    await runForge(project, ['memory', 'repair', '--reason', 'power loss'], { terminal: true });
    const { stdout, exitCode } = check(project);
    expect(sorted(stdout)).toBe(await verified(project, 'execution'));
    expect(exitCode).toBe(0);
  });

  it('LTM-03 says what it wants when called wrongly', async () => {
    const project = await begin();
    expect(check(project, 'memory').exitCode).toBe(2);
    expect(run(project.dir, 'sh', [SCRIPT, 'execution', 'nowhere']).exitCode).toBe(2);
  });
});
