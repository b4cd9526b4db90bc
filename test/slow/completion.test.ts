import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TOPICS } from '../../src/cli/about.js';
import { GROUPS, SHORT_WAYS } from '../../src/cli/groups.js';
import { flagOf, GLOBAL_OPTIONS, optionsOf } from '../../src/cli/spec.js';
import { everyCommand } from '../support/commands.js';
import { forgeJson, type RunOptions, runBinary, runForge, SLOW_MOTION } from '../support/forge.js';
import {
  differences,
  featureFile,
  makeForge,
  makePlainForge,
  makeStarted,
  putFeatures,
  snapshot,
} from '../support/forge-project.js';
import { record } from '../support/memory.js';
import { makePlainProject, type Project, run } from '../support/project.js';
import { has, INTERACTIVE, typeInto } from '../support/terminal.js';

/** Features that a clone may bring along. What a shell would run leaves a file `pwned`. */
const HOSTILE = [
  'X-1 two  words',
  `X-2$(touch pwned)\`touch pwned\`$\{PATH}`,
  `X-3'q"u;touch pwned;`,
  'X-4\nnewline',
  'X-5\u001b]0;title\u0007',
  '--zap',
];

const put = (project: Project, ids: readonly string[]): void =>
  putFeatures(
    project,
    ids.map((id) => ({ id, name: `$(touch pwned) %F{red}\u001b[2J ${id}`, status: 'not_implemented' })),
  );

async function hostileProject(): Promise<Project> {
  const project = await makeStarted();
  await forgeJson(project, ['kfr', 'patch', '--goal', 'one']);
  put(project, ['P-1', 'P-2', 'Gross']);
  project.write('a file $(touch pwned).json', '{}');
  mkdirSync(project.path('a folder'));
  mkdirSync(project.path('.forge', 'skills', 's$(touch pwned) x'));
  return project;
}

const shells = Object.keys(INTERACTIVE) as (keyof typeof INTERACTIVE)[];
const canType = has('script');
if (!canType) process.stderr.write('SKIPPED: completion at a terminal; there is no program "script" here.\n');
for (const shell of shells)
  if (!has(shell)) process.stderr.write(`SKIPPED: completion in ${shell}, which is not installed here.\n`);

