import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Diagnosis, InitResult, StartedSession, Where } from '../../src/index.js';
import { doctor, NO_HOOKS, SERVERS, SETTINGS, wire } from '../support/doctored.js';
import { BIN, forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import {
  CONFIG,
  FEATURES,
  KNOWLEDGE,
  makeForge,
  makePlainForge,
  SESSIONS,
  snapshot,
} from '../support/forge-project.js';
import { containerOf, record, verify } from '../support/memory.js';
import {
  commitAll,
  makeFolder,
  makePlainProject,
  makeRepository,
  type Project,
  projectAt,
  run,
} from '../support/project.js';

/** Each finding with its first command. */
const rowsOf = (findings: Diagnosis['findings']): string[] =>
  findings.map(({ severity, observed, commands }) => `${severity}: ${observed} → ${commands[0]}`);

async function look(project: Pick<Project, 'dir'>, args: string[] = []) {
  const { stdout, stderr, exitCode } = await runForge(project, ['doctor', ...args, '--json']);
  expect(stderr).toBe('');
  const { findings } = JSON.parse(stdout) as Diagnosis;
  for (const { observed, expected, why, commands } of findings)
    for (const text of [observed, expected, why, ...commands]) expect(text).toMatch(/\S/);
  return { exitCode, found: rowsOf(findings.filter(({ observed }) => observed !== NO_HOOKS)) };
}

describe('forge doctor where something is damaged', () => {
  const damages: [string, (project: Project) => void, RegExp][] = [
    ['settings that are not TOML', (p) => p.write(CONFIG, '[[['), /config\.toml:1.* → cp .* && git restore/],
    ['a folder for features', (p) => asFolder(p, FEATURES), /features\.json is a folder.* → Replace it/],
    [
      'features without an end',
      (p) => truncateSync(p.path(FEATURES), 20),
      /features\.json:\d.* → mv \S*features\.json \S*features\.json\.damaged && forge init {3}#/,
    ],
    ['huge knowledge', (p) => truncateSync(p.path(KNOWLEDGE), 20 << 20), /knowledge\.json has \d+ bytes/],
    [
      'an archive',
      (p) => p.write(`${SESSIONS}/2026-03-01-session-001-0123ab.json`, '{'),
      /session-001-0123ab\.json:1/,
    ],
    ['a file for memory', (p) => asFile(p, '.forge/memory'), /memory.*ENOTDIR/],
    ['a file for the state', (p) => asFile(p, '.git/forge'), /\.git\/forge.*ENOTDIR/],
    [
      'the index',
      (p) => p.write('.git/index', 'junk'),
      /git ls-files: .*index.* → rm .*index\)" && git reset /,
    ],
    ['a link for .forge', (p) => linked(p), /\.forge is a symbolic link/],
  ];

  it.each(damages)('B-12 reports damage and does not fail: %s', async (_, damage, expected) => {
    const project = await makeForge();
    damage(project);
    const before = snapshot(project.dir);
    for (const args of [[], ['--agent'], ['--fix']]) {
      const { exitCode, found: told } = await look(project, args);
      expect([args, exitCode]).toEqual([args, 1]);
      expect(told.filter((text) => /^blocking/.test(text)).join('\n')).toMatch(expected);
    }
    expect(snapshot(project.dir)).toEqual(before);
  });

  it('LAY-05 B-38 works in a bare repository, in a git dir and in an empty folder', async () => {
    const bare = projectAt(makeFolder());
    bare.git('init', '-q', '--bare');
    for (const place of [bare, { dir: makeRepository().path('.git') }, makePlainProject()])
      expect((await look(place)).found).toEqual([expect.stringMatching(/^blocking: There is no \.forge\//)]);
    const plain = await makePlainForge();
    plain.write(FEATURES, '{');
    expect((await look(plain)).found).toContainEqual(
      expect.stringMatching(/^blocking: \.forge\S*features\.json:1/),
    );
  });

  it.runIf(process.getuid?.() === 0)('B-38 reports files that another user may not write', async () => {
    const project = await makeForge();
    chmodSync(project.dir, 0o755);
    chmodSync(project.path(FEATURES), 0o600);
    const home = makeFolder();
    chownSync(home, 65534, 65534);
    const person = ['--reuid=65534', '--clear-groups', process.execPath, BIN];
    const env = { HOME: home, XDG_STATE_HOME: home };
    const look = (): string[] => {
      const { exitCode, stdout } = run(project.dir, 'setpriv', [...person, 'doctor', '--json'], { env });
      expect(exitCode).toBe(1);
      const { findings } = JSON.parse(stdout) as Diagnosis;
      return findings.map(({ observed, commands }) => `${observed} → ${commands[0]}`);
    };
    expect(look()).toEqual([
      expect.stringMatching(/dubious ownership.* → git config --global --add safe\.directory/),
    ]);
    writeFileSync(join(home, '.gitconfig'), `[safe]\n\tdirectory = ${project.dir}\n`);
    expect(look()).toContainEqual(expect.stringMatching(/EACCES|permission denied/i));
    const file = await record(project).then(() => containerOf(project));
    chmodSync(project.path(file), 0o600);
    expect(look()).toContainEqual(
      expect.stringMatching(/ledger\/\S+: permission denied → ls -la \S*ledger /),
    );
    const scan = run(project.dir, 'setpriv', [...person, 'guard', 'scan'], { env });
    expect(scan).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(/^forge: \S+: permission denied\.\n {2}→ ls -la \S/),
    });
  });
});

function asFolder(project: Project, path: string): void {
  rmSync(project.path(path));
  mkdirSync(project.path(path));
}
function asFile(project: Project, path: string): void {
  rmSync(project.path(path), { recursive: true });
  project.write(path, 'x');
}
function linked(project: Project): void {
  const folder = makeFolder();
  rmSync(project.path('.forge'), { recursive: true });
  symlinkSync(folder, project.path('.forge'));
}

describe('forge doctor about the repository', () => {
  it('distinguishes an ignored folder from one that is not committed yet', async () => {
    const fresh = makeRepository();
    await runForge(fresh, ['init', '--yes']);
    expect(await doctor(fresh)).toMatchObject({
      exitCode: 0,
      found: ['advisory: .forge/ is not in git yet'],
    });
    fresh.write('.gitignore', '.forge/\n');
    expect((await doctor(fresh)).found).toEqual(['degraded: git ignores .forge/']);

    const tracked = await makeForge();
    tracked.write('.gitignore', '.forge\n');
    expect((await doctor(tracked)).found).toEqual(['degraded: git ignores .forge/']);
    mkdirSync(tracked.path('src/deep'), { recursive: true });
    const below = { dir: tracked.path('src/deep') };
    expect((await doctor(below)).found).toEqual(['degraded: git ignores .forge/']);
  });

  it('LAY-05 names parts of memory that a rule of the project keeps out of commits; so do init and the end of a session', async () => {
    const project = makeRepository();
    project.write('.gitignore', '*.jsonl\nsessions/\n');
    commitAll(project);
    const found = 'git ignores .forge/memory/ledger/, .forge/memory/sessions/';
    const fix = 'git check-ignore -v .forge/memory/ledger/new.jsonl   # shows the rule';
    const { skipped } = await forgeJson<InitResult>(project, 'init');
    expect(skipped).toContain(`${found}, so no commit has it: ${fix}`);
    expect((await doctor(project)).found).toContain(`degraded: ${found}`);
    expect(project.git('check-ignore', '-v', '.forge/memory/ledger/new.jsonl')).toMatch(/^\.gitignore:1:/);
    await runForge(project, 'start');
    await runForge(project, ['log', 'one']);
    expect((await runForge(project, 'end')).stderr).toContain(`! ${found}, so no commit has it: ${fix}\n`);
  });
});

describe('forge doctor --agent', () => {
  it('AGT-01 explains how to start; a named agent has to be wired', async () => {
    const project = await makeForge();
    expect(await doctor(project, ['--agent'])).toMatchObject({
      exitCode: 0,
      found: ['advisory: no agent is wired here'],
    });
    expect(await doctor(project, ['--agent', 'claude'])).toMatchObject({
      exitCode: 1,
      found: ['blocking: Claude Code is not wired'],
      commands: ['forge agent install claude'],
    });
    const error = await forgeError(project, ['doctor', '--agent', 'nobody']);
    expect([error.exitCode, error.code]).toEqual([2, 'agent.unknown']);
  });

  it('AGT-01 checks that the program of a hook exists', async () => {
    const project = await makeForge();
    for (const start of [`node '${BIN}'`, 'npx --no-install forge']) {
      wire(project, start);
      expect((await doctor(project, ['--agent'])).found).toEqual([]);
    }
    wire(project, '/gone/forge');
    expect(await doctor(project, ['--agent'])).toMatchObject({
      exitCode: 1,
      found: [SETTINGS, SERVERS].map((path) => `blocking: ${path} starts /gone/forge, which does not exist`),
    });
  });

  it('AGT-01 reports unapproved tests and failed hooks', async () => {
    const project = await makeForge();
    wire(project);
    await runForge(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true']);
    await runForge(project, ['trust', '--revoke'], { terminal: true });
    const ago = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
    const log = [`${ago(30)} claude stop: disk.full`, `${ago(1)} claude session-start: lock.busy`];
    project.write('.git/forge/hooks.log', `${log.join('\n')}\n`);
    const { found, commands, exitCode } = await doctor(project, ['--agent']);
    expect(found).toEqual([
      expect.stringMatching(/^degraded: not approved: \d of this project's tests, scripts and skills$/),
      'degraded: hooks failed within the last day: session-start: lock.busy',
    ]);
    expect(commands).toEqual(['forge trust', 'tail .git/forge/hooks.log']);
    expect(exitCode).toBe(0);
  });
});

const SCRIPT = '.git/forge/hook';
const RECOVER = '.git/forge/recover.json';

const findings = async (project: Project): Promise<Diagnosis['findings']> =>
  (JSON.parse((await runForge(project, ['doctor', '--json'])).stdout) as Diagnosis).findings;

const found = async (project: Project): Promise<string[]> => rowsOf(await findings(project));

/** Memory that was damaged and is intact again. */
async function waiting(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['hooks', 'install']);
  await record(project);
  const file = containerOf(project);
  const whole = project.read(file);
  project.write(file, whole.replace('"task_id":"A"', '"task_id":"Z"'));
  await verify(project);
  project.write(file, whole);
  await verify(project);
  return project;
}

const start = (project: Project, options: RunOptions = {}): Promise<StartedSession> =>
  forgeJson(project, ['session', 'start'], options);

describe('work that waits for a human', () => {
  it('LTM-05 is reported by forge, doctor and each session start until a human has reviewed it', async () => {
    const project = await waiting();
    const said = /memory was damaged and is intact again .* wait for a human's review/i;
    const [finding] = await findings(project);
    expect(finding).toMatchObject({
      severity: 'blocking',
      observed: expect.stringMatching(said),
      commands: ['forge memory override acknowledge --reason "TEXT"'],
    });
    for (let i = 0; i < 2; i++) {
      const { warnings } = await start(project);
      expect(warnings.filter((text) => said.test(text)).length).toBe(1);
      expect(warnings.join()).toContain('forge memory override acknowledge --reason "TEXT"');
    }
    const where = await forgeJson<Where>(project, []);
    expect(where).toMatchObject({ paused: expect.stringMatching(said), recovering: false });
    expect(where.next.slice(0, 1)).toEqual(finding?.commands);
    expect((await runForge(project, [])).stdout).toMatch(/^Paused {4}Memory was damaged/m);
    expect((await runForge(project, ['cycle', 'true'])).exitCode).toBe(3);

    await forgeJson(project, ['memory', 'override', 'acknowledge', '--reason', 'seen'], { terminal: true });
    expect(await found(project)).toEqual([]);
    expect((await start(project)).warnings).toEqual([]);
    expect((await forgeJson<Where>(project, [])).paused).toBeNull();
  });
});

describe('a rollback that waits', () => {
  it('GIT-06 is reported by forge, doctor and session start, with the command that completes it', async () => {
    const project = await makeForge();
    await forgeJson(project, ['hooks', 'install']);
    project.write(RECOVER, '{ "half": ');
    expect(await found(project)).toEqual([
      'blocking: a rollback or its undo was interrupted → forge recover',
    ]);
    const where = await forgeJson<Where>(project, []);
    expect([where.recovering, where.next[0]]).toEqual([true, 'forge recover']);
    expect((await runForge(project, [])).stdout).toMatch(/^Recovery {2}a rollback/m);
    expect((await start(project)).warnings.join()).toMatch(
      /A recovery was interrupted and waits for: forge recover: /,
    );
  });
});

describe('forge doctor about git hooks', () => {
  it('GIT-03 reports missing hooks', async () => {
    const project = await makeForge();
    expect(await found(project)).toEqual(["advisory: git's hooks are not installed → forge hooks install"]);
    await forgeJson(project, ['hooks', 'install']);
    expect(await found(project)).toEqual([]);
    rmSync(project.path('.git/hooks/commit-msg'));
    expect(await found(project)).toEqual(['degraded: commit-msg: not installed → forge hooks install']);
    rmSync(project.path(SCRIPT));
    expect(await found(project)).toContainEqual(
      expect.stringMatching(
        /^degraded: git's hooks start \S+hook, which does not exist → forge hooks install$/,
      ),
    );
    await forgeJson(project, ['hooks', 'install']);
    expect(await found(project)).toEqual([]);
  });

  it('GIT-03 reports nothing when they are turned off, and why they cannot be installed', async () => {
    const project = await makeForge();
    project.git('config', 'core.hooksPath', makeFolder());
    expect(await found(project)).toEqual([
      expect.stringMatching(
        /^advisory: git's hooks are not installed: .* belongs to more than this repository → forge hooks status$/,
      ),
    ]);
    await forgeJson(project, ['config', 'set', 'commit.enforce', 'off']);
    expect(await found(project)).toEqual([]);
  });
});
