// What git's hooks take: commit-msg alone, a commit with all of them, a rebase of 20 commits.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withGit } from './commands.mjs';
import { median, rounds, run, summary, wallMs, wallTimes } from './measure.mjs';
import { forge, gitCallsOf } from './repositories.mjs';

const ROUNDS = rounds(9);
const REBASED = 20;

const MESSAGE = `[FORGE] Read the field where it is written in two ways

## What
- The reader takes both
- A test for each

## Why
Half of the customers had files with the other one.

## Memory
- Learned: the field may be missing before version 3

## Backtrace
- Parent: none
- Linear: none
- Session: 2026-01-05-session-001
`;

export function makePlace(scratch, env, name) {
  const cwd = join(scratch, name);
  if (existsSync(cwd)) return { cwd, env };
  mkdirSync(cwd);
  const place = { cwd, env };
  run(['git', 'init', '-q', '-b', 'main'], place);
  run(forge('init', '--yes', '--stack', 'none'), place);
  run(['git', 'add', '-A'], place);
  run(['git', 'commit', '-q', '-m', 'Begin'], place);
  writeFileSync(join(cwd, '.git', 'message'), MESSAGE);
  return place;
}

export function hooked(scratch, env) {
  const place = makePlace(scratch, env, 'hooked');
  run(forge('hooks', 'install'), place);
  return place;
}

/** The installed hook as git runs it, its shell and the guard included, on a message that is right. */
const commitMessage = ({ limit }, { env }, scratch) => {
  const place = hooked(scratch, env);
  const argv = ['sh', '.git/hooks/commit-msg', '.git/message'];
  return withGit(wallTimes([argv, gitCallsOf(argv, scratch, place)], place), limit);
};

/** Rounds of both, one after the other; `between` is not measured. */
function ratioOf(one, other, between = () => {}) {
  const ratios = [];
  const times = [];
  for (let round = -2; round < ROUNDS; round++) {
    between();
    const base = wallMs(...other);
    between();
    const own = wallMs(...one);
    if (round < 0) continue;
    ratios.push(own / base);
    times.push(own);
  }
  return { ...summary(ratios), ms: median(times) };
}

export const COMMIT = ['git', 'commit', '-q', '--allow-empty', '-F', '.git/message'];

/** `git commit` with all hooks, beside one without hooks. */
const commits = ({ limit }, { env }, scratch) => {
  const places = [hooked(scratch, env), makePlace(scratch, env, 'bare')];
  return withGit(wallTimes(places.map((place) => ({ argv: COMMIT, place }))), limit);
};

/** Twenty commits onto another one, with and without hooks. */
function makeStack(place) {
  run(['git', 'switch', '-qc', 'stack'], place);
  for (let n = 0; n < REBASED; n++) {
    writeFileSync(join(place.cwd, `file-${n}.txt`), `${n}\n`);
    run(['git', 'add', '.'], place);
    run(['git', 'commit', '-q', '--no-verify', '-F', '.git/message'], place);
  }
  run(['git', 'switch', '-q', 'main'], place);
  writeFileSync(join(place.cwd, 'base.txt'), 'base\n');
  run(['git', 'add', '.'], place);
  run(['git', 'commit', '-q', '--no-verify', '-F', '.git/message'], place);
  run(['git', 'branch', '-q', 'work', 'stack'], place);
}

const rebase = ({ limit }, { env }, scratch) => {
  const plain = makePlace(scratch, env, 'plain-stack');
  const own = makePlace(scratch, env, 'own-stack');
  for (const place of [plain, own]) makeStack(place);
  run(forge('hooks', 'install'), own);
  const rewind = () => {
    for (const place of [plain, own]) {
      rmSync(join(place.cwd, '.git', 'rebase-merge'), { recursive: true, force: true });
      run(['git', '-c', 'core.hooksPath=/dev/null', 'switch', '-qf', 'main'], place);
      run(['git', 'branch', '-qf', 'work', 'stack'], place);
    }
  };
  const argv = ['git', 'rebase', '-q', 'main', 'work'];
  return { ...ratioOf([argv, own], [argv, plain], rewind), limit };
};

export const GIT_HOOK_FIGURES = [
  { name: 'hook commit-msg', unit: 'ms', limit: 70, measure: commitMessage },
  { name: 'git commit with all hooks', unit: 'ms', limit: 100, measure: commits },
  { name: 'rebase of 20 commits with hooks', unit: 'without', limit: 4, measure: rebase },
].map((figure) => ({ ...figure, where: 'none' }));
