// Ledgers that are full already: the files that forge would have written, without a command for each record.
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { run } from './measure.mjs';
import { forge, makeSmall } from './repositories.mjs';

/** What every record states besides its subject. */
const STAMP = { at: '2026-03-01T10:00:00.000Z', session: null, actor: 'forge' };
/** As a session leaves them. */
const PER_FILE = 100;
/** Above the numbers of the records that `makeSmall` writes. */
const FIRST_NUMBER = 1000;

let kit;
/** The address of kit.ts, bundled into the scratch folder. */
export function loadKit(scratch) {
  kit ??= bundleKit(join(scratch, 'kit.mjs'));
  return kit;
}

async function bundleKit(outfile) {
  const entryPoints = [fileURLToPath(new URL('kit.ts', import.meta.url))];
  const js = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  const options = {
    bundle: true,
    platform: 'node',
    mainFields: ['module', 'main'],
    format: 'esm',
    minify: true,
  };
  await build({ entryPoints, outfile, banner: { js }, ...options });
  return pathToFileURL(outfile).href;
}

export const ledgerFolder = ({ cwd }) => join(cwd, '.forge', 'memory', 'ledger');

/** The first record of a repository, which names the ledger. */
function readGenesis(place, { recordId }) {
  const folder = ledgerFolder(place);
  const file = readdirSync(folder).find((name) => name.startsWith('init-'));
  const line = readFileSync(join(folder, file), 'utf8').trim();
  return { ledger: JSON.parse(line).ledger, id: recordId(line) };
}

/**
 * Chains of records, each in a file of its own and behind the one before: `{ files: [{ name, bytes }], ids }`. A body is an
 * object, or a function of the ids before it.
 */
export async function planFiles(scratch, place, bodies, perFile = PER_FILE) {
  const inner = await import(await loadKit(scratch));
  const { ledger, id: genesis } = readGenesis(place, inner);
  const ids = [];
  const files = [];
  for (let start = 0; start < bodies.length; start += perFile) {
    const seg = (files.length + 1).toString(16).padStart(8, '0');
    const chunk = bodies.slice(start, start + perFile);
    const lines = chunk.map((body, i) => {
      const { tier, ...fields } = typeof body === 'function' ? body(ids) : body;
      const before = ids.at(-1) ?? genesis;
      const links = { v: 1, tier, n: FIRST_NUMBER + ids.length, seg };
      const chain = i === 0 ? { prev: null, seen: [before], ledger } : { prev: before, seen: [] };
      const line = inner.formatRecord({ ...links, ...chain }, { ...STAMP, ...fields });
      ids.push(inner.recordId(line));
      return line;
    });
    const name = `solo-${seg}.jsonl`;
    files.push({ name, bytes: inner.formatContainer(name, lines) });
  }
  return { files, ids };
}

/** A small repository with these records, committed and verified once, as after a day's work. */
export async function makeFull(scratch, env, bodies, perFile) {
  const place = makeSmall(mkdtempSync(join(scratch, 'full-')), env);
  const { files, ids } = await planFiles(scratch, place, bodies, perFile);
  for (const { name, bytes } of files) writeFileSync(join(ledgerFolder(place), name), bytes);
  run(['git', 'add', '-A'], place);
  run(['git', 'commit', '-qm', 'Memory'], place);
  // Git reads a file again that is as old as its index, and forge one that has just changed.
  run(['sleep', '1'], place);
  run(['git', 'update-index', '-q', '--refresh'], place);
  run(forge('memory', 'verify'), place);
  return { ...place, ids };
}

/** Two records for each cycle. Some cycles fail, and some contradict what others show. */
export const cycleBodies = (count) =>
  Array.from({ length: count }, (_, i) => {
    const cycle = { kind: 'cycle', cycle: i + 1, task_id: `T-${i % 50}` };
    const pattern = { pattern: `pattern number ${i % 500}`, scope: 'execution', holds: i % 997 !== 0 };
    const judged = {
      classification: i % 7 === 3 ? 'FAILURE' : 'SUCCESS',
      environment_valid: true,
      governance_violations: [],
      quality_signals: { coverage: i % 100, lint: true },
      regression_flags: [],
      improvement_proposals: [],
      patterns: [pattern],
    };
    return [
      { tier: 'execution', ...cycle, exit_code: 0 },
      (ids) => ({ tier: 'evaluation', ...cycle, execution: ids.at(-1), ...judged }),
    ];
  }).flat();

const made = new Map();
/** A repository with so many cycles. Made once for all figures that leave it as it is. */
export function makeCycles(scratch, env, count) {
  if (!made.has(count)) made.set(count, makeFull(scratch, env, cycleBodies(count)));
  return made.get(count);
}
