import { appendFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { factOf } from '../../src/finding/facts.js';
import { readQuestion } from '../../src/finding/question.js';
import { ExecutionMemory, type KnownAnswer } from '../../src/index.js';
import { hook, payload } from '../support/agent-hooks.js';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makePlainForge, makeStarted } from '../support/forge-project.js';
import { commitAll, makeFolder, type Project } from '../support/project.js';

const has = async (project: Project, tool: string, query: string) => {
  const args = ['finding', 'has', '--tool', tool, '--query', query, '--json'];
  const { stdout, exitCode } = await runForge(project, args);
  const { known, fresh } = JSON.parse(stdout) as KnownAnswer;
  return [known, fresh, exitCode];
};

const extract = (project: Project, tool: string, query: string, stdin: string) =>
  forgeJson(project, ['finding', 'extract', '--tool', tool, '--query', query, '-'], { stdin });

describe('ExecutionMemory', () => {
  it('EXM-01 EXM-04 has the methods of ADR-0003, and its three groups', () => {
    const memory = new ExecutionMemory(makeFolder());
    const names = 'src/vector-store.ts\nsrc/vector-store.test.ts\n';
    memory.extractFromStep({ tool: 'fs:search', input: 'VectorStore', output: names });
    const code = 'export interface VectorStore {}\nexport function addVectors() {}\n';
    memory.extractFromStep({ tool: 'fs:read', input: 'src/vector-store.ts', output: code });
    memory.addFinding({ tool: 'fs:list', query: 'src/', fact: '12 files found', success: true });
    expect(memory.hasFindingFor('fs:search', 'VectorStore')).toBe(true);
    expect(memory.hasFindingFor('fs:read', './src/vector-store.ts')).toBe(true);
    expect(memory.hasFindingFor('fs:read', 'src/other.ts')).toBe(false);
    expect(memory.getSummary()).toMatchObject({
      count: 3,
      formattedText: [
        '**Files Already Read:**',
        '- src/vector-store.ts: File contains: interface VectorStore (1), addVectors (2)',
        '',
        '**Previous Search Results:**',
        '- VectorStore: Found 2 files: src/vector-store.ts, src/vector-store.test.ts',
        '',
        '**Other Findings:**',
        '- fs:list (src/): 12 files found',
      ].join('\n'),
    });
    memory.clear();
    expect(memory.getSummary()).toMatchObject({ count: 0, formattedText: '' });
  });
});

