import { readdirSync, statSync, truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson, peakTo, runBinary, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import { HUMAN, LEDGER, linesOf, logOf, putLines, record } from '../support/memory.js';
import type { Project } from '../support/project.js';

/** Ledger files of so many bytes in all, made of notes of just under 1 MB. */
function fill(project: Project, bytes: number): void {
  const [name = ''] = readdirSync(project.path(LEDGER)).filter((file) => file.startsWith('init-'));
  const [genesis = ''] = linesOf(project, `${LEDGER}/${name}`);
  const { ledger } = JSON.parse(genesis) as { ledger: string };
  let left = bytes - genesis.length - 1;
  for (let i = 0; left > 0; i++) {
    const seg = i.toString(16).padStart(8, '0');
    const links = { v: 1, tier: 'note', n: 2, seg, prev: null, seen: [], ledger, kind: 'note' };
    const line = (text: string): string => ' '.repeat(i & 63) + JSON.stringify({ ...links, text });
    // The last one takes what is left, and a line's frame never more than that.
    const size = left < 1_000_000 ? left : 900_000;
    putLines(project, `${LEDGER}/solo-${seg}.jsonl`, [line('x'.repeat(size - line('').length - 1))]);
    left -= size;
  }
  const sizes = readdirSync(project.path(LEDGER)).map((file) => statSync(project.path(LEDGER, file)).size);
  expect(sizes.reduce((a, b) => a + b)).toBe(bytes);
}

const ACCEPT = 'forge memory override acknowledge --reason "TEXT"';

describe('the growth of memory', () => {
  it.each([
    [79_000_000, null, 'normal'],
    [80_000_000, /^! Memory has 80 MB; at 100 MB consolidation pauses/m, 'large'],
    [100_000_000, /^! Memory has 100 MB: consolidation is paused\. A human accepts that/m, 'paused'],
  ])('B-66 at %i bytes recording continues with a warning', async (bytes, warning, growth) => {
    const project = await makePlainForge();
    fill(project, bytes);
    for (let i = 0; i < 2; i++) {
      const { exitCode, stderr } = await runForge(project, 'memory record --task A --exit-code 0');
      expect([exitCode, stderr]).toEqual([0, warning === null ? '' : expect.stringMatching(warning)]);
    }
    const warnings = (await logOf(project, 'audit')).filter(({ kind }) => kind === 'governance_warning');
    expect(warnings.map(({ record: { code } }) => code)).toEqual(growth === 'paused' ? ['memory.size'] : []);
    expect(await forgeJson(project, 'memory stats')).toMatchObject({ growth, status: 'intact' });
    const { stdout } = await runForge(project, ['memory', 'stats']);
    expect(stdout.includes(`consolidation is paused → ${ACCEPT}`)).toBe(growth === 'paused');
    const started = await runForge(project, ['session', 'start']);
    expect([started.exitCode, started.stderr]).toEqual([
      0,
      warning === null ? expect.not.stringMatching(/Memory has/) : expect.stringMatching(warning),
    ]);
    const said = new RegExp(`memory has ${Math.floor(bytes / 1_000_000)} MB`, 'i');
    for (const args of [['status'], ['doctor']])
      expect([args, said.test((await runForge(project, args)).stdout)]).toEqual([args, warning !== null]);
  });

  it('B-66 a sparse file of 500 MB is named and not read into memory', async () => {
    const project = await makeForge();
    await record(project);
    const file = `${LEDGER}/solo-00000000.jsonl`;
    project.write(file, '');
    truncateSync(project.path(file), 500_000_000);
    const env = peakTo(project.path('.git/peak'));
    const { exitCode, stdout } = runBinary(project.dir, ['memory', 'verify'], { env });
    expect(exitCode).toBe(4);
    expect(stdout).toContain(`${file}\n    larger than 104857600 bytes`);
    expect(Number(project.read('.git/peak')) / 1024).toBeLessThan(150);
  });

  it('LTM-08 LTM-11 consolidation pauses above the limit, while recording continues', async () => {
    const project = await makePlainForge();
    fill(project, 100_100_000);
    const clean = ['--classification', 'SUCCESS', '--environment-valid', 'true', '--pattern', 'p'];
    for (let i = 0; i < 10; i++) await record(project, ...clean);
    expect((await logOf(project, 'evaluation')).filter(({ kind }) => kind === 'cycle')).toHaveLength(10);
    expect(await logOf(project, 'knowledge')).toEqual([]);
    const refused = await forgeError(project, ['memory', 'consolidate']);
    expect(refused).toMatchObject({
      exitCode: 3,
      code: 'consolidation.waits',
      message: expect.stringContaining('100 MB'),
    });
  });

  it('LTM-11 LTM-14 a human accepts the size, and it may double from there', async () => {
    const project = await makePlainForge();
    fill(project, 100_100_000);
    await record(project);
    await forgeJson(project, ['memory', 'override', 'acknowledge', '--reason', '…'], HUMAN);
    for (const args of [['status'], ['doctor'], ['session', 'start']]) {
      const { stdout, stderr } = await runForge(project, args);
      expect([args, /has \d+ MB/.test(stdout + stderr)]).toEqual([args, false]);
    }
    expect(await forgeJson(project, ['memory', 'stats'])).toMatchObject({ growth: 'large' });
    const { stderr } = await runForge(project, ['memory', 'record', '--task', 'A', '--exit-code', '0']);
    expect(stderr).toBe('');
  });
});
