import { describe, expect, it } from 'vitest';
import { fixedClock, forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, FEATURES, makeForge, makeStarted, snapshot } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: that none is there is the point
const CONTROLS = /[\u0000-\u0009\u000b-\u001f]|\n\s+at /;

/** Where an id can be given; the id is put in for ID. */
const ID_PLACES = [
  ...['feature add ID name', 'feature show ID', 'feature edit ID --priority 1', 'feature remove ID'],
  ...['feature verify ID', 'feature add OK name --blocked-by=ID', 'feature add OK name --issue=ID'],
  ...['focus set --issue=ID', 'focus set --skill=ID', 'session show ID', 'session discard ID'],
  ...['session start --resume=ID', 'knowledge remove ID'],
].map((line) => line.split(' '));

async function prepared(): Promise<Project> {
  const project = await makeStarted({ world: fixedClock() });
  await forgeJson(project, ['feature', 'add', 'FORGE-001', 'first']);
  return project;
}

/** Every place refuses the id with exit 2, and nothing on the disk has changed. */
async function expectNowhere(project: Project, ids: readonly string[]): Promise<void> {
  const before = [snapshot(project.dir), snapshot(process.env.HOME as string)];
  for (const id of ids)
    for (const place of ID_PLACES) {
      // An id that begins with "-" is an option unless it stands after "--".
      const words = place.map((word) => word.replace('ID', () => id));
      const args =
        id.startsWith('-') && place.includes('ID')
          ? ['--json', ...place.slice(0, 2), '--', ...words.slice(2)]
          : words;
      const { exitCode, stderr } = await runForge(project, args);
      if (exitCode !== 2) expect([args, exitCode, stderr]).toEqual([args, 2, '']);
      expect(stderr).not.toMatch(CONTROLS);
    }
  expect([snapshot(project.dir), snapshot(process.env.HOME as string)]).toEqual(before);
}

describe('bad arguments', () => {
  it('B-01 an unknown command, subcommand or flag and a missing value: exit 2, the nearest one named, nothing touched', async () => {
    const project = await prepared();
    const before = snapshot(project.dir);
    for (const [args, message, hint] of [
      [['sesion', 'start'], /Unknown command 'sesion'/, /session/],
      [['zzzzzz'], /Unknown command 'zzzzzz'/, /forge --help/],
      [['complete', 'tcsh'], /found "tcsh", allowed: bash/, /forge complete/],
      [['feature'], /needs a command: .*add.*verify/, /forge feature --help/],
      [['feature', 'add', 'A', 'a', '--tset', 'x'], /--tset.*--test\?/, /forge feature add --help/],
      [['--jsn', 'next'], /--jsn.*--json/, /--help/],
      [
        ['feature', 'add'],
        /Missing required argument 'name'/,
        /forge feature add F-1 "Login works".*forge feature add --help/,
      ],
      [['agent', 'uninstall'], /'agent'/, /forge agent uninstall claude/],
      [['knowledge', 'add', 'success', 'a', '$b'], /: forge knowledge add success 'a \$b'$/, /--help/],
      [['commit', 'Wire it'], /Too many arguments/, /forge commit -m "Wire the login form"/],
      [['feature', 'edit', 'A', '--priority'], /--priority <n>.*missing/, /forge feature edit --help/],
      [['next', '-C'], /-C, --cwd <dir>.*missing/, /--help/],
      [['next', 'one'], /Too many arguments/, /--help/],
    ] as const) {
      const { stdout, stderr, exitCode } = await runForge(project, args);
      expect([args, exitCode, stdout]).toEqual([args, 2, '']);
      const [first = '', second = '', ...more] = stderr.trimEnd().split('\n');
      expect(first).toMatch(message);
      expect([second, ...more].join(' ')).toMatch(hint);
    }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-02 an id that is a path is refused everywhere', async () => {
    await expectNowhere(await prepared(), [
      ...['../../etc/passwd', '..\\..\\x', '/etc/passwd', 'C:\\x', 'a/b', 'a\\b', '..', '.', 'a..b', 'dot.'],
      ...['.hidden', '%2e%2e', '~root', 'a\u0000b', 'a'.repeat(65), ' ', 'a b', 'ünïcode', 'a\nb', 'a\n'],
      ...[' a', '_a'],
    ]);
  });

  it('B-03 names that Windows keeps for itself are refused; case and accents make no second record', async () => {
    const project = await prepared();
    const reserved = 'CON con nul.json PRN.txt aux COM1 lpt9.log a:b a*b a? <a> a|b "a"'.split(' ');
    const before = project.read(FEATURES);
    for (const id of reserved)
      for (const place of ['feature add ID x', 'focus set --issue ID', 'feature add X x --blocked-by ID']) {
        const words = place.split(' ').map((word) => (word === 'ID' ? id : word));
        expect([words, (await forgeError(project, words)).exitCode]).toEqual([words, 2]);
      }
    for (const twin of ['forge-001', 'Forge-001', 'FORGE-001'])
      expect(await forgeError(project, ['feature', 'add', twin, 'x'])).toMatchObject({
        exitCode: 2,
        code: 'feature.exists',
        hint: expect.stringContaining('FORGE-001'),
      });
    for (const twin of ['caf\u00e9', 'cafe\u0301', 'ﬀ', 'Ａ'])
      expect((await forgeError(project, ['feature', 'add', twin, 'x'])).exitCode).toBe(2);
    expect(await forgeJson(project, ['feature', 'show', 'forge-001'])).toMatchObject({ id: 'FORGE-001' });
    expect(project.read(FEATURES)).toBe(before);
  });

  it('B-04 an id that looks like an option is never one', async () => {
    const project = await prepared();
    const options = ['--upload-pack=touch x', '-oProxyCommand=touch x', '-x', '--', '--output=x'];
    await expectNowhere(project, options);
    expect(project.has('x')).toBe(false);
    // A branch and a file of such names do no harm to what forge asks git.
    project.git('update-ref', 'refs/heads/--upload-pack=touch-x', 'HEAD');
    project.git('symbolic-ref', 'HEAD', 'refs/heads/--upload-pack=touch-x');
    project.write('--output=x', 'y');
    expect((await forgeJson<{ branch: string }>(project, [])).branch).toBe('--upload-pack=touch-x');
    const ended = await forgeJson<{ commit?: { hash: string } }>(project, ['session', 'end']);
    expect(project.git('rev-parse', 'HEAD')).toBe(ended.commit?.hash);
    expect(project.has('x')).toBe(false);
  });
});

