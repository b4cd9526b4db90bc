// The check of a range of commits, beside `git log` of the same range.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EMPTY_NODE, median, rounds, run, summary, wallMs } from './measure.mjs';
import { forge } from './repositories.mjs';

const COMMITS = 10_000;
const ROUNDS = rounds(11);
const RANGE = `main~${COMMITS}..main`;

/** As agents write them: each says something else. */
const messageOf = (n) => `[SX9-${n}] Handle case ${n} of the import

## What
- Read field ${n % 97} where it is written in two ways
- Cover it in test ${n % 311}

## Why
Import ${n} of the customers had it, and ${n % 13} others waited for it.

## Memory
- Learned: field ${n % 97} may be missing in files from before version ${n % 7}

## Backtrace
- Parent: ${(n * 2_654_435_761).toString(16).slice(-9)} (Handle case ${n - 1} of the import)
- Linear: SX9-${n}
- Session: 2026-01-${String((n % 28) + 1).padStart(2, '0')}-session-00${n % 9}
`;

function makeHistory({ cwd, env }) {
  mkdirSync(cwd);
  run(['git', 'init', '-q', '-b', 'main'], { cwd, env });
  const data = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const parts = [];
  for (let n = 0; n <= COMMITS; n++) {
    const at = `Bench <bench@example.com> ${1_600_000_000 + n * 60} +0000`;
    parts.push(`commit refs/heads/main\ncommitter ${at}\n${data(messageOf(n))}`);
    parts.push(`M 100644 inline file-${n % 200}.txt\n${data(`Line ${n}\n`)}`);
  }
  run(['git', 'fast-import', '--quiet'], { cwd, env, input: parts.join('') });
}

function measureRange(_figure, { env }, scratch) {
  const place = { cwd: join(scratch, 'commits'), env };
  if (!existsSync(place.cwd)) makeHistory(place);
  const time = (argv) => wallMs(argv, place);
  const ratios = [];
  const times = [];
  for (let round = -2; round < ROUNDS; round++) {
    const node = time(EMPTY_NODE);
    const git = time(['git', 'log', RANGE]);
    const own = time(forge('commit', 'check', '--range', RANGE));
    if (round < 0) continue;
    ratios.push((own - node) / git);
    times.push(own);
  }
  return { ...summary(ratios), ms: median(times) };
}

export const COMMIT_FIGURES = [
  {
    name: 'commit check --range, 10,000 commits',
    unit: 'git log, over Node',
    where: 'none',
    limit: 3,
    measure: measureRange,
  },
];
