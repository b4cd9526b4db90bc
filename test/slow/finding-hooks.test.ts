import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringsIn } from '../../src/agent/agents.js';
import { forgeJson, makeLauncher, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { makeFolder, type Project } from '../support/project.js';
import { hooksFor } from '../support/wirings.js';

type Input = Record<string, unknown>;

/** What changed in the very millisecond of a call is not taken for what the call saw. */
const settle = (): unknown => spawnSync('sleep', ['0.05']);

const STORE = `export interface VectorStore {\n  name: string;\n}\n\nexport function addVectors(): void {}\nconst hidden = 1;\n`;

/** Claude Code's part: it writes its transcript and calls the installed hooks. */
class Claude {
  readonly transcript: string;
  private calls = 0;
  /** Where its shell stands. */
  cwd = '';

  constructor(
    readonly project: Project,
    readonly session = 'c0ffee00-0000-4000-8000-000000000001',
    private readonly command = makeLauncher(),
  ) {
    this.cwd = project.dir;
    this.transcript = join(makeFolder(), 'transcript.jsonl');
    appendFileSync(this.transcript, '');
  }

  hook(event: string, more: object = {}): string {
    const line =
      stringsIn(hooksFor('claude', false, this.command)[event]).find((text) => text.includes(' hook ')) ?? '';
    const payload = {
      ...{ session_id: this.session, transcript_path: this.transcript, cwd: this.cwd },
      ...{ hook_event_name: event, ...more },
    };
    const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', line], {
      ...{ cwd: this.project.dir, input: JSON.stringify(payload), encoding: 'utf8' },
      env: { ...process.env, CLAUDE_PROJECT_DIR: this.project.dir },
    });
    expect([status, stderr]).toEqual([0, '']);
    return stdout;
  }

  /** A forge command in its shell. */
  forge(words: string): string {
    const line = `${this.command} ${words}`;
    return spawnSync('/bin/sh', ['-c', line], { cwd: this.project.dir, encoding: 'utf8' }).stdout;
  }

  private note(message: object): void {
    const line = { type: 'x', timestamp: new Date().toISOString(), cwd: this.cwd, ...message };
    appendFileSync(this.transcript, `${JSON.stringify(line)}\n`);
  }

  /** What the hook says before the call; then the call is made. `isPart`: by a sub-agent. */
  call(tool: string, input: Input, { output, part }: { output?: string; part?: string } = {}): string {
    const id = `toolu_${++this.calls}`;
    const side = part === undefined ? {} : { isSidechain: true };
    this.note({ ...side, message: { content: [{ type: 'tool_use', id, name: tool, input }] } });
    const about = { tool_name: tool, tool_input: input, tool_use_id: id };
    const said = this.hook('PreToolUse', part === undefined ? about : { ...about, agent_id: part });
    const result = output ?? this.run(tool, input);
    this.note({ ...side, message: { content: [{ type: 'tool_result', tool_use_id: id, content: result }] } });
    settle();
    return said;
  }

  private run(tool: string, input: Input): string {
    if (tool === 'Read') {
      const path = join(this.project.dir, String(input.file_path).replace(this.project.dir, ''));
      const lines = readFileSync(path, 'utf8').split('\n');
      const from = Number(input.offset ?? 1);
      const shown = lines.slice(from - 1, from - 1 + Number(input.limit ?? 2000));
      return shown.map((text, i) => `${String(from + i).padStart(6)}→${text}`).join('\n');
    }
    if (tool === 'Bash')
      return spawnSync('/bin/sh', ['-c', String(input.command)], { cwd: this.cwd, encoding: 'utf8' }).stdout;
    const grep = ['-rn', String(input.pattern), String(input.path ?? '.')];
    const args = [...grep, '--exclude-dir=.git', '--exclude-dir=.forge'];
    return spawnSync('grep', args, { cwd: this.project.dir, encoding: 'utf8' }).stdout;
  }
}

const KNOWN = /Already known, from this conversation/;