describe('a wrong call', () => {
  it.each([
    [['note', 'add', ''], 'text.empty', 'forge note add --help'],
    [['memory', 'log', '--limit', 'x'], 'number.invalid', 'forge memory log --help'],
    [['memory', 'record', 'nosuch.json'], 'file.unreadable', 'forge memory record --help'],
    [['--color', 'red'], 'color.unknown', 'forge where --help'],
    [['-C', 'nosuch', 'next'], 'folder.missing', 'mkdir -p nosuch'],
  ])('B-01 %j says what to type next, where its message does not', async (args, code, hint) => {
    const error = await forgeError(await makeForge(), args);
    expect(error).toMatchObject({ exitCode: 2, code, hint });
  });
});

describe('bad values', () => {
  it('B-05 refuses NUL, lone surrogates and megabytes in every text', async () => {
    const project = await prepared();
    const before = snapshot(project.dir);
    // Linux takes no argument above 128 KiB.
    const bad = ['a\u0000b', 'a\ud800b', '\udc00', 'x'.repeat(130_000), 'é'.repeat(40_000)];
    const places = [
      ...['progress add TEXT', 'progress next TEXT', 'knowledge add invariant TEXT', 'knowledge search TEXT'],
      ...['knowledge add success x --context TEXT', 'knowledge add failure x --resolution TEXT'],
      ...['feature add A TEXT', 'feature add --no-run A a --test TEXT', 'feature edit FORGE-001 --name TEXT'],
      ...['focus set --task TEXT', 'focus set --file TEXT', 'focus set --blocker TEXT'],
      ...['focus set --phase TEXT', 'session start --task TEXT', 'session end --learned TEXT'],
      ...['session end --next TEXT', 'config set project.name TEXT', 'config set TEXT 1', 'schema TEXT'],
      ...['init --name TEXT', 'init --stack TEXT'],
    ];
    for (const text of bad)
      for (const place of places) {
        const words = place.split(' ').map((word) => (word === 'TEXT' ? text : word));
        const { exitCode, stderr } = await runForge(project, words);
        expect([place, text.length, exitCode]).toEqual([place, text.length, 2]);
        expect(stderr.length).toBeLessThan(1000);
        expect(stderr.isWellFormed()).toBe(true);
      }
    for (const stdin of [
      Buffer.from('a\0b'),
      ...[10 ** 7, 17 * 2 ** 20].map((size) => Buffer.alloc(size, 'x')),
    ])
      expect((await forgeError(project, ['progress', 'add', '-'], { stdin })).exitCode).toBe(2);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-08 refuses anything but a plain whole number in its range, with the allowed values', async () => {
    const project = await prepared();
    const before = snapshot(project.dir);
    const bad =
      '-1|0|1e999|1e2|0x10|NaN|Infinity| 5 ||+3|1.5|٣|1_0|1,000|0b1|5\n|99999999999999999999|--'.split('|');
    for (const [place, allowed] of [
      [['feature', 'edit', 'FORGE-001', '--priority'], /from 1 to 4/],
      [['session', 'list', '--limit'], /from 1 to/],
      [['briefing', '--budget'], /from \d+ to/],
      [['session', 'start', '--budget'], /from \d+ to/],
      [['config', 'set', 'briefing.budget'], /whole number|at least/],
      [['config', 'set', 'features.timeout_seconds'], /whole number|at least/],
    ] as const)
      for (const value of bad) {
        const { exitCode, stderr } = await runForge(project, [...place, value]);
        expect([place, value, exitCode]).toEqual([place, value, 2]);
        if (!value.startsWith('-')) expect(stderr).toMatch(allowed);
      }
    const { message } = await forgeError(project, 'feature edit FORGE-001 --priority 5');
    expect(message).toContain('from 1 to 4');
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });
});
