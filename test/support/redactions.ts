import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import type { Redaction } from '../../src/index.js';
import type { Tier } from '../../src/ledger/record.js';
import { forgeJson, runForge } from './forge.js';
import { HUMAN, logOf, verify } from './memory.js';
import type { Project } from './project.js';

export const WORD = 'swordfish-plover-mandolin';
const SCRIPT = new URL('../../docs/check-ledger.sh', import.meta.url).pathname;

export const note = async (project: Project, text: string): Promise<string> =>
  (await forgeJson<{ id: string }>(project, ['note', 'add', text])).id;

export const redact = (project: Project, ...ids: string[]): Promise<Redaction> =>
  forgeJson(project, ['memory', 'redact', ...ids, '--reason', 'it had to go'], HUMAN);

/** Files of the working tree and of forge in the git dir that have the word. */
export function traces(project: Project): string[] {
  const { stdout } = spawnSync('grep', ['-rl', WORD, '.', '--exclude-dir=objects'], {
    cwd: project.dir,
    encoding: 'utf8',
  });
  return stdout.split('\n').filter(Boolean);
}

export function checkByHand(project: Project): void {
  const { status, stdout } = spawnSync('sh', [SCRIPT, project.path('.forge')], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d+ records, heads: /)]);
}

/** The content is gone everywhere, and the ledger is what it was. */
export async function expectGone(project: Project, id: string, tier: Tier = 'note'): Promise<void> {
  expect(traces(project)).toEqual([]);
  const { status, exitCode, problems } = await verify(project);
  expect({ status, exitCode, problems }).toEqual({ status: 'intact', exitCode: 0, problems: [] });
  checkByHand(project);
  expect((await logOf(project, tier)).map((entry) => entry.id)).not.toContain(id);
  const { stdout } = await runForge(project, ['memory', 'show', id]);
  const [, audit = ''] = /redacted\.\nWho, when and why: forge (memory show [0-9a-f]{12})/.exec(stdout) ?? [];
  expect((await runForge(project, audit.split(' '))).stdout).toContain('"it had to go"');
}

export { commitAll as commit } from './project.js';
