import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runBinary } from '../support/forge.js';
import { makeFolder } from '../support/project.js';
import { makeForgeRepository } from '../support/typed.js';

/**
 * Loaded before the built command. Once that has answered, it waits only for what keeps Node running: with no timer among
 * it, no time limit delays the exit. It exits at once, so no machine is too slow for this test.
 */
const REPORT_TIMERS = `process.on('newListener', (event) => {
  if (event !== 'beforeExit') return;
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
  require('node:fs').writeSync(1, 'timers: ' + timers.length);
  process.exit();
});`;

it.each([
  ['status', 0, /long-term +red +git was not found/],
  ['status --short', 0, /^forge /],
  ['doctor', 1, /git was not found +\(blocking\)/],
  ['session start', 6, /git was not found/],
])(
  'LAY-05 B-38 `forge %s` ends once it has answered when there is no git program',
  (line, exitCode, answer) => {
    const project = makeForgeRepository();
    const folder = makeFolder();
    writeFileSync(join(folder, 'report.cjs'), REPORT_TIMERS);
    const env = { PATH: folder, NODE_OPTIONS: `--require ${join(folder, 'report.cjs')}` };
    const { stdout, stderr, ...end } = runBinary(project.dir, line.split(' '), { env });
    expect(stdout + stderr).toMatch(answer);
    expect(stdout).toMatch(/timers: 0$/);
    expect(end).toEqual({ exitCode, signal: null });
  },
);
