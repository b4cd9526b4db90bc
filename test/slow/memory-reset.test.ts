import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Reset } from '../../src/index.js';
import type { Tier } from '../../src/ledger/rules/record.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { fixedOf, HALT, HUMAN, linesOf, logOf, record, segmentsOf, verify } from '../support/memory.js';
import type { Project } from '../support/project.js';

const ARCHIVE = '.forge/memory/archive';
const SCRIPT = new URL('../../docs/check-ledger.sh', import.meta.url).pathname;
const CALL = (tier: string): string[] => ['memory', 'override', 'reset', tier, '--reason', 'begin anew'];
const reset = (project: Project, tier: Tier): Promise<Reset> => forgeJson(project, CALL(tier), HUMAN);
const note = async (project: Project, text: string): Promise<string> =>
  (await forgeJson<{ id: string }>(project, ['note', 'add', text])).id;
const notes = async (project: Project): Promise<string[]> =>
  (await forgeJson<{ notes: { id: string }[] }>(project, ['note', 'list'])).notes.map(({ id }) => id);

async function expectIntact(project: Project, tier: Tier): Promise<void> {
  expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0, problems: [] });
  expect(spawnSync('sh', [SCRIPT, tier, project.path('.forge')]).status).toBe(0);
}

function commit(project: Project): void {
  project.git('add', '-A');
  project.git('commit', '-qm', 'Work');
}

const kinds = (lines: readonly string[]): string[] =>
  lines.map((line) => (JSON.parse(line) as { kind: string }).kind);

