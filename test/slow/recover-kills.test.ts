import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeJson, runBinary } from '../support/forge.js';
import { kills, report } from '../support/kills.js';
import { copyOf, makeFolder, type Project, restorer } from '../support/project.js';
import { CHECKPOINT, differsFrom, files, makeBroken, staged } from '../support/recovery.js';

const INTENT = '.git/forge/recover.json';

/** A git in front of PATH that ends whoever calls it, before or after the n-th call or one with that word in it; and what was called. */
function makeKiller(): {
  env(call: number | string, when: 'before' | 'after'): NodeJS.ProcessEnv;
  calls(): string[];
} {
  const folder = makeFolder();
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const count = join(folder, 'count');
  const script = `#!/bin/sh
echo "$*" | tr '\\n' ' ' >>'${count}'
echo >>'${count}'
n=$(wc -l <'${count}')
hit=no
[ "$n" = "$KILL_AT" ] && hit=yes
case "$KILL_AT" in *[!0-9]*) case "$*" in *"$KILL_AT"*) hit=yes;; esac;; esac
[ $hit$KILL_WHEN = yesbefore ] && kill -9 $PPID && exit 1
'${real}' "$@"
code=$?
[ $hit$KILL_WHEN = yesafter ] && kill -9 $PPID
exit $code
`;
  writeFileSync(join(folder, 'git'), script);
  chmodSync(join(folder, 'git'), 0o755);
  return {
    env: (call, when) => {
      writeFileSync(count, '');
      return { PATH: `${folder}:${process.env.PATH}`, KILL_AT: String(call), KILL_WHEN: when };
    },
    calls: () => readFileSync(count, 'utf8').split('\n').filter(Boolean),
  };
}

/** Some of the calls before HEAD moves, all of them in the long run; and each one from there. */
function places(calls: readonly string[]): number[] {
  const moves = calls.findIndex((call) => call.includes('forge recover: '));
  expect(moves).toBeGreaterThan(0);
  const step = Math.ceil(calls.length / kills(3, calls.length));
  const numbers = calls.map((_, i) => i + 1);
  return numbers.filter((n) => n >= moves - 1 || n % step === 0);
}

/** Approvals belong to a place. */
async function trustedCopy(project: Project): Promise<Project> {
  const copy = copyOf(project);
  await forgeJson(copy, ['trust', '--yes'], { terminal: true });
  return copy;
}

/** What a next command makes of it: all of it or nothing, and the way back leads to every byte. */
function expectWhole(project: Project, before: { files: object; staged: string }): 'begun' | 'not begun' {
  const { stderr } = runBinary(project.dir, ['session', 'start', '--json']);
  expect([existsSync(project.path(INTENT)), stderr]).toEqual([false, '']);
  expect(existsSync(project.path('.git/index.lock'))).toBe(false);
  const now = { files: files(project), staged: staged(project) };
  if (JSON.stringify(now) === JSON.stringify(before)) return 'not begun';
  expect(differsFrom(project, CHECKPOINT)).toBe('');
  const undone = runBinary(project.dir, ['recover', '--undo', '--yes']);
  expect([undone.stderr, undone.exitCode]).toEqual([expect.any(String), 0]);
  expect({ files: files(project), staged: staged(project) }).toEqual(before);
  expect(runBinary(project.dir, ['memory', 'verify']).exitCode).toBe(0);
  return 'begun';
}

describe('kills of a rollback', () => {
  it('GIT-06 killed at any git call, it is completed by the next command, or did not start; nothing is lost', async () => {
    const broken = await makeBroken();
    const before = { files: files(broken), staged: staged(broken) };
    const killer = makeKiller();
    const whole = await trustedCopy(broken);
    expect(runBinary(whole.dir, ['recover', '--yes'], { env: killer.env(0, 'after') }).exitCode).toBe(0);
    const calls = killer.calls();
    const seen = { begun: 0, 'not begun': 0 };
    for (const n of places(calls))
      for (const when of ['before', 'after'] as const) {
        const project = await trustedCopy(broken);
        runBinary(project.dir, ['recover', '--yes'], { env: killer.env(n, when) });
        seen[expectWhole(project, before)]++;
      }
    report(`kills of a rollback: ${calls.length} calls of git, ${JSON.stringify(seen)}`);
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });

  it('GIT-06 killed at any git call, an undo is completed by the next command, or did not start', async () => {
    const broken = await makeBroken();
    const before = { files: files(broken), staged: staged(broken) };
    expect(runBinary(broken.dir, ['recover', '--yes']).exitCode).toBe(0);
    const rolled = { files: files(broken), staged: staged(broken) };
    const killer = makeKiller();
    const args = ['recover', '--undo', '--yes'];
    const place = broken.path('.git');
    const putBack = restorer(broken);
    expect(runBinary(broken.dir, args, { env: killer.env(0, 'after') }).exitCode).toBe(0);
    const calls = killer.calls();
    for (const n of places(calls))
      for (const when of ['before', 'after'] as const) {
        putBack();
        runBinary(broken.dir, args, { env: killer.env(n, when) });
        runBinary(broken.dir, ['session', 'start', '--json']);
        expect(existsSync(join(place, 'forge/recover.json'))).toBe(false);
        const now = { files: files(broken), staged: staged(broken) };
        expect([before, rolled]).toContainEqual(now);
      }
    report(`kills of an undoing: ${calls.length} calls of git`);
  });

  it('GIT-06 it waits for another git process, and is completed after that', async () => {
    const project = await makeBroken();
    const env = makeKiller().env('forge recover: rollback', 'after');
    runBinary(project.dir, ['recover', '--yes'], { env });
    expect(existsSync(project.path(INTENT))).toBe(true);
    project.write('.git/index.lock', '');
    expect(runBinary(project.dir, ['recover', '--yes'])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('another git is at work'),
    });
    rmSync(project.path('.git/index.lock'));
    runBinary(project.dir, ['session', 'start']);
    expect([existsSync(project.path(INTENT)), differsFrom(project, CHECKPOINT)]).toEqual([false, '']);
  });
});
