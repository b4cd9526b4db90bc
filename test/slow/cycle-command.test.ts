import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cycle, noteOf, ready, refusal, type Stored, sh, storedCycles, trust } from '../support/cycles.js';
import { forgeJson, runBinary, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { isSoak } from '../support/kills.js';
import { logOf } from '../support/memory.js';
import { commitAll, HANG, makeFolder, type Project } from '../support/project.js';

describe('forge cycle', () => {
  it('GOV-01 GOV-02 a command that cannot start makes no cycle and ends a loop', async () => {
    const project = await ready();
    for (const verb of ['cycle', 'loop'])
      expect(await refusal(project, [verb, '--', 'no-such-agent'])).toMatchObject({
        exitCode: 2,
        message: 'no-such-agent: not found; no cycle was recorded.',
      });
    project.write('plain', '');
    expect((await refusal(project, ['cycle', '--', './plain'])).message).toMatch(
      /^\.\/plain: not executable;/,
    );
    expect(await storedCycles(project)).toEqual([]);
    expect((await cycle(project, ['--', 'true'])).warnings).toEqual([]);
    expect(await refusal(project, ['cycle'])).toMatchObject({ exitCode: 2 });
    expect(await refusal(project, ['cycle', '--task', '../x', '--', 'true'])).toMatchObject({ exitCode: 2 });
  });

  it('B-93 runs the command as a BUILDER in the caller’s environment, with the briefing as a file and on stdin', async () => {
    const project = await ready();
    const env = { API_TOKEN: 'kept', FORGE_TRUST: 'x'.repeat(64), FORGE_ROLE: 'supervisor' };
    const out = makeFolder();
    const script = `env > ${out}/env; cat > ${out}/stdin; cat "$FORGE_BRIEFING" > ${out}/file; echo "$FORGE_BRIEFING" > ${out}/path`;
    await cycle(project, sh(script), { env });
    const read = (name: string): string => readFileSync(join(out, name), 'utf8');
    expect(read('env')).toMatch(/^API_TOKEN=kept$/m);
    expect(read('env')).toMatch(/^FORGE_ROLE=builder$/m);
    expect(read('env')).toMatch(/^FORGE_TASK=A$/m);
    expect(read('env')).toMatch(/^FORGE_CYCLE=[0-9a-f]{16}$/m);
    expect(read('env')).not.toMatch(/^FORGE_TRUST=/m);
    expect(read('stdin')).toBe(read('file'));
    expect(read('stdin')).toMatch(/FORGE briefing[\s\S]*- Task: "A: a"[\s\S]*FORGE_OBSERVATIONS/);
    expect(existsSync(read('path').trim())).toBe(false);
  });

  it('B-92 leaves control sequences out of the shown and the stored output, and keeps its end', async () => {
    const project = await ready();
    const { stderr } = await runForge(project, ['cycle', ...sh(`printf 'a\\033]0;x\\007b\\n'`)]);
    expect(stderr).toContain('  | ab\n');
    await cycle(project, sh('yes abcdefg | head -c 100000'));
    const all = 'abcdefg\n'.repeat(12_500);
    const sha256 = createHash('sha256').update(all).digest('hex');
    expect((await storedCycles(project)).map(({ execution }) => execution.log)).toMatchObject([
      { tail: 'ab\n', bytes: 9 },
      { tail: all.slice(-4096), bytes: 100_000, sha256 },
    ]);
  });

  it('B-92 ends a command at the time limit, and gives it time to handle SIGTERM', async () => {
    const project = await ready();
    const script = `trap 'sleep 0.2; echo saved > saved; exit 0' TERM; while :; do sleep 0.1; done`;
    const result = await cycle(project, ['--timeout', '1', ...sh(script)]);
    expect(result).toMatchObject({ classification: 'FAILURE', exit_code: null, exit: 1 });
    expect(noteOf(result, 'execution')).toBe('sh: stopped after 1 s');
    expect(project.has('saved')).toBe(true);
  });
});

const storedTasks = (cycles: Awaited<ReturnType<typeof storedCycles>>): unknown[] =>
  cycles.map(({ execution }) => execution.task_id);

describe('effects of the command on forge', () => {
  it('B-07 refuses its memory writes, and allows progress, focus and verify', async () => {
    const project = await ready();
    await forgeJson(project, ['session', 'start']);
    const script = [
      'forge memory record --task A --exit-code 0; echo "record $?"',
      'forge knowledge add invariant x; echo "knowledge $?"',
      'forge config set briefing.budget 900; echo "config $?"',
      'forge cycle -- true; echo "cycle $?"',
      'forge progress add "wired it"; echo "progress $?"',
      'touch done',
      'forge feature verify A; echo "verify $?"',
    ];
    const { stdout, stderr } = runBinary(project.dir, ['cycle', ...sh(script.join('\n'))]);
    for (const said of ['record 3', 'knowledge 0', 'config 3', 'cycle 3', 'progress 0', 'verify 0'])
      expect(stderr).toContain(`  | ${said}\n`);
    expect(stdout).toMatch(/^Cycle 1 /);
    expect((await storedCycles(project)).length).toBe(1);
  });

  it('B-07 refuses memory writes of the tests and init.sh too', async () => {
    const call = 'forge memory record --task X --exit-code 0';
    const project = await ready(`sh -c '${call}; test $? = 3 && test -f done'`);
    project.write('.forge/init.sh', `#!/bin/sh\n${call}\ntest $? = 3\n`);
    await trust(project);
    const { stdout } = runBinary(project.dir, ['cycle', '--json', '--', 'touch', 'done']);
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 0, report: { environment_valid: true } });
    expect(storedTasks(await storedCycles(project))).toEqual(['A']);
  });

  it('B-92 reads a flood of output to its end, and keeps the record small', async () => {
    const project = await ready();
    const bytes = isSoak ? 2 ** 30 : 2 ** 25;
    const command = `ulimit -v unlimited; exec forge cycle -q -- head -c ${bytes} /dev/zero`;
    const { status } = spawnSync('sh', ['-c', command], { cwd: project.dir, timeout: HANG });
    expect(status).toBe(1);
    expect((await storedCycles(project))[0]?.execution).toMatchObject({ exit_code: 0, log: { bytes } });
  });

  it('B-09 records the cycle with stdin and stdout closed', async () => {
    const project = await ready();
    const command = `forge cycle -- sh -c 'exec 0<&-; yes | head -c 3000000; touch done' 0<&- 2>&1 | true`;
    spawnSync('sh', ['-c', command], { cwd: project.dir, timeout: HANG });
    expect((await storedCycles(project))[0]?.evaluation.classification).toBe('SUCCESS');
  });
});