describe('forge memory override reset', () => {
  it.each<Tier>(['execution', 'evaluation', 'knowledge', 'notes'])(
    'LTM-14 seals all of the %s ledger but its genesis, and nothing of it is read any more',
    async (tier) => {
      const project = await makeForge();
      await record(project, '--classification', 'SUCCESS');
      await record(project, '--classification', 'SUCCESS');
      await note(project, 'old');
      if (tier === 'knowledge') return expectNothing(project, tier);
      commit(project);
      const before = (await verify(project)).tiers.find((one) => one.tier === tier);
      const dry = await forgeJson<Reset>(project, [...CALL(tier), '-n'], HUMAN);
      expect([dry.count, project.has(ARCHIVE), segmentsOf(project, 'audit')]).toEqual([
        (before?.records ?? 0) - 1,
        false,
        [],
      ]);
      const { count, archive, audit } = await reset(project, tier);
      expect([count, archive]).toEqual([dry.count, dry.archive]);
      const [name = ''] = readdirSync(project.path(ARCHIVE));
      const bytes = readFileSync(project.path(`${ARCHIVE}/${name}`));
      expect(name).toBe(`${createHash('sha256').update(bytes).digest('hex')}.jsonl`);
      expect(kinds(linesOf(project, fixedOf(tier)))).toEqual(['genesis', 'reset']);
      const ids = linesOf(project, `${ARCHIVE}/${name}`).map(
        (line) => `${createHash('sha256').update(line).digest('hex')}\n`,
      );
      const [stored, ...more] = await logOf(project, tier);
      expect([more, stored?.record]).toMatchObject([
        [],
        {
          kind: 'reset',
          archive,
          count,
          ids_sha256: createHash('sha256').update(ids.sort().join('')).digest('hex'),
          by: 'terminal',
          reason: 'begin anew',
        },
      ]);
      expect((await logOf(project, 'audit')).at(-1)).toMatchObject({
        id: audit?.id,
        record: {
          kind: 'override',
          action: 'reset',
          of: tier,
          archive,
          count,
          by: 'terminal',
          reason: 'begin anew',
        },
      });
      const after = await verify(project);
      expect(after.tiers.find((one) => one.tier === tier)?.records).toBe((before?.records ?? 0) + 1);
      await expectIntact(project, tier);
      commit(project);
      await expectIntact(project, tier);
      return expectNothing(project, tier);
    },
  );

  async function expectNothing(project: Project, tier: Tier): Promise<void> {
    const audits = (await logOf(project, 'audit')).length;
    expect(await reset(project, tier)).toEqual({ tier, count: 0, archive: null, audit: null });
    expect((await logOf(project, 'audit')).length).toBe(audits);
    expect((await runForge(project, CALL(tier), HUMAN)).stdout).toBe(`${tier}: there is nothing to reset.\n`);
  }

  it('LTM-14 a reset of the knowledge ledger names what was weighed before it', async () => {
    const project = await makeForge();
    const clean = ['--classification', 'SUCCESS', '--environment-valid', 'true', '--pattern', 'tests first'];
    for (let i = 0; i < 10; i++) await record(project, ...clean);
    expect((await logOf(project, 'knowledge')).map(({ kind }) => kind)).toEqual([
      'knowledge',
      'consolidation',
    ]);
    const heads = (await verify(project)).tiers.find(({ tier }) => tier === 'evaluation')?.heads;
    await reset(project, 'knowledge');
    expect((await logOf(project, 'knowledge')).map(({ record: { kind, covers } }) => [kind, covers])).toEqual(
      [['reset', heads]],
    );
    await expectIntact(project, 'knowledge');
    expect(await forgeJson(project, ['memory', 'promote'])).toMatchObject({
      due_in: 10,
      known: [],
      rejected: [],
    });
  });

  it('LTM-14 what is recorded after it counts, also beside it on another branch; what was sealed stays away', async () => {
    const project = await makeForge();
    const old = await note(project, 'old');
    commit(project);
    await forgeJson(project, ['memory', 'fold']);
    commit(project);
    project.git('switch', '-qc', 'side');
    const beside = await note(project, 'beside');
    commit(project);
    project.git('switch', '-q', 'main');
    const before = project.read(fixedOf('notes'));
    await reset(project, 'notes');
    commit(project);
    const fresh = await note(project, 'fresh');
    commit(project);
    project.git('merge', '-q', '--no-edit', 'side');
    expect((await notes(project)).sort()).toEqual([beside, fresh].sort());
    await expectIntact(project, 'notes');
    // A container of before comes back.
    project.write('.forge/memory/notes.d/solo-00000001.jsonl', before);
    expect((await notes(project)).sort()).toEqual([beside, fresh].sort());
    await expectIntact(project, 'notes');
    await forgeJson(project, ['memory', 'fold']);
    expect((await notes(project)).sort()).toEqual([beside, fresh].sort());
    expect(project.read(fixedOf('notes'))).toContain('"old"');
    await forgeJson(project, ['memory', 'compact']);
    expect(project.read(fixedOf('notes'))).not.toContain('"old"');
    await expectIntact(project, 'notes');
    project.write('.forge/memory/notes.d/solo-00000001.jsonl', before);
    // The next reset takes it out too, and seals only what is new.
    const second = await reset(project, 'notes');
    expect(second.count).toBe(2);
    expect(await notes(project)).toEqual([]);
    expect(project.read(fixedOf('notes'))).not.toContain('"old"');
    await expectIntact(project, 'notes');
    commit(project);
    expect(readdirSync(project.path(ARCHIVE))).toHaveLength(2);
    // A record of a reset archive can be redacted like any other.
    await forgeJson(project, ['memory', 'redact', old, '--reason', 'text'], HUMAN);
    await expectIntact(project, 'notes');
    expect(await notes(project)).toEqual([]);
    expect(spawnSync('grep', ['-r', '"old"', project.path('.forge')]).status).toBe(1);
  });

  it('LTM-14 LTM-10 what was compacted before is reset with the rest', async () => {
    const project = await makeForge();
    const lines = Array.from({ length: 1003 }, (_, i) => JSON.stringify({ task_id: `T${i}`, exit_code: 0 }));
    await forgeJson(project, ['memory', 'record', '-'], { stdin: lines.join('\n') });
    await forgeJson(project, ['memory', 'compact']);
    expect((await reset(project, 'execution')).count).toBe(1001);
    const { readRecords } = await import('../../src/ledger/read.js');
    const { openContext } = await import('../../src/project/project.js');
    const { systemWorld } = await import('../../src/index.js');
    const context = openContext(project.dir, systemWorld(process.env, false), false);
    expect(readRecords(context, 'execution').map(({ record: { kind } }) => kind)).toEqual([
      'genesis',
      'reset',
    ]);
    await expectIntact(project, 'execution');
    await record(project);
    await forgeJson(project, ['memory', 'compact']);
    await expectIntact(project, 'execution');
  });

  it('LTM-14 is refused for the audit ledger, elsewhere than on the default branch, and to whoever is no human', async () => {
    const project = await makeForge();
    await note(project, 'a');
    commit(project);
    expect(await forgeError(project, CALL('audit'), HUMAN)).toMatchObject({
      exitCode: 3,
      code: 'reset.audit',
    });
    expect(await forgeError(project, CALL('features'), HUMAN)).toMatchObject({
      exitCode: 2,
      code: 'tier.unknown',
      message: expect.stringContaining('execution | evaluation | knowledge | notes'),
    });
    expect(await forgeError(project, CALL('notes'))).toMatchObject({ exitCode: 3, code: 'human.required' });
    expect(await forgeError(project, CALL('notes').slice(0, 4), HUMAN)).toMatchObject({ exitCode: 2 });
    expect(
      await forgeError(project, CALL('notes'), { ...HUMAN, env: { FORGE_ROLE: 'builder' } }),
    ).toMatchObject({ exitCode: 3, code: 'role.denied' });
    project.git('switch', '-qc', 'side');
    expect(await forgeError(project, CALL('notes'), HUMAN)).toMatchObject({
      exitCode: 3,
      code: 'reset.branch',
    });
    project.git('switch', '-q', 'main');
    project.write(HALT, JSON.stringify({ at: '2026-03-01T00:00:00.000Z', reasons: ['text'] }));
    expect(await forgeError(project, CALL('notes'), HUMAN)).toMatchObject({ exitCode: 4 });
    expect(project.has(ARCHIVE)).toBe(false);
  });
});