describe('facts', () => {
  it.each<[string, string, string]>([
    ['a.ts', 'export interface A {}\nclass B {}\nexport const c = 1;', 'interface A (1), c (3), class B (2)'],
    ['a.js', 'exports.run = run;\nfunction run() {}', 'run (1), run (2)'],
    [
      'a.py',
      'class A:\n    def inner(self): ...\ndef run(): ...\ndef _own(): ...',
      'class A (1), run (3), inner (2), _own (4)',
    ],
    [
      'b.ts',
      "export class A {\n  async add(x: number): Promise<void> {\n    if (x) {\n    it('x', () => {\n  get size() {",
      'class A (1), add (2), size (5)',
    ],
    ['a.go', 'type Store struct {}\nfunc (s *Store) Add() {}\nfunc own() {}', 'type Store (1)'],
    ['a.rs', 'pub struct Store;\npub async fn add() {}\nfn own() {}', 'struct Store (1), add (2), own (3)'],
    ['A.java', 'public class A {\n  public static int run(int x) {', 'class A (1), int run (2)'],
    ['a.h', '#define MAX 3\nstruct node {\nint main(void)', 'struct node (2), main (3), #define MAX (1)'],
    ['A.cs', 'public interface IStore\npublic async Task Run(', 'interface IStore (1)'],
    ['a.rb', 'module M\n  class A\n    def run?', 'module M (1), class A (2), run? (3)'],
    ['a.php', 'final class A {\n  public function run() {', 'class A (1)'],
    ['A.swift', 'public struct A {\n  public func run()', 'struct A (1), run (2)'],
    ['A.kt', 'data class A(val x: Int)\nfun run() {}', 'class A (1)'],
    ['a.sh', 'run_all() {\n}', 'run_all (1)'],
    ['a.sql', 'CREATE TABLE IF NOT EXISTS users (', 'TABLE IF NOT EXISTS users (1)'],
    ['a.md', '# Title\ntext\n## Part', 'Title (1), Part (3)'],
    ['a.json', '{\n  "name": "x",\n  "deep": {\n    "no": 1\n  }\n}', 'name (2), deep (3)'],
    ['a.toml', 'x = 1\n[tool.pytest]\n', 'tool.pytest (2), x (1)'],
    ['a.yml', 'on: push\njobs:\n  test: 1', 'on (1), jobs (2)'],
  ])('EXM-02 of %s: what it exports first, with the lines', (name, text, fact) => {
    const said = factOf('Read', readQuestion('Read', { path: name }, '/x'), text);
    expect(said).toContain(`File contains: ${fact}`);
  });

  it('EXM-02 of a part of a file: which lines were shown', () => {
    const of = (command: string, output: string): string =>
      factOf('Bash', readQuestion('Bash', { command }, '/x'), output);
    const lines = '{\n  "name": "x",\n  "version": "1"\n';
    expect(of('cat package.json | head -3', lines)).toBe('Lines 1 to 3 contain: name (2), version (3)');
    expect(of('sed -n 5,6p a.ts', 'x()\ny()\n')).toBe('Lines 5 to 6: x() y()');
    expect(of('cat package.json', lines)).toBe('File contains: name (2), version (3)');
  });

  it.each<[string, string, string, number | null]>([
    [
      'npx vitest run',
      ' Test Files  1 passed (1)\n      Tests  3 failed | 41 passed (44)\n',
      'exit 1: Tests 3 failed | 41 passed (44)',
      1,
    ],
    [
      'pytest -q',
      '..s. [ 50%]\n.... [100%]\n7 passed, 1 skipped in 0.1s\n',
      'exit 0: 7 passed, 1 skipped',
      0,
    ],
    ['pytest', 'x\n===== 2 failed, 5 passed in 0.31s =====\n', 'exit 1: 2 failed, 5 passed in 0.31s', 1],
    [
      'pytest -q',
      "  self.exit(2, 'error: bad')\nFAILED tests/a.py::test_b - SystemExit: 2\n1 failed, 1 passed in 0.08s\n",
      'exit 1: 1 failed, 1 passed in 0.08s; FAILED tests/a.py::test_b - SystemExit: 2',
      1,
    ],
    [
      'cargo test',
      'test result: ok. 12 passed; 0 failed; 0 ignored\n',
      'exit 0: test result: ok. 12 passed; 0 failed; 0 ignored',
      0,
    ],
    [
      'tsc',
      "src/a.ts(3,7): error TS2322: Type 'x'.\nsrc/b.ts(1,1): error TS1005: y.\n",
      "exit 2: src/a.ts(3,7): error TS2322: Type 'x'.",
      2,
    ],
    [
      'node --test src/ 2>&1 | tail -12',
      'not ok 1 - adds\n# pass 0\n# fail 1\n# cancelled 0\n',
      '# fail 1; not ok 1 - adds',
      null,
    ],
    ['node --test', 'ℹ pass 2\nℹ fail 0\n', 'exit 0: ℹ pass 2', 0],
    ['mocha', '  2 passing (8ms)\n  1 failing\n', 'exit 1: 1 failing; 2 passing (8ms)', 1],
    ['go test ./...', 'ok  \tp/a\t0.1s\nFAIL\tp/b\t0.2s\n', 'exit 1: FAIL p/b 0.2s', 1],
    ['node --test x.js', "Exit code 1\nCould not find 'x.js'\n", "exit 1: Could not find 'x.js'", 1],
    ['cat x', 'Exit code 1\ncat: x: No such file or directory\n', 'exit 1: cat: x: No such file', 1],
    ['sh x.sh', 'Exit code 7\n', 'exit 7: no output', 7],
    ['ls -l src', 'total 8\na.js\nb.js\n', '2 entries: a.js, b.js', 0],
    ['npm run x', `start\n${'long '.repeat(200)}`, 'exit 0: start long', 0],
  ])('EXM-02 of %s: the line that tells', (command, output, fact, exit) => {
    const said = factOf('Bash', readQuestion('Bash', { command }, '/x'), output, exit);
    expect(said.startsWith(fact)).toBe(true);
    expect(said.length).toBeLessThan(320);
  });

  it('EXM-02 of a search, a listing, an answer in JSON, a page and anything else', () => {
    const fact = (tool: string, input: object, output: string): string =>
      factOf(tool, readQuestion(tool, input as Record<string, unknown>, '/x'), output);
    const found = 'src/a.ts:3:a\nsrc/a.ts:9:a\nb.ts:1:a';
    expect(fact('Grep', { pattern: 'a' }, found)).toBe('Found 2 files: src/a.ts, b.ts');
    expect(fact('Grep', { pattern: 'a' }, 'No matches found')).toBe('Found nothing');
    const own = './.forge/local/findings/1.jsonl:5:{"query":"grep a"}\n';
    expect(fact('Grep', { pattern: 'a' }, `./b.ts:1:a\n${own}`)).toBe('Found 1 file: b.ts');
    expect(fact('Grep', { pattern: 'a' }, own)).toBe('Found nothing');
    expect(fact('Grep', { pattern: 'a' }, '.forge/config.toml:1:a')).toBe('Found 1 file: .forge/config.toml');
    expect(fact('LS', { path: 'src' }, 'a.ts\nb.ts')).toBe('2 entries: a.ts, b.ts');
    const json = '{"answer":"Because of the lock.","sources":[]}';
    expect(fact('mind:rag-query', { text: 'why' }, json)).toBe('Because of the lock.');
    expect(fact('WebFetch', { url: 'https://x.y' }, '# Node 24\nnews')).toContain('"Node 24"');
    expect(fact('Unknown', {}, 'x'.repeat(900)).length).toBeLessThanOrEqual(200);
  });
});