const PATTERN = 'the e2e tests need port 0';

async function readyBuilder(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['config', 'set', 'session.commit', 'false']);
  await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'Log "in"', '--test', 'test -f done']);
  await forgeJson(project, ['memory', 'record', '--task', 'A', '--exit-code', '0', '--pattern', PATTERN]);
  project.write('.gitignore', 'seen\n');
  commitAll(project, 'Set up');
  return project;
}

const candidate = async (project: Project): Promise<{ id: string; seen: number } | undefined> => {
  const { text } = (await forgeJson(project, ['briefing'])) as unknown as { text: string };
  const found = /(C-\d+): the e2e tests need port 0, seen (\d+) times?/.exec(text);
  return found ? { id: found[1] as string, seen: Number(found[2]) } : undefined;
};

describe('the briefing of a builder', () => {
  it('GOV-05 names the task, tests, files, prohibitions, how to report, and open candidates', async () => {
    const project = await readyBuilder();
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
    const project = await readyBuilder();
    await forgeJson(project, ['session', 'start']);
    const { id, seen } = (await candidate(project)) as { id: string; seen: number };
    const script = [
      `grep '^    echo' "$FORGE_BRIEFING" | grep confirm | sh`,
      `echo '{"confirm":"C-999999999"}' >> "$FORGE_OBSERVATIONS"`,
      'forge note add "a note"',
      `forge session end --learned "a lesson" --confirm ${id}`,
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
