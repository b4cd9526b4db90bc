import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ShownArchitecture } from '../../src/index.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { BIN, expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import { commitAll, follow, makeFolder, type Project, projectAt, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';
import { makeForgeRepository, typed } from '../support/typed.js';

const FILE = '.forge/memory/long-term/architecture.md';
const DRAFTS = '.git/forge/edit';
const TEXT =
  '# Shop\n\n## Invariants\n\n- Prices are integers, in cents\n- Nothing but `store/` writes files\n';

interface Briefed {
  text: string;
  sections: { key: string; items: string[] }[];
  omitted: { section: string; items: number; command: string }[];
}

const brief = (project: Project, ...args: string[]): Promise<Briefed> =>
  forgeJson<Briefed>(project, ['briefing', ...args]);

async function rulesOf(project: Project): Promise<string[]> {
  return (await brief(project)).sections.find(({ key }) => key === 'architecture')?.items ?? [];
}

const show = (project: Project): Promise<ShownArchitecture> =>
  forgeJson<ShownArchitecture>(project, ['architecture', 'show']);

async function written(text: string | Buffer): Promise<Project> {
  const project = await makeForge();
  project.write(FILE, text);
  return project;
}

/** At a terminal, with this command as the editor. */
const edit = (project: Project, editor: string, ...args: string[]) =>
  runForge(project, ['architecture', 'edit', ...args], { terminal: true, env: { GIT_EDITOR: editor } });

const GIT = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

const draftsOf = (project: Project): string[] =>
  project.has(DRAFTS) ? readdirSync(project.path(DRAFTS)) : [];

