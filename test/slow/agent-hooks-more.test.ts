import { describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../src/agent/agents.js';
import { MAX_CONTEXT } from '../../src/agent/event.js';
import { call, rule, started, told } from '../support/agent-calls.js';
import { claude, GOAL, hook, payload, SILENT } from '../support/agent-hooks.js';
import { runForge } from '../support/forge.js';
import { makeForge, SESSION, snapshot } from '../support/forge-project.js';
import { ask, patch } from '../support/kfrs.js';
import type { Project } from '../support/project.js';
import { hookLists } from '../support/wirings.js';

describe('a stop with an open question', () => {
  it.each(AGENT_NAMES)(
    'KFR-09 AGT-01 %s blocks a stop five times in a row while entries change, then lets the agent go',
    async (agent) => {
      const project = await started(agent);
      expect(await call(agent, project, 'stop')).toEqual(SILENT);
      await ask(project);
      for (let i = 0; i < 5; i++) {
        const reason = await told(agent, project, 'stop');
        expect(reason).toMatch(/^(block|deny)?\n?forge: before you stop, 1 entry .*which cookie\?/s);
        await patch(project, [rule(`rule ${i}`)]);
        // Some clients send the reason to the prompt hook.
        await call(agent, project, 'prompt', { prompt: reason });
      }
      expect(await call(agent, project, 'stop')).toEqual(SILENT);
      await call(agent, project, 'prompt');
      expect(await told(agent, project, 'stop')).toContain('which cookie?');
      // Nothing changed, so the question is parked.
      expect(await call(agent, project, 'stop')).toEqual(SILENT);
      await call(agent, project, 'prompt');
      expect(await call(agent, project, 'stop')).toEqual(SILENT);
    },
  );
});

describe('what differs between agents', () => {
  it('KFR-04 Copilot and opencode get working memory after a tool only if a compaction removed it', async () => {
    for (const agent of ['copilot', 'opencode'] as const) {
      const project = await started(agent);
      await patch(project, [GOAL]);
      expect(await told(agent, project, 'after-tool')).toBe('');
      await call(agent, project, 'compaction');
      expect(await told(agent, project, 'after-tool')).toContain('[kfr-1] logout works');
      expect(await told(agent, project, 'after-tool')).toBe('');
    }
  });

  it('KFR-04 Gemini announces a compression before each request, which sends nothing', async () => {
    const project = await started('gemini');
    await patch(project, [GOAL]);
    for (const moment of ['compaction', 'after-tool', 'compaction', 'after-tool'] as const)
      expect(await told('gemini', project, moment)).toBe('');
    expect(await told('gemini', project, 'prompt')).toContain('logout works');
  });

  it('AGT-01 SES-09 Gemini keeps the session at /clear', async () => {
    const project = await started('gemini');
    project.write('work.txt', 'x');
    const cleared = payload('gemini', 'session-end-clear', { cwd: project.dir });
    expect(await hook(project, ['gemini', 'session-end'], cleared)).toEqual(SILENT);
    expect(project.json(SESSION)).not.toHaveProperty('parked');
  });

  it('KFR-09 Cursor is not held after a person or an error stopped it', async () => {
    const project = await started('cursor');
    await ask(project);
    for (const status of ['aborted', 'error'])
      expect(await call('cursor', project, 'stop', { status })).toEqual(SILENT);
  });

  it('AGT-01 Codex gets no more bytes than it accepts in any script, with working memory complete', async () => {
    const project = await started('codex');
    const words = 'кнопка выхода работает на всех страницах '.repeat(6);
    const texts = [1, 2, 3, 4, 5].map((n) => `${n}${n}${n} ${words}`.slice(0, 270).trimEnd());
    await patch(project, texts.map(rule));
    await runForge(project, ['config', 'set', 'briefing.budget', '4000']);
    for (let line = 0; line < 12; line += 1)
      await runForge(project, ['knowledge', 'add', 'success', `${line} ${words.repeat(2)}`]);
    const { stdout } = await call('codex', project, 'start', { source: 'resume' });
    const context: string = JSON.parse(stdout).hookSpecificOutput.additionalContext;
    expect(Buffer.byteLength(context)).toBeGreaterThan(5000);
    expect(Buffer.byteLength(context)).toBeLessThanOrEqual(MAX_CONTEXT);
    for (const text of texts) expect(context).toContain(text);
    expect(context).toMatch(/\n--- end [0-9a-f]+ ---(\n|$)/);
  });
});

describe("Claude Code's hooks, run by another agent", () => {
  const inCursor = (project: Project, event: string, name: string) =>
    hook(project, ['claude', event], payload('cursor', name, { workspace_roots: [project.dir] }));

  it('AGT-01 stay silent if Cursor has forge’s hooks', async () => {
    const project = await makeForge();
    project.write('.cursor/hooks.json', JSON.stringify({ version: 1, hooks: hookLists('cursor') }));
    const before = snapshot(project.dir);
    for (const [event, name] of [
      ['session-start', 'session-start'],
      ['user-prompt-submit', 'before-submit-prompt'],
      ['stop', 'stop'],
      ['session-end', 'session-end'],
    ] as const)
      expect(await inCursor(project, event, name)).toEqual(SILENT);
    expect(snapshot(project.dir)).toEqual(before);
    expect((await claude(project, 'session-start')).stdout).toContain('FORGE briefing');
  });

  it('AGT-01 stay silent if Copilot has forge’s hooks', async () => {
    const project = await makeForge();
    const inCopilot = () => claude(project, 'session-start', { timestamp: '2026-11-21T15:47:43.141Z' });
    expect((await inCopilot()).stdout).toContain('FORGE briefing');
    project.write('.github/hooks/forge.json', JSON.stringify({ hooks: hookLists('copilot') }));
    expect(await inCopilot()).toEqual(SILENT);
  });
});
