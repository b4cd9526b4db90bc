import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { cycle, sh, storedCycles } from '../support/cycles.js';
import { BIN, forgeJson } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import { HUMAN, JOURNAL, logOf, segmentOf, verify } from '../support/memory.js';
import { commitAll, copyTo, P, promote, recordAll, times } from '../support/patterns.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';

async function ready(make: () => Promise<Project> = makeForge): Promise<Project> {
  const project = await make();
  await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'test -f done']);
  return project;
}

/** A command that adds lines to a file of memory as forge would: with their number, and the hash of the line before. */
function byHand(file: string, bodies: readonly object[]): string {
  const script = `
    const { createHash } = require('node:crypto');
    const fs = require('node:fs');
    let last = fs.readFileSync('${file}', 'utf8').trimEnd().split('\\n').at(-1);
    for (const body of ${JSON.stringify(bodies)}) {
      const { v, tier, n } = JSON.parse(last);
      const prev = createHash('sha256').update(last).digest('hex');
      const stamp = { at: '2026-03-01T10:00:00.000Z', session: null, actor: 'supervisor' };
      last = JSON.stringify({ v, tier, n: n + 1, prev, seen: [], ...stamp, ...body });
      fs.appendFileSync('${file}', last + '\\n');
    }`;
  return `touch done; node -e "${script.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

const waitFor = (file: string): string => `while [ ! -e ${file} ]; do sleep 0.05; done`;

describe('memory that a governed command wrote by hand', () => {
  it.each([
    ['in a repository', makeForge],
    ['without git', makePlainForge],
  ])('LTM-12 GOV-01 breaks a rule, though every link is as it should be: %s', async (_, make) => {
    const project = await ready(make);
    await forgeJson(project, ['note', 'add', 'from forge']);
    const file = segmentOf(project, 'notes');
    const result = await cycle(project, sh(byHand(file, [{ kind: 'note', text: 'from nobody' }])));
    expect(result.classification).toBe('GOVERNANCE_VIOLATION');
    expect(result.report?.governance_violations).toEqual([
      `1 record of the notes ledger was not written by forge (${file}:2)`,
    ]);
    expect((await storedCycles(project))[0]?.evaluation.classification).toBe('GOVERNANCE_VIOLATION');
    // What stood there before is nothing that the next command did.
    expect((await cycle(project, ['--task', 'A', ...sh('true')])).classification).toBe('SUCCESS');
  });

  it('LTM-12 GOV-01 is found also where it was staged, in a file of its own and in a fixed one', async () => {
    const project = await ready();
    await forgeJson(project, ['note', 'add', 'from forge']);
    const file = segmentOf(project, 'notes');
    const other = file.replace(/[^/]*$/, 'solo-0123456789abcdef.jsonl');
    const script = `cp ${file} ${other}; ${byHand(other, [{ kind: 'note', text: 'from nobody' }])}; git add -A .forge`;
    const result = await cycle(project, sh(script));
    expect(result.report?.governance_violations).toEqual([expect.stringContaining(`(${other}:2)`)]);
    const fixed = '.forge/memory/long-term/notes.jsonl';
    const again = await cycle(project, sh(byHand(fixed, [{ kind: 'note', text: 'once more' }])));
    expect(again.report?.governance_violations).toEqual([expect.stringContaining(`(${fixed}:2)`)]);
  });

  it.each([
    ['a commit', 'git add -A && git commit -qm x'],
    [
      'a branch that it merged',
      'git switch -qc b && git add -A && git commit -qm x && git switch -q - && git merge -q b',
    ],
    ['a stash', 'git add -A && git stash -q && git stash apply -q'],
  ])('LTM-12 GOV-01 is not vouched for by %s of its own', async (_, git) => {
    const project = await ready();
    commitAll(project);
    const fixed = '.forge/memory/long-term/notes.jsonl';
    const script = byHand(fixed, [{ kind: 'note', text: 'from nobody' }]);
    const result = await cycle(project, sh(`${script} && ${git}`));
    expect([result.exit_code, result.report?.governance_violations]).toEqual([
      0,
      [`1 record of the notes ledger was not written by forge (${fixed}:2)`],
    ]);
  });

  it('LTM-12 GOV-01 is refused to a command that became forge itself, and left its role behind', async () => {
    const project = await ready();
    const command = ['--', 'env', '-u', 'FORGE_ROLE', process.execPath, BIN, 'note', 'add', 'from a builder'];
    const result = await cycle(project, command);
    expect([result.exit_code, result.classification]).toEqual([3, 'GOVERNANCE_VIOLATION']);
    expect(await logOf(project, 'notes')).toEqual([]);
  });

  it('LTM-12 is nothing that a person recorded, committed and verified meanwhile, here or in another worktree', async () => {
    const project = await ready();
    commitAll(project);
    const folder = `${makeFolder()}/side`;
    project.git('worktree', 'add', '-q', '-b', 'side', folder);
    const go = `${makeFolder()}/go`;
    const script = `touch done; ${waitFor(go)}; git merge -q side`;
    const running = cycle(project, sh(script));
    while (!existsSync(project.path('done'))) await wait(20);
    const side = projectAt(folder);
    for (const where of [project, side]) {
      await forgeJson(where, [
        'note',
        'add',
        `by a person in ${where === side ? 'another worktree' : 'this one'}`,
      ]);
      commitAll(where);
      expect((await verify(where)).status).toBe('intact');
    }
    writeFileSync(go, '');
    const result = await running;
    expect([result.exit_code, result.report?.governance_violations]).toEqual([0, []]);
    expect(await logOf(project, 'notes')).toHaveLength(2);
  });

  it('LTM-12 is nothing that forge recorded meanwhile, folded, or that git brought', async () => {
    const project = await ready();
    await forgeJson(project, ['note', 'add', 'before']);
    commitAll(project);
    const other = copyTo(project, 'other');
    await recordAll(other, times(10));
    commitAll(other);
    const go = `${makeFolder()}/go`;
    const script = `touch done; git pull -q --no-rebase ${other.dir} other; touch pulled; ${waitFor(go)}`;
    const running = cycle(project, sh(script));
    while (!existsSync(project.path('pulled'))) await wait(20);
    await forgeJson(project, ['note', 'add', 'by a person in this worktree']);
    await forgeJson(project, ['memory', 'fold']);
    await forgeJson(project, ['note', 'add', 'and once more']);
    writeFileSync(go, '');
    const result = await running;
    expect([result.classification, result.report?.governance_violations]).toEqual(['SUCCESS', []]);
    expect((await promote(project, P)).known).toMatchObject([{ status: 'valid' }]);
    expect((await logOf(project, 'notes')).map(({ record }) => record.text)).toContain('and once more');
    expect((await verify(project)).status).toBe('intact');
  });
});

describe('what a governed command takes away from memory', () => {
  it('LTM-16 GOV-01 is put back and named, though the journal and the commits last verified went with it', async () => {
    const project = await ready();
    await forgeJson(project, ['note', 'add', 'committed']);
    commitAll(project);
    await forgeJson(project, ['note', 'add', 'in the working tree alone']);
    const script =
      'touch done; git reset -q --hard HEAD~1; rm -f .forge/memory/notes.d/*.jsonl; rm -rf .git/forge/*';
    const result = await cycle(project, sh(script));
    expect(result.classification).toBe('GOVERNANCE_VIOLATION');
    expect(result.report?.governance_violations).toEqual([
      "the command took 1 record of forge's journal away; forge put back what it knew",
      'the command took the commits at which memory was verified away; forge put back what it knew',
      'A was removed by the command',
    ]);
    expect((await logOf(project, 'notes')).map(({ record }) => record.text)).toEqual(
      expect.arrayContaining(['committed', 'in the working tree alone']),
    );
    expect((await verify(project)).status).toBe('intact');
  });

  it('LTM-12 GOV-01 B-20 breaks a rule where it is moved out, and nothing is written behind the link', async () => {
    const project = await ready();
    const outside = makeFolder();
    const result = await cycle(
      project,
      sh(`touch done; mv .forge ${outside}/moved; ln -s ${outside}/moved .forge`),
    );
    expect([result.classification, result.exit, result.memory_error?.code]).toEqual([
      'GOVERNANCE_VIOLATION',
      4,
      'file.outside',
    ]);
    expect(readdirSync(`${outside}/moved/memory/execution.d`)).toEqual(['.gitkeep']);
  });

  it('LTM-16 LTM-19 is not put back where a person redacted it meanwhile', async () => {
    const project = await ready();
    commitAll(project);
    const { id } = await forgeJson<{ id: string }>(project, ['note', 'add', 'a word too much']);
    const go = `${makeFolder()}/go`;
    const running = cycle(project, sh(`touch done; ${waitFor(go)}; rm -f ${JOURNAL}`));
    while (!existsSync(project.path('done'))) await wait(20);
    await forgeJson(project, ['memory', 'redact', id, '--reason', 'it had to go'], HUMAN);
    writeFileSync(go, '');
    await running;
    expect(readFileSync(project.path(JOURNAL), 'utf8')).not.toContain('a word too much');
  });
});
