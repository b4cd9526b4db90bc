import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CiReport } from '../../src/index.js';
import { forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import {
  makeFolder,
  makePlainProject,
  makeRepository,
  type Project,
  projectAt,
  run,
} from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { isWellFormed } from '../support/xml.js';
import { create } from './checkpoints.js';
import { linesOf, putLines, record, segmentOf, verify } from './memory.js';
import {
  CONFIG,
  differences,
  FEATURES,
  makeForge,
  makePlainForge,
  PASSING_FEATURE,
  putFeatures,
  snapshot,
} from './project.js';

const GOOD = `[SX9-123] Brief description

## What
- Specific change 1

## Why
Rationale for the change

## Memory
- Learned: key insight

## Backtrace
- Parent: none
- Linear: SX9-123
- Session: none
`;

const ZEROS = '0'.repeat(40);
/** As outside of any pipeline, wherever these tests run. */
const NOWHERE = {
  GITHUB_ACTIONS: undefined,
  GITHUB_BASE_REF: undefined,
  GITHUB_EVENT_PATH: undefined,
  GITLAB_CI: undefined,
};

function commit(project: Project, message: string = GOOD): string {
  writeFileSync(project.path('.git/message'), message);
  project.git('add', '.');
  project.git('commit', '-q', '--allow-empty', '--cleanup=verbatim', '-F', '.git/message');
  return project.git('rev-parse', 'HEAD');
}

/** A repository in which nothing is wrong with the last commit. */
async function ready(): Promise<Project> {
  const project = await makeForge();
  project.write('src/more.js', 'export const more = 1;\n');
  commit(project);
  return project;
}

async function ci(
  project: Pick<Project, 'dir'>,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  options: RunOptions = {},
): Promise<CiReport & { exitCode: number | null; states: string[] }> {
  const { stdout, stderr, exitCode } = await runForge(project, ['ci', ...args, '--json'], {
    ...options,
    env: { ...NOWHERE, ...env },
  });
  if (stdout === '') throw new Error(`forge ci: ${exitCode} ${stderr}`);
  const report = JSON.parse(stdout) as CiReport;
  return { ...report, exitCode, states: report.checks.map(({ state }) => state) };
}

const text = async (project: Pick<Project, 'dir'>, args: string[], env: NodeJS.ProcessEnv = {}) =>
  runForge(project, ['ci', ...args], { env: { ...NOWHERE, ...env } });

const failed = ({ checks }: CiReport): string[] =>
  checks.filter(({ state }) => state === 'failed').map(({ name, cause }) => `${name} ${cause}`);

const messages = ({ checks }: CiReport): string[] =>
  checks.flatMap(({ findings }) => findings.map(({ message }) => message));

/** An event of GitHub's, in a file as the runner has it. */
function githubEvent(event: unknown): NodeJS.ProcessEnv {
  const file = `${makeFolder()}/event.json`;
  writeFileSync(file, JSON.stringify(event));
  return { GITHUB_ACTIONS: 'true', GITHUB_EVENT_PATH: file };
}

/** A clone as a pipeline has it, with forge's own trust of nothing. */
function cloneOf(project: Project, ...args: string[]): Project {
  const clone = projectAt(makeFolder());
  const { exitCode, stderr } = run(clone.dir, 'git', ['clone', '-q', ...args, `file://${project.dir}`, '.']);
  expect([exitCode, stderr]).toEqual([0, '']);
  return clone;
}

describe('forge ci', () => {
  it('GIT-07 all is well: exit 0, five checks in order, nothing is written', async () => {
    const project = await ready();
    const before = snapshot(project.dir);
    const { stdout, stderr, exitCode } = await text(project, []);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout.split('\n')).toEqual([
      '✓ commits      1 commit in HEAD^1..HEAD (the last commit)',
      expect.stringMatching(/^✓ memory {7}\d records$/),
      '✓ guard        2 added places in 1 commit',
      '✓ features     0 of 0 features passing',
      '✓ checkpoints  0 checkpoints',
      'forge ci: nothing is wrong',
      '',
    ]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    const report = await ci(project);
    expect(report).toMatchObject({
      ok: true,
      exitCode: 0,
      range: 'HEAD^1..HEAD',
      range_from: 'the last commit',
    });
  });

  it('GIT-07 a builder may run it, and it runs while memory is halted', async () => {
    const project = await ready();
    expect((await ci(project, [], { FORGE_ROLE: 'builder' })).exitCode).toBe(0);
    for (let i = 0; i < 2; i++) await record(project);
    const file = segmentOf(project, 'execution');
    const lines = linesOf(project, file);
    putLines(project, file, lines.slice(1));
    await verify(project);
    putLines(project, file, lines);
    const report = await ci(project);
    expect([report.exitCode, failed(report)]).toEqual([4, ['memory corrupted']]);
    expect(messages(report)).toEqual([expect.stringMatching(/^memory is halted: /)]);
  });

  it('GIT-07 without a .forge/ it exits 2 and says what to type', async () => {
    expect(await forgeError(makeRepository(), ['ci'])).toMatchObject({
      exitCode: 2,
      code: 'not_a_forge',
      hint: 'forge init',
    });
  });

  it('GIT-07 without git, and without a commit, it skips what there is none of', async () => {
    const plain = await ci(await makePlainForge());
    expect([plain.exitCode, plain.states]).toEqual([0, ['skipped', 'ok', 'skipped', 'ok', 'ok']]);
    const unborn = makePlainProject();
    unborn.git('init', '-q');
    await forgeJson(unborn, ['init']);
    expect((await ci(unborn)).checks[0]).toMatchObject({
      state: 'skipped',
      detail: 'there is no commit yet',
    });
  });

  it.each([
    ['--format', 'pink'],
    ['--template', 'jenkins'],
    ['--range', '--output=x'],
    ['--range', 'no-such..HEAD'],
    ['--range', ''],
  ])('GIT-07 %s %j is a wrong call: exit 2, one line', async (flag, value) => {
    expect(await forgeError(await ready(), ['ci', flag, value], { env: NOWHERE })).toMatchObject({
      exitCode: 2,
    });
  });

  it.each(['github', 'gitlab'])(
    'GIT-07 --template %s prints a pipeline, with and without a .forge/',
    async (system) => {
      const { stdout, exitCode } = await runForge(makePlainProject(), ['ci', '--template', system]);
      expect(exitCode).toBe(0);
      for (const words of [
        'forge ci --junit forge-ci.xml',
        'npm install --global forge-memory',
        /fetch-depth: 0|GIT_DEPTH: "0"/,
      ])
        expect(stdout).toMatch(words);
      expect(stdout).not.toContain('\t');
    },
  );
});

describe('forge ci: each cause alone', () => {
  it('GIT-07 commits out of the protocol exit 1, each with what to write', async () => {
    const project = await ready();
    const sha = commit(project, 'Quick fix\n');
    const report = await ci(project);
    expect([report.exitCode, failed(report)]).toEqual([1, ['commits findings']]);
    expect(report.checks[0]?.findings[0]).toMatchObject({
      commit: sha,
      message: expect.stringContaining('line 1: The subject is not'),
      fix: 'write: [FORGE] Quick fix',
    });
    project.write(CONFIG, "[commit]\nenforce = 'off'\n");
    expect((await ci(project)).states[0]).toBe('skipped');
  });

  it('GIT-07 what is still to be squashed exits 1', async () => {
    const project = await ready();
    commit(project, 'fixup! [SX9-123] Brief description\n');
    const report = await ci(project);
    expect([report.exitCode, messages(report)]).toEqual([
      1,
      ['still to be squashed: fixup! [SX9-123] Brief description'],
    ]);
  });

  it('GIT-07 damaged memory exits 4, and so does a commit that drops a record', async () => {
    const project = await ready();
    for (let i = 0; i < 2; i++) await record(project);
    const file = segmentOf(project, 'execution');
    const lines = linesOf(project, file);
    putLines(
      project,
      file,
      lines.map((line) => line.replace('"exit_code":0', '"exit_code":1')),
    );
    const edited = await ci(project);
    expect([edited.exitCode, failed(edited)]).toEqual([4, ['memory corrupted']]);
    expect(edited.checks[1]?.findings[0]).toMatchObject({ file, line: expect.any(Number) });
    putLines(project, file, lines);
    commit(project);
    project.git('rm', '-q', '-r', '.forge/memory/execution.d');
    commit(project);
    const dropped = await ci(cloneOf(project));
    expect([dropped.exitCode, failed(dropped)]).toEqual([4, ['memory corrupted']]);
    expect(messages(dropped).join()).toMatch(
      /commit [0-9a-f]{12} dropped 2 records .* of the execution ledger/,
    );
  });

  it('GIT-07 a secret in a file or in a message exits 5, and is shown nowhere', async () => {
    const secret = SAMPLES.secret();
    for (const inMessage of [true, false]) {
      const project = await ready();
      if (!inMessage) project.write('src/key.js', `\nconst key = '${secret}';\n`);
      const sha = commit(project, inMessage ? GOOD.replace('key insight', secret) : GOOD);
      const report = await ci(project);
      expect([report.exitCode, failed(report)]).toEqual([5, ['guard secret']]);
      expect(report.checks[2]?.findings[0]).toMatchObject(
        inMessage ? { commit: sha } : { commit: sha, file: 'src/key.js', line: 2 },
      );
      const { stdout } = await text(project, ['--format', 'github', '--junit', '.git/ci.xml']);
      expect((stdout + JSON.stringify(report) + project.read('.git/ci.xml')).includes(secret)).toBe(false);
    }
  });

  it('GIT-07 a feature that passes by hand alone exits 1', async () => {
    const project = await ready();
    putFeatures(project, [PASSING_FEATURE, { ...PASSING_FEATURE, id: 'B', tests: ['false'] }]);
    const report = await ci(project);
    expect([report.exitCode, failed(report)]).toEqual([1, ['features findings']]);
    expect(report.checks[3]).toMatchObject({
      detail: '2 of 2 features passing',
      findings: [
        {
          message: expect.stringMatching(/^B is marked passing/),
          fix: 'forge feature verify B',
          file: FEATURES,
        },
      ],
    });
    project.write(FEATURES, '{ "schema_version": "1.0", "features": [');
    const damaged = await ci(project);
    expect([damaged.exitCode, failed(damaged)]).toEqual([4, ['commits corrupted', 'features corrupted']]);
  });

  it('GIT-07 --run runs what is trusted, exits 1 for what fails, 3 for what may not run, and notes nothing', async () => {
    const project = await ready();
    await forgeJson(project, [
      'feature',
      'add',
      'A',
      'a',
      '--test',
      'node -e "process.exit(+fs.existsSync(\'broken\'))"',
    ]);
    await forgeJson(project, ['feature', 'verify', 'A']);
    commit(project);
    expect((await ci(project, ['--run'])).checks[3]).toMatchObject({
      state: 'ok',
      detail: '1 of 1 feature passing, the tests of 1 run',
    });
    project.write('broken', '');
    commit(project);
    const before = snapshot(project.dir);
    const broken = await ci(project, ['--run']);
    expect([broken.exitCode, messages(broken)]).toEqual([
      1,
      [expect.stringMatching(/^A is marked passing and fails now: node .*: exit code 1$/)],
    ]);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    const clone = cloneOf(project);
    const refused = await ci(clone, ['--run']);
    expect([refused.exitCode, failed(refused)]).toEqual([3, ['features refused']]);
    const { digest } = await forgeJson<{ digest: string }>(clone, ['trust', '--show']);
    expect((await ci(clone, ['--run'], { FORGE_TRUST: digest })).exitCode).toBe(1);
    expect((await ci(clone)).exitCode).toBe(0);
  });

  it('GIT-07 a checkpoint that is not what it was exits 1', async () => {
    const project = await ready();
    await create(project, 'X');
    expect((await ci(project, ['--range', 'HEAD..HEAD'])).states).toEqual([
      'skipped',
      'ok',
      'skipped',
      'ok',
      'ok',
    ]);
    project.git('tag', '-d', 'checkpoint/X-v1');
    const report = await ci(project, ['--range', 'HEAD..HEAD']);
    expect([report.exitCode, failed(report)]).toEqual([1, ['checkpoints findings']]);
    expect(report.checks[4]?.findings[0]?.fix).toMatch(/^git fetch origin tag /);
  });

  it('GIT-07 all at once: all are told, and the gravest decides', async () => {
    const project = await ready();
    await create(project, 'X');
    project.git('tag', '-d', 'checkpoint/X-v1');
    await record(project);
    const file = segmentOf(project, 'execution');
    putLines(
      project,
      file,
      linesOf(project, file).map((line) => line.replace('"exit_code":0', '"exit_code":1')),
    );
    putFeatures(project, [{ ...PASSING_FEATURE, tests: ['false'] }]);
    project.write('key.txt', `${SAMPLES.secret()}\n`);
    commit(project, 'Everything\n');
    const report = await ci(project);
    expect([report.exitCode, failed(report)]).toEqual([
      4,
      ['commits findings', 'memory corrupted', 'guard secret', 'features findings', 'checkpoints findings'],
    ]);
    const { stdout, exitCode } = await text(project, []);
    expect([exitCode, stdout]).toEqual([
      4,
      expect.stringMatching(/forge ci: \d+ findings in commits, memory, guard, features, checkpoints\n$/),
    ]);
  });

  it('GIT-07 without git each check that needs it says so: exit 6', async () => {
    const report = await ci(await ready(), [], { PATH: makeFolder() });
    expect(report.exitCode).toBe(6);
    expect(failed(report)).toEqual(
      expect.arrayContaining(['commits outside', 'memory outside', 'guard outside']),
    );
    expect(report.states[3]).toBe('ok');
    expect(messages(report)[0]).toBe('git was not found.');
  });
});

describe('forge ci: the range', () => {
  /** A remote, and a clone on a branch with two commits of its own. */
  async function branched(): Promise<{ clone: Project; base: string; first: string }> {
    const remote = await ready();
    const clone = cloneOf(remote);
    const base = clone.git('rev-parse', 'HEAD');
    clone.git('switch', '-qc', 'feature/one');
    const first = commit(clone);
    commit(clone);
    return { clone, base, first };
  }

  const seen = async (project: Project, env: NodeJS.ProcessEnv, args: string[] = []) => {
    const { range, range_from, checks } = await ci(project, args, env);
    return [range, range_from, checks[0]?.detail.match(/^\d+/)?.[0] ?? checks[0]?.detail];
  };

  it('GIT-07 of a branch: all since it left the default one; the flag counts before all', async () => {
    const { clone, base } = await branched();
    const own = [`${base.slice(0, 12)}..HEAD`, 'where it left origin/HEAD', '2'];
    expect(await seen(clone, {})).toEqual(own);
    expect(await seen(clone, {}, ['--range', 'HEAD~1..HEAD'])).toEqual(['HEAD~1..HEAD', '--range', '1']);
    // As actions/checkout leaves it.
    clone.git('remote', 'set-head', 'origin', '-d');
    expect(await seen(clone, {})).toEqual([own[0], 'where it left origin/main', '2']);
  });

  it('GIT-07 GitHub: a pull request by its base, a push by what was there before', async () => {
    const { clone, first, base } = await branched();
    const pull = { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'main' };
    expect(await seen(clone, pull)).toEqual(['origin/main..HEAD', 'GITHUB_BASE_REF', '2']);
    const pushed = [`${first.slice(0, 12)}..HEAD`, 'GITHUB_EVENT_PATH (before)', '1'];
    expect(await seen(clone, githubEvent({ before: first }))).toEqual(pushed);
    const forked = [`${base.slice(0, 12)}..HEAD`, 'where it left origin/HEAD', '2'];
    expect(await seen(clone, githubEvent({ before: ZEROS }))).toEqual(forked);
    // After a forced push no clone has what was there.
    expect(await seen(clone, githubEvent({ before: 'a'.repeat(40) }))).toEqual(forked);
    expect(await seen(clone, githubEvent({}))).toEqual(forked);
    clone.git('switch', '-q', 'main');
    const gone = await ci(clone, [], githubEvent({ before: 'a'.repeat(40) }));
    expect([gone.exitCode, failed(gone)]).toEqual([6, ['commits outside', 'guard outside']]);
  });

  it('GIT-07 GitLab: a merge request by its base, a push by what was there before', async () => {
    const { clone, first, base } = await branched();
    const env = { GITLAB_CI: 'true', CI_COMMIT_BEFORE_SHA: ZEROS };
    expect(await seen(clone, { ...env, CI_MERGE_REQUEST_DIFF_BASE_SHA: base })).toEqual([
      `${base.slice(0, 12)}..HEAD`,
      'CI_MERGE_REQUEST_DIFF_BASE_SHA',
      '2',
    ]);
    const pushed = [`${first.slice(0, 12)}..HEAD`, 'CI_COMMIT_BEFORE_SHA', '1'];
    expect(await seen(clone, { ...env, CI_COMMIT_BEFORE_SHA: first })).toEqual(pushed);
    expect((await seen(clone, env))[1]).toBe('where it left origin/HEAD');
  });

  it.each([
    { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: '--output=x' },
    { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'a..b' },
    { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'a\n::error::b' },
    { GITLAB_CI: 'true', CI_COMMIT_BEFORE_SHA: '--all' },
    { GITLAB_CI: 'true', CI_MERGE_REQUEST_DIFF_BASE_SHA: 'HEAD' },
  ])('GIT-07 %j is data, and none that names a commit: exit 2', async (env) => {
    const project = await ready();
    const error = await forgeError(project, ['ci'], { env: { ...NOWHERE, ...env } });
    expect(error).toMatchObject({ exitCode: 2, code: 'ci.variable' });
    expect(error.message).not.toContain('::');
  });

  it('GIT-07 an event that cannot be read, and a base that was not fetched, are told: exit 6', async () => {
    const project = await ready();
    for (const env of [
      { GITHUB_ACTIONS: 'true', GITHUB_EVENT_PATH: '/nowhere/event.json' },
      { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'nowhere' },
    ]) {
      const report = await ci(project, [], env);
      expect([report.exitCode, failed(report), report.range]).toEqual([
        6,
        ['commits outside', 'guard outside'],
        null,
      ]);
    }
  });

  it('GIT-07 a shallow clone that lacks a part of the range fails, and looks at all else', async () => {
    const { clone, base } = await branched();
    for (const env of [{}, { GITLAB_CI: 'true', CI_MERGE_REQUEST_DIFF_BASE_SHA: base }]) {
      const shallow = cloneOf(clone, '--depth', '1');
      const report = await ci(shallow, [], env);
      expect([report.exitCode, failed(report)]).toEqual([6, ['commits outside', 'guard outside']]);
      expect(report.checks[0]?.findings[0]?.fix).toMatch(/^git fetch --unshallow/);
      shallow.git('fetch', '-q', '--unshallow');
      expect((await ci(shallow, [], env)).exitCode).toBe(0);
    }
    const deep = cloneOf(clone, '--depth', '2');
    expect((await ci(deep, ['--range', 'HEAD~1..HEAD'])).exitCode).toBe(0);
    expect((await ci(deep, ['--range', 'HEAD~2..HEAD'])).exitCode).toBe(6);
    expect((await ci(deep, ['--range', 'HEAD'])).exitCode).toBe(6);
  });
});

describe('forge ci: what ends in a log', () => {
  const HOSTILE = '::error::x ##[error]y ##vso[task]z \u001b[31mred %0A';

  it('GIT-07 no text of a commit, a file or a test begins a command or moves the cursor', async () => {
    const project = await ready();
    const name = '::error file=a,line=1::x ##[add-mask]y.js';
    project.write(name, `${SAMPLES.secret()}\n`);
    commit(project, `${HOSTILE}\n`);
    commit(project, `fixup! ${HOSTILE}\n`);
    putFeatures(project, [
      { ...PASSING_FEATURE, tests: ["printf '%s\\n' ::error::t '##[error]t'", 'false'], verified_by: [] },
    ]);
    for (const format of ['github', 'gitlab', 'plain']) {
      const args = ['--range', 'HEAD~2..HEAD', '--run', '--format', format, '--junit', '.git/ci.xml'];
      const { stdout, stderr } = await text(project, args, { GITHUB_ACTIONS: 'true' });
      const lines = `${stdout}\n${stderr}`.split(/\r\n|[\r\n]/);
      const own = /^::error (?:file=[^:,]+,(?:line=\d+,)?)?title=forge \w+(?: [0-9a-f]{10})?::/;
      const commands = lines.filter((line) => line.trimStart().startsWith('::') && !own.test(line));
      expect([format, commands]).toEqual([format, []]);
      expect([format, lines.filter((line) => /##\w*\[/.test(line))]).toEqual([format, []]);
      expect([format, stdout.replaceAll('\u001b[0K', '').includes('\u001b')]).toEqual([format, false]);
      expect([format, lines.some((line) => own.test(line))]).toEqual([format, format === 'github']);
      expect(isWellFormed(project.read('.git/ci.xml'))).toBe(true);
    }
    const { stdout } = await text(project, ['--range', 'HEAD~2..HEAD', '--json']);
    expect(stdout).not.toMatch(/##\w*\[/);
    expect(JSON.parse(stdout).checks[2].findings[0].file).toBe(name);
  });

  it('GIT-07 GitHub gets an annotation in the file, GitLab a section that folds', async () => {
    const project = await ready();
    project.write('src/key.js', `${SAMPLES.secret()}\n`);
    const sha = commit(project);
    const github = await text(project, [], { GITHUB_ACTIONS: 'true' });
    expect(github.stdout).toContain(
      `\n::error file=src/key.js,line=1,title=forge guard ${sha.slice(0, 10)}::`,
    );
    const gitlab = await text(project, [], { GITLAB_CI: 'true' });
    expect(gitlab.stdout).toMatch(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: as GitLab has it
      /\u001b\[0Ksection_start:\d{10}:forge_guard\r\u001b\[0K✗ guard(?:.*\n)+\u001b\[0Ksection_end:\d{10}:forge_guard\r\u001b\[0K\n/,
    );
  });

  it('GIT-07 --junit writes a whole file, in a new folder too, whatever the checks found', async () => {
    const project = await ready();
    commit(project, 'No <protocol> & "so on"\n');
    const { exitCode } = await text(project, ['--junit', 'reports/forge.xml']);
    const xml = project.read('reports/forge.xml');
    expect([exitCode, isWellFormed(xml)]).toEqual([1, true]);
    expect(xml).toContain('tests="5" failures="1" errors="0" skipped="0"');
    expect(xml).toContain('<testcase classname="forge ci" name="memory"/>');
    project.write('file', '');
    const error = await forgeError(project, ['ci', '--junit', 'file/forge.xml'], { env: NOWHERE });
    expect(error).toMatchObject({ exitCode: 6, code: 'ci.junit' });
  });
});
