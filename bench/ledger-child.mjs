// One measurement in a process of its own, so that no other one warms it up: `node ledger-child.mjs KIT WHAT FOLDER …`.
import * as crypto from 'node:crypto';
import { appendFileSync, closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const [kitPath, what, folder, ...rest] = process.argv.slice(2);
const kit = await import(kitPath);

const open = () => kit.openContext(folder, kit.systemWorld(process.env, false), false);

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** What any verifier has to do at least: read, split, parse, hash each line. */
function bareLoop() {
  const bytes = readFileSync(join(folder, '.forge', 'memory', 'execution.jsonl'));
  let count = 0;
  for (let start = 0, end = bytes.indexOf(10); end >= 0; start = end + 1, end = bytes.indexOf(10, start)) {
    const line = bytes.subarray(start, end);
    if (JSON.parse(line.toString('utf8')).v === 1) count += crypto.hash('sha256', line).length;
  }
  return count;
}

async function fullVerification() {
  const context = open();
  let inspection;
  const ms = await timed(async () => {
    inspection = await kit.inspectMemory(context, true);
  });
  if (inspection.findings.length > 0) throw new Error(JSON.stringify(inspection.findings[0]));
  return { ms };
}

/** As a session start does it, in a process that has verified nothing itself. */
async function startUp() {
  const context = open();
  let inspection;
  const ms = await timed(async () => {
    inspection = await kit.inspectMemory(context, false);
  });
  if (inspection.look !== null) throw new Error('the last verification was not trusted');
  return { ms };
}

const LINE = `${JSON.stringify({ kind: 'cycle', text: 'x'.repeat(300) })}\n`;

/** Lock, append, unlock, with nothing of a ledger: what durable appends by many writers cost at least. */
function bareAppends(count, sync) {
  const context = open();
  const policy = { me: context.world.self, liveness: context.world.liveness, waitMs: 120_000 };
  const file = join(folder, 'bare.jsonl');
  for (let i = 0; i < count; i++)
    kit.withLock(join(folder, 'bare.lock'), policy, () => {
      if (!sync) return appendFileSync(file, LINE);
      const fd = openSync(file, 'a');
      writeSync(fd, LINE);
      fsyncSync(fd);
      closeSync(fd);
    });
}

async function ledgerAppends(count, sync) {
  const context = open();
  // What the guard costs is a figure of its own (bench/guard.mjs).
  context.disk.guard = () => {};
  const around = await kit.surroundings(context);
  const body = JSON.parse(LINE);
  for (let i = 0; i < count; i++) kit.appendRecords(context.disk, around, 'execution', [body], { sync });
}

/** The evaluations as text, and JSON.parse alone. */
function bareParse() {
  const text = readFileSync(join(folder, '.forge', 'memory', 'evaluation.jsonl'), 'utf8');
  const lines = text.trimEnd().split('\n');
  return timed(() => {
    for (const line of lines) JSON.parse(line);
  });
}

async function weigh() {
  const context = open();
  let plan;
  const ms = await timed(() => {
    ({ plan } = kit.assess(context));
  });
  if (plan.promoted.length === 0) throw new Error('nothing was promoted');
  return { ms };
}

const MEASURES = {
  'bare-parse': async () => ({ ms: await bareParse() }),
  weigh,
  bare: async () => ({ ms: await timed(bareLoop) }),
  full: fullVerification,
  start: startUp,
  remember: async () => {
    await kit.settleMemory(open(), 'none', true);
    return {};
  },
  'bare-append': async ([count, sync]) => ({
    ms: await timed(() => bareAppends(Number(count), sync === 'sync')),
  }),
  append: async ([count, sync]) => ({ ms: await timed(() => ledgerAppends(Number(count), sync === 'sync')) }),
  history: async () => ({
    ms: await timed(() =>
      kit.readRemovedLines(
        kit.streamGit(folder, process.env),
        { folder: '.forge/memory', from: null, to: 'HEAD', skipReadded: true, repository: null },
        () => {},
      ),
    ),
  }),
};

const answer = await MEASURES[what](rest);
console.log(JSON.stringify({ ...answer, peak_kib: process.resourceUsage().maxRSS }));
