import { describe, expect, it } from 'vitest';
import { candidateId } from '../../src/learning/knowledge.js';
import { knowledgeId } from '../../src/learning/proven.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, KNOWLEDGE, makeForge, snapshot } from '../support/forge-project.js';
import { knowledgeOf, recordAll, times } from '../support/patterns.js';

interface Learning {
  id: string;
  kind: string;
  text?: string;
}

const AT = '2026-03-01T10:00:00.000Z';

describe('forge knowledge', () => {
  it('KNO-01 keeps knowledge.json in the exact shape of the RFC', async () => {
    const project = await makeForge();
    let seconds = 0;
    const add = (words: string) => {
      const now = new Date(`2026-03-01T10:00:0${seconds++}.000Z`);
      return forgeJson(project, `knowledge add ${words}`, { world: { now: () => now } });
    };
    await add('success "Add to subjects.rs, run tests" --context "Adding new NATS subject"');
    const serde = '--context "chrono import" --resolution "Add serde directly"';
    await add(`failure "Derive macros need serde" ${serde}`);
    await add('failure "no way known yet"');
    await add('invariant "Never use Blake3"');
    await add('invariant "Zwei Sätze.\nIn zwei Zeilen."');
    expect(project.read(KNOWLEDGE)).toBe(`{
  "schema_version": "1.0",
  "patterns": {
    "successful": [
      {
        "context": "Adding new NATS subject",
        "approach": "Add to subjects.rs, run tests",
        "learned_at": "2026-03-01T10:00:00.000Z"
      }
    ],
    "failed": [
      {
        "context": "chrono import",
        "issue": "Derive macros need serde",
        "resolution": "Add serde directly",
        "learned_at": "2026-03-01T10:00:01.000Z"
      },
      {
        "context": "any task",
        "issue": "no way known yet",
        "resolution": "",
        "learned_at": "2026-03-01T10:00:02.000Z"
      }
    ]
  },
  "invariants": [
    "Never use Blake3",
    "Zwei Sätze.\\nIn zwei Zeilen."
  ]
}
`);
  });

  it('KNO-01 recognizes known knowledge, also in another spelling', async () => {
    const project = await makeForge();
    const add = (...args: string[]) =>
      forgeJson<{ learning: Learning; duplicate: boolean }>(project, ['knowledge', 'add', ...args]);
    const first = await add('success', 'Use port 0', '--context', 'tests');
    expect(first.duplicate).toBe(false);
    const bytes = project.read(KNOWLEDGE);
    const again = await add('success', '  use  PORT 0. ', '--context', 'Tests');
    expect([again.duplicate, again.learning]).toEqual([true, first.learning]);
    expect(project.read(KNOWLEDGE)).toBe(bytes);
    const shown = await runForge(project, 'knowledge add success "Use port 0" --context tests');
    expect(shown.stdout).toMatch(/known already/);
    // Composed and decomposed letters look the same.
    await add('invariant', 'Caf\u00e9');
    expect((await add('invariant', 'Cafe\u0301')).duplicate).toBe(true);
  });

  it('KNO-01 refuses a detail that the kind has no field for', async () => {
    const project = await makeForge();
    for (const [args, message] of [
      ['learn x --as note --context y', '--context is for success and failure, not for note.'],
      ['learn x --as success --resolution y', '--resolution is for failure, not for success.'],
      ['knowledge add invariant x --context y', '--context is for success and failure, not for invariant.'],
    ] as const)
      expect(await forgeError(project, args)).toMatchObject({ code: 'knowledge.detail', message });
  });

  it('KNO-01 lists, searches and removes', async () => {
    const project = await makeForge();
    await forgeJson(project, 'knowledge add failure "the port is taken" --context CI --resolution "port 0"');
    await forgeJson(project, ['knowledge', 'add', 'invariant', 'Ports are numbers']);
    const find = async (query: string): Promise<(string | undefined)[]> =>
      (await forgeJson<{ learnings: Learning[] }>(project, ['knowledge', 'search', query])).learnings.map(
        ({ kind }) => kind,
      );
    expect(await find('PORT')).toEqual(['failure', 'invariant']);
    expect(await find('port ci')).toEqual(['failure']);
    expect(await find('nothing like it')).toEqual([]);
    expect(await find('.*')).toEqual([]);
    expect((await runForge(project, ['knowledge', 'search', 'zzz'])).stdout).toBe('Nothing found.\n');

    const { learnings } = await forgeJson<{ learnings: Learning[] }>(project, ['knowledge', 'list']);
    const [failure, invariant] = learnings;
    expect((await runForge(project, ['knowledge', 'list'])).stdout).toBe(
      `${failure?.id}  failure    CI: the port is taken → port 0\n${invariant?.id}  invariant  Ports are numbers\n`,
    );
    await forgeJson(project, ['knowledge', 'remove', failure?.id ?? '']);
    const left = { patterns: { failed: [] }, invariants: ['Ports are numbers'] };
    expect(project.json(KNOWLEDGE)).toMatchObject(left);
    const again = await forgeError(project, ['knowledge', 'remove', failure?.id ?? '']);
    expect(again).toMatchObject({ exitCode: 2, hint: 'forge knowledge list' });
  });

  it('KNO-01 LTM-14 remove names how to invalidate knowledge that was promoted', async () => {
    const project = await makeForge();
    await recordAll(project, times(10));
    const [knowledge] = await knowledgeOf(project);
    const id = String(knowledge?.record.knowledge_id).slice(0, 12);
    const error = await forgeError(project, ['knowledge', 'remove', id]);
    const record = knowledge?.id.slice(0, 12);
    expect(error).toMatchObject({ exitCode: 2, code: 'knowledge.unknown' });
    expect(error.message).toBe(`There is no lesson "${id}".`);
    expect(error.hint).toContain(`forge memory override invalidate ${record} --reason "TEXT"`);
    await runForge(project, ['memory', 'override', 'invalidate', `${record}`, '--reason', 'old'], {
      terminal: true,
    });
    expect((await knowledgeOf(project)).at(-1)?.record.kind).toBe('invalidated');
  });

  it('KNO-01 GOV-05 remove names every lesson of a candidate', async () => {
    const project = await makeForge();
    for (const context of ['tests', 'CI'])
      await forgeJson(project, ['knowledge', 'add', 'success', 'Port 0', '--context', context]);
    const id = candidateId(knowledgeId('execution', 'Port 0'));
    const { stdout } = await runForge(project, ['knowledge', 'remove', id]);
    expect(stdout).toMatch(
      /^removed {2}\w+ {2}success {4}tests → Port 0\nremoved {2}\w+ {2}success {4}CI → Port 0\n$/,
    );
  });

  it('KNO-01 KNO-03 an agent removes lessons, but no invariant, and changes none of architecture.md', async () => {
    const project = await makeForge();
    const AGENT = { env: { CLAUDECODE: '1' } };
    const add = async (...args: string[]) =>
      (await forgeJson<{ learning: Learning }>(project, ['knowledge', 'add', ...args])).learning.id;
    const [rule, lesson] = [await add('invariant', 'Agents never publish'), await add('success', 'Port 0')];
    const before = snapshot(project.dir);
    expect(await forgeError(project, ['knowledge', 'remove', rule], AGENT)).toMatchObject({
      exitCode: 3,
      code: 'human.required',
      message: expect.stringMatching(/^Removing an invariant needs a human's decision/),
    });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    expect((await runForge(project, ['knowledge', 'remove', lesson], AGENT)).exitCode).toBe(0);
    expect((await runForge(project, ['knowledge', 'remove', rule])).exitCode).toBe(0);

    const edit = (text: string, options: object = {}) =>
      runForge(project, ['architecture', 'edit', '-'], { stdin: text, ...options });
    const rules = '# A\n\n## Invariants\n\n- Dates are UTC\n- Names are unique\n';
    expect((await edit(rules, AGENT)).exitCode).toBe(0);
    for (const changed of [rules.replace('- Names are unique\n', ''), rules.replace('UTC', 'local')]) {
      const { exitCode, stderr } = await edit(changed, AGENT);
      expect([exitCode, stderr]).toEqual([3, expect.stringContaining('Removing or changing an invariant')]);
      expect(project.read('.forge/memory/long-term/architecture.md')).toBe(rules);
    }
    expect((await edit(`Intro.\n${rules}- One more\n`, AGENT)).exitCode).toBe(0);
    expect((await edit('# B\n')).exitCode).toBe(0);
  });

  it('KNO-01 lists once, and removes, every spelling that two branches have stored', async () => {
    const project = await makeForge();
    for (const [n, text] of ['Never use Blake3', 'never use blake3.', 'Other'].entries())
      project.write(
        `.forge/memory/long-term/learned.d/${n}.json`,
        JSON.stringify({ kind: 'invariant', text, learned_at: `2026-0${n + 1}-01T00:00:00.000Z` }),
      );
    const list = () => forgeJson<{ learnings: Learning[] }>(project, ['knowledge', 'list']);
    const [first, ...others] = (await list()).learnings;
    expect([first?.text, others.map(({ text }) => text)]).toEqual(['Never use Blake3', ['Other']]);
    await forgeJson(project, ['knowledge', 'remove', first?.id ?? '']);
    expect((await list()).learnings).toEqual(others);
    expect(project.json(KNOWLEDGE)).toMatchObject({ invariants: ['Other'] });
  });

  it('KNO-01 keeps unknown fields, also of entries', async () => {
    const project = await makeForge();
    const entry = { context: 'c', approach: 'a', learned_at: AT, by: 'ada' };
    const file = {
      schema_version: '1.0',
      note: 1,
      patterns: { successful: [entry], failed: [], mixed: [] },
      invariants: ['i'],
    };
    project.write(KNOWLEDGE, JSON.stringify(file));
    await forgeJson(project, ['knowledge', 'add', 'invariant', 'j']);
    const { learnings } = await forgeJson<{ learnings: Learning[] }>(project, ['knowledge', 'list']);
    expect(learnings.map(({ kind }) => kind).sort()).toEqual(['invariant', 'invariant', 'success']);
    const gone = learnings.find(({ text }) => text === 'i');
    await forgeJson(project, ['knowledge', 'remove', gone?.id ?? '']);
    expect(project.json(KNOWLEDGE)).toEqual({ ...file, invariants: ['j'] });
  });

  it('KNO-01 a lesson that a person adds to knowledge.json needs no date', async () => {
    const project = await makeForge();
    const edited = project.json<{ patterns: { successful: object[]; failed: object[] } }>(KNOWLEDGE);
    edited.patterns.successful.push({ context: 'any task', approach: 'Clean the cache' });
    edited.patterns.failed.push({ context: 'CI', issue: 'the port is taken', resolution: 'port 0' });
    project.write(KNOWLEDGE, JSON.stringify(edited));
    const { exitCode, stdout, stderr } = await runForge(project, 'start');
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining('knowledge.json was edited, and forge took it in: "Clean the cache" added'),
    ]);
    expect(stdout).toContain('Clean the cache');
    const { learnings } = await forgeJson<{ learnings: Learning[] }>(project, ['knowledge', 'list']);
    expect(learnings.map(({ kind }) => kind).sort()).toEqual(['failure', 'success']);
  });

  it('KNO-01 invalid input writes nothing', async () => {
    const project = await makeForge();
    const before = snapshot(project.dir);
    const error = await forgeError(project, ['knowledge', 'add', 'pattern', 'x']);
    expect(error).toMatchObject({
      exitCode: 2,
      field: 'kind',
      message: expect.stringContaining('success | failure | invariant'),
    });
    const wrong = ['success ""', 'failure x --context ""', 'success x --context "\u0007"', 'invariant " "'];
    for (const words of wrong) expect((await forgeError(project, `knowledge add ${words}`)).exitCode).toBe(2);
    // A lesson is short: a log belongs in a file.
    const long = await forgeError(project, ['learn', 'x'.repeat(5000), '--as', 'success']);
    expect([long.exitCode, long.message]).toEqual([2, 'The approach has 5000 bytes; 4096 are allowed.']);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });
});
