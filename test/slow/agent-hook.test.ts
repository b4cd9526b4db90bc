import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES } from '../../src/agent/agents.js';
import { MAX_CONTEXT } from '../../src/agent/event.js';
import type { StartedSession } from '../../src/index.js';
import { call, rule, started, told } from '../support/agent-calls.js';
import {
  blockOf,
  claude,
  contextOf,
  GOAL,
  hook,
  payload,
  QUESTION,
  SILENT,
  sessionOf,
  talking,
} from '../support/agent-hooks.js';
import { agent, forgeJson, runForge } from '../support/forge.js';
import { makeForge, snapshot } from '../support/forge-project.js';
import { ask, patch } from '../support/kfrs.js';
import { makeFolder, type Project } from '../support/project.js';
import { hookLists } from '../support/wirings.js';

describe('a stop with an open question', () => {
  it.each(AGENT_NAMES)('KFR-09 AGT-01 %s blocks five stops in a row while entries change', async (agent) => {
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
  });
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

  it('AGT-01 stay silent if the person has forge’s hooks for Cursor', async () => {
    const project = await makeForge();
    const env = { HOME: makeFolder() };
    await runForge(project, ['agent', 'install', 'cursor', '--user'], { env });
    const input = payload('cursor', 'session-start', { workspace_roots: [project.dir] });
    expect(await hook(project, ['claude', 'session-start'], input, { env })).toEqual(SILENT);
  });

  it('AGT-01 stay silent if Copilot has forge’s hooks', async () => {
    const project = await makeForge();
    const inCopilot = () => claude(project, 'session-start', { timestamp: '2026-11-21T15:47:43.141Z' });
    expect((await inCopilot()).stdout).toContain('FORGE briefing');
    project.write('.github/hooks/forge.json', JSON.stringify({ hooks: hookLists('copilot') }));
    expect(await inCopilot()).toEqual(SILENT);
  });
});

describe('forge hook claude stop and pre-compact', () => {
  it('KFR-09 a parked question allows a stop, but not a requested compaction', async () => {
    const project = await talking();
    await patch(project, [QUESTION, { op: 'park', id: 'kfr-1', reason: 'Ada decides' }]);
    expect(await claude(project, 'stop')).toEqual(SILENT);
    const asked = await claude(project, 'pre-compact', { name: 'pre-compact-manual' });
    expect(blockOf(asked)).toContain('before you compact the conversation, 1 entry');
    expect(blockOf(asked)).not.toContain('--park');
    expect(await claude(project, 'pre-compact', { name: 'pre-compact-auto' })).toEqual(SILENT);
  });

  it('KFR-09 AGT-01 never loop: a second stop without a change parks the question', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    expect(blockOf(await claude(project, 'stop'))).toContain('kfr-1');
    expect(await claude(project, 'stop', { name: 'stop-active' })).toEqual(SILENT);
    const { entries } = await forgeJson<{ entries: { parked?: { reason: string } }[] }>(project, 'kfr list');
    expect(entries[0]?.parked?.reason).toBe(
      'The agent was asked to settle it, changed nothing and stopped again.',
    );
    // A human decides: it is still open for the end of the session.
    expect((await runForge(project, ['session', 'end'])).exitCode).toBe(3);
  });

  it('KFR-09 SES-09 do not block an agent for the questions of a session that another agent works in', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    const other = (liveness: 'alive' | 'gone') => ({
      session_id: 'other',
      options: { world: { agent: agent('other'), liveness: () => liveness, isBelow: () => false } },
    });
    for (const name of ['stop', 'pre-compact-manual'])
      expect(await claude(project, name.replace('-manual', ''), { name, ...other('alive') })).toEqual(SILENT);
    // Nobody else is there to settle it.
    expect(blockOf(await claude(project, 'stop', other('gone')))).toContain('kfr-1');
  });

  it('KFR-09 LTM-05 do not block while memory is halted and nothing can be settled', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    expect(blockOf(await claude(project, 'stop'))).not.toBeNull();
    project.write('.forge/memory/ledger/solo-00000000.jsonl', '{"a":1}\n');
    await runForge(project, ['memory', 'verify']);
    expect(await claude(project, 'stop')).toEqual(SILENT);
    expect(await claude(project, 'pre-compact', { name: 'pre-compact-manual' })).toEqual(SILENT);
  });
});