async function talking(): Promise<Claude> {
  const project = await makeForge();
  project.write('src/store.ts', STORE);
  project.write('src/use.ts', "import { addVectors } from './store';\naddVectors();\n");
  const claude = new Claude(project);
  claude.hook('SessionStart', { source: 'startup' });
  settle();
  return claude;
}

describe('an agent that asks again', () => {
  it('EXM-03 EXM-05 is recognized in ten spellings, and not before; stats never count a notice as a saving', async () => {
    const claude = await talking();
    const path = claude.project.path('src/store.ts');
    expect(claude.call('Read', { file_path: path })).toBe('');
    expect(claude.call('Grep', { pattern: 'addVectors', output_mode: 'content', '-n': true })).toBe('');
    // The second reading in the same turn.
    const said = claude.call('Read', { file_path: path });
    expect(JSON.parse(said)).toEqual({
      hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: expect.stringMatching(KNOWN) },
    });
    expect(said).toContain('src/store.ts: File contains: interface VectorStore (1), addVectors (5)');
    claude.hook('Stop', { stop_hook_active: false });
    expect(claude.forge('finding has --tool Read --query src/store.ts')).toMatch(
      /^known {2}.*nothing changed/,
    );
    const spellings: [string, Input][] = [
      ['Read', { file_path: 'src/store.ts' }],
      ['Read', { file_path: './src/../src/store.ts' }],
      ['Read', { file_path: path, offset: 2, limit: 3 }],
      ['Bash', { command: 'cat src/store.ts' }],
      ['Bash', { command: `cat '${path}' 2>/dev/null` }],
      ['Bash', { command: "sed -n '1,3p' src/store.ts" }],
      ['Bash', { command: 'head -n 2 ./src/store.ts' }],
      ['Grep', { pattern: 'addVectors', path: 'src', output_mode: 'content' }],
      ['Grep', { pattern: 'addVectors', path: claude.project.path('src'), glob: '*.ts' }],
      ['Bash', { command: 'rg -n "addVectors" src' }],
    ];
    for (const [tool, input] of spellings)
      expect([input, claude.call(tool, input)]).toEqual([input, expect.stringMatching(KNOWN)]);
    const stats = await forgeJson<Record<string, number>>(claude.project, ['finding', 'stats']);
    expect(stats).toMatchObject({ avoided: 0, tokens_saved: 0, exact_repeats: 1, near_repeats: 10 });
    expect(stats.tokens_repeated).toBeGreaterThan(100);
  });

  it('EXM-05 a sub-agent has not read what its caller read, nor the other way round', async () => {
    const claude = await talking();
    const path = claude.project.path('src/store.ts');
    claude.call('Read', { file_path: path });
    expect(claude.call('Read', { file_path: path }, { part: 'part-1' })).toBe('');
    claude.project.write('src/part.ts', 'export const part = 1;\n');
    settle();
    const own = { file_path: claude.project.path('src/part.ts') };
    expect(claude.call('Read', own, { part: 'part-1' })).toBe('');
    expect(claude.call('Read', own)).toBe('');
  });

  it('EXM-03 EXM-04 is silent after an edit or a compaction, which gives it the summary again', async () => {
    const claude = await talking();
    const path = claude.project.path('src/store.ts');
    claude.call('Read', { file_path: path });
    claude.call('Grep', { pattern: 'addVectors', output_mode: 'content' });
    claude.project.write('src/store.ts', `${STORE}// more\n`);
    settle();
    expect(claude.call('Read', { file_path: path })).toBe('');
    expect(claude.call('Grep', { pattern: 'addVectors', output_mode: 'content' })).toBe('');
    expect(claude.call('Read', { file_path: path })).toMatch(KNOWN);
    claude.call('Bash', { command: 'npm test' }, { output: '# pass 3' });
    claude.hook('PreCompact', { trigger: 'auto', custom_instructions: '' });
    // What it did in this turn is in the summary too.
    const summary = await runForge(claude.project, ['finding', 'summary']);
    expect(summary.stdout).toContain('(npm test): exit 0: # pass 3');
    expect(claude.call('Bash', { command: 'cat src/store.ts' })).toBe('');
    expect(claude.call('Read', { file_path: path })).toMatch(KNOWN);
    const start = claude.hook('SessionStart', { source: 'compact' });
    expect(JSON.parse(start).hookSpecificOutput.additionalContext).toMatch(
      /Execution memory\n {2}\*\*Files Already Read:\*\*\n {4}src\/store\.ts[\s\S]*\*\*Previous Search Results:\*\*/,
    );
  });
});

