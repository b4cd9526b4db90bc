import { describe, expect, it } from 'vitest';
import { forgeJson, runBinary } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';

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
