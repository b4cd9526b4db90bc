import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Feature, Imported, ImportedFile } from '../../src/index.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { makeFolder, type Project } from '../support/project.js';

const features = async (project: Project): Promise<Feature[]> =>
  (await forgeJson<{ features: Feature[] }>(project, ['feature', 'list'])).features;
const notes = async (project: Project) =>
  (await forgeJson<{ notes: { id: string; text: string; source?: string }[] }>(project, ['note', 'list']))
    .notes;
const take = (project: Project, ...args: string[]): Promise<Imported> =>
  forgeJson<Imported>(project, ['import', ...args]);

const TASKS = JSON.stringify({
  master: {
    tasks: [
      { id: 1, title: 'Schema', status: 'done', dependencies: [], priority: 'high' },
      {
        ...{ id: 2, title: 'Login', description: 'With a form', status: 'in-progress' },
        ...{ dependencies: [1], priority: 'high' },
        subtasks: [
          { id: 1, title: 'Form', status: 'pending', dependencies: [] },
          { id: 2, title: 'Check', status: 'pending', dependencies: [1, '2.1'] },
        ],
      },
      { id: 3, title: 'Log out', status: 'pending', dependencies: [2] },
    ],
  },
});
const BEADS = [
  { id: 'bd-1', title: 'Crash on start', status: 'open', priority: 0, issue_type: 'bug' },
  {
    ...{ id: 'bd-2', title: 'Release', status: 'in_progress', priority: 2, description: 'With notes' },
    dependencies: [
      { issue_id: 'bd-2', depends_on_id: 'bd-1', type: 'blocks' },
      { issue_id: 'bd-2', depends_on_id: 'bd-9', type: 'related' },
    ],
  },
  { id: 'bd-3', title: 'Old', status: 'closed', priority: 1 },
];

/** A project in which every tool has left something. */
async function full(): Promise<Project> {
  const project = await makeForge();
  project.write(
    'CLAUDE.md',
    '\ufeff# Shop\n\nA shop.\n\n## Commands\n\n- `npm test` runs the tests\n\n```sh\n# not a heading\n```\n\n@docs/more.md\n',
  );
  project.write('AGENTS.md', '# Style of C# ##\n\nTabs, never spaces.\n');
  project.write('GEMINI.md', '# Gemini\n\nNo network in tests.\n');
  project.write(
    '.cursor/rules/tests.mdc',
    '---\ndescription: tests\nglobs: tests/**/*.py\nalwaysApply: false\n---\n- Every test has a docstring.\n',
  );
  project.write('claude-progress.txt', 'Session 1: the login works.\n\nNext: log out.\n');
  project.write(
    'feature_list.json',
    JSON.stringify([
      { category: 'functional', description: 'New chat', steps: ['Open', 'Click'], passes: false },
      { category: 'style', description: 'Dark mode', steps: [], passes: true },
    ]),
  );
  project.write('memory-bank/systemPatterns.md', '# Patterns\n\nRepositories behind services.\n');
  project.write('.beads/issues.jsonl', `${BEADS.map((row) => JSON.stringify(row)).join('\n')}\n`);
  project.write('.taskmaster/tasks/tasks.json', TASKS);
  project.write(
    'backlog/tasks/task-7 - Dark-mode.md',
    '---\nid: task-7\ntitle: Dark side\nstatus: In Progress\npriority: low\ndependencies: [task-6]\n---\n\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\nThemes.\n<!-- SECTION:DESCRIPTION:END -->\n',
  );
  return project;
}

