import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GROUPS } from '../../src/cli/groups.js';
import type { CommandSpec } from '../../src/cli/spec.js';
import { fixedClock, forgeError, runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { containerOf, record, verify } from '../support/memory.js';
import { makeFolder, makePlainProject, makeRepository, type Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

/** Every command with arguments that work in `prepared()`. */
const CALLS: string[][] = [
  ['where'],
  ['status'],
  ['init'],
  ['session', 'start'],
  ['session', 'status'],
  ['session', 'list'],
  ['session', 'show', '2026-03-01-session-001'],
  ['briefing'],
  ['prime'],
  ['progress', 'add', 'text'],
  ['progress', 'next', 'text'],
  ['progress', 'show'],
  ['kfr', 'list'],
  ['kfr', 'patch', '--add', 'Constraint:text'],
  ['kfr', 'inject'],
  ['note', 'promote', 'kfr-1'],
  ['kfr', 'clear', '--yes'],
  ['focus', 'show'],
  ['focus', 'set', '--task', 'text'],
  ['next'],
  ['feature', 'list'],
  ['feature', 'add', '--no-run', 'B', 'b', '--test', 'true'],
  ['feature', 'show', 'A'],
  ['feature', 'edit', 'A', '--priority', '1'],
  ['feature', 'verify', 'A'],
  ['feature', 'import', '-'],
  ['import'],
  ['feature', 'remove', 'B'],
  ['undo'],
  ['checkpoint', 'create', 'known', '--verify', 'true'],
  ['checkpoint', 'list'],
  ['checkpoint', 'show', 'known-v1'],
  ['checkpoint', 'verify'],
  ['recover', '--plan'],
  ['cycle', '--task', 'A', 'true'],
  ['loop', '--max-cycles', '1', 'true'],
  ['knowledge', 'add', 'invariant', 'i'],
  ['learn', 'i', '--as', 'note'],
  ['knowledge', 'list'],
  ['knowledge', 'search', 'i'],
  ['knowledge', 'remove', 'ID'],
  ['architecture', 'show'],
  ['architecture', 'edit', '-'],
  ['commit', 'check', '--range', 'HEAD..HEAD'],
  ['commit', 'template'],
  ['ci', '--range', 'HEAD..HEAD'],
  ['commit', '-m', 'text', '--why', 'text', '-a'],
  ['recall', 'known'],
  ['skill', 'list'],
  ['skill', 'show', 'qa-review'],
  ['skill', 'resource', 'qa-review', 'checklists/review.md'],
  ['skill', 'new', 'made'],
  ['skill', 'check'],
  ['skill', 'match', 'text'],
  ['skill', 'import', 'SKILL'],
  ['skill', 'export', 'qa-review'],
  ['artifact', 'add', 'package.json'],
  ['artifact', 'list'],
  ['artifact', 'show', 'known.txt'],
  ['artifact', 'verify'],
  ['claim', 'A', '--for', '1h'],
  ['fleet'],
  ['release', 'B'],
  ['linear', 'list'],
  ['linear', 'new', 'text'],
  ['linear', 'show', 'LOCAL-1'],
  ['linear', 'start', 'LOCAL-1'],
  ['linear', 'done', 'LOCAL-1'],
  ['linear', 'template'],
  ['finding', 'add', 'text', '--tool', 'Read', '--query', 'package.json'],
  ['finding', 'extract', '--tool', 'Read', '--query', 'package.json', '-'],
  ['finding', 'list'],
  ['finding', 'has', '--tool', 'Read', '--query', 'package.json'],
  ['finding', 'summary'],
  ['finding', 'stats'],
  ['finding', 'clear'],
  ['note', 'add', 'text'],
  ['note', 'list'],
  ['note', 'show', 'NOTE'],
  ['memory', 'record', '--task', 'A', '--exit-code', '0', '--classification', 'SUCCESS'],
  ['memory', 'verify'],
  ['memory', 'log'],
  ['memory', 'show', 'NOTE'],
  ['memory', 'stats'],
  ['memory', 'promote'],
  ['memory', 'consolidate'],
  ['memory', 'report'],
  ['guard', 'scan'],
  ['export', 'html'],
  ['export', 'markdown'],
  ['export', 'json'],
  ['trust', '--show'],
  ['config', 'list'],
  ['config', 'get', 'briefing.budget'],
  ['config', 'set', 'briefing.budget', '900'],
  ['agent', 'install', 'claude'],
  ['agent', 'status'],
  ['agent', 'uninstall', 'claude'],
  ['hooks', 'install'],
  ['hooks', 'status'],
  ['hooks', 'uninstall'],
  ['doctor'],
  ['mcp'],
  ['schema'],
  ['complete', 'bash'],
  ['focus', 'clear'],
  ['session', 'end', '--no-commit'],
  ['session', 'discard'],
];

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

async function prepared(): Promise<{ project: Project; calls: string[][] }> {
  const project = await makeForge();
  const world = fixedClock();
  await runForge(project, ['session', 'start'], { world });
  await runForge(project, ['session', 'end', '--next', 'go on', '--no-commit'], { world });
  await runForge(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'echo shown'], { world });
  await runForge(project, ['feature', 'add', 'B', 'b'], { world });
  await runForge(project, ['feature', 'add', 'C', 'to be undone'], { world });
  await runForge(project, ['feature', 'remove', 'C'], { world });
  const known = await runForge(project, ['knowledge', 'add', 'invariant', 'known', '--json'], { world });
  await runForge(project, ['session', 'start'], { world });
  await runForge(project, ['kfr', 'patch', '--goal', 'known'], { world });
  const { id } = (JSON.parse(known.stdout) as { learning: { id: string } }).learning;
  const note = await runForge(project, ['note', 'add', 'known', '--json'], { world });
  const skill = makeFolder('skill-');
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: known\ndescription: Known\n---\n# Known\n');
  const output = '.forge/memory/short-term/scratch/known.txt';
  project.write(output, 'known\n');
  await runForge(project, ['artifact', 'add', output, '--type', 'docs'], { world });
  await runForge(project, ['linear', 'new', 'known'], { world });
  await runForge(project, ['claim', 'B'], { world });
  const words: Record<string, string> = {
    SKILL: skill,
    ID: id,
    NOTE: (JSON.parse(note.stdout) as { id: string }).id,
  };
  return { project, calls: CALLS.map((call) => call.map((word) => words[word] ?? word)) };
}

const specOf = async ([group, name]: string[]): Promise<CommandSpec | undefined> => {
  const entry = GROUPS.find((candidate) => candidate.name === group);
  const specs = ((await entry?.load())?.group.commands ?? []) as unknown as CommandSpec[];
  const own = specs.find((spec) => spec.name === group);
  return specs.find((spec) => spec.name === name) ?? own ?? (specs.length === 1 ? specs[0] : undefined);
};

describe('global flags', () => {
  it('B-01 --json prints exactly the value on one line, and nothing on stderr', async () => {
    const { project, calls } = await prepared();
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
    const { project } = await prepared();
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
      expect(error).toMatchObject({
        kind: exit === 2 ? 'usage' : 'refused',
        code,
        exit,
        message: expect.any(String),
      });
      expect(error.hint).toMatch(/forge /);
    }
    // After "--" it is text.
    const { stderr } = await runForge(project, ['feature', 'show', '--', '--json']);
    expect(stderr).toMatch(/^forge: There is no feature "--json"\.\n {2}→ forge ls\n$/);
  });

  it('B-01 --quiet prints only the result; without it status goes to stderr', async () => {
    const { project } = await prepared();
    const loud = await runForge(project, ['feature', 'verify', 'A', '-v']);
    expect(loud.stderr).toBe('A: echo shown\nshown\n');
    const quiet = await runForge(project, ['feature', 'verify', 'A', '-q']);
    expect([quiet.stderr, quiet.exitCode]).toEqual(['', 0]);
    expect(quiet.stdout).toMatch(/^✓ A /);
    const error = await runForge(project, ['--quiet', 'feature', 'show', 'Z']);
    expect([error.exitCode, error.stderr]).toEqual([2, expect.stringContaining('no feature "Z"')]);
  });

  it('B-01 -C works before and after the command, and shows paths from the project', async () => {
    const { project } = await prepared();
    const elsewhere = makePlainProject();
    for (const args of [
      ['-C', project.dir, 'feature', 'list'],
      ['feature', '-C', project.dir, 'list'],
      ['feature', 'list', '-C', project.dir],
      ['feature', 'list', `--cwd=${project.dir}`],
    ])
      expect([args, (await runForge(elsewhere, args)).stdout]).toEqual([
        args,
        expect.stringContaining('A  '),
      ]);
    elsewhere.write('list.md', '- from elsewhere\n');
    // A file argument is meant from the folder that -C names.
    project.write('list.md', '- from the project\n');
    await runForge(elsewhere, ['-C', project.dir, 'feature', 'import', 'list.md']);
    expect((await runForge(project, ['feature', 'list'])).stdout).toContain('from the project');
  });

  it('B-01 color on a terminal, or by --color, NO_COLOR and FORCE_COLOR', async () => {
    const { project } = await prepared();
    const coloured = async (
      args: string[],
      env: NodeJS.ProcessEnv = {},
      terminal = false,
    ): Promise<boolean> =>
      (await runForge(project, ['feature', 'show', 'A', ...args], { env, terminal })).stdout.includes(
        '\u001b[',
      );
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

  it('B-01 every command that writes accepts --dry-run, and then writes nothing', async () => {
    const { project, calls } = await prepared();
    project.write('.forge/README.md', 'changed\n');
    const before = [snapshot(project.dir), snapshot(process.env.HOME as string)];
    for (const call of calls) {
      const spec = await specOf(call);
      const { exitCode, stderr } = await runForge(project, [...call, '-n'], { stdin: '- c\n' });
      if (call.join(' ') === 'feature add --no-run B b --test true') continue;
      expect([call, exitCode]).toEqual([call, spec?.writes ? 0 : 2]);
      if (spec?.writes && call[0] !== 'trust')
        expect([call, stderr]).toEqual([call, expect.stringMatching(/nothing was written/)]);
    }
    expect(differences(before[0] as never, snapshot(project.dir))).toEqual([]);
    expect(differences(before[1] as never, snapshot(process.env.HOME as string))).toEqual([]);
  });

  it('B-01 a command without --dry-run writes nothing', async () => {
    const { project, calls } = await prepared();
    const before = snapshot(project.dir);
    for (const call of calls) if (!(await specOf(call))?.writes) await runForge(project, call);
    // A query brings the search index up to date.
    const isIndex = (line: string): boolean => /\.forge\/local\/recall\.db|\.git\/forge\/recall\b/.test(line);
    expect(differences(before, snapshot(project.dir)).filter((line) => !isIndex(line))).toEqual([]);
  });

  it('B-01 every command is in this list', async () => {
    const names = await Promise.all(
      GROUPS.map(async ({ name, load }) => {
        const { commands } = (await load()).group;
        return commands.map((spec) => (spec.name === name ? name : `${name} ${spec.name}`));
      }),
    );
    const called = [...CALLS, ...SETTLING.map(({ call }) => call)].map((call) => {
      const two = call.slice(0, 2).join(' ');
      return names.flat().includes(two) ? two : call[0];
    });
    // Agents call it, in a form of their own: test/cli/agent-hook-claude.test.ts.
    // Their servers are in test/linear/sync.test.ts and test/events/.
    const events = ['tail', 'list', 'replay', 'flush'].map((name) => `events ${name}`);
    const online = ['linear pull', 'linear push', 'linear sync', ...events];
    // They run until Ctrl-C: test/ui.
    const endless = ['ui', 'watch'];
    expect([...new Set(called), ...online, ...endless, 'hook'].sort()).toEqual(names.flat().sort());
  });

  it('LAY-04 --no-input never asks, on a terminal too', async () => {
    const project = makeRepository();
    expect((await runForge(project, ['init', '--no-input'], { terminal: true })).exitCode).toBe(0);
  });
});