describe('forge architecture show', () => {
  it('KNO-03 prints the document, and which part of it agents get', async () => {
    const project = await written(TEXT);
    const { stdout } = await runForge(project, ['architecture', 'show']);
    expect(stdout).toBe(`${TEXT}\n${FILE}: 2 invariants for every briefing\n`);
    expect(await show(project)).toEqual({
      path: FILE,
      text: TEXT,
      invariants: ['Prices are integers, in cents', 'Nothing but `store/` writes files'],
    });
  });

  it('KNO-03 reports that a fresh project has nothing for the briefing yet', async () => {
    const project = await makeForge();
    const { stdout } = await runForge(project, ['architecture', 'show']);
    expect(stdout).toMatch(/: nothing for the briefing: no list below a heading "Invariants"\n$/);
    expect(await rulesOf(project)).toEqual([]);
  });

  it('KNO-03 works from a subfolder and without git, and shows hidden characters', async () => {
    const project = await makePlainForge();
    project.write(FILE, '# Invariants\n\n- left\u202eright\u001b[2J\n');
    project.write('deep/er/x', '');
    const { stdout } = await runForge(project, ['-C', 'deep/er', 'architecture', 'show']);
    expect(stdout).toContain('- left<U+202E>right<U+001B>[2J\n');
    expect(await rulesOf(project)).toEqual(['left<U+202E>right<U+001B>[2J']);
  });

  it('KNO-03 reports a problem of the file in one line', async () => {
    const project = await written(Buffer.from('# Invariants\n- caf\xe9\n', 'latin1'));
    expect(await forgeError(project, ['architecture', 'show'])).toMatchObject({
      exitCode: 4,
      code: 'file.encoding',
      offset: 18,
    });
    rmSync(project.path(FILE));
    expect(await forgeError(project, ['architecture', 'show'])).toMatchObject({
      exitCode: 4,
      code: 'file.missing',
      hint: expect.stringMatching(/^git restore --source=\w+ -- .*architecture\.md/),
    });
    symlinkSync('/etc/passwd', project.path(FILE));
    await expectError(project, ['architecture', 'show'], '4');
  });

  it('KNO-03 reads five megabytes, also in a worktree, and exits quietly if its output is closed', async () => {
    const { project } = withEditor('');
    project.write(FILE, `${'Words.\n'.repeat(750_000)}## Invariants\n- one\n`);
    commitAll(project, 'all');
    project.git('worktree', 'add', '-q', project.path('.git', 'wt'), 'HEAD');
    const other = project.path('.git', 'wt');
    expect(run(other, process.execPath, [BIN, 'briefing']).stdout).toContain('  one\n');
    run(project.dir, 'git', ['worktree', 'remove', '--force', other]);
    const child = spawn(process.execPath, [BIN, 'architecture', 'show'], { cwd: project.dir });
    child.stdout.destroy();
    expect(await follow(child).ended).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('an editor without a shell', () => {
  it('KNO-03 is named, and that sh is missing; git is there', async () => {
    const project = await written(TEXT);
    const programs = projectAt(makeFolder());
    symlinkSync(GIT, programs.path('git'));
    const env = { GIT_EDITOR: 'true', PATH: programs.dir };
    const { stderr, exitCode } = await runForge(project, ['architecture', 'edit'], { terminal: true, env });
    expect(exitCode).toBe(6);
    expect(stderr).toContain('The editor (true) ended with spawn sh ENOENT; nothing was changed.');
    expect(stderr).not.toContain('git was not found');
    expect(draftsOf(project)).toEqual([]);
  });
});

const _STATED = 'stated in the repository; a person approves them with forge trust';

describe('the invariants of architecture.md in the briefing', () => {
  it('KNO-03 LTM-13 with a secret are shown without it', async () => {
    const secret = SAMPLES.secret();
    const project = await written(`## Invariants\n\n- first\n- The key is ${secret}\n- last\n`);
    for (const args of ['briefing', 'session start', 'architecture show']) {
      const { stdout, stderr, exitCode } = await runForge(project, args);
      expect([exitCode, stdout.includes(secret), stderr.includes(secret)], args).toEqual([0, false, false]);
    }
    expect(await rulesOf(project)).toEqual(['first', expect.stringMatching(/^The key is <[\w-]+>$/), 'last']);
  });

  it('KNO-03 do not prevent a session from starting, even if the file is damaged', async () => {
    const states: [string, (project: Project) => void][] = [
      ['not valid UTF-8', (project) => project.write(FILE, Buffer.from('# Invariants\n- \xff\n', 'latin1'))],
      [
        'merge conflict',
        (project) => project.write(FILE, '# Invariants\n<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n'),
      ],
      ['UTF-16', (project) => project.write(FILE, Buffer.from('\ufeff# Invariants\n- x\n', 'utf16le'))],
      ['', (project) => rmSync(project.path(FILE))],
      [
        'link',
        (project) => {
          rmSync(project.path(FILE));
          symlinkSync('/etc/passwd', project.path(FILE));
        },
      ],
    ];
    for (const [why, damage] of states) {
      const project = await makeForge();
      damage(project);
      const { exitCode, stderr } = await runForge(project, ['session', 'start']);
      expect([why, exitCode]).toEqual([why, 0]);
      if (why === '') expect(stderr).toBe('');
      else
        expect(stderr).toMatch(new RegExp(`^! No invariants of the architecture are known: .*${why}.*\n$`));
    }
  });
});

describe('forge architecture edit', () => {
  it('KNO-03 opens git’s editor, saves the result, and reports what agents get', async () => {
    const project = await written(TEXT);
    const { exitCode, stdout } = await edit(project, 'sed -i s/cents/öre/');
    expect([exitCode, stdout]).toEqual([0, `✓ ${FILE}  2 invariants for every briefing\n`]);
    expect((await edit(project, 'true')).stdout).toBe(`${FILE} is as it was\n`);
    expect((await edit(project, 'false')).exitCode).toBe(6);
    await expectError(project, ['architecture', 'edit', '-'], '2 architecture.empty', { stdin: ' \n' });
    expect([project.read(FILE), draftsOf(project)]).toEqual([TEXT.replace('cents', 'öre'), []]);
  });

  it('KNO-03 loses nothing that an editor writes after it returned', async () => {
    const project = await written(TEXT);
    const late = 'until test -e go; do sleep 0.05; done; echo "- late" >>"$1"; touch done';
    project.write('ed.sh', `cd '${project.dir}'; (${late}) >/dev/null 2>&1 </dev/null &\n`);
    const { exitCode, stdout } = await edit(project, `sh ${project.path('ed.sh')}`);
    expect([exitCode, stdout]).toEqual([0, `${FILE} is as it was\n`]);
    project.write('go', '');
    await expect.poll(() => project.has('done')).toBe(true);
    expect(project.read(FILE)).toBe(`${TEXT}- late\n`);
  });

  it('KNO-03 LTM-13 refuses a secret with its line; the file is unchanged, and the message says where the text is', async () => {
    const project = await written(TEXT);
    const secret = SAMPLES.secret();
    const refused = await edit(project, `sed -i '6s|$| ${secret}|'`);
    expect([refused.exitCode, refused.stderr.includes(secret), refused.stdout]).toEqual([5, false, '']);
    expect(refused.stderr).toContain(`forge: ${FILE}:6: `);
    const [name = ''] = draftsOf(project);
    expect(refused.stderr).toContain(`What you wrote is kept: ${project.path(DRAFTS, name)}`);
    expect(project.read(`${DRAFTS}/${name}`)).toContain(secret);
    expect(project.read(FILE)).toBe(TEXT);
    await runForge(project, ['memory', 'override', 'acknowledge', '--reason', 'a test'], { terminal: true });

    project.write(`${DRAFTS}/${name}`, project.read(`${DRAFTS}/${name}`).replace(secret, 'in the vault'));
    expect((await runForge(project, ['architecture', 'edit', `${DRAFTS}/${name}`])).exitCode).toBe(0);
    expect(project.read(FILE)).toContain('writes files in the vault\n');
  });

  it('KNO-03 refuses new invisible characters, and keeps an existing byte-order mark', async () => {
    const project = await written(`\ufeff${TEXT}`);
    expect(await forgeError(project, 'architecture edit -', { stdin: `${TEXT}- a\u202eb\n` })).toMatchObject({
      exitCode: 5,
      code: 'guard.invisible',
      file: FILE,
    });
    expect((await edit(project, 'sed -i s/cents/pence/')).exitCode).toBe(0);
    expect(project.read(FILE)).toBe(`\ufeff${TEXT.replace('cents', 'pence')}`);
  });

  it('KNO-03 keeps the text if the editor fails after it saved', async () => {
    const project = await written(TEXT);
    project.write('ed.sh', 'echo "- more" >>"$1"\nexit 3\n');
    const { exitCode } = await edit(project, `sh ${project.path('ed.sh')}`);
    expect([exitCode, project.read(FILE)]).toEqual([0, `${TEXT}- more\n`]);
  });
});

/** A project whose editor is this script, named as a person names theirs. */
function withEditor(script: string, variable = 'VISUAL') {
  const project = makeForgeRepository();
  project.write(FILE, '## Invariants\n\n- one\n');
  project.write('.git/ed.sh', script);
  const unset = { GIT_EDITOR: undefined, VISUAL: undefined, EDITOR: undefined };
  const env = { ...unset, [variable]: `sh ${project.path('.git/ed.sh')}` };
  return { project, place: { dir: project.dir, env } };
}

describe.skipIf(process.platform !== 'linux')('forge architecture edit at a terminal', () => {
  it('KNO-03 opens the editor that git would: VISUAL, EDITOR, or core.editor before them', async () => {
    for (const variable of ['VISUAL', 'EDITOR']) {
      const { project, place } = withEditor('test -t 0 && test -t 1 && echo "- two" >>"$1"\n', variable);
      const { shown, exitCode } = await atTerminal(place, ['architecture', 'edit']);
      expect([exitCode, shown]).toEqual([0, expect.stringContaining('2 invariants for every briefing')]);
      // Typing it approves it.
      expect(typed(project, ['briefing'])).toMatch(
        /approved by a human\n {2}two\n[\s\S]*a person approves them .*\n {2}one\n/,
      );
    }
    const { project, place } = withEditor('exit 9\n');
    project.git('config', 'core.editor', "sed -i 's/one/three/'");
    expect((await atTerminal(place, ['architecture', 'edit'])).exitCode).toBe(0);
    expect(project.read(FILE)).toBe('## Invariants\n\n- three\n');
  });

  it('KNO-03 is killed with nothing lost: the text is in the file', async () => {
    const { project, place } = withEditor('echo "- two" >>"$1"\nkill -9 $(cat .git/forge.pid)\nsleep 0.2\n');
    const child = spawn(
      'script',
      ['-qec', `echo $$ >.git/forge.pid; exec "${process.execPath}" "${BIN}" architecture edit`, '/dev/null'],
      {
        cwd: project.dir,
        env: { ...process.env, ...place.env, SHELL: '/bin/sh', TERM: 'xterm' },
        stdio: 'pipe',
      },
    );
    expect(await new Promise((done) => child.on('close', done))).toBe(137);
    expect(project.read(FILE)).toBe('## Invariants\n\n- one\n- two\n');
    project.write('.git/ed.sh', 'true\n');
    expect((await atTerminal(place, ['architecture', 'edit'])).exitCode).toBe(0);
    expect(project.read(FILE)).toBe('## Invariants\n\n- one\n- two\n');
  });

  it('KNO-03 two concurrent editors work in the same file', async () => {
    const { project, place } = withEditor('echo "- by $$" >>"$1"; sleep 0.3\n');
    const both = await Promise.all([1, 2].map(() => atTerminal(place, ['architecture', 'edit'])));
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(project.read(FILE)).toMatch(/^## Invariants\n\n- one\n- by \d+\n- by \d+\n$/);
  });
});
