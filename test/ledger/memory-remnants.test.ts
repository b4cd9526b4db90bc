import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { MemoryReport, Overridden, Redaction } from '../../src/index.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { HUMAN, logOf, record, typeHint, verify } from '../support/memory.js';
import type { Project } from '../support/project.js';

const WORD = 'portal-swordfish-plover';
const TEXT = `The admin portal lives at ${WORD}`;
const REASON = ['--reason', 'it had to go'];

/** Files of the working tree and of forge in the git dir that have the word. */
function traces(project: Project): string[] {
  const args = ['-rl', WORD, '.', '--exclude-dir=objects'];
  return spawnSync('grep', args, { cwd: project.dir, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
}

const override = (project: Project, ...args: string[]): Promise<Overridden> =>
  forgeJson(project, ['memory', 'override', ...args, ...REASON], HUMAN);
const redact = (project: Project, ...ids: string[]): Promise<Redaction> =>
  forgeJson(project, ['memory', 'redact', ...ids, ...REASON], HUMAN);

async function overridesIn(project: Project): Promise<string[]> {
  const { overrides } = await forgeJson<MemoryReport>(project, ['memory', 'report']);
  return overrides.filter(({ kind }) => kind === 'override').map(({ text }) => text);
}

describe('the text of what was redacted', () => {
  it('LTM-19 LTM-14 a correction that is redacted leaves no word of it anywhere, the audit ledger included', async () => {
    const project = await makeForge();
    const added = await override(project, 'append', TEXT);
    expect(added.pattern).toBe(TEXT);
    const { knowledge_id } = added;
    expect((await override(project, 'invalidate', TEXT)).pattern).toBe(TEXT);
    const audits = (await logOf(project, 'audit')).map((entry) => entry.record);
    expect(audits).toMatchObject([
      { action: 'append', knowledge_id, scope: 'execution' },
      { action: 'invalidate', knowledge_id, scope: 'execution' },
    ]);
    // Whoever reads what was decided gets the words from the knowledge ledger, as long as they are there.
    const log = ['memory', 'log', '--tier', 'audit'];
    expect((await runForge(project, log)).stdout).toMatch(new RegExp(`append ${TEXT} it had to go`));
    expect(await overridesIn(project)).toEqual([
      `append ${TEXT} it had to go (terminal)`,
      `invalidate ${TEXT} it had to go (terminal)`,
    ]);
    const { remnants } = await redact(project, added.record?.id ?? '');
    expect(remnants).toEqual([]);
    expect(traces(project)).toEqual([]);
    const short = knowledge_id?.slice(0, 12) ?? '';
    expect((await runForge(project, log)).stdout).toMatch(new RegExp(`append ${short} it had to go`));
    expect((await overridesIn(project))[0]).toBe(`append ${short} it had to go (terminal)`);
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it('LTM-19 is named in every other record, with the command that takes it out, until nothing has it', async () => {
    const project = await makeForge();
    const flags = ['--classification', 'SUCCESS', '--environment-valid', 'true', '--pattern', TEXT];
    for (let i = 0; i < 10; i++) await record(project, ...flags);
    const note = await forgeJson<{ id: string }>(project, ['note', 'add', `see: ${TEXT.toUpperCase()}!`]);
    const evaluations = (await logOf(project, 'evaluation')).filter(({ kind }) => kind === 'cycle');
    const [first = ''] = evaluations.map(({ id }) => id);
    const args = ['memory', 'redact', first, ...REASON];
    const dry = await forgeJson<Redaction>(project, [...args, '-n'], HUMAN);
    const { remnants } = await redact(project, first);
    expect(dry.remnants).toEqual(remnants);
    expect(remnants.map(({ tier, fields }) => [tier, ...fields])).toEqual([
      ...Array(9).fill(['evaluation', 'patterns']),
      ['knowledge', 'pattern'],
      ['notes', 'text'],
    ]);
    expect(remnants.map(({ id }) => id)).toContain(note.id);
    const { stdout } = await runForge(
      project,
      ['memory', 'redact', evaluations[1]?.id ?? '', ...REASON],
      HUMAN,
    );
    expect(stdout).toMatch(
      /The same text still stands in:\n {2}[0-9a-f]{12}… \(evaluation, number \d+: patterns\) {2}forge memory redact [0-9a-f]{12} --reason "…"\n/,
    );
    for (const { id, hint } of remnants) if (id !== evaluations[1]?.id) await typeHint(project, hint);
    const upper = spawnSync('grep', ['-rli', WORD, '.', '--exclude-dir=objects'], { cwd: project.dir });
    expect(upper.stdout.toString()).toBe('');
    expect(await verify(project)).toMatchObject({ exitCode: 0, status: 'intact' });
  });

  it('LTM-19 in an audit record stays, and a person is told so; a line of a log is found in another one', async () => {
    const project = await makeForge();
    await forgeJson(project, ['memory', 'override', 'freeze', '--reason', `because ${TEXT}`], HUMAN);
    const log = (first: string): string =>
      JSON.stringify({ task_id: 'A', exit_code: 0, log: `${first}\n${TEXT}\n` });
    const cycles = ['begin here', 'start there'].map((first) =>
      forgeJson<{ execution: { id: string } }>(project, ['memory', 'record', '-'], { stdin: log(first) }),
    );
    const [one, other] = [await cycles[0], await cycles[1]];
    const { stdout } = await runForge(
      project,
      ['memory', 'redact', one?.execution.id ?? '', ...REASON],
      HUMAN,
    );
    expect(stdout).toMatch(/\(audit, number 2: reason\) {2}cannot be redacted: it is an audit record/);
    expect(stdout).toContain(`${other?.execution.id.slice(0, 12)}… (execution, number 3: log)`);
  });

  it('LTM-19 in an investigation that quotes it is named with its file', async () => {
    const project = await makeForge();
    const cycle = (holds: boolean, pattern: string): string =>
      JSON.stringify({
        ...{ task_id: 'A', exit_code: 0, classification: 'SUCCESS', environment_valid: true },
        patterns: [{ pattern, scope: 'execution', holds }],
      });
    const all = [
      ...Array(10).fill(cycle(true, TEXT)),
      ...Array(9).fill(cycle(true, 'x')),
      cycle(false, TEXT),
    ];
    await forgeJson(project, ['memory', 'record', '-'], { stdin: all.slice(0, 10).join('\n') });
    await forgeJson(project, ['memory', 'record', '-'], { stdin: all.slice(10).join('\n') });
    const [known] = (await logOf(project, 'knowledge')).filter(({ kind }) => kind === 'knowledge');
    const { stdout } = await runForge(project, ['memory', 'redact', known?.id ?? '', ...REASON], HUMAN);
    expect(stdout).toContain('  .forge/linear/active.json: take it out by hand\n');
  });
});
