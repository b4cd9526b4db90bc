// node bench/guard.mjs: what the guard costs. Growth: the time for twice the text over the time for the text.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const SIZE = 80_000;
const repeat = (unit) => (size) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);

/** What could make a pattern or a view go over the same text again and again. */
const adversarial = (keywords) => ({
  'ey.': repeat('ey.'),
  '-eyJ and letters': repeat('-eyJaaaa'),
  'eyJ parts': repeat('eyJhbGciOi.eyJzdWIiOi.'),
  letters: repeat('a'),
  digits: repeat('7'),
  hex: repeat('0123456789abcdef'),
  spaces: repeat(' '),
  newlines: repeat('\n'),
  quotes: repeat('"'),
  'quotes with blanks': repeat(`"${' '.repeat(70)}`),
  backslashes: repeat('\\'),
  percent: repeat('%41'),
  'zero width': repeat('\u200b'),
  'full width': repeat('\uff21'),
  colons: repeat('://a:b'),
  'password=': repeat('password='),
  'password and blanks': repeat(`password${' '.repeat(20)}`),
  'PEM headers': repeat(['-----BEGIN ', 'PRIVATE KEY-----'].join('')),
  'a PEM header and dashes': (size) => ['-----BEGIN ', 'PRIVATE KEY-----'].join('') + '-'.repeat(size),
  'PuTTY headers': repeat('PuTTY-User-Key-File-3: '),
  ghp_: repeat('ghp_'),
  'prefixes with bodies': repeat('ghp_aZ3 glpat-Zz9 sk-proj-a1B2c3D4 '),
  'base64 lines': repeat(`${'QUJD'.repeat(19)}\n`),
  'netrc words': repeat('machine a login b '),
  keywords: repeat(`${keywords.join(' ')} `),
  'keywords without blanks': repeat(keywords.join('')),
});

function median(task, rounds) {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    task();
    return performance.now() - start;
  }).sort((a, b) => a - b);
  return times[Math.floor(rounds / 2)];
}

async function bundle(folder) {
  const outfile = join(folder, 'guard.mjs');
  const inner = fileURLToPath(new URL('../src/domain/guard/', import.meta.url));
  const contents = `export { SECRET_RULES } from '${inner}rules.js'; export { scanText } from '${inner}scan.js';`;
  await build({
    stdin: { contents, resolveDir: inner, loader: 'ts' },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    outfile,
    logLevel: 'warning',
  });
  return pathToFileURL(outfile).href;
}

/** In a process of its own, as every command loads it. */
function loadTime(folder, module) {
  const script = join(folder, 'load.mjs');
  writeFileSync(
    script,
    `const t = performance.now(); await import('${module}'); console.log(performance.now() - t);`,
  );
  const times = Array.from({ length: 9 }, () => Number(spawnSync(process.execPath, [script]).stdout));
  return times.sort((a, b) => a - b)[4];
}

const PROSE =
  'The lock was not released: src/store/lock.ts:42 waits for a holder that is gone. Fixed in 4f2a9c1.\n';

const folder = mkdtempSync(join(tmpdir(), 'forge-guard-'));
try {
  const module = await bundle(folder);
  const { SECRET_RULES, scanText } = await import(module);
  const keywords = [...new Set(SECRET_RULES.flatMap((rule) => rule.keywords))];
  const scan = (text) => () => scanText(text, SECRET_RULES);
  const clean = repeat(PROSE)(1024);
  median(scan(clean), 2000);
  console.log(`load                      ${loadTime(folder, module).toFixed(1)} ms`);
  console.log(`1 KB, clean, warm         ${median(scan(clean), 500).toFixed(3)} ms`);
  console.log(
    `64 KiB of all keywords    ${median(scan(repeat(`${keywords.join(' ')} `)(65_536)), 5).toFixed(0)} ms`,
  );
  console.log(`\n${'adversarial'.padEnd(26)}${SIZE / 1000}k, ms  ${(2 * SIZE) / 1000}k, ms  growth`);
  for (const [name, make] of Object.entries(adversarial(keywords))) {
    const [once, twice] = [SIZE, 2 * SIZE].map((size) => median(scan(make(size)), 3));
    const cells = [
      once.toFixed(1).padStart(7),
      twice.toFixed(1).padStart(9),
      (twice / once).toFixed(2).padStart(8),
    ];
    console.log(name.padEnd(26) + cells.join(' '));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
