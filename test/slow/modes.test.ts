import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN } from '../support/forge.js';
import { makeFolder, makeRepository, type Project, projectAt, run } from '../support/project.js';

const DAY = [
  ...['init --yes', 'hooks install --prepare', 'agent install all', 'agent install claude --user'],
  'trust --yes',
  'feature add LOGIN "Login works" --no-run --test "test -f src/app.js"',
  'session start',
  'kfr patch --goal "logout works" --add "OpenQuestion:which cookie?"',
  'kfr patch --resolve kfr-2="the first one"',
  'progress add "wired the form"',
  'feature verify LOGIN',
  'note add "the form needs a token"',
  'knowledge add invariant "every form has a token"',
  'memory record --task LOGIN --exit-code 0 --classification SUCCESS',
  'cycle --quiet --task LOGIN -- true',
  'config set features.timeout_seconds 60',
  'session end --learned "the form needs a token" --next "logout"',
  'checkpoint create LOGIN --verify "test -f src/app.js"',
  ...['recover --yes', 'recover --undo --yes', 'doctor --fix', 'status --short'],
  'ci --range HEAD~1..HEAD --junit reports/forge.xml',
];
/** Runs before the command, so that it has something to do. */
const BREAKS: Record<string, string> = {
  'checkpoint create LOGIN --verify "test -f src/app.js"': 'git add -A && git commit -qnm "Wire the agents"',
  'recover --yes': `git rm -q src/app.js && git commit -qnm "Break it"; node "${BIN}" feature verify LOGIN`,
};

/** A folder and every path below it, without symlinks. */
function pathsIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => !entry.isSymbolicLink());
  return [
    folder,
    ...entries.flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? pathsIn(path) : [path];
    }),
  ];
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

interface Day {
  project: Project;
  home: Project;
  /** Paths that existed before forge ran. */
  before: Set<string>;
}

/** Runs a day's commands under a umask. */
function spendDay(umask: string): Day {
  const project = makeRepository();
  project.git('config', 'user.name', 'Ada Tester');
  project.git('config', 'user.email', 'ada@example.com');
  const home = projectAt(realpathSync(makeFolder()));
  const before = new Set([...pathsIn(project.dir), home.dir]);
  const env = { HOME: home.dir, XDG_STATE_HOME: '' };
  for (const words of DAY) {
    const typed = `umask ${umask}; ${BREAKS[words] ?? ':'}; node "${BIN}" ${words}; exit $?`;
    const { stderr, exitCode } = run(project.dir, 'sh', ['-c', typed], { env });
    expect([0, 1], `forge ${words}: ${stderr}`).toContain(exitCode);
  }
  return { project, home, before };
}

const made = ({ project, home, before }: Day): string[] =>
  [...pathsIn(project.dir), ...pathsIn(home.dir)].filter((path) => !before.has(path));

describe.each(['022', '077'])('with umask %s', (umask) => {
  it('LAY-01 LAY-07 files of forge respect the umask; private folders are 0700', () => {
    const day = spendDay(umask);
    const paths = made(day);
    const open = paths.filter((path) => (modeOf(path) & Number.parseInt(umask, 8)) !== 0);
    expect(open).toEqual([]);
    expect(paths.length).toBeGreaterThan(100);
    for (const path of ['.forge/init.sh', '.git/hooks/commit-msg'])
      expect(modeOf(day.project.path(path))).toBe(0o777 & ~Number.parseInt(umask, 8));
    expect(modeOf(day.project.path('.forge/config.toml'))).toBe(0o666 & ~Number.parseInt(umask, 8));
    const state = pathsIn(day.home.path('.local')).filter((path) => statSync(path).isDirectory());
    expect(state.length).toBeGreaterThan(2);
    for (const path of state) expect([path, modeOf(path)]).toEqual([path, 0o700]);
  });
});