describe('questions', () => {
  it.each([
    // The patterns are in a file, which may change.
    'grep -rf words.txt src',
    'grep -r -f words.txt src',
    'rg -f words.txt src',
    // Links may lead anywhere.
    'grep -R word src',
    'grep -nR word src',
    'rg -L word src',
    'rg --follow word src',
    // With hidden files, those of git too.
    'rg -uu word src',
    'rg -u -u word src',
    'rg -uuu word src',
  ])('EXM-03 of a search whose answer may change unnoticed: %s', (command) => {
    expect(readQuestion('Bash', { command }, '/x')).toEqual({ kind: 'other' });
  });

  it('EXM-03 of a command in the folder that the agent names: Codex, Cursor', () => {
    for (const name of ['workdir', 'working_directory'])
      expect(readQuestion('Shell', { command: 'cat a.ts', [name]: '/x/app' }, '/x')).toMatchObject({
        path: '/x/app/a.ts',
      });
  });

  it('EXM-03 rg -u searches ignored files too: a change in one is noticed, and rg without it is another search', async () => {
    const project = await makeForge();
    project.write('.gitignore', 'built\n');
    project.write('src/a.js', 'word\n');
    project.write('built/b.js', 'word\n');
    await forgeJson(project, ['session', 'start']);
    for (const query of ['rg word', 'rg -u word']) await extract(project, 'Bash', query, 'src/a.js:1:word\n');
    expect(await has(project, 'Bash', 'rg word')).toEqual([true, true, 0]);
    expect(await has(project, 'Bash', 'rg -u word')).toEqual([true, true, 0]);
    expect(await has(project, 'Bash', 'rg -uu word')).toEqual([false, false, 1]);
    project.write('built/b.js', 'another\n');
    expect(await has(project, 'Bash', 'rg word')).toEqual([true, true, 0]);
    expect(await has(project, 'Bash', 'rg -u word')).toEqual([true, false, 1]);
  });

  it('EXM-03 a search of the whole project by grep holds until a file changes, whatever git does', async () => {
    const project = await makeForge();
    project.write('src/a.js', 'word\n');
    await forgeJson(project, ['session', 'start']);
    const queries = ['grep -rn word .', 'grep -rn --exclude-dir=node_modules word .'];
    for (const query of queries) await extract(project, 'Bash', query, './src/a.js:1:word\n');
    commitAll(project, 'Add a word');
    for (const query of queries) expect(await has(project, 'Bash', query)).toEqual([true, true, 0]);
    project.write('src/a.js', 'another\n');
    for (const query of queries) expect(await has(project, 'Bash', query)).toEqual([true, false, 1]);
  });
});

