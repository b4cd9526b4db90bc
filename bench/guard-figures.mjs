// Figures of the guard: what it takes to load, for a clean kilobyte, and for 64 KiB of all its keywords.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { rounds, summary } from './measure.mjs';

export const repeat = (unit) => (size) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);

/** Milliseconds of each of so many times. */
export const times = (task, count) =>
  Array.from({ length: count }, () => {
    const start = performance.now();
    task();
    return performance.now() - start;
  });

/** The guard as a module, and what it looks through a text with. */
export async function loadGuard(folder) {
  const url = await bundle(folder);
  const { guardRules, scanFields } = await import(url);
  const rules = guardRules();
  const keywords = [...new Set(guardRules().flatMap((rule) => rule.keywords))];
  return { url, keywords, find: (text, path = 'text') => scanFields([{ path, text }], rules) };
}

async function bundle(folder) {
  const outfile = join(folder, 'guard.mjs');
  const inner = fileURLToPath(new URL('../src/guard/', import.meta.url));
  const contents = `export { guardRules, scanFields } from '${inner}document.js';`;
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
function loadTimes(folder, module) {
  const script = join(folder, 'load.mjs');
  writeFileSync(
    script,
    `const t = performance.now(); await import('${module}'); console.log(performance.now() - t);`,
  );
  return Array.from({ length: rounds(9) }, () => Number(spawnSync(process.execPath, [script]).stdout));
}

const PROSE =
  'The lock was not released: src/core/lock.ts:42 waits for a holder that is gone. Fixed in 4f2a9c1.\n';

let guard;

const figure = (measure) => async (_figure, _place, scratch) => {
  guard ??= await loadGuard(scratch);
  const all = measure(guard, scratch);
  return { ...summary(all), ms: summary(all).median };
};

const clean = ({ find }) => {
  const text = repeat(PROSE)(1020);
  let count = 1000;
  // A text that passed once is not scanned again.
  const scan = () => find(`${text}${count++}`);
  times(scan, 2000);
  return times(scan, 500);
};

const keywords = ({ find, keywords }) => {
  const text = repeat(`${keywords.join(' ')} `)(65_536);
  return times(() => find(text), rounds(5));
};

export const GUARD = [
  { name: 'guard: loading', limit: 15, measure: figure(({ url }, scratch) => loadTimes(scratch, url)) },
  { name: 'guard: a clean kilobyte', limit: 0.25, measure: figure(clean) },
  { name: 'guard: 64 KiB of all its keywords', limit: 250, measure: figure(keywords) },
].map((row) => ({ ...row, unit: 'ms', where: 'none' }));
