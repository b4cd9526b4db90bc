import { createHash } from 'node:crypto';
import { statSync, truncateSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { growthOf } from '../../src/ledger/growth.js';
import { genesisLine } from '../../src/ledger/record.js';
import { planLines } from '../../src/ledger/rules/segment.js';
import { forgeError, forgeJson, runBinary, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import { fixedOf, linesOf, logOf, putLines, record, recordMany } from '../support/memory.js';
import type { Project } from '../support/project.js';

/** A notes ledger of about so many bytes, made of records of just under 1 MB. */
function fill(project: Project, bytes: number): void {
  const [genesis = ''] = linesOf(project, fixedOf('notes'));
  const { ledger } = JSON.parse(genesis) as { ledger: string };
  expect(genesisLine('notes', ledger)).toBe(genesis);
  const count = Math.ceil(bytes / 1_000_000);
  const text = 'x'.repeat(Math.floor((bytes - genesis.length) / count) - 400);
  const bodies = Array.from({ length: count }, () => ({ kind: 'note', actor: 'supervisor', text }));
  const tip = { ledger, heads: [createHash('sha256').update(genesis).digest('hex')], maxN: 1 };
  const lines = planLines('notes', tip, null, bodies).lines.map(({ line }) => line);
  const used = [genesis, ...lines].reduce((sum, line) => sum + line.length + 1, 0);
  const last = JSON.parse(lines.pop() as string) as { text: string };
  last.text = last.text.padEnd(last.text.length + bytes - used, 'y');
  putLines(project, fixedOf('notes'), [genesis, ...lines, JSON.stringify(last)]);
  expect(statSync(project.path(fixedOf('notes'))).size).toBe(bytes);
}

describe('the growth of memory', () => {
  it.each([
    [0, 'normal'],
    [79_999_999, 'normal'],
    [80_000_000, 'large'],
    [99_999_999, 'large'],
    [100_000_000, 'paused'],
    [5_000_000_000, 'paused'],
  ])('LTM-11 %i bytes are %s', (bytes, growth) => {
    expect(growthOf(bytes)).toBe(growth);
  });

  it.each([
    [79_000_000, null, 'green', 'normal'],
    [
      80_000_000,
      /^! Memory has 80 MB; at 100 MB consolidation pauses.*forge memory compact$/m,
      'yellow',
      'large',
    ],
    [100_000_000, /^! Memory has 100 MB: consolidation is paused.*forge memory compact$/m, 'red', 'paused'],
    [101_000_000, /^! Memory has 101 MB: consolidation is paused.*forge memory compact$/m, 'red', 'paused'],
  ])('B-66 at %i bytes recording goes on, and says what is due', async (bytes, warning, color, growth) => {
    const project = await makePlainForge();
    fill(project, bytes);
    for (let i = 0; i < 2; i++) {
      const { exitCode, stderr } = await runForge(project, [
        'memory',
        'record',
        '--task',
        'A',
        '--exit-code',
        '0',
      ]);
      expect([exitCode, stderr]).toEqual([0, warning === null ? '' : expect.stringMatching(warning)]);
    }
    const warnings = (await logOf(project, 'audit')).filter(({ kind }) => kind === 'governance_warning');
    expect(warnings.map(({ record: { code } }) => code)).toEqual(growth === 'paused' ? ['memory.size'] : []);
    const stats = await forgeJson<{ color: string; growth: string; next: string[]; status: string }>(
      project,
      ['memory', 'stats'],
    );
    expect(stats).toMatchObject({
      color,
      growth,
      status: 'intact',
      next: growth === 'normal' ? [] : ['forge memory compact'],
    });
    const { stdout } = await runForge(project, ['memory', 'stats']);
    expect(stdout.includes('consolidation is paused')).toBe(growth === 'paused');
  });

  it('B-66 a sparse file of 500 MB is named and not read into memory', async () => {
    const project = await makeForge();
    await record(project);
    const file = '.forge/memory/execution.d/solo-00000000.jsonl';
    project.write(file, '');
    truncateSync(project.path(file), 500_000_000);
    project.write(
      '.git/peak.cjs',
      "process.on('exit', () => require('fs').writeFileSync('.git/peak', String(process.resourceUsage().maxRSS)));\n",
    );
    const env = { NODE_OPTIONS: `--require ${project.path('.git/peak.cjs')}` };
    const { exitCode, stdout } = runBinary(project.dir, ['memory', 'verify'], { env });
    expect(exitCode).toBe(4);
    expect(stdout).toContain(`${file}:1 (byte 0)\n    it has 500000000 bytes; a record has 1 MB at most`);
    expect(Number(project.read('.git/peak')) / 1024).toBeLessThan(150);
  });

  it('LTM-08 LTM-11 consolidation pauses above the limit, while recording goes on', async () => {
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

  it('LTM-11 a batch that crosses the limit is warned of once more after a compaction', async () => {
    const project = await makePlainForge();
    fill(project, 100_100_000);
    await recordMany(project, 1001);
    await forgeJson(project, ['memory', 'compact']);
    await record(project);
    await record(project);
    const kinds = (await logOf(project, 'audit')).map(({ kind }) => kind);
    expect(kinds).toEqual(['governance_warning', 'compacted', 'governance_warning']);
  });
});
