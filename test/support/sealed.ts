import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * No test sees this machine's home, git configuration, tokens or forge: each test file has a home of its own, a git that is
 * set up the same way everywhere, this checkout's forge on its PATH, and nothing else in its environment.
 */
const home = mkdtempSync(join(tmpdir(), 'forge-home-'));
mkdirSync(join(home, 'state'));
// The template of a new repository, without git's 14 sample hooks.
for (const folder of ['hooks', 'info']) mkdirSync(join(home, 'template', folder), { recursive: true });
writeFileSync(
  join(home, '.gitconfig'),
  [
    '[user]\n\tname = Ada Tester\n\temail = ada@example.com',
    `[init]\n\tdefaultBranch = main\n\ttemplateDir = ${join(home, 'template')}`,
    // A background clean-up would outlive the test and hold its folder.
    '[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[core]\n\tautocrlf = false',
    // git refuses the file protocol in submodules unless told otherwise.
    '[protocol "file"]\n\tallow = always\n[advice]\n\tdetachedHead = false',
    // Settings of a person that must not change what forge does.
    '[submodule]\n\trecurse = true\n[grep]\n\tcolumn = true\n\tpatternType = perl',
    '[log]\n\tfollow = true\n\tdiffMerges = first-parent\n\tdate = relative',
    '[diff]\n\trenames = copies\n[status]\n\tshort = true\n\trelativePaths = false\n',
  ].join('\n'),
);

/** First on PATH, as if it was installed, for other users of the machine as well: this checkout's forge and the tests' Node. */
const programs = mkdtempSync(join(tmpdir(), 'forge-path-'));
chmodSync(programs, 0o755);
symlinkSync(fileURLToPath(new URL('../../bin/forge.js', import.meta.url)), join(programs, 'forge'));
symlinkSync(process.execPath, join(programs, 'node'));

/** The folder itself, or one with all that is in it but a forge. */
function withoutForge(folder: string, index: number): string {
  if (!existsSync(join(folder, 'forge'))) return folder;
  const others = join(programs, String(index));
  mkdirSync(others);
  for (const name of readdirSync(folder).filter((name) => name !== 'forge'))
    symlinkSync(join(folder, name), join(others, name));
  return others;
}

const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);

const KEPT = ['PATH', 'TMPDIR', 'FORGE_SOAK'];
for (const name of Object.keys(process.env))
  if (!KEPT.includes(name) && !name.startsWith('VITEST') && name !== 'NODE_ENV') delete process.env[name];
Object.assign(process.env, {
  HOME: home,
  PATH: [programs, ...folders.map(withoutForge)].join(delimiter),
  XDG_STATE_HOME: join(home, 'state'),
  GIT_CONFIG_NOSYSTEM: '1',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  NO_COLOR: '1',
});
