import { describe, expect, it } from 'vitest';
import {
  type Focus,
  type Issue,
  type IssueList,
  type MadeCommit,
  openForge,
  type StartedIssue,
} from '../../src/index.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { ISSUES, makeForge } from '../support/forge-project.js';
import { changedPaths, type Project } from '../support/project.js';

const list = async (project: Project): Promise<Issue[]> =>
  (await forgeJson<IssueList>(project, ['linear', 'list'])).issues;

const BUG = [
  ...['--template', 'bug', '--field', 'title=[BUG] Save fails'],
  ...['--field', 'reproduction_steps=Press save', '--field', 'git_bisect_range=abc1234..def5678'],
];

/** The options for these answers. */
const answers = (...fields: string[]): string[] => fields.flatMap((field) => ['--field', field]);

const form = (...fields: string[]): string =>
  `template: x\nfields:\n${fields.map((one) => `  - ${one}\n`).join('')}`;
const BROKEN_FORMS: [what: string, yaml: string, message: string][] = [
  ['an unknown type', form('{name: title, type: video}'), 'fields.0.type: allowed: text, markdown'],
  ['a slow pattern', form('{name: title, type: text, pattern: "(?<=a)b"}'), 'its pattern cannot be used'],
  ['no title', form('{name: other, type: text}'), 'it has no field title'],
  [
    'a field twice',
    form('{name: title, type: text}', '{name: title, type: text}'),
    'field title is there twice',
  ],
  ['broken YAML', 'template: x\nfields: [\n', 'x.yaml:'],
  ['aliases', form('&a {name: title, type: text}', '*a'), 'aliases are not allowed'],
];