describe('completion at a terminal', () => {
  for (const shell of shells)
    it.skipIf(!canType || !has(shell))(
      `B-04 B-06 B-42 ${shell} inserts plain names, and runs nothing of others`,
      async () => {
        const project = await hostileProject();
        const plain = await typeInto(INTERACTIVE[shell], project, [
          'forge feature show Gr\t',
          'forge feature show "Gr\t',
          "forge feature show 'Gr\t",
        ]);
        for (const line of plain.words)
          expect(line.slice(0, 4)).toEqual(['forge', 'feature', 'show', 'Gross']);
        put(project, HOSTILE);
        const { words, screen } = await typeInto(INTERACTIVE[shell], project, [
          'forge feature show X-2\t',
          'forge feature show --z\t',
          'forge feature show X-\t\t\t',
        ]);
        expect(words.map((line) => line[3])).toEqual(['X-2', '--z', 'X-']);
        expect(project.has('pwned')).toBe(false);
        expect(screen).not.toContain('\u001b[2J ');
        expect(screen).not.toContain('\u001b]0;title');
      },
    );

  for (const shell of shells)
    it.skipIf(!canType || !has(shell))(`${shell} completes commands, flags, values and paths`, async () => {
      const project = await hostileProject();
      const lines: [keys: string, last: string][] = [
        ['forge sess\t', 'session'],
        ['forge feature sho\t', 'show'],
        ['forge feature edit X --stat\t', '--status'],
        ['forge feature edit X --status not\t', 'not_implemented'],
        ['forge kfr patch --resolve kfr\t', 'kfr-1'],
        ['forge note promote k\t', 'kfr-1'],
        ['forge memory record a\\ fi\t', 'a file $(touch pwned).json'],
        ['forge -C a\\ fo\t', 'a folder'],
        ['forge help exit\t', 'exit-codes'],
        ['forge complete z\t', 'zsh'],
        ['forge nosuch x\t', 'x'],
      ];
      const keys = lines.map(([line]) => line);
      const { words } = await typeInto(INTERACTIVE[shell], project, keys);
      expect(words.map((line) => line.at(-1)?.replace(/\/$/, ''))).toEqual(lines.map(([, last]) => last));
      expect(project.has('pwned')).toBe(false);
    });

  it.skipIf(!canType || !has('bash'))('bash lists ids, and inserts none if several begin alike', async () => {
    const project = await hostileProject();
    const { words, screen } = await typeInto(INTERACTIVE.bash, project, ['forge feature show P-\t\t\t']);
    expect(words[0]?.at(-1)).toBe('P-');
    expect(screen).toMatch(/^P-1/m);
    expect(screen).not.toContain('not_implemented');
  });

  it.skipIf(!has('fish'))('fish takes commands from the script', async () => {
    const project = await hostileProject();
    const script = `${runBinary(project.dir, ['complete', 'fish']).stdout}\ncomplete -C 'forge fea'\n`;
    const fish = run(project.dir, 'fish', ['--no-config', '-c', script], { env: SLOW_MOTION });
    expect(fish.stdout).toBe('feature\n');
  });

  it.skipIf(!canType || !has('bash'))('a ./forge that came with a clone is not run', async () => {
    const project = await hostileProject();
    project.write('forge', '#!/bin/sh\ntouch pwned\n');
    const { words } = await typeInto(INTERACTIVE.bash, project, ['./forge feature sho\t']);
    expect(words[0]).toEqual(['./forge', 'feature', 'show']);
    expect(project.has('pwned')).toBe(false);
  });
});

interface Answer {
  kind: string;
  values: string[];
}

/** What fish is told: it takes values as they are. */
async function complete(
  project: Project,
  words: readonly string[],
  current = '',
  options: RunOptions = {},
): Promise<Answer> {
  const args = ['complete', '--shell=fish', `--current=${current}`, '--', ...words];
  const { stdout, stderr, exitCode } = await runForge(project, args, options);
  expect([words, exitCode, stderr]).toEqual([words, 0, '']);
  const [kind = '', ...values] = stdout.trimEnd().split('\n');
  return { kind, values };
}

const valuesAt = async (project: Project, line: string, current = ''): Promise<string[]> =>
  (await complete(project, line.split(' ').filter(Boolean), current)).values;

async function used(): Promise<{ project: Project; session: string; note: string; learned: string }> {
  const project = await makeForge();
  await forgeJson(project, ['feature', 'add', 'A-1', 'Login works']);
  await forgeJson(project, ['feature', 'add', 'A-2', 'Logout works']);
  await forgeJson(project, ['session', 'start']);
  await forgeJson(project, ['session', 'end', '--no-commit', '--next', 'the button']);
  const { session } = await forgeJson<{ session: { id: string } }>(project, ['session', 'start']);
  await forgeJson(project, ['kfr', 'patch', '--goal', 'one', '--add', 'Constraint:two']);
  const { id } = await forgeJson<{ id: string }>(project, ['note', 'add', 'a note']);
  const { learning } = await forgeJson<{ learning: { id: string } }>(project, 'knowledge add invariant i');
  await record(project);
  await forgeJson(project, ['checkpoint', 'create', 'made', '--verify', 'true']);
  await forgeJson(project, ['feature', 'add', 'A-3', 'Gone']);
  await forgeJson(project, ['feature', 'remove', 'A-3']);
  project.git('tag', 'checkpoint/$(touch`pwned`)-v1');
  return { project, session: session.id, note: id.slice(0, 12), learned: learning.id };
}

