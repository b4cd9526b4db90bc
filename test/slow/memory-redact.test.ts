import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Redaction } from '../../src/index.js';
import { cloneOf } from '../support/ci.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import { repair } from '../support/ledgers.js';
import {
  containerOf,
  containersOf,
  HALT,
  HUMAN,
  JOURNAL,
  LEDGER,
  linesOf,
  logOf,
  putLines,
  record,
  typeHint,
  verify,
} from '../support/memory.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';
import { commit, expectGone, note, redact, traces, WORD } from '../support/redactions.js';

describe('forge memory redact', () => {
  it.each<[string, string[], ((project: Project) => unknown)?]>([
    ['an open file, as its last record', ['a', WORD]],
    ['an open file, with records behind it', ['a', WORD, 'b']],
    ['the first record of a file', [WORD, 'b']],
    [
      'a committed file',
      [WORD],
      (project) => {
        commit(project);
        return note(project, 'b');
      },
    ],
    [
      'two files',
      [WORD, 'b'],
      (project) => {
        const file = containerOf(project);
        putLines(project, `${LEDGER}/put-${file.slice(-14, -6)}-00000000.jsonl`, linesOf(project, file));
      },
    ],
  ])('LTM-19 takes the content out of %s', async (_, texts, then) => {
    const project = await makeForge();
    const ids: string[] = [];
    for (const text of texts) ids.push(await note(project, text));
    const id = ids[texts.indexOf(WORD)] ?? '';
    await then?.(project);
    const before = (await verify(project)).tiers.find(({ tier }) => tier === 'note');
    expect(traces(project)).not.toEqual([]);
    const { redacted, audit, files } = await redact(project, id.slice(0, 12));
    expect(redacted).toMatchObject([{ id, tier: 'note', audit }]);
    expect(files).not.toEqual([]);
    await expectGone(project, id);
    const after = (await verify(project)).tiers.find(({ tier }) => tier === 'note');
    expect(after?.records).toBe((before?.records ?? 0) - 1);
    expect((await logOf(project, 'audit')).at(-1)).toMatchObject({
      id: audit?.id,
      record: { kind: 'redacted', subjects: [id], of: 'note', by: 'terminal', reason: 'it had to go' },
    });
    // It goes on: append, commit, and again.
    const next = await note(project, 'after');
    commit(project);
    await expectGone(project, id);
    expect((await logOf(project, 'note')).map((entry) => entry.id)).toContain(next);
    const again = await redact(project, id);
    expect([again.audit, again.files, again.redacted[0]?.audit]).toEqual([null, [], null]);
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['session', 'end']);
    await expectGone(project, id);
  });

  it('LTM-19 is refused for records that hold the ledger together, and for anyone but a human', async () => {
    const project = await makeForge();
    await record(project);
    // As docs/ledger.md has it.
    const script = `head -n1 ${LEDGER}/init-*.jsonl | sed 's/^ *//' | tr -d '\\n' | sha256sum`;
    const genesis = execFileSync('sh', ['-c', script], { cwd: project.dir, encoding: 'utf8' }).slice(0, 64);
    const call = (id: string): string[] => ['memory', 'redact', id, '--reason', 'text'];
    await expectError(project, call(genesis), '3 redact.kept', HUMAN);
    const id = await note(project, WORD);
    await redact(project, id);
    const [audit] = await logOf(project, 'audit');
    expect((await forgeError(project, call(audit?.id ?? ''), HUMAN)).message).toMatch(/audit record/);
    const other = await note(project, 'b');
    await expectError(project, call(other), '3 human.required');
    await expectError(project, call(other), '3 role.denied', { ...HUMAN, env: { FORGE_ROLE: 'builder' } });
    await expectError(project, ['memory', 'redact', other], '2', HUMAN);
    await expectError(project, call('abc'), '2 record.id', HUMAN);
    await expectError(project, call('f'.repeat(64)), '2 record.unknown', HUMAN);
  });

  it('LTM-19 --dry-run writes nothing and shows the changes', async () => {
    const project = await makeForge();
    const id = await note(project, WORD);
    const before = project.git('status', '--porcelain', '-uall');
    const journal = project.read(JOURNAL);
    const { files } = await forgeJson<Redaction>(
      project,
      ['memory', 'redact', id, '-n', '--reason', 'text'],
      HUMAN,
    );
    expect(files).toEqual([containerOf(project)]);
    expect(project.git('status', '--porcelain', '-uall')).toBe(before);
    expect(project.read(JOURNAL)).toBe(journal);
  });

  it('LTM-19 B-37 works while memory is halted, and a stored secret is settled by its hint', async () => {
    const project = await makeForge();
    const id = await note(project, WORD);
    project.write(HALT, JSON.stringify({ at: '2026-03-01T00:00:00.000Z', reasons: ['text'] }));
    await redact(project, id);
    expect(traces(project)).toEqual([]);
  });

  it('LTM-19 B-37 finds content that a merge restores, and the hint removes it again', async () => {
    const project = await makeForge();
    const id = await note(project, WORD);
    commit(project);
    project.git('branch', 'side');
    await redact(project, id);
    commit(project);
    project.git('checkout', '-q', 'side', '--', LEDGER);
    const { status, exitCode, problems } = await verify(project);
    expect({ status, exitCode, codes: problems.map(({ code }) => code) }).toEqual({
      status: 'secret',
      exitCode: 5,
      codes: ['returned'],
    });
    expect((await runForge(project, ['memory', 'log'])).stdout).not.toContain(WORD);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(traces(project)).toEqual([]);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it('LTM-19 names the files that had the content, and content that had come back', async () => {
    const project = await makeForge();
    const ids = [await note(project, WORD), await note(project, `again ${WORD}`)];
    const file = containerOf(project);
    const lines = linesOf(project, file);
    const typed = async (): Promise<string> =>
      (await runForge(project, ['memory', 'redact', ...ids, '--reason', 'text'], HUMAN)).stdout;
    expect((await typed()).match(/removed from \S+/g)).toEqual([`removed from ${file}`]);
    putLines(project, file, lines);
    const again = await typed();
    expect(again.match(/removed from \S+/g)).toEqual([`removed from ${file}`]);
    expect(again.match(/was redacted before; .*/g)).toEqual(
      ids.map(() => 'was redacted before; its content was here again'),
    );
    expect(traces(project)).toEqual([]);
    expect(await typed()).not.toContain('removed from');
  });

  it('LTM-19 typed again in a clone that pulled the redaction, takes the content out of its caches', async () => {
    const project = await makeForge();
    const id = await note(project, WORD);
    commit(project);
    const clone = cloneOf(project);
    await runForge(clone, ['recall', WORD]);
    await expect
      .poll(async () => {
        await runForge(clone, ['note', 'list']);
        return traces(clone);
      })
      .toContainEqual(expect.stringContaining('/cache/'));
    await redact(project, id);
    commit(project);
    clone.git('pull', '-q');
    await verify(clone);
    expect(traces(clone)).not.toEqual([]);
    await redact(clone, id);
    expect(traces(clone)).toEqual([]);
  });

  it('LTM-19 LTM-21 a redaction that no audit record explains is damage until a person accepts it', async () => {
    const project = await makeForge();
    const id = await note(project, WORD);
    await note(project, 'b');
    const file = containerOf(project);
    const [line = '', next = ''] = linesOf(project, file);
    const { n, seg, prev, seen, ledger } = JSON.parse(line);
    const indent = /^ */.exec(line)?.[0];
    const tombstone = JSON.stringify({ v: 1, redacted: id, n, seg, prev, seen, ledger });
    rmSync(project.path(JOURNAL));
    putLines(project, file, [`${indent}${tombstone}`, next]);
    const { problems, exitCode } = await verify(project);
    expect([exitCode, problems.map(({ code }) => code)]).toEqual([4, ['unexplained']]);
    await repair(project);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    await note(project, 'c');
  });

  it('LTM-19 removes it from the journals and working trees of all worktrees', async () => {
    const project = await makeForge();
    const id = await note(project, WORD);
    commit(project);
    const tree = projectAt(join(makeFolder(), 'tree'));
    project.git('worktree', 'add', '-q', tree.dir);
    await verify(tree);
    cpSync(project.path(JOURNAL), project.path('.git/forge/journal/wt-tree.jsonl'));
    await redact(project, id);
    expect(traces(project)).toEqual([]);
  });

  it('LTM-19 lists the commits that have it, and how to remove it from them', async () => {
    const project = await makeForge();
    await note(project, 'a');
    const id = await note(project, WORD);
    await note(project, 'b');
    const file = containerOf(project);
    const first = commit(project);
    const { history, replacements_file } = await redact(project, id);
    expect(history).toEqual([first]);
    expect(replacements_file).toBe('.git/forge/replacements.txt');
    // As git filter-repo does it: Python's regular expressions over each blob.
    const [, pattern = '', stone = ''] =
      /^regex:(.*)==>(.*)\n$/.exec(project.read('.git/forge/replacements.txt')) ?? [];
    const script =
      'import re,sys; sys.stdout.buffer.write(re.sub(sys.argv[1].encode(), sys.argv[2].encode(), sys.stdin.buffer.read()))';
    const args = ['-c', script, pattern, stone];
    const input = project.git('show', `HEAD:${file}`);
    const purged = execFileSync('python3', args, { input: `${input}\n`, encoding: 'utf8' });
    expect(purged).not.toContain(WORD);
    const lines = purged
      .trimEnd()
      .split('\n')
      .map((line) => line.trimStart());
    const red = containersOf(project).find((path) => path.includes('/red-')) ?? '';
    expect(lines).toEqual(linesOf(project, red).map((line) => line.trimStart()));
    const { stdout } = await runForge(project, ['memory', 'redact', id, '--reason', 'text'], HUMAN);
    expect(stdout).toMatch(/was redacted before; nothing here has its content/);
  });

  it('LTM-19 the steps name a file with the lines for git filter-repo, which keeps earlier ones', async () => {
    const project = await makeForge();
    const ids = [await note(project, WORD), await note(project, `again ${WORD}`)];
    commit(project);
    for (const id of ids) {
      const call = ['memory', 'redact', id, '--reason', 'text'];
      const { stdout } = await runForge(project, call, { ...HUMAN, columns: 80 });
      expect(stdout).toContain('\n  2. git filter-repo --replace-text .git/forge/replacements.txt --force\n');
      expect(stdout).not.toContain('regex:');
    }
    const written = project.read('.git/forge/replacements.txt');
    expect(written.match(/^regex:.*==>.*$/gm)).toHaveLength(2);
    expect(written).not.toContain(WORD);
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