describe('forge hook claude session-end', () => {
  it('AGT-01 SES-07 marks the session parked without gate or commit; the next start offers it', async () => {
    const project = await talking();
    await runForge(project, ['progress', 'add', 'wired the button']);
    await patch(project, [GOAL]);
    const left = sessionOf(project).id;
    const commits = project.git('rev-list', '--all', '--count');
    expect(await claude(project, 'session-end')).toEqual(SILENT);
    expect(sessionOf(project)).toMatchObject({
      id: left,
      parked: { agent: expect.stringMatching(/^claude-8a0c/) },
    });
    expect(project.git('rev-list', '--all', '--count')).toBe(commits);
    const text = contextOf(await claude(project, 'session-start', { session_id: 'tomorrow' }));
    expect(text).toContain('session-002');
    expect(text?.match(/interrupted/g)).toHaveLength(1);
    expect(text).toMatch(/was interrupted after "wired the button": mcp__forge__session_start \{"resume"/);
    const resumed = await forgeJson<StartedSession>(project, 'session start --resume latest');
    expect(left).toContain(resumed.session.resumed_from);
  });

  it('KFR-09 a session left with an open question is shown at the next start', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    await claude(project, 'session-end');
    const text = contextOf(await claude(project, 'session-start', { session_id: 'tomorrow' }));
    expect(text).toContain('[kfr-1, requires resolution] which cookie holds the token?');
    expect(text).toMatch(
      /no session was started\. .*was parked and cannot be left.*\n {2}→ mcp__forge__session_start \{"resume":"\S+"\} # takes them along\n\n/,
    );
  });

  it('AGT-01 a resumed conversation continues its session', async () => {
    const project = await talking();
    const { id } = sessionOf(project);
    project.write('work.txt', 'x');
    await claude(project, 'session-end');
    const text = contextOf(await claude(project, 'session-start', { source: 'resume' }));
    expect(text).not.toContain('was interrupted');
    expect(sessionOf(project).id).toBe(id);
    expect(sessionOf(project)).not.toHaveProperty('parked');
  });
});

describe('forge hook with invalid input', () => {
  it('AGT-01 with fields of the wrong kind: no output, no error, exit 0', async () => {
    const project = await talking();
    const input = { session_id: 7, cwd: ['/'], source: {}, stop_hook_active: 'yes', agent_id: 0 };
    for (const event of ['user-prompt-submit', 'post-tool-use', 'pre-compact', 'stop'])
      expect(await hook(project, ['claude', event], input), event).toEqual(SILENT);
  });

  it('AGT-01 accepts unknown fields, extra words and another case, and ignores unknown events and agents', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    const stop = payload('claude', 'stop', { cwd: project.dir, a_new_field: { deep: [1] } });
    expect(blockOf(await hook(project, ['claude', 'stop'], stop))).not.toBeNull();
    await claude(project, 'user-prompt-submit');
    expect(blockOf(await hook(project, ['claude', 'Stop'], stop))).not.toBeNull();
    for (const words of [['claude', 'teleport'], ['nobody', 'stop'], ['claude'], []])
      expect(await runForge(project, ['hook', ...words], { stdin: JSON.stringify(stop) })).toEqual(SILENT);
    await claude(project, 'user-prompt-submit');
    const more = ['hook', 'claude', 'stop', '--json'];
    expect(blockOf(await runForge(project, more, { stdin: JSON.stringify(stop) }))).not.toBeNull();
  });

  it('AGT-01 reads a payload of 10 MB', async () => {
    const project = await talking();
    const big = { tool_response: { text: 'x'.repeat(10_000_000) } };
    expect(await claude(project, 'post-tool-use', big)).toEqual(SILENT);
    await patch(project, [QUESTION]);
    expect(blockOf(await claude(project, 'stop', big))).not.toBeNull();
  });

  it.each(['../../../../etc/passwd', `a/${'x'.repeat(10_000)}`, '\u001b[2J\n"}', '..', ''])(
    'AGT-01 turns the session id %j into a safe file name',
    async (session_id) => {
      const project = await makeForge();
      const text = contextOf(await claude(project, 'session-start', { session_id }));
      expect(text).toContain('FORGE briefing');
      const [file, ...others] = readdirSync(join(project.dir, '.git/forge/agents'));
      expect(others).toEqual([]);
      expect(file).toMatch(/^claude-([0-9a-f]{32}|unnamed)\.json$/);
    },
  );

  it('AGT-01 logs its own errors in one line without payload content, and lets the agent continue', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    writeFileSync(join(project.dir, '.forge/local/kfr.json'), '{"entries": 7');
    expect(await claude(project, 'stop')).toEqual(SILENT);
    expect(await claude(project, 'user-prompt-submit', { prompt: 'the secret plan' })).toEqual(SILENT);
    await runForge(project, ['hook', 'claude', 'stop'], { stdin: 'not json' });
    const log = readFileSync(join(project.dir, '.git/forge/hooks.log'), 'utf8');
    expect(log).toMatch(
      /^\S+ claude stop: \S+\n\S+ claude user-prompt-submit: \S+\n\S+ claude stop: hook.input\n$/,
    );
    expect(existsSync(join(project.dir, '.forge/local/hooks.log'))).toBe(false);
  });
});