describe('forge finding', () => {
  it('AGT-04 keeps nothing of what forge itself printed', async () => {
    const project = await makeForge();
    const call = (event: string, fields: object = {}) =>
      hook(
        project,
        ['cursor', event],
        payload('cursor', event, { workspace_roots: [project.dir], ...fields }),
      );
    const ranShell = (command: string, tool_output: string) =>
      call('post-tool-use', { tool_name: 'Shell', tool_input: { command }, tool_output });
    await call('session-start');
    await ranShell('forge briefing', 'FORGE briefing');
    await ranShell('git add -A && forge commit -m "x" --why y', '✓ abc');
    await ranShell('npx --no-install forge recall login', 'learned …');
    await ranShell('forge done a && npm run lint', '✓ a\nall clean');
    await ranShell('npm test -- forge', '3 passing');
    type Listed = { findings: { query: string; fact: string }[] };
    const { findings } = await forgeJson<Listed>(project, 'finding list');
    expect(findings.map(({ query, fact }) => [query, fact])).toEqual([['npm test -- forge', '3 passing']]);
  });

  it('EXM-01 keeps findings with the session: add, extract, list, summary, clear; a new session has none', async () => {
    const project = await makeStarted();
    await forgeJson(project, 'finding add "login() is on line 40" --tool Read --query src/app.js');
    const command = 'finding extract --tool Read --query src/app.js src/app.js';
    const { finding } = await forgeJson<{ finding: object }>(project, command);
    expect(finding).toEqual({
      ...{ tool: 'Read', query: 'src/app.js', filePath: 'src/app.js' },
      ...{ fact: 'File contains: answer (1)', step: 2, success: true },
    });
    expect((await forgeJson<{ findings: object[] }>(project, ['finding', 'list'])).findings).toHaveLength(2);
    const { stdout } = await runForge(project, ['finding', 'summary']);
    expect(stdout).toBe('**Files Already Read:**\n- src/app.js: File contains: answer (1)\n');
    expect((await runForge(project, ['briefing'])).stdout).toContain('src/app.js: File contains: answer (1)');
    expect(project.git('status', '--porcelain', '--untracked-files=all')).not.toContain('findings');
    await forgeJson(project, ['session', 'end']);
    await forgeJson(project, ['session', 'start']);
    expect(await forgeJson(project, ['finding', 'list'])).toMatchObject({ findings: [] });
    expect((await runForge(project, ['finding', 'list'])).stdout).toBe(
      'No findings yet in this session. To see which agents keep them: forge agent status\n',
    );
    await forgeJson(project, ['finding', 'add', 'x', '--tool', 'Read', '--query', 'y']);
    expect(await forgeJson(project, ['finding', 'clear'])).toEqual({ cleared: 1 });
    expect(await forgeJson(project, ['finding', 'list'])).toMatchObject({ findings: [] });
  });

  it('EXM-03 has: exit 0 while the answer holds, 1 if a file changed or the call is new', async () => {
    const project = await makeForge();
    await forgeJson(project, ['finding', 'extract', '--tool', 'Read', '--query', 'src/app.js', 'src/app.js']);
    expect(await has(project, 'Read', 'src/app.js')).toEqual([true, true, 0]);
    expect(await has(project, 'Bash', `cat "${project.path('src/app.js')}"`)).toEqual([true, true, 0]);
    expect(await has(project, 'Read', 'src/other.js')).toEqual([false, false, 1]);
    project.write('src/app.js', 'export const answer = 43;\n');
    expect(await has(project, 'Read', 'src/app.js')).toEqual([true, false, 1]);
  });

  it('EXM-03 a file that changed just before it was read is known if it has exactly the lines that were shown', async () => {
    const project = await makeForge();
    const text = 'export const one = 1; // a\n\nexport const two = 2;\n';
    project.write('src/same.js', text);
    project.write('src/other.js', text.replace(' // a', ''));
    const told = async (path: string): Promise<string> => {
      const call = { tool_name: 'Read', tool_input: { file_path: path }, tool_output: text };
      const stdin = JSON.stringify({ conversation_id: 'one', cwd: project.dir, ...call });
      return (await runForge(project, ['hook', 'cursor', 'post-tool-use'], { stdin })).stdout;
    };
    for (const path of ['src/same.js', 'src/other.js']) expect(await told(path)).toBe('');
    expect(await told('./src/same.js')).toMatch(/Already known, from this conversation/);
    expect(await told('./src/other.js')).toBe('');
  });

  it('EXM-04 the summary has only what still tells something: no changed file, no part of a known one, no commit', async () => {
    const project = await makeStarted();
    project.write('src/two.js', 'export const one = 1;\nexport const two = 2;\n');
    await extract(project, 'Read', 'src/app.js', project.read('src/app.js'));
    await extract(project, 'Read', 'src/two.js', project.read('src/two.js'));
    await extract(project, 'Bash', 'head -1 src/two.js', 'export const one = 1;\n');
    await extract(project, 'Bash', 'git add -A && git commit -qm "feat: b" && echo ok', 'ok\n');
    await extract(project, 'Bash', 'sed -i s/a/b/ src/app.js', '');
    await extract(project, 'Bash', 'npm test', '# pass 3\n');
    await extract(project, 'Bash', 'node --test new.test.js', "Exit code 1\nCould not find 'new.test.js'\n");
    // The times of files are a few milliseconds late.
    await setTimeout(50);
    project.write('src/app.js', 'export const answer = 43;\n');
    // A test run before the change tells nothing about it.
    const read = ['**Files Already Read:**', '- src/two.js: File contains: one (1), two (2)', ''];
    const summary = async () => (await runForge(project, ['finding', 'summary'])).stdout.split('\n');
    expect(await summary()).toEqual(read);
    await extract(project, 'Bash', 'npm test', '# pass 4\n');
    await extract(project, 'Bash', 'ls -l src', 'total 4\n-rw-r--r-- 1 a a 3 app.js\n');
    await extract(project, 'Bash', 'npm test 2>&1 | tail -3', '# pass 4\n# fail 1\n');
    expect(await summary()).toEqual([
      ...read,
      '**Other Findings:**',
      '- Bash (npm test): # pass 4',
      '- Bash (npm test 2>&1 | tail -3): # fail 1; # pass 4',
      '',
    ]);
  });

  it('EXM-04 the summary fits its budget and reports omissions', async () => {
    const project = await makeForge();
    const words = 'word '.repeat(30);
    for (let i = 0; i < 30; i++)
      await forgeJson(project, `finding add "fact ${i} ${words}" --tool fs:list --query "src/${i}"`);
    const { stdout } = await runForge(project, ['finding', 'summary', '--budget', '200']);
    expect(stdout.length / 3).toBeLessThan(330);
    expect(stdout).toContain('fact 29');
    expect(stdout).toMatch(/… 2\d more: forge finding list/);
    const none = await runForge(project, ['finding', 'summary', '--budget', '50']);
    expect(none.stdout).toBe('… 30 more: forge finding list\n');
  });

  it('EXM-01 B-11 masks a secret in a finding, skips a truncated line, and works without git', async () => {
    const project = await makePlainForge();
    const secret = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`;
    writeFileSync(project.path('env.txt'), `token = ${secret}\n`);
    await forgeJson(project, ['finding', 'extract', '--tool', 'Bash', '--query', 'cat env.txt', 'env.txt']);
    const folder = project.path('.forge/local/findings');
    expect(project.read('.forge/local/findings/none.jsonl')).not.toContain(secret);
    appendFileSync(`${folder}/none.jsonl`, '{"tool":"Read","query"\n\0\0\n[]\nnull\n');
    expect((await forgeJson<{ findings: object[] }>(project, ['finding', 'list'])).findings).toHaveLength(1);
  });

  it('EXM-01 does not write through a symlink from a clone', async () => {
    const project = await makeForge();
    const elsewhere = makeFolder();
    mkdirSync(project.path('.forge/local'), { recursive: true });
    symlinkSync(elsewhere, project.path('.forge/local/findings'));
    await runForge(project, ['finding', 'add', 'x', '--tool', 'Read', '--query', 'src/app.js']);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it('EXM-03 B-56 folders, binary, missing and very large files cause no crash, and are not claimed as known', async () => {
    const project = await makeForge();
    mkdirSync(project.path('folder'));
    writeFileSync(project.path('binary'), Buffer.from([0, 255, 254, 10, 0]));
    writeFileSync(project.path('long'), 'x'.repeat(9 * 1024 * 1024));
    for (const name of ['folder', 'gone', 'long', 'binary']) {
      await forgeJson(project, ['finding', 'extract', '--tool', 'Read', '--query', name, 'src/app.js']);
      expect([name, (await has(project, 'Read', name))[1]]).toEqual([name, false]);
    }
    const missing = { exitCode: 2, message: '--query is missing.' };
    expect(await forgeError(project, ['finding', 'has', '--tool', 'Read'])).toMatchObject(missing);
  });
});
