import { describe, expect, it } from 'vitest';
import { SHORT_WAYS } from '../../src/cli/groups.js';
import { splitCommand } from '../../src/core/argv.js';
import { everyCommand } from '../support/commands.js';
import { runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { makePlainProject, type Project } from '../support/project.js';
import { makeForgeRepository, typed, typedError, typedJson } from '../support/typed.js';

/** What stands as an example on the page of each command, by its name. */
const examples = async (): Promise<Map<string, string>> =>
  new Map((await everyCommand()).map(({ words, spec }) => [words.join(' '), spec.example]));

/** A command whose example works, or with the exit code and the reason why it cannot work here. */
type Step = string | readonly [name: string, exitCode: number, reason: RegExp];

/** An example names a record that another project has. */
const ELSEWHERE = /forge: ("3fa9c1d2" is not a note|There is no (record|knowledge) "?3fa9c1d2)/;
const HUMAN = /needs a human's decision; there is no terminal/;

function refused(exitCode: number, reason: RegExp, ...names: string[]): Step[] {
  return names.map((name) => [name, exitCode, reason] as const);
}

/** Days of a project, one command after the other. */
const STORY: readonly Step[] = [
  ...['init', 'trust', 'where', 'status', 'doctor', 'feature add', 'feature import', 'feature list'],
  ...['feature show', 'feature edit', 'feature verify', 'next', 'checkpoint create', 'checkpoint list'],
  ...['checkpoint show', 'checkpoint verify', 'session start', 'session status', 'progress add'],
  ...['progress next', 'progress show', 'focus set', 'focus show', 'kfr patch', 'kfr list', 'kfr inject'],
  ['note promote', 2, /There is no entry "kfr-3"/],
  ['kfr clear', 3, /Canceled: this needs confirmation/],
  ...['focus clear', 'briefing', 'prime', 'architecture show'],
  ['architecture edit', 2, /Editing needs a terminal/],
  ...['knowledge add', 'knowledge list', 'knowledge search', 'note add', 'note list', 'learn'],
  ...['finding add', 'finding extract', 'finding has', 'finding list', 'finding summary', 'finding stats'],
  ...['recall', 'finding clear'],
  ...refused(2, ELSEWHERE, 'note show', 'note remove', 'knowledge remove'),
  ...['commit template', 'commit', 'commit check', 'hook', 'session end', 'session list'],
  ['session show', 2, /2026-11-20-session-001/],
  ['session discard', 3, /No session is running/],
  ...['cycle', 'loop', 'memory record', 'memory consolidate', 'memory report', 'memory log'],
  ...['memory verify', 'memory stats'],
  ['memory promote', 2, /No evaluation shows the pattern "retry the install once"/],
  ['memory show', 2, ELSEWHERE],
  ...refused(3, HUMAN, 'memory repair', 'memory redact', 'memory override', 'feature confirm', 'guard allow'),
  ['undo', 2, /There is nothing here to undo/],
  ...[
    'skill list',
    'skill show',
    'skill resource',
    'skill new',
    'skill check',
    'skill match',
    'skill export',
  ],
  ['skill import', 2, /pdf-forms/],
  ...['artifact add', 'artifact list', 'artifact show', 'artifact verify', 'linear list', 'linear new'],
  ...['linear template', 'import', 'export html', 'export markdown', 'export json'],
  ...refused(2, /APP-7/, 'linear show', 'linear start', 'linear done'),
  ...['claim', 'fleet', 'release'],
  ...refused(2, /Events are off/, 'events tail', 'events list', 'events replay', 'events flush'),
  ...refused(2, /LINEAR_API_KEY/, 'linear pull', 'linear push', 'linear sync'),
  ...['guard scan', 'recover', 'ci', 'agent install', 'agent status', 'agent uninstall', 'hooks install'],
  ...['hooks status', 'hooks uninstall'],
  ...['feature remove', 'config list', 'config get', 'config set', 'schema', 'complete'],
];

/** They run until their client or a person ends them: test/mcp, test/ui. */
const ELSEWHERE_TESTED = ['mcp', 'ui', 'watch'];

async function prepared(): Promise<Project> {
  const project = await makeForge();
  project.write('package.json', JSON.stringify({ scripts: { test: 'node test.cjs' } }));
  project.write('test.cjs', "process.exitCode = require('node:fs').existsSync('built') ? 0 : 1;\n");
  project.write('features.md', '- FORGE-010: More\n');
  project.write('src/login.ts', 'export {};\n');
  commitAll(project);
  return project;
}

/** What has to be there for that command. */
const BEFORE: Readonly<Record<string, (project: Project) => unknown>> = {
  // The test failed before the work.
  'feature verify': (project) => project.write('built', ''),
  'checkpoint create': (project) => commitAll(project),
  'artifact add': (project) => project.write('qa-report.json', '{}\n'),
  'focus clear': (project) => runForge(project, ['kfr', 'clear', '--yes', '--dismiss-all', 'given up']),
  commit: (project) => project.write('src/login.ts', 'export const form = 1;\n'),
  ci: (project) => commitAll(project),
};

function commitAll(project: Project): void {
  project.git('add', '.');
  project.git('commit', '-q', '--allow-empty', '-m', 'Go on');
  project.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
}

describe('the examples of help', () => {
  it('B-01 of every command work as written in a project, or are refused for the stated reason', async () => {
    const known = await examples();
    const told = STORY.map((step) => (typeof step === 'string' ? step : step[0]));
    expect([...told, ...ELSEWHERE_TESTED].sort()).toEqual([...known.keys()].sort());
    const project = await prepared();
    for (const step of STORY) {
      const [name, exitCode, reason] = typeof step === 'string' ? ([step, 0, /^/] as const) : step;
      await BEFORE[name]?.(project);
      const example = known.get(name) ?? '';
      const outcome = await runForge(project, splitCommand(example.replace('~/', '/home/ada/')).slice(1));
      const told = expect.stringMatching(reason);
      expect([example, outcome.exitCode, outcome.stderr]).toEqual([example, exitCode, told]);
    }
  });
});

describe('short forms of commands', () => {
  it('B-01 each has the help of its full command, also after other options', async () => {
    const project = makePlainProject();
    for (const [name, { words }] of Object.entries(SHORT_WAYS)) {
      const { stdout } = await runForge(project, [...words, '--help']);
      expect((await runForge(project, [name, '--help'])).stdout).toBe(stdout);
      expect((await runForge(project, ['--color', 'never', name, '-h'])).stdout).toBe(stdout);
      expect((await runForge(project, ['help', name])).stdout).toBe(stdout);
    }
  });
});

describe('forge learn', () => {
  it('KNO-01 stores each kind in its place, and the briefing has it', () => {
    const project = makeForgeRepository();
    expect(typedJson(project, 'learn "use port 0" --as success --context tests')).toMatchObject({
      learning: { kind: 'success', context: 'tests', approach: 'use port 0' },
      duplicate: false,
    });
    typed(project, ['learn', 'the port is taken', '--as', 'failure', '--resolution', 'use port 0']);
    typed(project, ['learn', 'amounts are whole cents', '--as', 'invariant']);
    const { id } = typedJson<{ id: string }>(project, 'learn "staging is rebuilt on Mondays" --as note');
    expect(typed(project, ['note', 'show', id])).toContain('staging is rebuilt on Mondays');
    expect(typed(project, 'learn "use port 0" --as success --context tests')).toContain('known already');
    const briefing = typed(project, ['briefing']);
    for (const text of ['use port 0', 'the port is taken', 'amounts are whole cents'])
      expect(briefing).toContain(text);
  });

  it('B-02 without a terminal it asks for the missing text, and stores nothing', () => {
    const project = makeForgeRepository();
    expect(typedError(project, ['learn', 'use port 0'])).toMatchObject({
      exitCode: 2,
      code: 'learn.kind',
      hint: 'forge learn "use port 0" --as success',
    });
    expect(typedError(project, ['learn', 'a $b', '--as', 'fact'])).toMatchObject({
      exitCode: 2,
      message: '--as: found "fact", allowed: success | failure | invariant | note.',
      hint: 'forge learn "TEXT" --as success',
    });
    expect(typed(project, ['knowledge', 'list'])).toContain('Nothing yet');
  });
});
