// npm run screenshots: makes the demo repository, works in it, opens the page in Debian's chromium, and writes
// docs/page-*.png, one for each view. docs/page.md shows them.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { ensureBuilt, FORGE, ROOT } from './built.mjs';

const PROJECT = join(ROOT, 'demo-project');
const CHROMIUM = '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
];
/** Bytes: pictures are in the repository. */
const MAX_BYTES = 80_000;

const scratch = mkdtempSync(join(tmpdir(), 'forge-shots-'));
const env = { ...process.env, NO_COLOR: '1', XDG_STATE_HOME: join(scratch, 'state') };

function run(program, args, input = '') {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: PROJECT, env, input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: exit ${status}: ${stderr}`);
  return stdout;
}
const forge = (...args) => run(process.execPath, [FORGE, ...args]);

/** Some cycles that a loop would have run. */
const CYCLES = Array.from({ length: 12 }, (_, i) => ({
  task_id: i < 7 ? 'F-1' : 'F-2',
  ...{ exit_code: i % 4 === 2 ? 1 : 0, classification: i % 4 === 2 ? 'FAILURE' : 'SUCCESS' },
  started_at: new Date(Date.now() - (12 - i) * 3_600_000).toISOString(),
  finished_at: new Date(Date.now() - (12 - i) * 3_600_000 + 60_000).toISOString(),
  environment_valid: true,
  patterns: [{ pattern: 'run the tests with TZ=UTC', scope: 'execution', holds: true }],
}));

/** What the demo's day leaves out. Its last session is still open. */
function work() {
  forge('feature', 'add', 'F-3', 'Slugs keep umlauts', '--blocked-by', 'F-2');
  forge('feature', 'add', 'F-4', 'Slugs are cut at 80 characters', '--test', 'node --test test/cut.test.js');
  run(
    process.execPath,
    [FORGE, 'memory', 'record', '-'],
    CYCLES.map((one) => JSON.stringify(one)).join('\n'),
  );
  run('git', ['add', '-A']);
  run('git', ['commit', '-qm', '[F-1] Plan the next slugs']);
  forge('checkpoint', 'create', 'F-1', '--verify', 'node --test --test-reporter=dot');
  forge(
    'kfr',
    'patch',
    '--goal',
    'Empty titles are refused',
    '--add',
    'Constraint:A slug never changes once it is published',
    '--add',
    'OpenQuestion:Is a title of dots empty?',
  );
  forge('log', 'Read how titles arrive from the editor');
  forge('artifact', 'add', 'src/slug.js', '--type', 'code');
  forge('linear', 'new', 'Old slugs lead to a page that is not found');
}

async function startPage() {
  const server = spawn(process.execPath, [FORGE, 'ui'], {
    cwd: PROJECT,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(server.stdout, 'data');
  return { url: line.toString().trim(), end: () => server.kill('SIGINT') };
}

/** File, address, scheme and size. */
const PICTURES = [
  ['overview', 'overview', 'light', 1240, 700],
  ['overview-dark', 'overview', 'dark', 1240, 700],
  ['phone', 'overview', 'light', 360, 740],
  ['features', 'features', 'light', 1240, 480],
  ['feature', 'features/F-1', 'light', 1240, 640],
  ['kfr', 'kfr', 'light', 1240, 760],
  ['sessions', 'sessions', 'light', 1240, 400],
  ['knowledge', 'knowledge', 'light', 1240, 600],
  ['ledger', 'ledger', 'dark', 1240, 750],
  ['issues', 'issues', 'light', 1240, 340],
  ['skills', 'skills', 'light', 1240, 480],
  ['files', 'tree', 'light', 1240, 700],
  ['recall', 'recall/slugs', 'light', 1240, 560],
  ['fleet', 'fleet', 'light', 1240, 300],
];

async function draw(url) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    const page = await browser.newPage({ deviceScaleFactor: 0.7 });
    await page.goto(url);
    await page.waitForURL((address) => address.search === '');
    for (const [file, hash, colorScheme, width, height] of PICTURES) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.evaluate((target) => {
        location.hash = `#/${target}`;
      }, hash);
      await page.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.loading'));
      // The chart's fonts, and the answers that follow the first one.
      await page.waitForTimeout(500);
      const path = join(ROOT, 'docs', `page-${file}.png`);
      writeFileSync(path, await page.screenshot());
      const { size } = statSync(path);
      console.log(`docs/page-${file}.png  ${Math.round(size / 1000)} KB`);
      if (size > MAX_BYTES) throw new Error(`docs/page-${file}.png has more than ${MAX_BYTES} bytes.`);
    }
  } finally {
    await browser.close();
  }
}

try {
  ensureBuilt();
  const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts', 'demo.mjs')], {
    env,
    stdio: 'ignore',
  });
  if (status !== 0) throw new Error('npm run demo failed.');
  work();
  const { url, end } = await startPage();
  await draw(url).finally(end);
} catch (error) {
  console.error(`screenshots: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
