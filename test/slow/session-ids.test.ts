import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fixedClock, forgeError, forgeJson } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

const IDS = '.git/forge/session-ids.json';

/** A project with one session that ended. */
async function withSession(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, 'session start', { world: fixedClock() });
  await forgeJson(project, 'session end --no-commit --next x', { world: fixedClock() });
  return project;
}

describe('the record of session ids', () => {
  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"seq":1,"numbers":null}',
    '{"seq":"1","numbers":{}}',
    '{"seq":1,"numbers":{"2026-03-01":"x"}}',
    '{"seq":1e300,"numbers":{}}',
    `{"seq":1,"numb${' '.repeat(300)}`,
  ])('B-12 B-19 is not needed when it is damaged: %j', async (content) => {
    const project = await withSession();
    project.write(IDS, content);
    const { session } = await forgeJson<{ session: { id: string } }>(project, 'session start', {
      world: fixedClock(),
    });
    expect([session.id, project.json(IDS)]).toEqual([
      '2026-03-01-session-002',
      expect.objectContaining({ seq: 2 }),
    ]);
  });

  it.each(['a folder', 'a symlink'])('B-20 is not replaced if %s is in its place', async (kind) => {
    const project = await withSession();
    rmSync(project.path(IDS));
    if (kind === 'a folder') mkdirSync(project.path(IDS));
    else symlinkSync(project.path('elsewhere'), project.path(IDS));
    expect(await forgeError(project, 'session start')).toMatchObject({ exitCode: 4, code: 'file.kind' });
    expect(project.has('elsewhere')).toBe(false);
  });
});
