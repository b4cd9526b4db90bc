import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Redaction } from '../../src/index.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import {
  commitFolded,
  fixedOf,
  HALT,
  HUMAN,
  JOURNAL,
  linesOf,
  logOf,
  record,
  segmentOf,
  segmentsOf,
  typeHint,
  verify,
} from '../support/memory.js';
import type { Project } from '../support/project.js';
import { checkByHand, commit, expectGone, note, redact, traces, WORD } from '../support/redactions.js';
import { SAMPLES } from '../support/samples.js';

const ARCHIVE = '.forge/memory/archive';

describe('forge memory redact', () => {
  it.each<[string, (project: Project) => Promise<string>]>([
    [
      'an open segment, as its last record',
      async (p) => {
        await note(p, 'a');
        return note(p, WORD);
      },
    ],
    [
      'an open segment, with records behind it',
      async (p) => {
        await note(p, 'a');
        const id = await note(p, WORD);
        await note(p, 'b');
        return id;
      },
    ],
    [
      'the first record of a segment',
      async (p) => {
        const id = await note(p, WORD);
        await note(p, 'b');
        return id;
      },
    ],
    [
      'a committed segment',
      async (p) => {
        const id = await note(p, WORD);
        commit(p);
        await note(p, 'b');
        return id;
      },
    ],
    [
      'the fixed file',
      async (p) => {
        await note(p, 'a');
        const id = await note(p, WORD);
        await note(p, 'b');
        await commitFolded(p);
        return id;
      },
    ],
    [
      'two containers',
      async (p) => {
        const id = await note(p, WORD);
        await note(p, 'b');
        const segment = p.read(segmentOf(p, 'notes'));
        await forgeJson(p, ['memory', 'fold']);
        p.write('.forge/memory/notes.d/solo-00000001.jsonl', segment);
        return id;
      },
    ],
    [
      'the journal alone',
      async (p) => {
        const id = await note(p, WORD);
        rmSync(p.path(segmentOf(p, 'notes')));
        return id;
      },
    ],
  ])('LTM-19 takes the content out of %s', async (_, prepare) => {
    const project = await makeForge();
    const id = await prepare(project);
    const before = (await verify(project)).tiers.find(({ tier }) => tier === 'notes');
    expect(traces(project)).not.toEqual([]);
    const { redacted, audit, files } = await redact(project, id.slice(0, 12));
    expect(redacted).toMatchObject([{ id, tier: 'notes', audit }]);
    expect(files).not.toEqual([]);
    await expectGone(project, id);
    const after = (await verify(project)).tiers.find(({ tier }) => tier === 'notes');
    expect([after?.records, after?.heads]).toEqual([before?.records, before?.heads]);
    expect((await logOf(project, 'audit')).at(-1)).toMatchObject({
      id: audit?.id,
      record: { kind: 'redacted', subject: id, of: 'notes', by: 'terminal', reason: 'it had to go' },
    });
    // It goes on: append, fold, commit, and again.
    const next = await note(project, 'after');
    await commitFolded(project);
    await expectGone(project, id);
    expect((await logOf(project, 'notes')).map((entry) => entry.id)).toContain(next);
    const again = await redact(project, id);
    expect([again.audit, again.files, again.redacted[0]?.audit]).toEqual([null, [], null]);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['session', 'end']);
    await expectGone(project, id);
  });

  it('LTM-19 LTM-10 takes it out of an archive, whose seal still holds', async () => {
    const project = await makeForge();
    const lines = Array.from({ length: 1010 }, (_, i) =>
      JSON.stringify({ task_id: i === 4 ? WORD : `T${i}`, exit_code: 0, idempotency_key: `key-${i}` }),
    );
    const { records } = await forgeJson<{ records: { execution: { id: string } }[] }>(
      project,
      ['memory', 'record', '-'],
      { stdin: lines.join('\n') },
    );
    const id = records[4]?.execution.id as string;
    const { archive } = await forgeJson<{ archive: string }>(project, ['memory', 'compact']);
    commit(project);
    await redact(project, id);
    const [name = '', ...more] = readdirSync(project.path(ARCHIVE));
    expect([more, name === `${archive}.jsonl`]).toEqual([[], false]);
    await expectGone(project, id, 'execution');
    commit(project);
    await expectGone(project, id, 'execution');
    expect((await logOf(project, 'audit')).map(({ kind }) => kind)).toEqual(['compacted', 'redacted']);
    expect(await forgeJson(project, ['memory', 'compact'])).toMatchObject({ archived: 0 });
    // The first record of an archive says whose it is; so does what stands for it.
    const first = records[0]?.execution.id as string;
    await redact(project, first);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    checkByHand(project, 'execution');
    // One more line gone, with a name that fits, is found.
    const [left = ''] = readdirSync(project.path(ARCHIVE));
    const kept = linesOf(project, `${ARCHIVE}/${left}`).slice(0, -1);
    rmSync(project.path(`${ARCHIVE}/${left}`));
    const bytes = kept.map((line) => `${line}\n`).join('');
    const { createHash } = await import('node:crypto');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    project.write(`${ARCHIVE}/${sha256}.jsonl`, bytes);
    const { problems, exitCode } = await verify(project);
    expect(exitCode).toBe(4);
    expect(problems.map(({ code }) => code)).toContain('archive');
  });

  it('LTM-19 is refused for what holds the ledger together, and to whoever is no human', async () => {
    const project = await makeForge();
    await record(project);
    const genesis = execFileSync('sh', ['-c', `head -n1 ${fixedOf('notes')} | tr -d '\\n' | sha256sum`], {
      cwd: project.dir,
      encoding: 'utf8',
    }).slice(0, 64);
    const call = (id: string): string[] => ['memory', 'redact', id, '--reason', 'text'];
    expect(await forgeError(project, call(genesis), HUMAN)).toMatchObject({
      exitCode: 3,
      code: 'redact.kept',
      message: expect.stringContaining('genesis'),
    });
    const id = await note(project, WORD);
    await redact(project, id);
    const [audit] = await logOf(project, 'audit');
    expect((await forgeError(project, call(audit?.id ?? ''), HUMAN)).message).toMatch(/audit record/);
    const other = await note(project, 'b');
    expect(await forgeError(project, call(other))).toMatchObject({ exitCode: 3, code: 'human.required' });
    expect(
      await forgeError(project, call(other), { ...HUMAN, env: { FORGE_ROLE: 'builder' } }),
    ).toMatchObject({ exitCode: 3, code: 'role.denied' });
    expect(await forgeError(project, ['memory', 'redact', other], HUMAN)).toMatchObject({ exitCode: 2 });
    expect(await forgeError(project, call('abc'), HUMAN)).toMatchObject({ exitCode: 2, code: 'record.id' });
    expect(await forgeError(project, call('f'.repeat(64)), HUMAN)).toMatchObject({
      exitCode: 2,
      code: 'record.unknown',
    });
  });

  it('LTM-19 --dry-run writes nothing and says what would change', async () => {
    const project = await makeForge();
    const id = await note(project, WORD);
    const before = project.git('status', '--porcelain', '-uall');
    const journal = project.read(JOURNAL);
    const { files } = await forgeJson<Redaction>(
      project,
      ['memory', 'redact', id, '-n', '--reason', 'text'],
      HUMAN,
    );
    expect(files).toEqual([segmentOf(project, 'notes'), JOURNAL]);
    expect(project.git('status', '--porcelain', '-uall')).toBe(before);
    expect([project.read(JOURNAL), project.has('.git/forge/redacted')]).toEqual([journal, false]);
    expect(segmentsOf(project, 'audit')).toEqual([]);
  });

  it('LTM-19 B-37 works while memory is halted, and a stored secret is settled by its hint', async () => {
    const project = await makeForge();
    const id = await note(project, WORD);
    project.write(HALT, JSON.stringify({ at: '2026-03-01T00:00:00.000Z', reasons: ['text'] }));
    await redact(project, id);
    expect(traces(project)).toEqual([]);
    expect(project.has(HALT)).toBe(true);
    await forgeJson(project, ['memory', 'override', 'acknowledge', '--reason', 'text'], HUMAN);
    // What an older tool or a hand left there.
    await record(project);
    const file = segmentOf(project, 'execution');
    const secret = SAMPLES.secret();
    project.write(JOURNAL, '');
    project.write(file, project.read(file).replace('"task_id":"A"', `"task_id":"${secret}"`));
    const { problems, exitCode } = await verify(project, '--scan');
    expect([exitCode, problems.map(({ code }) => code)]).toEqual([5, ['secret']]);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project, '--scan')).toMatchObject({ status: 'intact', exitCode: 0 });
    expect(project.read(file)).not.toContain(secret);
  });

  it('LTM-19 says which commits have it, and a recipe that takes it out of them', async () => {
    const project = await makeForge();
    await note(project, 'a');
    const id = await note(project, WORD);
    await note(project, 'b');
    const first = commit(project);
    await commitFolded(project);
    const segment = basename(
      project.git('ls-tree', '-r', '--name-only', first, '.forge/memory/notes.d/').split('\n').at(-1) ?? '',
    );
    const { history, replacements } = await redact(project, id);
    expect(history?.complete).toBe(true);
    const paths = history?.held.map(({ path }) => path);
    expect(paths).toContain(fixedOf('notes'));
    expect(paths).toContain(`.forge/memory/notes.d/${segment}`);
    expect(history?.held.find(({ path }) => path.endsWith(segment))?.first).toBe(first);
    // As git filter-repo does it: Python's regular expressions over each blob.
    const [, pattern = '', stone = ''] = /^regex:(.*)==>(.*)$/.exec(replacements[0] ?? '') ?? [];
    const blob = project.git('show', `HEAD:${fixedOf('notes')}`);
    const script =
      'import re,sys; sys.stdout.buffer.write(re.sub(sys.argv[1].encode(), sys.argv[2].encode(), sys.stdin.buffer.read()))';
    const purged = execFileSync('python3', ['-c', script, pattern, stone], { input: blob, encoding: 'utf8' });
    expect(purged).not.toContain(WORD);
    expect(purged.trimEnd()).toBe(readFileSync(project.path(fixedOf('notes')), 'utf8').trimEnd());
    const { stdout } = await runForge(project, ['memory', 'redact', id, '--reason', 'text'], HUMAN);
    expect(stdout).toContain(`\n${replacements[0]}\n`);
    expect(stdout).toMatch(
      /was redacted before; nothing here has its content\nGit history still has the content:/,
    );
  });

  it('LTM-19 says where the content stands inside of bytes that are no record', async () => {
    const project = await makeForge();
    await note(project, 'a');
    const id = await note(project, WORD);
    const file = segmentOf(project, 'notes');
    const [first = '', second = ''] = linesOf(project, file);
    project.write('.forge/memory/notes.d/solo-00000001.jsonl', `${first}${second}\n`);
    await verify(project);
    await forgeJson(project, ['memory', 'repair', '--reason', 'text'], HUMAN);
    const { stderr } = await runForge(project, ['memory', 'redact', id, '--reason', 'text'], HUMAN);
    expect(stderr).toMatch(/solo-00000001\.jsonl holds it once more, inside of bytes that are no record/);
    expect(traces(project)).toEqual(['./.forge/memory/notes.d/solo-00000001.jsonl']);
    project.write('.forge/memory/notes.d/solo-00000001.jsonl', 'gone\n');
    await verify(project);
    await forgeJson(project, ['memory', 'repair', '--reason', 'text'], HUMAN);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    expect(traces(project)).toEqual([]);
  });

  it('LTM-19 works without git', async () => {
    const project = await makePlainForge();
    const id = await note(project, WORD);
    await note(project, 'b');
    expect((await redact(project, id)).history).toBeNull();
    expect(traces(project)).toEqual([]);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });
});
