import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { repair } from '../support/ledgers.js';
import { commit, containerOf, HUMAN, record, verify } from '../support/memory.js';
import { type Project, run } from '../support/project.js';

const SCRIPT = fileURLToPath(new URL('../../docs/check-ledger.sh', import.meta.url));

const check = (project: Project, folder = '.forge') => run(project.dir, 'sh', [SCRIPT, folder]);

/** Two branches that met and went on, with a redaction. */
async function grow(): Promise<Project> {
  const project = await makeForge();
  await record(project);
  project.git('switch', '-q', '-c', 'side');
  const { execution } = await record(project, '--classification', 'SUCCESS');
  commit(project);
  project.git('switch', '-q', 'main');
  await record(project);
  commit(project);
  project.git('merge', '-q', '--no-edit', 'side');
  await record(project);
  await forgeJson(project, ['memory', 'redact', execution.id, '--reason', 'x'], HUMAN);
  commit(project);
  await record(project);
  return project;
}

/** What verify says, in the script's words. */
async function verified(project: Project): Promise<string> {
  const { tiers, problems } = await verify(project);
  expect(problems).toEqual([]);
  const heads = tiers.flatMap((tier) => tier.heads).sort();
  const redacted = 1;
  const records = tiers.reduce((sum, tier) => sum + tier.records, 0) + redacted;
  return [`${records} records, heads: ${heads.length}`, ...heads.map((id) => `  ${id}`)].join('\n');
}

const sorted = (stdout: string): string => {
  const [first = '', ...heads] = stdout.trimEnd().split('\n');
  return [first, ...heads.sort()].join('\n');
};

describe('docs/check-ledger.sh', () => {
  it('LTM-03 agrees with forge memory verify after merges and a redaction', async () => {
    const project = await grow();
    const { stdout, stderr, exitCode } = check(project);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(sorted(stdout)).toBe(await verified(project));
  });

  it.each([
    [
      'an edited line',
      (text: string) => text.replace('"task_id":"A"', '"task_id":"B"'),
      'it does not follow the line before it',
    ],
    [
      'a removed line',
      (text: string) => text.split('\n').toSpliced(1, 1).join('\n'),
      'it does not follow the line before it',
    ],
    ['a torn last line', (text: string) => text.slice(0, -5), 'does not end in a line feed'],
    ['two lines made one', (text: string) => text.replace('\n', ''), 'it does not follow the line before it'],
    ['a line of something else', (text: string) => `${text}<<<<<<< HEAD\n`, ': it is no record'],
  ])('LTM-03 finds %s', async (_name, spoil, said) => {
    const project = await makeForge();
    for (let i = 0; i < 3; i++) await record(project);
    const file = containerOf(project);
    project.write(file, spoil(project.read(file)));
    const { stdout, exitCode } = check(project);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(said)]);
    expect(stdout).toContain(file.split('/').at(-1));
    const found = await verify(project);
    if (found.exitCode === 4) await repair(project);
    if (found.exitCode === 4) expect(check(project).exitCode).toBe(0);
  });

  it('LTM-03 ignores converted line endings, as verify does', async () => {
    const project = await makeForge();
    await record(project);
    const file = containerOf(project);
    project.write(file, project.read(file).replaceAll('\n', '\r\n'));
    expect(check(project).exitCode).toBe(0);
    expect((await runForge(project, ['memory', 'verify'])).exitCode).toBe(0);
  });

  it('LTM-03 prints its usage if called wrongly', async () => {
    expect(check(await makeForge(), 'nowhere').exitCode).toBe(2);
  });
});
