import { describe, expect, it } from 'vitest';
import { CALLS, commandOf, everyCommand, withEverything } from '../support/commands.js';
import { forgeError, runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { containerOf, record, verify } from '../support/memory.js';
import { makePlainProject, type Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

/** What settles damage, with the damage that it settles. */
const SETTLING: { call: string[]; damage: (project: Project) => Promise<unknown> }[] = [
  { call: ['feature', 'confirm', '--all'], damage: addUnproven },
  { call: ['memory', 'repair', '--reason', 'text'], damage: edit },
  { call: ['memory', 'override', 'acknowledge', '--reason', 'text'], damage: halt },
  { call: ['memory', 'override', 'reset', 'note', '--reason', 'text'], damage: addNote },
  { call: ['memory', 'redact', 'RECORD', '--reason', 'text'], damage: addNote },
  { call: ['guard', 'allow', 'RECORD', '--reason', 'text'], damage: refuseText },
];

async function addUnproven(project: Project): Promise<void> {
  await runForge(project, ['feature', 'add', 'A', 'a', '--test', 'true']);
}

/** Returns what the file was. */
async function edit(project: Project): Promise<string> {
  await record(project);
  const file = containerOf(project);
  const whole = project.read(file);
  project.write(file, whole.replace('"task_id":"A"', '"task_id":"Z"'));
  await verify(project);
  return whole;
}

/** The id of a record that is not to stay. */
async function addNote(project: Project): Promise<string> {
  const { stdout } = await runForge(project, ['note', 'add', 'known', '--json']);
  return (JSON.parse(stdout) as { id: string }).id;
}

/** The fingerprint of a text that was refused. */
async function refuseText(project: Project): Promise<string> {
  const { hint = '' } = await forgeError(project, ['note', 'add', SAMPLES.secret()]);
  return /guard allow ([0-9a-f]{16})/.exec(hint)?.[1] ?? '';
}

async function halt(project: Project): Promise<void> {
  const whole = await edit(project);
  project.write(containerOf(project), whole);
  await verify(project);
}

describe('global flags', () => {
  it('B-01 --json prints exactly the value on one line, and nothing on stderr', async () => {
    const { project, calls } = await withEverything();
    for (const call of calls) {
      if (call[1] === 'discard') await runForge(project, ['session', 'start']);
      if (call.join(' ') === 'feature remove B') await runForge(project, ['feature', 'add', 'B', 'b']);
      if (call.join(' ') === 'feature add --no-run B b --test true')
        await runForge(project, ['feature', 'remove', 'B']);
      const { stdout, stderr, exitCode } = await runForge(project, [...call, '--json'], { stdin: '- c\n' });
      expect([call, exitCode, stderr]).toEqual([call, 0, '']);
      // A loop says one line a cycle, and its answer last.
      const answer = call[0] === 'loop' ? `${stdout.trimEnd().split('\n').at(-1)}\n` : stdout;
      const value = JSON.parse(answer) as unknown;
      expect([call, answer]).toEqual([call, `${JSON.stringify(value)}\n`]);
      expect([call, typeof value, Array.isArray(value)]).toEqual([call, 'object', false]);
    }
  });

  it.each(SETTLING)(
    'B-01 $call: --dry-run writes nothing; --json prints the value',
    async ({ call: words, damage }) => {
      const project = await makeForge();
      const id = await damage(project);
      const call = words.map((word) => (word === 'RECORD' ? String(id) : word));
      const before = snapshot(project.dir);
      const dry = await runForge(project, [...call, '-n'], { terminal: true });
      expect([dry.exitCode, dry.stderr]).toEqual([0, expect.stringMatching(/nothing was written/)]);
      expect(differences(before, snapshot(project.dir))).toEqual([]);
      const { stdout, stderr, exitCode } = await runForge(project, [...call, '--json'], { terminal: true });
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toBe(`${JSON.stringify(JSON.parse(stdout))}\n`);
      expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    },
  );

  it('B-01 a failure with --json is one line on stderr, nothing on stdout, and the exit code of the line', async () => {
    const { project } = await withEverything();
    for (const [args, exit, code] of [
      [['nosuch'], 2, 'command.unknown_command'],
      [['feature', 'show', 'Z'], 2, 'feature.unknown'],
      [['feature', 'edit', 'A', '--status', 'passing'], 3, 'feature.unproven'],
      [['feature', 'list', '--nosuch'], 2, 'command.unknown_option'],
    ] as const) {
      const { stdout, stderr, exitCode } = await runForge(project, ['--json', ...args]);
      expect([stdout, exitCode]).toEqual(['', exit]);
      expect(stderr).toMatch(/^\{"error":\{.*\}\}\n$/);
      const { error } = JSON.parse(stderr) as { error: Record<string, unknown> };
      const kind = exit === 2 ? 'usage' : 'refused';
      expect(error).toMatchObject({ kind, code, exit, message: expect.any(String) });
      expect(error.hint).toMatch(/forge /);
    }
    // After "--" it is text.
    const { stderr } = await runForge(project, ['feature', 'show', '--', '--json']);
    expect(stderr).toMatch(/^forge: There is no feature "--json"\.\n {2}→ forge ls\n$/);
  });

  it('B-01 --quiet prints only the result; without it status goes to stderr', async () => {
    const { project } = await withEverything();
    const loud = await runForge(project, ['feature', 'verify', 'A', '-v']);
    expect(loud.stderr).toBe('A: echo shown\nshown\n');
    const quiet = await runForge(project, ['feature', 'verify', 'A', '-q']);
    expect([quiet.stderr, quiet.exitCode]).toEqual(['', 0]);
    expect(quiet.stdout).toMatch(/^✓ A /);
    const error = await runForge(project, ['--quiet', 'feature', 'show', 'Z']);
    expect([error.exitCode, error.stderr]).toEqual([2, expect.stringContaining('no feature "Z"')]);
  });

  it('B-01 -C works before and after the command, and shows paths from the project', async () => {
    const { project } = await withEverything();
    const elsewhere = makePlainProject();
    for (const args of [
      ['-C', project.dir, 'feature', 'list'],
      ['feature', '-C', project.dir, 'list'],
      ['feature', 'list', '-C', project.dir],
      ['feature', 'list', `--cwd=${project.dir}`],
    ])
      expect((await runForge(elsewhere, args)).stdout, args.join(' ')).toContain('A  ');
    elsewhere.write('list.md', '- from elsewhere\n');
    // A file argument is meant from the folder that -C names.
    project.write('list.md', '- from the project\n');
    await runForge(elsewhere, ['-C', project.dir, 'feature', 'import', 'list.md']);
    expect((await runForge(project, ['feature', 'list'])).stdout).toContain('from the project');
  });

  it('B-01 color on a terminal, or by --color, NO_COLOR and FORCE_COLOR', async () => {
    const { project } = await withEverything();
    const coloured = async (args: string[], env: NodeJS.ProcessEnv, terminal = false): Promise<boolean> => {
      const { stdout } = await runForge(project, ['feature', 'show', 'A', ...args], { env, terminal });
      return stdout.includes('\u001b[');
    };
    const free = { NO_COLOR: undefined };
    expect(await coloured([], free)).toBe(false);
    expect(await coloured([], free, true)).toBe(true);
    expect(await coloured([], { NO_COLOR: '1' }, true)).toBe(false);
    expect(await coloured([], { ...free, TERM: 'dumb' }, true)).toBe(false);
    expect(await coloured([], { ...free, FORCE_COLOR: '1' })).toBe(true);
    expect(await coloured([], { ...free, FORCE_COLOR: '0' }, true)).toBe(false);
    expect(await coloured(['--color', 'always'], { NO_COLOR: '1' })).toBe(true);
    expect(await coloured(['--color', 'never'], free, true)).toBe(false);
    expect(await coloured(['--color=auto'], free)).toBe(false);
    expect(await coloured(['--json', '--color', 'always'], free, true)).toBe(false);
    expect(await forgeError(project, ['feature', 'list', '--color', 'pink'])).toMatchObject({
      exitCode: 2,
      field: 'color',
      message: expect.stringMatching(/"pink".*auto \| always \| never/),
    });
  });

  it('B-01 every command is in this list', async () => {
    const names = (await everyCommand()).map(({ words }) => words.join(' '));
    const calls = [...CALLS, ...SETTLING.map(({ call }) => call)];
    const called = await Promise.all(calls.map(async (call) => (await commandOf(call))?.words.join(' ')));
    // Agents call it, in a form of their own: test/agent/agent-hook-claude.test.ts.
    // Their servers are in test/linear/sync.test.ts and test/events/.
    const events = ['tail', 'list', 'replay', 'flush'].map((name) => `events ${name}`);
    const online = ['linear pull', 'linear push', 'linear sync', ...events];
    // They run until Ctrl-C: test/ui.
    const endless = ['ui', 'watch'];
    expect([...new Set(called), ...online, ...endless, 'hook'].sort()).toEqual(names.sort());
  });
});
