import { describe, expect, it } from 'vitest';
import { cycle, type Stored, sh, storedCycles } from '../support/cycles.js';
import { BIN, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { logOf } from '../support/memory.js';
import type { Project } from '../support/project.js';

const FORGE = `"${process.execPath}" "${BIN}"`;
const PATTERN = 'the e2e tests need port 0';

async function ready(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['config', 'set', 'session.commit', 'false']);
  await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'Log "in"', '--test', 'test -f done']);
  await forgeJson(project, ['memory', 'record', '--task', 'A', '--exit-code', '0', '--pattern', PATTERN]);
  project.write('.gitignore', 'seen\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'Set up');
  return project;
}

const candidate = async (project: Project): Promise<{ id: string; seen: number } | undefined> => {
  const { text } = (await forgeJson(project, ['briefing'])) as unknown as { text: string };
  const found = /(C-\d+): the e2e tests need port 0, seen (\d+) times?/.exec(text);
  return found ? { id: found[1] as string, seen: Number(found[2]) } : undefined;
};

describe('the briefing of a builder', () => {
  it('GOV-05 names the task, tests, files, prohibitions, how to report, and open candidates', async () => {
    const project = await ready();
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['focus', 'set', '--task', 'A', '--file', 'src/login.ts']);
    const id = (await candidate(project))?.id;
    await cycle(project, sh('cat "$FORGE_BRIEFING" > seen'));
    const text = project.read('seen');
    const section = text.slice(text.indexOf('## Your cycle'));
    for (const line of [
      '- Task: "A: Log \\"in\\""',
      '- Test: "test -f done"',
      '- Files in focus: "src/login.ts"',
      'You may not',
      `    echo '{"pattern":"the e2e tests need port 0"}' >> "$FORGE_OBSERVATIONS"`,
      'Its scope is execution unless',
      `- "${id}: the e2e tests need port 0, seen 1 time"`,
      `    echo '{"confirm":"${id}"}' >> "$FORGE_OBSERVATIONS"`,
    ])
      expect(section).toContain(line);
  });

  it('GOV-05 shows commands that work as typed', async () => {
    const project = await ready();
    await forgeJson(project, ['session', 'start']);
    const { id, seen } = (await candidate(project)) as { id: string; seen: number };
    const script = [
      `grep '^    echo' "$FORGE_BRIEFING" | grep confirm | sh`,
      `echo '{"confirm":"C-999999999"}' >> "$FORGE_OBSERVATIONS"`,
      `${FORGE} note add "a note"`,
      `${FORGE} session end --learned "a lesson" --confirm ${id}`,
      'touch done',
    ];
    const result = await cycle(project, sh(script.join(' && ')));
    expect([result.classification, result.exit_code, result.report?.governance_violations]).toEqual([
      'SUCCESS',
      0,
      [],
    ]);
    expect(result.warnings).toContain('observations: There is no candidate "C-999999999".');
    const { evaluation } = (await storedCycles(project)).at(-1) as Stored;
    const scope = 'execution';
    expect(evaluation.patterns).toEqual(
      ['a lesson', PATTERN, PATTERN].map((pattern) => ({ pattern, scope, holds: true })),
    );
    expect((await candidate(project))?.seen).toBe(seen + 1);
    expect((await logOf(project, 'note')).map(({ record }) => [record.text, record.by])).toEqual([
      ['a note', 'agent'],
    ]);
    expect((await forgeJson(project, ['knowledge', 'list'])).learnings).toEqual([]);
  });
});

describe('a cycle that failed', () => {
  it('GOV-05 GOV-04 names the failing test in its output and in the progress log', async () => {
    const project = await ready();
    await forgeJson(project, ['session', 'start']);
    const { stdout } = await runForge(project, ['cycle', ...sh('true')]);
    expect(stdout).toMatch(/Cycle 2 FAILURE: A\n/);
    expect(stdout).toContain('\n  test -f done failed (A, exit 1)\n');
    const shown = await runForge(project, ['progress', 'show']);
    expect(shown.stdout).toMatch(
      /Cycle 2 FAILURE: A, 0\/1 features passing, test -f done failed \(A, exit 1\)/,
    );
  });
});
