import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { MARK, ready, sh, storedCycles, trust } from '../support/cycles.js';
import { BIN, forgeJson, runBinary } from '../support/forge.js';
import { isSoak } from '../support/kills.js';
import { HANG } from '../support/project.js';

const storedTasks = (cycles: Awaited<ReturnType<typeof storedCycles>>): unknown[] =>
  cycles.map(({ execution }) => execution.task_id);

describe('the folder of the command', () => {
  it('B-93 GOV-01 is needed: without it nothing runs, and no cycle is recorded', async () => {
    const project = await ready();
    project.write('.forge/init.sh', '#!/bin/sh\ntouch ran\n');
    await trust(project);
    const env = { TMPDIR: '/nonexistent' };
    const { exitCode, stdout, stderr } = runBinary(project.dir, ['cycle', '--json', ...sh('touch ran')], {
      env,
    });
    expect([exitCode, stdout]).toEqual([6, '']);
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        kind: 'outside',
        code: 'cycle.folder',
        message: 'The folder for the command could not be made in /nonexistent: ENOENT.',
        hint: expect.stringMatching(/^TMPDIR=\/tmp forge cycle -- COMMAND/),
      },
    });
    expect([project.has('ran'), project.has(MARK)]).toEqual([false, false]);
    const next = runBinary(project.dir, ['cycle', '--json', ...sh('touch done')]);
    expect(JSON.parse(next.stdout)).toMatchObject({ cycle: 1, classification: 'SUCCESS', warnings: [] });
  });

  it('GOV-01 contains only the briefing and the observations', async () => {
    const project = await ready();
    const script = 'ls "$(dirname "$FORGE_OBSERVATIONS")" > seen; ls .git/forge > state; touch done';
    const { stdout } = runBinary(project.dir, ['cycle', '--json', ...sh(script)]);
    expect(JSON.parse(stdout)).toMatchObject({ classification: 'SUCCESS', report: { files_changed: 3 } });
    expect(project.read('seen')).toBe('briefing.md\nobservations.jsonl\n');
    expect(project.read('state')).not.toMatch(/^(tree|index|objects)/m);
  });
});

describe('effects of the command on forge', () => {
  it('B-07 refuses its memory writes, and allows progress, focus and verify', async () => {
    const project = await ready();
    await forgeJson(project, ['session', 'start']);
    const forge = `"${process.execPath}" "${BIN}"`;
    const script = [
      `${forge} memory record --task A --exit-code 0; echo "record $?"`,
      `${forge} knowledge add invariant x; echo "knowledge $?"`,
      `${forge} config set briefing.budget 900; echo "config $?"`,
      `${forge} cycle -- true; echo "cycle $?"`,
      `${forge} progress add "wired it"; echo "progress $?"`,
      'touch done',
      `${forge} feature verify A; echo "verify $?"`,
    ].join('\n');
    const { stdout, stderr } = runBinary(project.dir, ['cycle', ...sh(script)]);
    for (const said of ['record 3', 'knowledge 0', 'config 3', 'cycle 3', 'progress 0', 'verify 0'])
      expect(stderr).toContain(`  | ${said}\n`);
    expect(stdout).toMatch(/^Cycle 1 /);
    expect((await storedCycles(project)).length).toBe(1);
  });

  it('B-07 refuses memory writes of the tests and init.sh too', async () => {
    const call = `"${process.execPath}" "${BIN}" memory record --task X --exit-code 0`;
    const project = await ready(`sh -c '${call}; test $? = 3 && test -f done'`);
    project.write('.forge/init.sh', `#!/bin/sh\n${call}\ntest $? = 3\n`);
    await trust(project);
    const { stdout } = runBinary(project.dir, ['cycle', '--json', '--', 'touch', 'done']);
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 0, report: { environment_valid: true } });
    expect(storedTasks(await storedCycles(project))).toEqual(['A']);
  });

  it('GOV-01 makes a breach during the command a GOVERNANCE_VIOLATION', async () => {
    const project = await ready();
    await forgeJson(project, ['session', 'start']);
    const script = `touch done; "${process.execPath}" "${BIN}" progress add 'ask bob@corp-mail.org'; exit 0`;
    const { stdout, exitCode } = runBinary(project.dir, ['cycle', '--json', ...sh(script)]);
    const { classification, report } = JSON.parse(stdout) as Record<
      string,
      { governance_violations: string[] }
    >;
    expect([exitCode, classification]).toEqual([1, 'GOVERNANCE_VIOLATION']);
    expect(report?.governance_violations.length).toBe(1);
    // An older breach is nobody's any more.
    const next = runBinary(project.dir, ['cycle', '--json', '--', 'true']);
    expect(JSON.parse(next.stdout)).toMatchObject({ task: 'none', classification: 'PARTIAL_SUCCESS' });
  });

  it('B-92 reads a flood of output to its end, and keeps the record small', async () => {
    const project = await ready();
    const bytes = isSoak ? 2 ** 30 : 2 ** 25;
    const command = `ulimit -v unlimited; exec "${process.execPath}" "${BIN}" cycle -q -- head -c ${bytes} /dev/zero`;
    const { status } = spawnSync('sh', ['-c', command], { cwd: project.dir, timeout: HANG });
    expect(status).toBe(1);
    expect((await storedCycles(project))[0]?.execution).toMatchObject({ exit_code: 0, log: { bytes } });
  });

  it('B-09 records the cycle with stdin and stdout closed', async () => {
    const project = await ready();
    const command = `"${process.execPath}" "${BIN}" cycle -- sh -c 'exec 0<&-; yes | head -c 3000000; touch done' 0<&- 2>&1 | true`;
    spawnSync('sh', ['-c', command], { cwd: project.dir, timeout: HANG });
    expect((await storedCycles(project))[0]?.evaluation.classification).toBe('SUCCESS');
  });
});
