import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { STAGES } from '../../src/cycle/running.js';
import type { CycleResult } from '../../src/index.js';
import { cycle, MARK, noteOf, ready, refusal, sh, statuses, storedCycles } from '../support/cycles.js';
import { hasShim, runFaulty } from '../support/faults.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge, storedFeature } from '../support/forge-project.js';
import { containerOf, HUMAN, LEDGER } from '../support/memory.js';
import { SAMPLES } from '../support/samples.js';

describe('forge cycle', () => {
  it('GOV-01 GOV-03 runs nine stages in order, and records those before memory', async () => {
    const project = await ready();
    const result = await cycle(project, sh('echo working; touch done'));
    expect(result).toMatchObject({ cycle: 1, task: 'A', classification: 'SUCCESS', exit_code: 0, exit: 0 });
    expect(result.stages.map(({ name }) => name)).toEqual([...STAGES]);
    expect(statuses(result)).toMatchObject({ supervisor: 'ok', report: 'ok', sleep: 'skipped' });
    expect(result.report).toMatchObject({
      memory_write_performed: true,
      knowledge_promoted: false,
      knowledge_conflict_detected: false,
      memory_integrity_status: 'intact',
      files_changed: 1,
      features_passing: 1,
      features: 1,
    });
    const [stored] = await storedCycles(project);
    expect(stored?.execution.stages.map(({ name }) => name)).toEqual(STAGES.slice(0, 6));
    expect(stored?.execution).toMatchObject({
      task_id: 'A',
      exit_code: 0,
      log: { tail: 'working\n', bytes: 8 },
    });
    expect(stored?.evaluation).toMatchObject({
      classification: 'SUCCESS',
      environment_valid: true,
      governance_violations: [],
      quality_signals: { features_passing_before: 0, features_passing_after: 1, files_changed: 1 },
    });
    expect(stored?.evaluation.evidence).toEqual([
      {
        feature: 'A',
        argv: ['test', '-f', 'done'],
        exit_code: 0,
        duration_ms: expect.any(Number),
        tree: expect.stringMatching(/^[0-9a-f]{40}$/),
        output_bytes: 0,
        output_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(storedFeature(project, 'A')?.status).toBe('passing');
    expect(project.has(MARK)).toBe(false);
  });

  it('GOV-01 judges by the tests: exit 0 is a failure if they fail, and at most partial without tests', async () => {
    const project = await ready();
    expect(await cycle(project, ['--', 'true'])).toMatchObject({ classification: 'FAILURE', exit: 1 });
    const untested = { task: 'X-9', classification: 'PARTIAL_SUCCESS', exit: 0 };
    expect(await cycle(project, ['--task', 'X-9', '--', 'true'])).toMatchObject(untested);
    const ended = { classification: 'FAILURE', exit_code: 3, exit: 1 };
    expect(await cycle(project, sh('touch done; exit 3'))).toMatchObject(ended);
  });

  it('GOV-05 FEA-05 is at most PARTIAL_SUCCESS when the tests changed', async () => {
    const project = await makeForge();
    project.write('check.sh', 'test -f done\n');
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'sh check.sh']);
    for (const id of ['b', 'c'])
      await forgeJson(project, `feature add --no-run ${id} ${id.toUpperCase()} --test "test -f ${id}"`);
    const judged = async (task: string, script: string) => {
      const { classification, report } = await cycle(project, ['--task', task, ...sh(script)]);
      return [classification, report?.tests_changed];
    };
    expect(await judged('A', 'echo "exit 0" >check.sh')).toEqual(['PARTIAL_SUCCESS', ['check.sh']]);
    expect(await judged('b', 'touch b')).toEqual(['SUCCESS', []]);
    const beside = await judged('c', 'mkdir -p test; touch c test/c.js');
    expect(beside).toEqual(['PARTIAL_SUCCESS', ['test/c.js']]);
  });

  it('GOV-01 chooses the requested task, else the one in focus, else the next, else none', async () => {
    const project = await ready();
    await forgeJson(project, ['feature', 'add', '--no-run', 'B', 'b', '--test', 'true']);
    expect((await cycle(project, ['--', 'true'])).task).toBe('A');
    await forgeJson(project, ['focus', 'set', '--task', 'B: b']);
    expect(await cycle(project, ['--', 'true'])).toMatchObject({ task: 'B', classification: 'SUCCESS' });
    // What is in focus and done is no task any more.
    expect((await cycle(project, ['--', 'true'])).task).toBe('A');
    expect((await cycle(project, ['--task', 'B', '--', 'true'])).task).toBe('B');
    const empty = await makeForge();
    expect(await cycle(empty, ['--', 'true'])).toMatchObject({
      task: 'none',
      classification: 'PARTIAL_SUCCESS',
    });
  });

  it('GOV-01 records observations, and rejects invalid and secret ones', async () => {
    const project = await ready();
    const observe = [
      '{"pattern":"done is a file","scope":"environment"}',
      '{"pattern":"write to bob@corp-mail.org"}',
      'nonsense',
    ];
    const script = `${observe.map((line) => `echo '${line}' >> "$FORGE_OBSERVATIONS"`).join('; ')}; echo bob@corp-mail.org; touch done`;
    const result = await cycle(project, sh(script));
    expect(result.warnings).toEqual([
      expect.stringMatching(/line 2: refused by the guard/),
      expect.stringMatching(/line 3: /),
      expect.stringMatching(/masked/),
    ]);
    const [stored] = await storedCycles(project);
    expect(stored?.evaluation).toMatchObject({
      patterns: [{ pattern: 'done is a file', scope: 'environment', holds: true }],
      quality_signals: { observations_refused: 2 },
    });
    expect(JSON.stringify(stored)).not.toContain('corp-mail');
    expect(project.has('.git/forge/halt.json')).toBe(false);
  });

  it.each(Object.entries(SAMPLES))('GOV-01 masks a %s in the output without a halt', async (_, sample) => {
    const project = await ready();
    const secret = sample();
    const result = await cycle(project, ['--', 'echo', secret]);
    expect(result.report).toMatchObject({ memory_write_performed: true, memory_integrity_status: 'intact' });
    const [stored] = await storedCycles(project);
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(spawnSync('grep', ['-rqF', secret, project.dir]).status).toBe(1);
    expect(stored?.execution).toMatchObject({ log: { bytes: Buffer.byteLength(secret) + 1 } });
    expect(result.warnings).toContainEqual(expect.stringMatching(/may not be stored/));
  });

  it('GOV-01 runs neither an unapproved init.sh nor the command, nor the command after a failing one', async () => {
    const project = await ready();
    project.write('.forge/init.sh', '#!/bin/sh\necho broken >&2\nexit 4\n');
    const unapproved = await cycle(project, sh('touch ran'));
    expect(unapproved).toMatchObject({ classification: 'FAILURE', exit: 1 });
    expect(noteOf(unapproved, 'environment')).toMatch(/init\.sh changed since it was approved.*forge trust$/);
    expect((await storedCycles(project))[0]?.evaluation).toMatchObject({ environment_valid: false });
    await runForge(project, ['trust', '--yes'], HUMAN);
    const result = await cycle(project, sh('touch ran'));
    expect(result).toMatchObject({
      classification: 'FAILURE',
      exit_code: null,
      report: { environment_valid: false },
    });
    expect(statuses(result)).toMatchObject({ environment: 'failed', execution: 'skipped', memory: 'ok' });
    expect(noteOf(result, 'environment')).toBe('init.sh: exit code 4');
    expect(project.has('ran')).toBe(false);
    rmSync(project.path('.forge/init.sh'));
    expect(statuses(await cycle(project, ['--', 'true']))).toMatchObject({
      environment: 'skipped',
      execution: 'ok',
    });
  });

  it('LTM-05 LTM-16 halts memory that the command damaged, and records the cycle after a human repaired it', async () => {
    const project = await ready();
    await cycle(project, ['--', 'true']);
    const file = containerOf(project);
    const whole = project.read(file);
    const result = await cycle(project, sh(`touch done; sed -i 's/"task_id":"A"/"task_id":"B"/' ${file}`));
    expect(result).toMatchObject({
      classification: 'GOVERNANCE_VIOLATION',
      cycle: null,
      exit: 4,
      memory_error: { code: 'memory.corrupted', exit: 4 },
      report: { memory_write_performed: false, memory_integrity_status: 'halted' },
    });
    expect(await refusal(project, ['cycle', '--', 'touch', 'ran'])).toMatchObject({
      exitCode: 4,
      code: 'memory.corrupted',
    });
    expect(project.has('ran')).toBe(false);
    project.write(file, whole);
    await runForge(project, ['memory', 'override', 'acknowledge', '--reason', 'seen'], HUMAN);
    await cycle(project, ['--', 'true']);
    const all = (await storedCycles(project)).map(({ evaluation }) => evaluation.classification);
    expect(all).toEqual(['FAILURE', 'GOVERNANCE_VIOLATION', 'SUCCESS']);
  });

  it.skipIf(!hasShim)('LTM-16 an unwritten record is a FAILURE; the next cycle brings it, once', async () => {
    const project = await ready();
    const observe = `echo '{"pattern":"p","scope":"execution"}' > $FORGE_OBSERVATIONS`;
    const args = ['cycle', '--json', ...sh(`touch done; ${observe}`)];
    const { stdout, exitCode } = runFaulty(project.dir, args, { path: LEDGER, budget: 10 });
    const result = JSON.parse(stdout) as CycleResult;
    expect({ ...result, exit: exitCode }).toMatchObject({
      cycle: null,
      classification: 'FAILURE',
      exit: 6,
      report: { memory_write_performed: false },
    });
    expect(statuses(result)).toMatchObject({ memory: 'failed' });
    await cycle(project, ['--task', 'A', '--', 'true']);
    const all = await storedCycles(project);
    expect(all.map(({ evaluation }) => evaluation.classification)).toEqual(['FAILURE', 'SUCCESS']);
    expect(all[0]?.evaluation).toMatchObject({ patterns: [] });
  });

  it('GOV-01 works without git, and a dry run runs nothing', async () => {
    const project = await makePlainForge();
    const result = await cycle(project, ['--', 'true']);
    expect(result).toMatchObject({ classification: 'PARTIAL_SUCCESS', exit: 0 });
    await cycle(project, ['-n', '--', 'touch', 'ran']);
    expect(project.has('ran')).toBe(false);
    await forgeJson(project, ['feature', 'add', 'F-1', 'Login']);
    const named = await cycle(project, ['-n', '--task', 'f-1', '--', 'true']);
    expect(named).toMatchObject({ task: 'F-1', warnings: [] });
  });
});
