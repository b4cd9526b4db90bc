import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AgentName, stringsIn } from '../../src/agent/agents.js';
import { SILENT } from '../support/agent-hooks.js';
import { forgeJson, makeLauncher, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { makeFolder, type Project, run as runProgram } from '../support/project.js';
import { hooksFor } from '../support/wirings.js';

/** Agents whose hooks are shell lines: the events before and after a tool, and a call of an edit tool. */
const AGENTS: Record<string, { before: string; after?: string; call: (path: string) => object }> = {
  claude: { before: 'PreToolUse', call: (path) => ({ tool_name: 'Write', tool_input: { file_path: path } }) },
  codex: {
    before: 'PreToolUse',
    call: (path) => ({
      tool_name: 'apply_patch',
      tool_input: { command: `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch` },
    }),
  },
  gemini: {
    before: 'BeforeTool',
    call: (path) => ({ tool_name: 'write_file', tool_input: { file_path: path, content: 'x' } }),
  },
  cursor: {
    before: 'preToolUse',
    after: 'postToolUse',
    call: (path) => ({ tool_name: 'Write', tool_input: { file_path: path } }),
  },
  copilot: {
    before: 'preToolUse',
    after: 'postToolUse',
    call: (path) => ({ toolName: 'edit', toolArgs: JSON.stringify({ path, old_str: 'a' }) }),
  },
};
const NAMES = Object.keys(AGENTS) as AgentName[];

/** The line that the agent passes to a shell. */
function lineOf(agent: AgentName, event: string, command = makeLauncher()): string {
  const found = stringsIn(hooksFor(agent, false, command)[event]).find((text) => text.includes(' hook '));
  return found ?? '';
}

function run({ dir }: Project, line: string, payload: object, env: NodeJS.ProcessEnv = {}) {
  const input = JSON.stringify({ cwd: dir, workspace_roots: [dir], ...payload });
  return runProgram(dir, '/bin/sh', ['-c', line], { input, env });
}

const reasonIn = (stdout: string): string => stringsIn(JSON.parse(stdout)).join('\n');

/** A stand-in for forge that records its calls. */
function stub(): { env: NodeJS.ProcessEnv; wasCalled: () => boolean } {
  const folder = makeFolder();
  const mark = join(folder, 'called');
  writeFileSync(join(folder, 'forge'), `#!/bin/sh\ncat >/dev/null\n: >'${mark}'\n`, { mode: 0o755 });
  return { env: { PATH: `${folder}:/usr/bin:/bin` }, wasCalled: () => existsSync(mark) };
}

describe.each(NAMES)('before an edit by %s', (name) => {
  const { before, call } = AGENTS[name] as (typeof AGENTS)[string];

  it('AGT-01 refuses a file of memory under any spelling of its path, names the command to use, and is silent about other files', async () => {
    const project = await makeForge();
    for (const path of [
      project.path('.forge/memory/long-term/knowledge.json'),
      '.forge/memory/long-term/knowledge.json',
      './src/../.forge/memory/long-term/knowledge.json',
    ]) {
      const { exitCode, stdout } = run(project, lineOf(name, before), call(path));
      expect([path, exitCode]).toEqual([path, 0]);
      expect(stdout).toMatch(/deny/);
      expect(reasonIn(stdout)).toContain('forge learn "TEXT" --as success');
    }
    const memory = '.forge/memory';
    for (const path of [
      'src/memory.ts',
      `${memory}/short-term/scratch/a`,
      `${memory}/artifacts/b`,
      '.forge/x',
    ])
      expect(run(project, lineOf(name, before), call(path)), path).toMatchObject(SILENT);
  });

  it('AGT-01 starts forge only when the call names memory, and is silent without one on the PATH', async () => {
    const project = await makeForge();
    const other = stub();
    run(project, lineOf(name, before, 'forge'), call('src/app.ts'), other.env);
    expect(other.wasCalled()).toBe(false);
    run(project, lineOf(name, before, 'forge'), call('.forge/memory/x'), other.env);
    expect(other.wasCalled()).toBe(true);
    const nowhere = { PATH: '/usr/bin:/bin' };
    // The loop that looks for .forge must end for a relative project folder.
    for (const env of [nowhere, { ...nowhere, CLAUDE_PROJECT_DIR: 'C:' }])
      for (const event of Object.keys(hooksFor(name)))
        expect(run(project, lineOf(name, event, 'forge'), call('.forge/memory/x'), env), event).toMatchObject(
          SILENT,
        );
  });
});

describe.each(NAMES.filter((name) => AGENTS[name]?.after))('after a tool of %s', (name) => {
  it('AGT-01 KFR-04 starts forge only if working memory was lost or changed', async () => {
    const { after = '' } = AGENTS[name] as (typeof AGENTS)[string];
    const project = await makeForge();
    const forge = makeLauncher();
    const id = name === 'cursor' ? { conversation_id: 'one' } : { sessionId: 'one' };
    const starts = (): boolean => {
      const other = stub();
      run(project, lineOf(name, after, 'forge'), id, other.env);
      return other.wasCalled();
    };
    const hook = (event: string) => run(project, `${forge} hook ${name} ${event}`, id).stdout;
    hook('session-start');
    expect(starts()).toBe(false);
    await new Promise((done) => setTimeout(done, 20));
    await forgeJson(project, ['kfr', 'patch', '--add', 'Constraint:No new tables']);
    expect(starts()).toBe(true);
    hook('post-tool-use');
    expect(starts()).toBe(false);
    hook('pre-compact');
    expect(starts()).toBe(true);
    expect(reasonIn(run(project, lineOf(name, after), id).stdout)).toContain('No new tables');
    expect(starts()).toBe(false);
    await runForge(project, ['kfr', 'list']);
    expect(starts()).toBe(false);
  });
});