describe('results that are never reported as known', () => {
  it('EXM-03 B-56 files that vanished, are folders or links out of the project, and results that were cut', async () => {
    const claude = await talking();
    const { project } = claude;
    const outside = join(makeFolder(), 'out.ts');
    appendFileSync(outside, STORE);
    symlinkSync(outside, project.path('src/link.ts'));
    project.write('src/long.ts', Array.from({ length: 50 }, (_, i) => `const line${i} = ${i};`).join('\n'));
    settle();
    const cut = 'const line0 = 0;\nconst line1 = 1;\n... 40 lines truncated ...\nconst line49 = 49;';
    const asked: [Input, string | undefined][] = [
      [{ file_path: project.path('src/link.ts') }, STORE],
      [{ file_path: project.path('src') }, 'store.ts'],
      [{ file_path: project.path('src/long.ts') }, cut],
      [{ file_path: project.path('src/store.ts') }, undefined],
    ];
    for (const [input, output] of asked) claude.call('Read', input, output === undefined ? {} : { output });
    rmSync(project.path('src/store.ts'));
    for (const [input] of asked)
      expect([input, claude.call('Read', input, { output: '' })]).toEqual([input, '']);
    // What was shown of the long one is known.
    const part = { file_path: project.path('src/long.ts'), offset: 1, limit: 2 };
    expect(claude.call('Read', part, { output: '' })).toMatch(KNOWN);
  });

  it('EXM-05 findings.mode: "deny" refuses and counts it as avoided, "ask" asks, "off" keeps nothing', async () => {
    const claude = await talking();
    const { project } = claude;
    const read = (): string => claude.call('Read', { file_path: project.path('src/store.ts') });
    read();
    await forgeJson(project, ['config', 'set', 'findings.mode', 'deny']);
    expect(JSON.parse(read()).hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' });
    expect(await forgeJson(project, ['finding', 'stats'])).toMatchObject({ avoided: 1, exact_repeats: 1 });
    // An agent whose program dropped the result would be stuck.
    expect(read()).toBe('');
    expect(read()).toContain('Make the same call again to get the result itself.');
    expect(await forgeJson(project, ['finding', 'stats'])).toMatchObject({ avoided: 2, exact_repeats: 3 });
    await forgeJson(project, ['config', 'set', 'findings.mode', 'ask']);
    expect(JSON.parse(read()).hookSpecificOutput).toMatchObject({ permissionDecision: 'ask' });
    await forgeJson(project, ['config', 'set', 'findings.mode', 'off']);
    expect(read()).toBe('');
  });
});

describe('agents that get the finding after the call', () => {
  it.each([
    ['cursor', 'post-tool-use', { conversation_id: 'one' }, 'Read'],
    ['opencode', 'after-tool', { session_id: 'one' }, 'read'],
  ] as const)(
    'EXM-05 %s learns from the result, and hears of the second reading',
    async (name, event, id, tool_name) => {
      const project = await makeForge();
      project.write('src/store.ts', STORE);
      await forgeJson(project, ['config', 'set', 'findings.mode', 'deny']);
      const told = async (path: string): Promise<string> => {
        const call = { tool_name, tool_input: { file_path: path }, tool_output: STORE };
        const payload = { ...id, cwd: project.dir, workspace_roots: [project.dir], ...call };
        return (await runForge(project, ['hook', name, event], { stdin: JSON.stringify(payload) })).stdout;
      };
      expect(await told('src/store.ts')).toBe('');
      expect(await told('./src/store.ts')).toMatch(KNOWN);
      expect(await forgeJson(project, ['finding', 'stats'])).toMatchObject({ near_repeats: 1, avoided: 0 });
    },
  );
});
