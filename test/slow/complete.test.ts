import { describe, expect, it } from 'vitest';
import { TOPICS } from '../../src/cli/about.js';
import { GROUPS, SHORT_WAYS } from '../../src/cli/groups.js';
import { flagOf, GLOBAL_OPTIONS, optionsOf } from '../../src/cli/spec.js';
import { everyCommand } from '../support/commands.js';
import { forgeJson, type RunOptions, runBinary, runForge } from '../support/forge.js';
import { differences, featureFile, makeForge, makePlainForge, snapshot } from '../support/forge-project.js';
import { record } from '../support/memory.js';
import { makePlainProject, type Project } from '../support/project.js';

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
      const flags = (await complete(project, words, '--')).values;
      expect([words, flags]).toEqual([
        words,
        expect.arrayContaining(
          options.flatMap((option) => flagOf(option).names.filter((name) => /^--/.test(name))),
        ),
      ]);
      for (const option of options) {
        const [name = ''] = flagOf(option).names.slice(-1);
        const known = option.values?.words;
        if (!known) continue;
        const expected = [...known];
        expect([name, await valuesAt(project, `${words.join(' ')} ${name}`)]).toEqual([
          name,
          expect.arrayContaining(expected),
        ]);
        expect(await valuesAt(project, words.join(' '), `${name}=`)).toEqual(
          expect.arrayContaining(expected.map((word) => `${name}=${word}`)),
        );
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