describe('forge linear, offline', () => {
  it('LIN-01 LIN-02 makes a unit in the shape of RFC-9060 from a form', async () => {
    const project = await makeForge();
    const made = await forgeJson<Issue>(project, ['linear', 'new', ...BUG]);
    expect(made).toMatchObject({
      ...{ linear_id: 'LOCAL-1135', title: '[BUG] Save fails', type: 'bug' },
      ...{ state: 'unstarted', labels: ['bug'] },
      memory_trace: { created_from: 'form bug', parent_issue: null, context_snapshot: null },
      agent_state: { assigned_persona: null, harness_mode: null, estimated_complexity: null },
      ...{ acceptance_criteria: [], git_refs: { branch: null, commits: [] }, priority: null },
      fields: { reproduction_steps: 'Press save', git_bisect_range: 'abc1234..def5678' },
    });
    expect(made.description).toContain('## Reproduction steps\n\nPress save');
    expect(await list(project)).toEqual([made]);
    const feature = ['title=Login', 'description=People log in', 'parent_rfc=RFC-9400'];
    const criteria = ['acceptance_criteria=It works', 'acceptance_criteria=It fails well'];
    const args = ['linear', 'new', '--template', 'feature', ...answers(...feature, ...criteria)];
    expect(await forgeJson<Issue>(project, args)).toMatchObject({
      linear_id: 'LOCAL-1873',
      acceptance_criteria: ['It works', 'It fails well'],
      memory_trace: { created_from: 'RFC-9400' },
    });
  });

  it('LIN-02 accepts answers from a file, and a title alone', async () => {
    const project = await makeForge();
    const stdin = 'title: "[BUG] Save fails"\nreproduction_steps: |\n  1. Press save\n';
    const { stdout } = await runForge(project, 'linear new --template bug --from - --json', { stdin });
    expect((JSON.parse(stdout) as Issue).fields).toEqual({ reproduction_steps: '1. Press save\n' });
    expect(await forgeJson<Issue>(project, ['linear', 'new', 'Wire the login'])).toMatchObject({
      linear_id: 'LOCAL-9528',
    });
  });

  it('LIN-01 refuses an issue without a title', async () => {
    const project = await makeForge();
    const empty = { exitCode: 2, code: 'text.empty', message: 'The title is empty.' };
    for (const title of ['', '  '])
      expect(await forgeError(project, ['linear', 'new', title])).toMatchObject(empty);
    const untitled = openForge(project.dir).linear.new({ answers: { description: 'x' } });
    await expect(untitled).rejects.toMatchObject({ code: 'text.empty' });
    expect(await list(project)).toEqual([]);
  });

  const STEPS = 'reproduction_steps=x';
  it.each([
    ['a missing answer', ['title=[BUG] x'], 'reproduction_steps needs an answer'],
    ['no title', [STEPS], 'title needs an answer'],
    ['another title', ['title=Save fails', STEPS], 'title: "Save fails" does not match [BUG] *'],
    [
      'a pattern',
      ['title=[BUG] x', STEPS, 'git_bisect_range=abc..def'],
      'git_bisect_range: "abc..def" does not match',
    ],
    ['an unknown field', ['title=[BUG] x', STEPS, 'size=3'], 'size is not a field of this form'],
  ])('LIN-02 names the rule that is broken: %s', async (_, fields, expected) => {
    const project = await makeForge();
    const args = ['linear', 'new', '--template', 'bug', ...answers(...fields)];
    const error = await forgeError(project, args);
    expect([error.exitCode, error.message]).toEqual([2, expect.stringContaining(expected)]);
    expect(error.hint).toContain('--field NAME=VALUE   # title, reproduction_steps, ');
    expect(await list(project)).toEqual([]);
  });

  it.each([
    [
      'npm',
      { 'package.json': '{"workspaces":["packages/*"]}', 'packages/a/package.json': '{"name":"@x/a"}' },
      '@x/a',
    ],
    [
      'cargo',
      { 'Cargo.toml': '[workspace]\nmembers = ["crates/*"]', 'crates/b/Cargo.toml': '[package]\nname = "b"' },
      'b',
    ],
    ['go', { 'go.work': 'go 1.22\n\nuse (\n\t./svc\n)\n' }, 'svc'],
    [
      'python',
      {
        'pyproject.toml': '[tool.uv.workspace]\nmembers = ["libs/*"]\n',
        'libs/c/pyproject.toml': '[project]\nname = "c"\n',
      },
      'c',
    ],
  ])('LIN-02 offers the packages of an %s workspace', async (_, files, name) => {
    const project = await makeForge();
    for (const [path, text] of Object.entries(files)) project.write(path, text);
    const fields = ['title=x', 'description=y', 'acceptance_criteria=z', 'qa_requirements=unit_tests'];
    const args = (crate: string): string[] => [
      ...['linear', 'new', '--template', 'feature', ...answers(...fields, `affected_crates=${crate}`)],
    ];
    expect((await forgeJson<Issue>(project, args(name))).fields.affected_crates).toBe(name);
    await expectError(project, args('other'), '2');
  });

  it.each(BROKEN_FORMS)('LIN-02 B-90 a form with %s is refused', async (_, yaml, expected) => {
    const project = await makeForge();
    project.write('.forge/linear/templates/x.yaml', yaml);
    const error = await forgeError(project, ['linear', 'new', '--template', 'x', '--field', 'title=y']);
    expect([error.exitCode, error.message]).toEqual([2, expect.stringContaining(expected)]);
  });

  it('LIN-02 matches a pattern prone to backtracking in linear time', async () => {
    const project = await makeForge();
    const yaml = form('{name: title, type: text, pattern: "(a+)+b"}');
    project.write('.forge/linear/templates/x.yaml', yaml);
    const args = ['linear', 'new', '--template', 'x', '--field', `title=${'a'.repeat(5000)}`];
    await expectError(project, args, '2');
  });

  it('LIN-01 SKL-06 start sets focus, branch, mode and skill; done moves the issue to history', async () => {
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', ...BUG]);
    await forgeJson(project, ['session', 'start', '--task', 'Something else']);
    const { issue, branch, skill } = await forgeJson<StartedIssue>(project, 'linear start local-1135');
    expect([branch, skill]).toEqual(['fix/LOCAL-1135-save-fails', 'qa-review']);
    expect(issue).toMatchObject({
      ...{ state: 'started', agent_state: { harness_mode: 'Build' }, git_refs: { branch } },
    });
    expect(issue.memory_trace.context_snapshot).toMatch(/^triv:[0-9a-f]{32}_[0-9a-f]{32}_[0-9a-f]{32}$/);
    expect(await forgeJson<Focus>(project, ['focus', 'show'])).toMatchObject({
      ...{ task: 'LOCAL-1135: [BUG] Save fails', linear_issue: 'LOCAL-1135', skill: 'qa-review' },
    });
    await forgeJson(project, ['linear', 'done', 'LOCAL-1135', '--summary', 'A lock was missing']);
    expect(await list(project)).toEqual([]);
    expect(await forgeJson<Focus>(project, 'focus show')).toMatchObject({ task: null, linear_issue: null });
    expect(JSON.parse(project.read('.forge/linear/history/LOCAL-1135.json'))).toMatchObject({
      ...{ linear_id: 'LOCAL-1135', state: 'done', summary: 'A lock was missing' },
    });
    expect(await forgeJson<Issue>(project, 'linear show LOCAL-1135')).toMatchObject({ state: 'done' });
    await expectError(project, ['linear', 'done', 'LOCAL-1135'], '3');
    await expectError(project, ['linear', 'show', 'NOPE-1'], '2');
    const { stdout } = await runForge(project, ['linear', 'start', 'LOCAL-1135']);
    expect(stdout).toContain('LOCAL-1135 was done. It is active again, and started');
    expect(await list(project)).toMatchObject([{ linear_id: 'LOCAL-1135', state: 'started' }]);
    expect(project.has('.forge/linear/history/LOCAL-1135.json')).toBe(false);
    expect((await forgeJson<Issue>(project, ['linear', 'new', 'Next one'])).linear_id).toBe('LOCAL-3074');
  });

  it('LIN-01 LAY-09 the title gives the id, and each issue has a file', async () => {
    const project = await makeForge();
    const make = async (title: string) =>
      (await forgeJson<Issue>(project, ['linear', 'new', title])).linear_id;
    const ids = [await make('Login fails'), await make('Types missing'), await make('Login fails')];
    expect(ids).toEqual(['LOCAL-7032', 'LOCAL-4052', 'LOCAL-7033']);
    const files = ids.map((id) => `?? .forge/linear/active.d/${id}.json`);
    expect(changedPaths(project).sort()).toEqual(files.sort());
    const view = project.read(ISSUES);
    project.write(ISSUES, view.replace('"title": "Types missing"', '"title": "Types are missing"'));
    const { stderr } = await runForge(project, ['linear', 'new', 'More']);
    expect(stderr).toContain('active.json was edited, and forge took it in: LOCAL-4052 (title)');
    expect(project.read('.forge/linear/active.d/LOCAL-4052.json')).toContain('"Types are missing"');
  });

  it('LIN-01 SES-05 focus set knows local issues, and another issue is another task', async () => {
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', 'Login fails']);
    await forgeJson(project, ['focus', 'set', '--task', 'APP-3: Other', '--issue', 'APP-3']);
    expect(await forgeError(project, ['focus', 'set', '--issue', 'LOCAL-2'])).toMatchObject({
      ...{ exitCode: 2, message: 'There is no active issue LOCAL-2 here.', hint: 'forge linear list' },
    });
    expect(await forgeJson<Focus>(project, ['focus', 'set', '--issue', 'LOCAL-7032'])).toMatchObject({
      ...{ task: 'LOCAL-7032: Login fails', linear_issue: 'LOCAL-7032' },
    });
  });

  it.each([
    [BUG, /^fix: save fails$/],
    [['Fix the docs'], /^docs: fix the docs$/],
    [['Log in'], /^feat: log in$/],
  ])('LIN-01 GIT-02 a conventional subject has the type of the issue: %s', async (words, expected) => {
    const project = await makeForge();
    await forgeJson(project, ['config', 'set', 'commit.style', 'conventional']);
    const { linear_id } = await forgeJson<Issue>(project, ['linear', 'new', ...words]);
    if (words[0] === 'Fix the docs')
      project.write(ISSUES, project.read(ISSUES).replace(/("labels": \[\s*)"feature"/, '$1"Documentation"'));
    await forgeJson(project, ['linear', 'start', linear_id]);
    project.write('src/new.js', 'export {};\n');
    project.git('add', '-A');
    const { commit } = await forgeJson<MadeCommit>(project, ['commit', '--why', 'It matters']);
    expect(commit?.subject).toMatch(expected);
  });

  it('LIN-04 KFR-09 done keeps the task while working memory has open entries, and says so', async () => {
    const project = await makeForge();
    await forgeJson(project, ['linear', 'new', 'Save']);
    await forgeJson(project, ['session', 'start', 'LOCAL-4177']);
    await forgeJson(project, ['kfr', 'patch', '--add', 'OpenQuestion:which lock?']);
    const { exitCode, stderr } = await runForge(project, ['linear', 'done', 'LOCAL-4177']);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('LOCAL-4177 stays the task')]);
    expect((await forgeJson<Focus>(project, ['focus', 'show'])).task).toBe('LOCAL-4177: Save');
  });

  it('LIN-03 without a key nothing is sent, and the hint says how to set it', async () => {
    const project = await makeForge();
    expect(await forgeError(project, ['linear', 'sync'])).toMatchObject({
      ...{ exitCode: 2, code: 'linear.no_key', hint: expect.stringContaining('LINEAR_API_KEY') },
    });
  });
});
