import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { growthOf } from '../../src/ledger/growth.js';
import { formatRecord, type LedgerRecord, type Links, recordId } from '../../src/ledger/record.js';
import { forgeError, forgeJson, runBinary, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { HUMAN, LEDGER, logOf, record } from '../support/memory.js';
import { recordAll, times } from '../support/patterns.js';
import type { Project } from '../support/project.js';

const sizeOf = (project: Project): number =>
  readdirSync(project.path(LEDGER)).reduce(
    (sum, name) => sum + statSync(project.path(`${LEDGER}/${name}`)).size,
    0,
  );

/** Files with one note of about 1 MB for each million bytes, until the ledger has so many. */
function fill(project: Project, bytes: number): void {
  const [init = ''] = readdirSync(project.path(LEDGER)).filter((name) => name.startsWith('init-'));
  const line = readFileSync(project.path(`${LEDGER}/${init}`), 'utf8').trim();
  const { ledger } = JSON.parse(line) as LedgerRecord & { ledger: string };
  for (let file = 1; sizeOf(project) < bytes; file++) {
    // The last two digits are the indentation.
    const seg = `${String(file).padStart(6, 'a')}00`;
    const room = Math.min(bytes - sizeOf(project), 900_000);
    const links: Links = { v: 1, tier: 'note', n: 2, seg, prev: null, seen: [recordId(line)], ledger };
    const note = (text: string) =>
      formatRecord(links, { at: '2026-03-01T10:00:00.000Z', session: null, actor: 'a', kind: 'note', text });
    const text = 'x'.repeat(Math.max(0, room - note('').length - 1));
    writeFileSync(project.path(`${LEDGER}/solo-${seg}.jsonl`), `${note(text)}\n`);
  }
}

const warnings = async (project: Project): Promise<unknown[]> =>
  (await logOf(project, 'audit'))
    .filter(({ kind }) => kind === 'governance_warning')
    .map(({ record: { code } }) => code);

const acknowledge = (project: Project) =>
  forgeJson(project, ['memory', 'override', 'acknowledge', '--reason', 'we keep logs'], HUMAN);

describe('the growth of memory', () => {
  it.each([
    [0, 0, 'normal'],
    [79_999_999, 0, 'normal'],
    [80_000_000, 0, 'large'],
    [99_999_999, 0, 'large'],
    [100_000_000, 0, 'paused'],
    [5_000_000_000, 0, 'paused'],
    [199_999_999, 100_000_000, 'large'],
    [200_000_000, 100_000_000, 'paused'],
  ])('LTM-11 %i bytes, of which %i were accepted, are %s', (bytes, accepted, growth) => {
    expect(growthOf(bytes, accepted)).toBe(growth);
  });

  it.each([
    [79_000_000, null, 'green', 'normal'],
    [80_000_000, /^! Memory has 80 MB; at 100 MB consolidation pauses/m, 'yellow', 'large'],
    [100_000_000, /^! Memory has 100 MB: consolidation is paused.*override acknowledge/m, 'red', 'paused'],
    [101_000_000, /^! Memory has 101 MB: consolidation is paused.*override acknowledge/m, 'red', 'paused'],
  ])('B-66 at %i bytes recording goes on, and says what is due', async (bytes, warning, color, growth) => {
    const project = await makeForge();
    fill(project, bytes);
    for (let i = 0; i < 2; i++) {
      const call = ['memory', 'record', '--task', 'A', '--exit-code', '0'];
      const { exitCode, stderr } = await runForge(project, call);
      expect([exitCode, stderr]).toEqual([0, warning === null ? '' : expect.stringMatching(warning)]);
    }
    expect(await warnings(project)).toEqual(growth === 'paused' ? ['memory.size'] : []);
    const stats = await forgeJson<object>(project, ['memory', 'stats']);
    const next = growth === 'paused' ? ['forge memory override acknowledge --reason "…"'] : [];
    expect(stats).toMatchObject({ color, growth, next });
    const { stdout } = await runForge(project, ['memory', 'stats']);
    expect(stdout.includes('consolidation is paused')).toBe(growth === 'paused');
  });

  it('B-66 a sparse file of 500 MB is named and not read into memory', async () => {
    const project = await makeForge();
    await record(project);
    const file = `${LEDGER}/solo-00000000.jsonl`;
    project.write(file, '');
    truncateSync(project.path(file), 500_000_000);
    project.write(
      '.git/peak.cjs',
      "process.on('exit', () => require('fs').writeFileSync('.git/peak', String(process.resourceUsage().maxRSS)));\n",
    );
    const env = { NODE_OPTIONS: `--require ${project.path('.git/peak.cjs')}` };
    const { exitCode, stdout } = runBinary(project.dir, ['memory', 'verify'], { env });
    expect(exitCode).toBe(4);
    expect(stdout).toContain(file);
    expect(stdout).toContain('larger than');
    expect(Number(project.read('.git/peak')) / 1024).toBeLessThan(150);
  });

  it('LTM-08 LTM-11 consolidation pauses above the limit until a human accepts the size, and again at twice that', async () => {
    const project = await makeForge();
    fill(project, 100_100_000);
    const paused = await recordAll(project, times(10));
    expect(paused.consolidation).toMatchObject({ ran: false, waits: expect.stringContaining('100 MB') });
    expect(await logOf(project, 'knowledge')).toEqual([]);
    const refused = await forgeError(project, ['memory', 'consolidate']);
    expect(refused).toMatchObject({ exitCode: 3, code: 'consolidation.waits' });
    expect(refused.message).toContain('override acknowledge');
    await acknowledge(project);
    expect(await forgeJson(project, ['memory', 'consolidate'])).toMatchObject({ ran: true });
    const { stderr } = await runForge(project, ['memory', 'record', '--task', 'A', '--exit-code', '0']);
    expect(stderr).not.toContain('Memory has');
    fill(project, 201_000_000);
    await record(project);
    await record(project);
    expect(await warnings(project)).toEqual(['memory.size', 'memory.size']);
    expect(await forgeJson(project, ['memory', 'stats'])).toMatchObject({ growth: 'paused' });
  });
});
