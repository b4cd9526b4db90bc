import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN } from '../support/forge.js';
import { makeFolder, makeRepository, type Project, run } from '../support/project.js';

const LINE = [
  'forge init --yes',
  'forge feature add FORGE-001 "Login works" --no-run --test "npm test"',
  'forge start',
  'forge log "wired the form"',
  'forge done FORGE-001',
  'forge end --learned "the form needs a CSRF token" --next "wire the logout button"',
  'git log -1',
  'forge start --format markdown',
].join(' && ');

/** The line in one shell, with `forge` found on PATH as npm would put it there. */
function runLine(project: Project) {
  const bin = makeFolder('forge-bin-');
  writeFileSync(join(bin, 'forge.sh'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, {
    mode: 0o755,
  });
  symlinkSync(join(bin, 'forge.sh'), join(bin, 'forge'));
  return run(project.dir, 'sh', ['-c', LINE], { env: { PATH: `${bin}:${process.env.PATH}` } });
}

/** What stands between two texts, both of which must be there, in this order. */
function between(text: string, from: string, to: string): string {
  const start = text.indexOf(from);
  const end = text.indexOf(to, start);
  expect(start, `${from} in ${text}`).toBeGreaterThanOrEqual(0);
  expect(end, `${to} after ${from} in ${text}`).toBeGreaterThan(start);
  return text.slice(start, end);
}

describe('the main workflow, as one shell line', () => {
  it('SES-01 SES-06 FEA-02 hands one session over to the next, and git has everything', () => {
    const project = makeRepository();

    const { stdout, stderr, exitCode } = runLine(project);

    expect(stderr.replace(/^npm (warn|notice).*\n/gm, '')).not.toMatch(/forge:|rror|Warning/);
    expect(exitCode).toBe(0);
    const first = between(stdout, 'session-001 started', '] wired the form');
    expect(first).toContain('Task: FORGE-001: Login works');
    expect(first).toContain('1 feature: 1 not_implemented');
    expect(stdout).toMatch(/^\[\d\d:\d\d\] wired the form$/m);
    expect(stdout).toMatch(/^✓ FORGE-001 {2}not_implemented → passing/m);
    const end = between(stdout, 'session-001 ended', 'Author: Ada Tester');
    expect(end).toMatch(
      /^ {2}archive {2}\.forge\/memory\/sessions\/\d{4}-\d\d-\d\d-session-001-[0-9a-f]{6}\.json$/m,
    );
    expect(end).toMatch(/^ {2}learned {2}the form needs a CSRF token$/m);
    expect(end).toMatch(/^ {2}commit {3}[0-9a-f]{7} \[FORGE-001\] Session end: Login works$/m);
    expect(between(stdout, 'Author: Ada Tester', '# FORGE briefing')).toContain(
      '    [FORGE-001] Session end: Login works',
    );

    const second = stdout.slice(stdout.indexOf('# FORGE briefing'));
    expect(second).toMatch(/^# FORGE briefing, \d{4}-\d\d-\d\d-session-002$/m);
    expect(second).toMatch(/^- wire the logout button \(from \d{4}-\d\d-\d\d-session-001\)$/m);
    expect(second).toMatch(/^- C-\d{6}: the form needs a CSRF token, seen 1 time$/m);
    expect(second).toContain('- 1 feature: 1 passing');
    // Commits of forge's own say nothing about the work.
    expect(second).toMatch(/^- [0-9a-f]{7} \d{4}-\d\d-\d\d Begin$/m);
    expect(second).not.toContain('Session end: Login works');
  });
});