describe('forge import', () => {
  it('AGT-05 shows the plan and stores nothing until --yes', async () => {
    const project = await full();
    const before = snapshot(project.dir);
    const { stdout, exitCode } = await runForge(project, ['import']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/CLAUDE\.md +2 notes/);
    expect(stdout).toMatch(
      /issues\.jsonl +1 note, 2 features, 1 skipped \(done, deferred, or without an id or a title\)/,
    );
    expect(stdout).toContain('Nothing was stored. To import: forge import --yes');
    const claude = await runForge(project, ['import', '--from', 'claude']);
    expect(claude.stdout).toContain('To import: forge import --from claude --yes');
    await take(project, '--dry-run', '--yes');
    const dry = await runForge(project, ['import', '--dry-run']);
    expect(dry.stderr).toMatch(/Dry run: nothing was written\. \d+ files would change: .*bd-1\.json/);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('AGT-05 takes over notes and tasks of ten tools, with their file on each record', async () => {
    const project = await full();
    const { applied, files } = await take(project, '--yes');
    expect(applied).toBe(true);
    expect(files.filter(({ problem }) => problem !== undefined)).toEqual([]);
    const found = await features(project);
    const rows = found.map(({ id, name, status, priority, blocked_by, source }) => [
      ...[id, name, status, priority ?? 0, [blocked_by ?? []].flat().join(' '), source],
    ]);
    expect(rows.sort()).toEqual([
      ['FL-1', 'New chat', 'not_implemented', 0, '', 'feature_list.json'],
      ['FL-2', 'Dark mode', 'in_progress', 0, '', 'feature_list.json'],
      ['TM-2', 'Login', 'in_progress', 2, '', '.taskmaster/tasks/tasks.json'],
      ['TM-2.1', 'Form', 'not_implemented', 0, '', '.taskmaster/tasks/tasks.json'],
      ['TM-2.2', 'Check', 'not_implemented', 0, 'TM-2.1', '.taskmaster/tasks/tasks.json'],
      ['TM-3', 'Log out', 'not_implemented', 0, 'TM-2', '.taskmaster/tasks/tasks.json'],
      ['bd-1', 'Crash on start', 'not_implemented', 1, '', '.beads/issues.jsonl'],
      ['bd-2', 'Release', 'in_progress', 3, 'bd-1', '.beads/issues.jsonl'],
      ['task-7', 'Dark side', 'in_progress', 4, '', 'backlog/tasks/task-7 - Dark-mode.md'],
    ]);
    expect((await notes(project)).map(({ text, source }) => [source, text])).toEqual([
      ['CLAUDE.md', 'Shop\n\nA shop.'],
      ['CLAUDE.md', 'Shop › Commands\n\n- `npm test` runs the tests\n\n```sh\n# not a heading\n```'],
      ['AGENTS.md', 'Style of C#\n\nTabs, never spaces.'],
      ['GEMINI.md', 'Gemini\n\nNo network in tests.'],
      ['.cursor/rules/tests.mdc', 'For tests/**/*.py: tests\n\n- Every test has a docstring.'],
      ['claude-progress.txt', 'Session 1: the login works.\n\nNext: log out.'],
      ['feature_list.json', 'FL-1: New chat\n\n- Open\n- Click'],
      ['memory-bank/systemPatterns.md', 'Patterns\n\nRepositories behind services.'],
      ['.beads/issues.jsonl', 'bd-2: Release\n\nWith notes'],
      ['.taskmaster/tasks/tasks.json', 'TM-2: Login\n\nWith a form'],
      ['backlog/tasks/task-7 - Dark-mode.md', 'task-7: Dark side\n\n## Description\n\nThemes.'],
    ]);
    const { hits } = await forgeJson<{ hits: { snippet?: string }[] }>(project, ['recall', 'tabs or spaces']);
    expect(hits.length).toBeGreaterThan(0);
  });

  it('AGT-05 a second import adds nothing, and a changed file only its new items', async () => {
    const project = await full();
    await take(project, '--yes');
    const before = snapshot(project.dir);
    const again = await take(project, '--yes');
    expect(again.applied).toBe(false);
    expect(again.files.every((file) => file.notes === 0 && file.features.length === 0)).toBe(true);
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    project.write('AGENTS.md', '# Style of C#\n\nTabs, never spaces.\n\n# Names\n\nShort.\n');
    const { files } = await take(project, '--from', 'agents', '--yes');
    const agents = { file: 'AGENTS.md', source: 'agents', notes: 1, features: [], known: 1, skipped: 0 };
    expect(files).toEqual([agents]);
  });

  it('AGT-05 LTM-13 keeps no secret, no hidden text and no bad id; one broken file stops no other', async () => {
    const project = await makeForge();
    const key = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`;
    project.write('CLAUDE.md', `# Keys\n\nThe token is ${key}.\u{e0041}\u202e\n`);
    project.write('.beads/issues.jsonl', '{"id":"../../x","title":"Climb","status":"open"}\n');
    project.write('.taskmaster/tasks/tasks.json', '{"tasks": [');
    project.write('backlog/tasks/task-1.md', 'no frontmatter\n');
    project.write('backlog/tasks/task-2.md', '---\nid: &a task-2\ntitle: *a\n---\n');
    project.write('AGENTS.md', Buffer.from([0x23, 0x20, 0xff]));
    project.write('.beads/beads.jsonl', '{"id":"b","title":"Ok"}\n\n{"id":}\n');
    const { stdout, exitCode } = await runForge(project, ['import', '--yes', '--json']);
    const { files } = JSON.parse(stdout) as Imported;
    const { problem } = files.find(({ file }) => file.endsWith('/beads.jsonl')) as ImportedFile;
    expect([exitCode, problem]).toEqual([1, 'line 3: unexpected "}"']);
    expect(files.map(({ file, problem }) => [file, problem !== undefined])).toEqual([
      ['CLAUDE.md', false],
      ['AGENTS.md', true],
      ['.beads/issues.jsonl', false],
      ['.beads/beads.jsonl', true],
      ['.taskmaster/tasks/tasks.json', true],
      ['backlog/tasks/task-1.md', true],
      ['backlog/tasks/task-2.md', true],
    ]);
    const [note] = await notes(project);
    expect(note?.text).not.toContain(key);
    expect(note?.text).not.toMatch(/[\u{e0000}-\u{e007f}\u202a-\u202e]/u);
    expect((await features(project)).map(({ id }) => id).sort()).toEqual([
      'b',
      expect.stringMatching(/^x-[0-9a-f]{6}$/),
    ]);
    expect(await forgeError(project, ['import', '--from', 'jira'])).toMatchObject({
      ...{ code: 'import.source', message: expect.stringContaining('memory-bank | beads | task-master') },
    });
  });

  it.each([
    ['feature_list.json', 'null'],
    ['feature_list.json', '[null, 1, {"description": ["x"]}]'],
    ['.beads/issues.jsonl', 'null\n{"id":"b","title":"","status":"constructor"}\n'],
    ['.taskmaster/tasks/tasks.json', '{"tasks":[{"id":{},"title":"x"}],"a":null}'],
    ['backlog/tasks/task-1.md', '---\n- x\n---\n'],
  ])('AGT-05 takes nothing from odd values in %s', async (path, text) => {
    const project = await makeForge();
    project.write(path, text);
    const { files } = await take(project, '--yes');
    expect(files.map(({ file, notes }) => [file, notes])).toEqual([[path, 0]]);
  });

  it('AGT-05 keeps dependencies across files, drops those on completed tasks and those that close a cycle', async () => {
    const project = await makeForge();
    const task = (id: number, status: string, on: string): void =>
      project.write(
        `backlog/tasks/task-${id}.md`,
        `---\nid: task-${id}\ntitle: Task ${id}\nstatus: ${status}\ndependencies: [${on}]\n---\n`,
      );
    task(1, 'Done', '');
    task(2, 'To Do', 'task-1, task-4');
    task(3, 'To Do', 'task-2, task-99');
    task(4, 'To Do', 'task-2');
    await take(project, '--yes');
    const found = (await features(project)).map(({ id, blocked_by }) => [id, [blocked_by ?? []].flat()]);
    expect(found.sort()).toEqual([
      ['task-2', ['task-4']],
      ['task-3', ['task-2']],
      ['task-4', []],
    ]);
  });

  it('AGT-05 a text that two files share is stored once, and not called imported before', async () => {
    const project = await makeForge();
    project.write('CLAUDE.md', '# Rules\n\nNo new dependencies.\n');
    project.write('AGENTS.md', '# Rules\n\nNo new dependencies.\n');
    const { stdout } = await runForge(project, ['import', '--yes']);
    expect(stdout).toMatch(/CLAUDE\.md +1 note\n1 other file +nothing new\n/);
    expect(await notes(project)).toHaveLength(1);
  });

  it('AGT-05 a changed section replaces its note', async () => {
    const project = await makeForge();
    const write = (port: number, rest = ''): void =>
      project.write('AGENTS.md', `# App\n\n## Port\n\nTests use port ${port}.\n${rest}`);
    write(3000, '\n## Style\n\nTabs in tests.\n');
    await take(project, '--yes');
    await forgeJson(project, ['note', 'add', 'The port of the staging tests is 81']);
    write(4000, '\n## Style\n\nTabs in tests.\n');
    const plan = await runForge(project, ['import']);
    expect(plan.stdout).toMatch(/AGENTS\.md +1 note, 1 already there\n/);
    const done = await runForge(project, ['import', '--yes']);
    expect(done.stdout).toContain('Imported. Next: forge note list');
    expect((await notes(project)).map(({ text }) => text)).toEqual([
      'App › Style\n\nTabs in tests.',
      'The port of the staging tests is 81',
      'App › Port\n\nTests use port 4000.',
    ]);
    const found = await runForge(project, ['recall', 'port']);
    expect(found.stdout).not.toContain('3000');
    const { stdout } = await runForge(project, ['start', '--task', 'tests port']);
    expect(stdout).toMatch(/^ {2}App › Port .* \(AGENTS\.md\) \[note/m);
    expect(stdout).not.toContain('3000');
    expect((await forgeJson<{ status: string }>(project, ['memory', 'verify'])).status).toBe('intact');
  });

  it.each<[string, string, string, [from: string, to: string], string]>([
    [
      'without a heading',
      '.cursorrules',
      '- Tabs.\n\nNo network.\n',
      ['- Tabs.', '- Tabs in tests.'],
      '- Tabs in tests.\n\nNo network.',
    ],
    [
      'of an issue with another title',
      '.beads/issues.jsonl',
      '{"id":"bd-1","title":"Cart page","status":"open","description":"With a total"}\n',
      ['Cart page', 'Cart page v2'],
      'bd-1: Cart page v2\n\nWith a total',
    ],
    [
      'of a task with another text',
      'backlog/tasks/t.md',
      '---\nid: T-3\ntitle: Sort\nstatus: To Do\n---\n\nKeep the order.\n',
      ['Keep the order.', 'Shorter.'],
      'T-3: Sort\n\nShorter.',
    ],
  ])('AGT-05 an edited section %s replaces its note', async (_, file, text, [from, to], after) => {
    const project = await makeForge();
    project.write(file, text);
    await take(project, '--yes');
    project.write(file, text.replace(from, to));
    await take(project, '--yes');
    expect((await notes(project)).map((note) => note.text)).toEqual([after]);
  });

  it('AGT-05 a note that a person removed or replaced does not return; one that an import replaced does', async () => {
    const project = await makeForge();
    const write = (port: number): void =>
      project.write('AGENTS.md', `# Port\n\nPort ${port}.\n\n# Style\n\nTabs.\n\n# Mail\n\nNone.\n`);
    write(1);
    await take(project, '--yes');
    const [, style, mail] = await notes(project);
    await forgeJson(project, ['note', 'remove', style?.id ?? '']);
    await forgeJson(project, ['note', 'add', 'One mail', '--replaces', mail?.id ?? '']);
    for (const port of [1, 2, 1]) {
      write(port);
      await take(project, '--yes');
      expect((await notes(project)).map(({ text }) => text).sort()).toEqual([
        'One mail',
        `Port\n\nPort ${port}.`,
      ]);
    }
  });

  it('AGT-05 LTM-13 imports a masked text, which it names, and one that is refused stops all before anything is written', async () => {
    const project = await makeForge();
    project.write('CLAUDE.md', '# A\n\n## Db\n\nuse postgres://app:S3cretPw9x@db.intern:5432/shop\n');
    project.write('.beads/issues.jsonl', '{"id":"bd-1","title":"Cart","status":"open"}\n');
    const mail = 'backlog/tasks/task-1 - ask bob@foo-team.dev.md';
    project.write(mail, '---\nid: task-1\ntitle: Ask\nstatus: To Do\n---\n');
    const before = snapshot(project.dir);
    const error = await forgeError(project, ['import', '--yes']);
    expect(error).toMatchObject({
      ...{ exitCode: 5, code: 'guard.email', file: mail },
      message: `${mail} source: e-mail address of a person (rule email); nothing was written.`,
    });
    // The guard remembers what it refused, in the git folder.
    expect(differences(before, snapshot(project.dir)).filter((path) => !path.startsWith('.git/'))).toEqual(
      [],
    );
    rmSync(project.path(mail));
    const { stdout } = await runForge(project, ['import']);
    expect(stdout).toMatch(/CLAUDE\.md +1 note, secrets or personal data masked in 1 text\n/);
    const { files } = await take(project, '--yes');
    expect(files.map(({ file, notes, features }) => [file, notes, features])).toEqual([
      ['CLAUDE.md', 1, []],
      ['.beads/issues.jsonl', 0, ['bd-1']],
    ]);
    expect((await notes(project)).map(({ text }) => text)).toEqual([
      'A › Db\n\nuse postgres://app:<url-credentials>@db.intern:5432/shop',
    ]);
  });

  it('AGT-05 with nothing there it says what it looks for', async () => {
    const project = await makeForge();
    expect((await runForge(project, ['import'])).stdout).toMatch(
      /^Nothing to import: no CLAUDE\.md, AGENTS\.md, .*, Task Master or Backlog\.md here\.\n$/,
    );
    project.write('CLAUDE.md', '# A\n\nB\n');
    const { stdout } = await runForge(project, ['import', '--from', 'gemini', '--from', 'beads']);
    expect(stdout).toBe('Nothing to import: no files of gemini, beads here.\n');
  });

  it('AGT-05 of beads, a parent waits for its children, a blocked issue for a person; none is dropped unnamed', async () => {
    const project = await makeForge();
    project.write(
      '.beads/issues.jsonl',
      [
        { id: 'bd-1', title: 'Shop', status: 'open', issue_type: 'epic', priority: 0 },
        {
          ...{ id: 'bd-2', title: 'Cart', status: 'open', priority: 1, design: 'A list' },
          ...{ acceptance_criteria: '- a total', notes: 'Ask Ann', comments: [{ id: 1, text: 'Soon' }] },
          dependencies: [{ issue_id: 'bd-2', depends_on_id: 'bd-1', type: 'parent-child' }],
        },
        { id: 'bd-3', title: 'Pay', status: 'blocked', priority: 0 },
        { id: 'bd-4', title: 'Later', status: 'deferred' },
        { id: 'bd-5', title: '', status: 'open' },
        { id: 'bd-6', title: 'Old', status: 'closed' },
      ]
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    );
    const { stdout } = await runForge(project, ['import', '--yes']);
    expect(stdout).toMatch(
      /issues\.jsonl +1 note, 3 features, 3 skipped \(done, deferred, or without an id or a title\)\n/,
    );
    const next = await runForge(project, ['next']);
    expect(next.stdout).toMatch(
      /^bd-2: Cart\n[\s\S]*bd-1 +Shop +blocked by bd-2\n +bd-3 +Pay +blocked by its status\n/,
    );
    expect((await notes(project)).map(({ text }) => text)).toEqual([
      'bd-2: Cart\n\ndesign: A list\n\nacceptance criteria: - a total\n\nnotes: Ask Ann\n\ncomment: Soon',
    ]);
  });

  it('AGT-05 B-87 takes a link within the project, and names one that leads out of it or to nothing', async () => {
    const project = await makeForge();
    const outside = join(makeFolder(), 'notes.md');
    writeFileSync(outside, 'of somebody else\n');
    project.write('rules.md', 'of the project\n');
    symlinkSync('rules.md', project.path('GEMINI.md'));
    symlinkSync(outside, project.path('CLAUDE.md'));
    symlinkSync('nowhere.md', project.path('AGENTS.md'));
    const { stdout } = await runForge(project, ['import', '--yes']);
    expect(
      stdout.match(/^(CLAUDE|AGENTS)\.md +it is a link to nothing, or out of the project$/gm),
    ).toHaveLength(2);
    expect((await notes(project)).map(({ text }) => text)).toEqual(['of the project']);
  });

  it('AGT-05 names a file that cannot be read once, and the line once', async () => {
    const project = await makeForge();
    project.write('.cursorrules', Buffer.from('\ufeffa', 'utf16le'));
    project.write('backlog/tasks/t.md', '---\nid: task-1\ntitle: a: b\n---\n');
    const { stdout } = await runForge(project, ['import']);
    expect(stdout).toMatch(/^\.cursorrules +it is UTF-16, not UTF-8 \(byte 0\)\.\n/);
    expect(stdout).toMatch(/\nbacklog\/tasks\/t\.md +line 3: Nested mappings .* in compact mappings\n/);
  });

  it('AGT-05 names the lines of beads that are not JSON, and takes the others', async () => {
    const project = await makeForge();
    const rows = BEADS.map((row) => JSON.stringify(row));
    project.write('.beads/issues.jsonl', ['<<<<<<< HEAD', rows[0], 'x', '=', rows[1], '{"id":'].join('\n'));
    const { stdout, exitCode } = await runForge(project, ['import', '--yes']);
    expect(stdout).toMatch(
      /issues\.jsonl +1 note, 2 features, line 1: unexpected "<" \(and 3 more lines\)\n/,
    );
    expect([exitCode, (await features(project)).map(({ id }) => id).sort()]).toEqual([1, ['bd-1', 'bd-2']]);
  });

  it.each([
    ['globs: "src/**/*.ts"\ndescription: Rule: with a colon', 'For src/**/*.ts: Rule: with a colon'],
    ['globs: ["*.ts", "*.md"]\ndescription:', 'For *.ts, *.md'],
    [
      'description: >-\n  Use these\n  in tests\nglobs:\n  - "*.ts"\n  - *.md',
      'For *.ts, *.md: Use these in tests',
    ],
    [
      'globs: [\r\n  "*.ts",\r\n]\r\ndescription: "Use\r\n  them"\r\nalwaysApply: false',
      'For *.ts: Use them',
    ],
    ['globs:\n- a.ts\n- b.ts\nalwaysApply: true', 'For a.ts, b.ts'],
  ])('AGT-05 reads the fields %j of a Cursor rule', async (fields, scope) => {
    const project = await makeForge();
    project.write('.cursor/rules/a.mdc', `---\n${fields}\n---\n- Tabs.\n`);
    await take(project, '--yes');
    expect((await notes(project)).map(({ text }) => text)).toEqual([`${scope}\n\n- Tabs.`]);
  });

  it('AGT-05 at a terminal shows the plan once, then the result', async () => {
    const project = await makeForge();
    project.write('CLAUDE.md', '# A\n\nB\n');
    const { shown, exitCode } = await atTerminal(project, ['import'], [['Import this?', 'y\r']]);
    expect([exitCode, shown.split('CLAUDE.md').length - 1]).toEqual([0, 1]);
    expect(stripVTControlCharacters(shown)).toMatch(/✓ Imported\. Next: forge note list\s*$/);
  });
});