describe('forge complete --shell=…', () => {
  it('offers every command, every flag of each, and the words that an argument or a flag takes', async () => {
    const project = makePlainProject();
    const listed = GROUPS.filter(({ heading }) => heading !== null).map(({ name }) => name);
    const groups = [...listed, ...Object.keys(SHORT_WAYS), 'version'];
    expect(await valuesAt(project, '')).toEqual([...groups, 'help']);
    expect(await valuesAt(project, 'help')).toEqual([
      ...new Set([...groups, ...TOPICS.map(([name]) => name), 'topics']),
    ]);
    for (const { words, spec } of await everyCommand()) {
      if (words.length === 2) expect(await valuesAt(project, words[0] ?? '')).toContain(words[1]);
      const options = [...optionsOf(spec), ...GLOBAL_OPTIONS];
      const flags = options.flatMap((option) => flagOf(option).names.filter((name) => /^--/.test(name)));
      const offered = (await complete(project, words, '--')).values;
      expect([words, offered]).toEqual([words, expect.arrayContaining(flags)]);
      for (const option of options) {
        const [name = ''] = flagOf(option).names.slice(-1);
        const known = option.values?.words;
        if (!known) continue;
        const found = await valuesAt(project, `${words.join(' ')} ${name}`);
        expect([name, found]).toEqual([name, expect.arrayContaining([...known])]);
      }
    }
  });

  it('offers existing ids and names', async () => {
    const { project, session, note, learned } = await used();
    for (const [line, values] of [
      ['feature show', ['A-1', 'A-2']],
      ['feature verify A-1', ['A-1', 'A-2']],
      ['feature edit A-1 --blocked-by', ['A-1', 'A-2', 'none']],
      ['session show', [session, session.replace('-002', '-001')]],
      ['session start --resume', ['latest']],
      ['kfr patch --remove', ['kfr-1', 'kfr-2']],
      ['kfr patch --resolve', ['kfr-1', 'kfr-2']],
      ['note promote', ['kfr-1', 'kfr-2']],
      ['note show', [note]],
      ['note remove', [note]],
      ['knowledge remove', [learned]],
      ['knowledge add', ['success', 'failure', 'invariant']],
      ['checkpoint show', ['made-v1']],
      ['recover --to', ['made-v1']],
      ['agent install', ['claude', 'codex', 'gemini', 'cursor', 'opencode', 'copilot', 'all']],
      ['hooks install --who', ['mine', 'agents', 'all']],
      ['cycle --task', ['A-1', 'A-2']],
      ['complete', ['bash', 'zsh', 'fish']],
    ] as const)
      expect([line, await valuesAt(project, line)]).toEqual([line, values]);
    expect(await valuesAt(project, 'config get')).toContain('briefing.budget');
  });

  it('offers nothing for a damaged file, and works without git', async () => {
    const { project } = await used();
    project.write(featureFile('A-1'), 'x');
    expect(await valuesAt(project, 'feature show')).toEqual([]);
    expect(await valuesAt(project, 'kfr patch --remove')).toEqual(['kfr-1', 'kfr-2']);
    project.write('.forge/config.toml', 'not toml [[');
    expect(await valuesAt(project, 'config set briefing.budget')).toEqual([]);
    const plain = await makePlainForge();
    await forgeJson(plain, ['feature', 'add', 'B', 'b']);
    expect(await valuesAt(plain, 'feature show')).toEqual(['B']);
    expect(await valuesAt(plain, 'checkpoint show')).toEqual([]);
  });

  it('writes nothing and prints no error', async () => {
    const { project } = await used();
    const before = snapshot(project.dir);
    const lines = ['feature show', 'memory show', 'checkpoint show', 'undo', 'session show'];
    for (const words of [...lines.map((line) => line.split(' ')), ['-C', '/nosuch', 'next'], ['--color']]) {
      const args = ['complete', '--shell=fish', '--current=', '--', ...words];
      expect(runBinary(project.dir, args)).toMatchObject({ exitCode: 0, stderr: '' });
    }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });
});
