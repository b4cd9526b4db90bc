import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { STAGES } from '../../src/domain/cycle/mark.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeFolder, type Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { cycle, MARK, noteOf, refusal, sh, statuses, storedCycles } from './cycles.js';
import { HUMAN, segmentOf } from './memory.js';
import { CONFIG, FEATURES, makeForge, makePlainForge, PROGRESS, storedFeature } from './project.js';

/** A feature A whose test looks for a file. */
async function ready(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'test -f done']);
  return project;
}

describe('forge cycle', () => {
  it('GOV-01 GOV-03 goes through nine stages in order, and records those before memory with what it saw', async () => {
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

  it('GOV-01 judges by the tests: exit 0 is no success while they fail, and none is no more than partial', async () => {
    const project = await ready();
    expect(await cycle(project, ['--', 'true'])).toMatchObject({ classification: 'FAILURE', exit: 1 });
    expect(await cycle(project, ['--task', 'X-9', '--', 'true'])).toMatchObject({
      task: 'X-9',
      classification: 'PARTIAL_SUCCESS',
      exit: 0,
    });
    expect(await cycle(project, sh('touch done; exit 3'))).toMatchObject({
      classification: 'FAILURE',
      exit_code: 3,
      exit: 1,
    });
  });

  it('GOV-01 works on what is asked for, else in focus, else what comes next, else on nothing', async () => {
    const project = await ready();
    await forgeJson(project, ['feature', 'add', 'B', 'b', '--test', 'true']);
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

  it('GOV-01 runs again what passed before, whatever seems to have changed, and finds what fails now', async () => {
    const project = await ready();
    project.write('kept', '');
    await forgeJson(project, ['feature', 'add', 'B', 'b', '--test', 'test -f kept']);
    await forgeJson(project, ['feature', 'verify', 'B']);
    const idle = await cycle(project, ['--', 'true']);
    expect(idle.report?.evidence.map(({ feature }) => feature)).toEqual(['A', 'B']);
    const broke = await cycle(project, sh('touch done; rm kept'));
    expect(broke).toMatchObject({
      classification: 'REGRESSION',
      exit: 1,
      report: { regression_flags: ['B'] },
    });
    expect(storedFeature(project, 'B')?.status).toBe('failing');
    expect((await storedCycles(project)).at(-1)?.evaluation).toMatchObject({ regression_flags: ['B'] });
  });

  it('GOV-01 keeps observations, names what is wrong with them, and stores nothing that the guard refuses', async () => {
    const project = await ready();
    const observe = [
      '{"pattern":"done is a file","scope":"environment"}',
      '{"proposal":"write to bob@corp-mail.org"}',
      '{"signal":{"coverage":80}}',
      'nonsense',
    ];
    const script = `${observe.map((line) => `echo '${line}' >> "$FORGE_OBSERVATIONS"`).join('; ')}; echo bob@corp-mail.org; touch done`;
    const result = await cycle(project, sh(script));
    expect(result.warnings).toEqual([
      expect.stringMatching(/line 2: refused by the guard/),
      expect.stringMatching(/line 4: /),
      expect.stringMatching(/masked/),
    ]);
    const [stored] = await storedCycles(project);
    expect(stored?.evaluation).toMatchObject({
      patterns: [{ pattern: 'done is a file', scope: 'environment', holds: true }],
      improvement_proposals: [],
      quality_signals: { coverage: 80, observations_refused: 2 },
    });
    expect(JSON.stringify(stored)).not.toContain('corp-mail');
    expect(project.has('.git/forge/halt.json')).toBe(false);
  });

  it.each(Object.entries(SAMPLES))(
    'GOV-01 a %s in the output is masked in the record; memory is not halted by it',
    async (_name, sample) => {
      const project = await ready();
      const secret = sample();
      const result = await cycle(project, ['--', 'echo', secret]);
      expect(result.report).toMatchObject({
        memory_write_performed: true,
        memory_integrity_status: 'intact',
      });
      const [stored] = await storedCycles(project);
      expect(JSON.stringify(stored)).not.toContain(secret);
      expect(spawnSync('grep', ['-rqF', secret, project.dir]).status).toBe(1);
      expect(stored?.execution).toMatchObject({ log: { bytes: Buffer.byteLength(secret) + 1 } });
      expect(result.warnings).toContainEqual(expect.stringMatching(/may not be stored/));
    },
  );

  it('GOV-01 an init.sh that fails ends it before the command, and what it says is in the record', async () => {
    const project = await ready();
    project.write('.forge/init.sh', '#!/bin/sh\necho broken >&2\nexit 4\n');
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

  it('GOV-01 an init.sh that nobody approved is not run, nor is the command', async () => {
    const project = await ready();
    project.write('.forge/init.sh', '#!/bin/sh\ntouch ran\n');
    const result = await cycle(project, sh('touch ran'));
    expect(result).toMatchObject({
      classification: 'FAILURE',
      exit: 1,
      report: { environment_valid: false },
    });
    expect(noteOf(result, 'environment')).toMatch(/init\.sh changed since it was approved.*forge trust$/);
    expect(project.has('ran')).toBe(false);
    expect((await storedCycles(project))[0]?.evaluation).toMatchObject({ environment_valid: false });
  });

  it('GOV-01 a command that is not there is recorded as a failed execution', async () => {
    const project = await ready();
    const result = await cycle(project, ['--', 'no-such-agent']);
    expect(result).toMatchObject({ classification: 'FAILURE', exit_code: null, exit: 1 });
    expect(noteOf(result, 'execution')).toBe('no-such-agent: not found');
    expect((await storedCycles(project)).length).toBe(1);
    expect(await refusal(project, ['cycle'])).toMatchObject({ exitCode: 2, code: 'cycle.command' });
    expect(await refusal(project, ['cycle', '--task', '../x', '--', 'true'])).toMatchObject({
      exitCode: 2,
    });
  });

  it.each([
    ['edits a ledger', `sed -i 's/"task_id":"A"/"task_id":"B"/' .forge/memory/execution.d/*.jsonl`, /memory/],
    ['changes the settings', `echo '# more' >> .forge/config.toml`, /config\.toml was changed/],
    ['changes init.sh', `echo 'true' >> .forge/init.sh`, /init\.sh was changed/],
    ['weakens its test', `sed -i 's/test -f done/true/' ${FEATURES}`, /the tests of A were changed/],
    ['damages the list of features', `echo '{' > ${FEATURES}`, /damaged by the command/],
  ])(
    'GOV-01 LTM-05 a command that %s broke a rule, whatever its exit code',
    async (_name, script, violation) => {
      const project = await ready();
      await cycle(project, ['--', 'true']);
      const result = await cycle(project, sh(`touch done; ${script}`));
      expect(result.classification).toBe('GOVERNANCE_VIOLATION');
      expect(result.report?.governance_violations).toContainEqual(expect.stringMatching(violation));
      expect(result.exit).not.toBe(0);
    },
  );

  it('LTM-05 LTM-16 memory that the command damaged is halted; the cycle is recorded once a human settled it', async () => {
    const project = await ready();
    await cycle(project, ['--', 'true']);
    const file = segmentOf(project, 'execution');
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
    const all = await storedCycles(project);
    expect(all.map(({ evaluation }) => evaluation.classification)).toEqual([
      'FAILURE',
      'GOVERNANCE_VIOLATION',
      'SUCCESS',
    ]);
  });

  it('LTM-16 a record that cannot be written makes the cycle a FAILURE; the next one brings it, once', async () => {
    const project = await ready();
    const folder = '.forge/memory/execution.d';
    const observe = `echo '{"pattern":"p","scope":"execution"}' > $FORGE_OBSERVATIONS`;
    const result = await cycle(project, sh(`touch done; ${observe}; rm -r ${folder}; touch ${folder}`));
    expect(result).toMatchObject({
      cycle: null,
      classification: 'FAILURE',
      exit: 6,
      report: { memory_write_performed: false },
    });
    expect(statuses(result)).toMatchObject({ evaluation: 'failed', memory: 'failed' });
    rmSync(project.path(folder));
    await cycle(project, ['--task', 'A', '--', 'true']);
    const all = await storedCycles(project);
    expect(all.map(({ evaluation }) => evaluation.classification)).toEqual(['FAILURE', 'SUCCESS']);
    expect(all[0]?.evaluation).toMatchObject({ patterns: [] });
  });

  it('GOV-04 adds a line to the progress of a running session', async () => {
    const project = await ready();
    await forgeJson(project, ['session', 'start']);
    await cycle(project, sh('touch done'));
    expect(project.read(PROGRESS)).toMatch(/\] Cycle 1 SUCCESS: A, 1\/1 features passing, \d+ s\n/);
  });

  it('B-07 a builder runs no cycle, and nothing is run', async () => {
    const project = await ready();
    const env = { FORGE_ROLE: 'builder' };
    for (const name of ['cycle', 'loop'])
      expect(await refusal(project, [name, '--', 'touch', 'ran'], { env })).toMatchObject({
        exitCode: 3,
        code: 'role.denied',
      });
    expect([project.has('ran'), project.has(MARK)]).toEqual([false, false]);
  });

  it('B-93 gives the command the caller’s surroundings as a BUILDER, and the briefing by file and by stdin', async () => {
    const project = await ready();
    const env = {
      API_TOKEN: 'kept',
      FORGE_TRUST: 'x'.repeat(64),
      FORGE_SUPERVISOR_KEY: '/nowhere',
      FORGE_SUPERVISOR_PASSPHRASE_FILE: '/nowhere',
      FORGE_ROLE: 'supervisor',
    };
    const out = makeFolder();
    const script = `env > ${out}/env; cat > ${out}/stdin; cat "$FORGE_BRIEFING" > ${out}/file; stat -c %a "$(dirname "$FORGE_BRIEFING")" > ${out}/mode; dirname "$FORGE_BRIEFING" > ${out}/folder`;
    await cycle(project, sh(script), { env });
    const read = (name: string): string => readFileSync(join(out, name), 'utf8');
    expect(read('env')).toMatch(/^API_TOKEN=kept$/m);
    expect(read('env')).toMatch(/^FORGE_ROLE=builder$/m);
    expect(read('env')).toMatch(/^FORGE_TASK=A$/m);
    expect(read('env')).toMatch(/^FORGE_CYCLE=[0-9a-f]{16}$/m);
    expect(read('env')).not.toMatch(/^FORGE_(TRUST|SUPERVISOR_KEY|SUPERVISOR_PASSPHRASE_FILE)=/m);
    expect(read('stdin')).toBe(read('file'));
    expect(read('stdin')).toMatch(/FORGE briefing[\s\S]*Task of this cycle: A\n$/);
    expect(read('mode')).toBe('700\n');
    expect(existsSync(read('folder').trim())).toBe(false);
  });

  it('B-92 shows what would move the cursor escaped, and stores it so', async () => {
    const project = await ready();
    const { stderr } = await runForge(project, ['cycle', ...sh(`printf 'a\\033]0;x\\007b\\n'`)]);
    expect(stderr).toContain('  | a<U+001B>]0;x<U+0007>b\n');
    expect((await storedCycles(project))[0]?.execution).toMatchObject({
      log: { tail: 'a<U+001B>]0;x<U+0007>b\n', bytes: 9 },
    });
  });

  it('B-92 ends a command when its time is up', async () => {
    const project = await ready();
    const result = await cycle(project, ['--timeout', '1', '--', 'sleep', '30']);
    expect(result).toMatchObject({ classification: 'FAILURE', exit_code: null, exit: 1 });
    expect(noteOf(result, 'execution')).toBe('sleep: stopped after 1 s');
  });

  it('GOV-01 works without git, and says what it would do with --dry-run', async () => {
    const project = await makePlainForge();
    expect(await cycle(project, ['--', 'true'])).toMatchObject({
      classification: 'PARTIAL_SUCCESS',
      exit: 0,
    });
    const dry = await cycle(project, ['-n', '--', 'touch', 'ran']);
    expect(dry).toMatchObject({ cycle: null, classification: null, exit: 0 });
    expect(project.has('ran')).toBe(false);
    expect(project.has(CONFIG)).toBe(true);
  });
});
