import { mkdirSync, readdirSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Layout, sessionIdsFile } from '../../src/core/paths.js';
import { liveness, self } from '../../src/core/world.js';
import { isStoredId, sessionName } from '../../src/session/rules.js';
import { allocateSessionId } from '../../src/session/running.js';
import { finish, startChild } from '../support/child.js';
import { failure } from '../support/failure.js';
import { makeFolder } from '../support/project.js';

const policy = { me: self, liveness };
const DAY = '2026-03-01';
const nothing = { ids: [], seq: 0 };

/** Two worktrees of one repository: folders of their own, one git common dir. */
function worktrees(): [Layout, Layout] {
  const shared = join(makeFolder(), '.git', 'forge');
  const at = (root: string): Layout => ({
    root,
    dir: join(root, '.forge'),
    state: join(root, 'state'),
    shared,
  });
  return [at(makeFolder()), at(makeFolder())];
}

const take = (
  layout: Layout,
  { date = DAY, known = nothing as { ids: string[]; seq: number }, dryRun = false } = {},
) => allocateSessionId(layout, policy, date, known, dryRun);

describe('a new session id', () => {
  it('SES-02 is the date, the number and six hex digits', () => {
    const [here] = worktrees();
    const { id, seq } = take(here);
    expect([isStoredId(id), sessionName(id), seq]).toEqual([true, '2026-03-01-session-001', 1]);
  });

  it('SES-02 is never issued to two worktrees of one repository', () => {
    const [here, there] = worktrees();
    const given = [here, there, there, here, there].map((layout) => take(layout));
    expect(given.map(({ id }) => sessionName(id).slice(-3))).toEqual(['001', '002', '003', '004', '005']);
    expect(given.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(given.map(({ id }) => id.slice(-6))).size).toBe(5);
  });

  it('SES-02 B-52 is never issued to two concurrent processes', async () => {
    const folder = makeFolder();
    const said = await Promise.all(
      Array.from({ length: 4 }, () => finish(startChild('allocate', folder, '25'))),
    );
    const rows = said.flatMap((text) =>
      text
        .trim()
        .split('\n')
        .map((line) => line.split(' ')),
    );
    const numbers = rows.map(([id = '']) => Number(sessionName(id).slice(-3))).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    expect(new Set(rows.map(([, seq]) => seq)).size).toBe(100);
    expect(readdirSync(folder)).toEqual(['session-ids.json']);
  });

  it('SES-02 numbers restart each day, while the counter continues', () => {
    const [here] = worktrees();
    take(here);
    expect(take(here, { date: '2026-03-02' })).toMatchObject({
      id: expect.stringContaining('03-02-session-001'),
      seq: 2,
    });
  });

  it('B-67 continues the numbers of a day when the clock is set back to it', () => {
    const [here] = worktrees();
    for (const date of [DAY, '2027-01-01', DAY]) take(here, { date });
    expect(sessionName(take(here).id)).toBe('2026-03-01-session-003');
  });

  it('SES-02 continues after ids from a clone or merge', () => {
    const [here] = worktrees();
    take(here);
    const known = { ids: ['2026-03-01-session-041-abcdef', '2026-02-01-session-099-abcdef'], seq: 70 };
    const { id, seq } = take(here, { known });
    expect([sessionName(id), seq]).toEqual(['2026-03-01-session-042', 71]);
    expect(sessionName(take(here).id)).toBe('2026-03-01-session-043');
  });

  it('SES-02 is only previewed in a dry run', () => {
    const [here] = worktrees();
    expect(sessionName(take(here, { dryRun: true }).id)).toBe(sessionName(take(here, { dryRun: true }).id));
    expect(readdirSync(here.root)).toEqual([]);
    expect(() => readdirSync(here.shared)).toThrow('ENOENT');
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"seq":1,"numbers":null}',
    '{"seq":"1","numbers":{}}',
    '{"seq":1,"numbers":{"2026-03-01":"x"}}',
    '{"seq":1e300,"numbers":{}}',
  ])('B-12 does without what stood there when that is damaged: %j', (content) => {
    const [here] = worktrees();
    take(here);
    writeFileSync(sessionIdsFile(here), content);
    const known = { ids: ['2026-03-01-session-001-abcdef'], seq: 1 };
    expect(take(here, { known })).toMatchObject({ id: expect.stringContaining('-session-002-'), seq: 2 });
    expect(JSON.parse(readFileSync(sessionIdsFile(here), 'utf8'))).toMatchObject({ seq: 2 });
  });

  it('B-19 recovers after a crash truncated its record, of any length', () => {
    const [here] = worktrees();
    take(here);
    writeFileSync(sessionIdsFile(here), `{"seq":1,"numb${' '.repeat(300)}`);
    take(here);
    expect(JSON.parse(readFileSync(sessionIdsFile(here), 'utf8'))).toMatchObject({ seq: expect.any(Number) });
    expect(readdirSync(here.shared)).toEqual(['session-ids.json']);
  });

  it('B-20 refuses a folder or a symlink in place of the record', () => {
    const [here, there] = worktrees();
    mkdirSync(sessionIdsFile(here), { recursive: true });
    expect(failure(() => take(here))).toMatchObject({ exit: 4, code: 'file.kind' });
    rmdirSync(sessionIdsFile(here));
    symlinkSync(join(there.root, 'elsewhere'), sessionIdsFile(here));
    expect(failure(() => take(here))).toMatchObject({ exit: 4, code: 'file.kind' });
    expect(readdirSync(there.root)).toEqual([]);
  });
});
