import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/**
 * No test sees this machine's home, git configuration or tokens: each test file has a home of its own, a git that is
 * set up the same way everywhere, and nothing else in its environment.
 */
const home = mkdtempSync(join(tmpdir(), 'forge-home-'));
mkdirSync(join(home, 'state'));
writeFileSync(
  join(home, '.gitconfig'),
  [
    '[user]\n\tname = Ada Tester\n\temail = ada@example.com',
    '[init]\n\tdefaultBranch = main',
    // A background clean-up would outlive the test and hold its folder.
    '[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[core]\n\tautocrlf = false',
    // git refuses the file protocol in submodules unless told otherwise.
    '[protocol "file"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n',
  ].join('\n'),
);

const KEPT = ['PATH', 'TMPDIR', 'NODE_EXTRA_CA_CERTS', 'FORGE_SOAK'];
for (const name of Object.keys(process.env))
  if (!KEPT.includes(name) && !name.startsWith('VITEST') && name !== 'NODE_ENV') delete process.env[name];
Object.assign(process.env, {
  HOME: home,
  XDG_STATE_HOME: join(home, 'state'),
  GIT_CONFIG_NOSYSTEM: '1',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  NO_COLOR: '1',
});

afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));
