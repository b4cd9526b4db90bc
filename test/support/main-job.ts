import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BIN } from './forge.js';
import { makeFolder, type Project, run } from './project.js';

export const LINE = [
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
export function runLine(project: Project, line = LINE) {
  const bin = makeFolder('forge-bin-');
  writeFileSync(join(bin, 'forge.sh'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, {
    mode: 0o755,
  });
  symlinkSync(join(bin, 'forge.sh'), join(bin, 'forge'));
  return run(project.dir, 'sh', ['-c', line], { env: { PATH: `${bin}:${process.env.PATH}` } });
}
