import { describe, expect, it } from 'vitest';
import { TIERS } from '../../src/ledger/rules/record.js';
import { sealedProject } from '../support/e2e-sealed.js';
import { forgeJson, type RunOptions, runBinary, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { record, segmentOf, segmentsOf } from '../support/memory.js';
import { initKey, makeMachine, verifySeals } from '../support/seals.js';

describe('the end of a session', () => {
  it('LTM-18 seals before its commit, when an open key is at hand and something came', async () => {
    const { project, machine } = await sealedProject();
    const end = async (): Promise<number> => {
      await forgeJson(project, ['session', 'start'], machine);
      await forgeJson(project, ['session', 'end'], machine);
      return (await verifySeals(project, machine)).signatures?.seals.length ?? 0;
    };
    expect(await end()).toBe(1);
    await record(project);
    expect(await end()).toBe(2);
    expect(project.git('status', '--porcelain')).toBe('');
    const { signatures } = await verifySeals(project, machine);
    expect(TIERS.map((tier) => signatures?.unsealed[tier])).toEqual([0, 0, 0, 0, 0]);
  });

  it('LTM-18 puts its seal straight into the fixed file where a fold follows, and into a segment where none does', async () => {
    const { project, machine } = await sealedProject();
    const end = async (): Promise<string> => {
      await record(project);
      await forgeJson(project, ['session', 'start'], machine);
      await forgeJson(project, ['session', 'end'], machine);
      return project.read('.forge/memory/audit.jsonl').trimEnd().split('\n').at(-1) ?? '';
    };
    // What is in a segment still is folded first.
    await end();
    const last = await end();
    expect(JSON.parse(last)).toMatchObject({ kind: 'seal', prev: null, seen: [expect.any(String)] });
    expect(segmentsOf(project, 'audit')).toEqual([]);
    project.git('switch', '-qc', 'work');
    expect(await end()).toBe(last);
    expect(project.read(segmentOf(project, 'audit'))).toContain('"kind":"seal"');
    const { codes, signatures } = await verifySeals(project, machine);
    expect([codes, signatures?.seals.length]).toEqual([[], 4]);
  });

  it('LTM-18 asks nobody: without the key, with a passphrase, for a builder or below one nothing is sealed', async () => {
    const { project, machine } = await sealedProject();
    const locked = makeMachine();
    await initKey(project, { ...locked, stdin: 'open sesame\n' }, '--passphrase-stdin');
    await record(project);
    const without: RunOptions[] = [
      makeMachine(),
      locked,
      { ...machine, env: { ...machine.env, FORGE_ROLE: 'builder' } },
      { ...machine, world: { rolesAbove: () => ['builder'] } },
    ];
    for (const who of without) {
      await forgeJson(project, ['session', 'start'], who);
      const ended = await runForge(project, ['session', 'end', '--no-commit'], { ...who, terminal: false });
      expect([ended.exitCode, ended.stderr]).toEqual([0, '']);
    }
    const { signatures } = await verifySeals(project, machine);
    expect(signatures?.seals).toHaveLength(1);
  });
});

describe('FORGE_ROLE above this process', () => {
  it.runIf(process.platform === 'linux')(
    'B-07 LTM-12 a child that unsets it is a builder all the same, and the attempt is recorded',
    async () => {
      const project = await makeForge();
      const script = [
        "const { spawnSync } = require('node:child_process');",
        'const env = { ...process.env }; delete env.FORGE_ROLE;',
        "const { status, stderr } = spawnSync('sh', ['-c', process.argv[1] + '; exit $?'], { env });",
        'process.stderr.write(stderr); process.exitCode = status;',
      ].join('\n');
      project.write('child.cjs', script);
      const forge = `unset FORGE_ROLE; "${process.execPath}" "${process.cwd()}/bin/forge.js" note add x --json`;
      const { spawnSync } = await import('node:child_process');
      const { status, stderr } = spawnSync(process.execPath, ['-e', script, forge], {
        cwd: project.dir,
        env: { ...process.env, FORGE_ROLE: 'builder' },
        encoding: 'utf8',
      });
      expect([status, JSON.parse(stderr).error.code]).toEqual([3, 'role.denied']);
      const { records } = await forgeJson<{ records: { record: object }[] }>(project, [
        ...['memory', 'log', '--tier', 'audit'],
      ]);
      expect(records.map((entry) => entry.record)).toMatchObject([{ kind: 'breach', code: 'role.denied' }]);
      expect(runBinary(project.dir, ['note', 'add', 'x']).exitCode).toBe(0);
    },
  );
});
