import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemWorld } from '../../src/core/world.js';
import { KFR_HEADER } from '../../src/kfr/rules.js';
import {
  blockOf,
  claude,
  contextOf,
  GOAL,
  QUESTION,
  SILENT,
  sessionOf,
  talking,
} from '../support/agent-hooks.js';
import { at } from '../support/agents.js';
import { trees } from '../support/claims.js';
import { agent, forgeJson, runForge } from '../support/forge.js';
import { makeForge, snapshot } from '../support/forge-project.js';
import { patch } from '../support/kfrs.js';
import { connect } from '../support/servers.js';

describe('forge hook claude session-start', () => {
  it('AGT-01 continues its session on a resume, after a compaction, after /clear and in another process', async () => {
    const project = await talking();
    const first = sessionOf(project).id;
    await claude(project, 'session-start', { source: 'resume' });
    await claude(project, 'session-start', { source: 'compact' });
    await claude(project, 'session-start', { source: 'resume', options: { world: { agent: agent('new') } } });
    expect(sessionOf(project)).toMatchObject({ id: first, holder: agent('new')() });
    const inNew = { options: { world: { agent: agent('new') } } };
    await claude(project, 'session-end', { name: 'session-end-clear', ...inNew });
    await claude(project, 'session-start', { source: 'clear', session_id: 'after-clear', ...inNew });
    expect(sessionOf(project)).toMatchObject({ id: first, holder: { agent: 'claude-after-clear' } });
    expect(sessionOf(project)).not.toHaveProperty('parked');
  });

  it('SES-09 sends the briefing without starting a session while another agent holds it', async () => {
    const project = await makeForge();
    await forgeJson(project, 'session start', {
      world: { holder: agent('other'), liveness: () => 'alive' },
    });
    const before = snapshot(join(project.dir, '.forge/memory'));
    const text = contextOf(
      await claude(project, 'session-start', { options: { world: { liveness: () => 'alive' } } }),
    );
    expect(text).toContain('FORGE briefing');
    expect(text).toMatch(
      /^! forge: no session was started\. Session .* belongs to another agent: .*\n {2}→ Ask the user\. .*call mcp__forge__session_start: {"join":true}\n/,
    );
    expect(text).not.toContain('--take-over');
    expect(snapshot(join(project.dir, '.forge/memory'))).toEqual(before);
  });

  it('SES-07 AGT-01 starts a new session when the agent of the running one is gone', async () => {
    const project = await makeForge();
    await claude(project, 'session-start', {
      options: { world: { ...at(agent('holder'), 0), agent: agent('first') } },
    });
    const other = (minute: number) => ({
      session_id: 'other',
      options: {
        world: { ...at(agent('holder'), minute, 'gone'), agent: agent('other'), isBelow: () => false },
      },
    });
    expect(contextOf(await claude(project, 'session-start', other(1)))).toContain('-session-002');
  });

  it('LTM-05 reports halted memory with the command to type', async () => {
    const project = await talking();
    writeFileSync(join(project.dir, '.forge/memory/ledger/solo-00000000.jsonl'), 'no ledger\n');
    const text = contextOf(await claude(project, 'session-start'));
    expect(text).toMatch(/no session was started\. .*\n {2}→ forge memory/);
  });

  it('AGT-01 reports unreadable working memory with the command to type', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    project.write('.forge/local/kfr.json', '{ bad');
    expect(contextOf(await claude(project, 'session-start', { source: 'resume' }))).toMatch(
      /no session was started.*kfr\.json:1[\s\S]*→ mv /,
    );
  });

  it('AGT-01 SES-03 fits the limits of agents, with working memory first and whole', async () => {
    const project = await makeForge();
    await forgeJson(project, ['config', 'set', 'briefing.budget', '8000']);
    for (let i = 0; i < 60; i++)
      await forgeJson(project, `knowledge add invariant "lesson ${i}: ${'what was learned '.repeat(12)}"`);
    expect(contextOf(await claude(project, 'session-start'))).toContain('(mcp__forge__progress_add)');
    await patch(project, [GOAL, { op: 'add', kind: 'Constraint', text: 'c'.repeat(280) }]);
    const text = contextOf(
      await claude(project, 'session-start', { name: 'session-start-compact' }),
    ) as string;
    expect(text.length).toBeLessThanOrEqual(9500);
    expect(text.length).toBeGreaterThan(5000);
    expect(text.indexOf(KFR_HEADER)).toBeLessThan(60);
    expect(text).toContain('c'.repeat(280));
    expect(text).toContain('Cut to fit');
  });
});

it('AGT-01 forge hook claude pre-tool-use refuses a write to the memory of another worktree too', async () => {
  const [project, other] = await trees();
  const write = (path: string) =>
    claude(project, 'pre-tool-use', { tool_name: 'Write', tool_input: { file_path: other.path(path) } });
  const { stdout } = await write('.forge/memory/long-term/knowledge.json');
  expect(JSON.parse(stdout).hookSpecificOutput).toMatchObject({
    permissionDecision: 'deny',
    permissionDecisionReason: expect.stringContaining(
      '/tree/.forge/memory/long-term/knowledge.json; nothing',
    ),
  });
  for (const path of ['.forge/memory/short-term/scratch/a', '.forge/x', 'src/app.js'])
    expect(await write(path), path).toEqual(SILENT);
});

describe('forge hook claude user-prompt-submit and post-tool-use', () => {
  it('AGT-01 send nothing before and after a tool, and nothing to a sub-agent', async () => {
    const project = await talking();
    await patch(project, [GOAL, QUESTION]);
    for (const event of ['pre-tool-use', 'post-tool-use'])
      expect(await claude(project, event)).toEqual(SILENT);
    const sub = { agent_id: 'agent-7', agent_type: 'Explore' };
    expect(await claude(project, 'user-prompt-submit', sub)).toEqual(SILENT);
    expect(await claude(project, 'stop', sub)).toEqual(SILENT);
    expect(contextOf(await claude(project, 'user-prompt-submit'))).toContain('[kfr-1]');
  });
});

it('KFR-04 AGT-02 sends no working memory that the agent just got from its server', async () => {
  const options = { world: { agent: systemWorld(process.env, false).self } };
  const project = await makeForge();
  await claude(project, 'session-start', { options });
  const { call } = await connect(project);
  const answer = await call('session_working_memory_update', { operations: [GOAL] });
  expect(answer.content[0]?.text).toContain('[kfr-1] logout works');
  expect(await claude(project, 'user-prompt-submit', { options })).toEqual(SILENT);
  await patch(project, [QUESTION]);
  expect(contextOf(await claude(project, 'user-prompt-submit', { options }))).toContain('[kfr-2');
});

describe('forge hook claude stop', () => {
  it('KFR-09 blocks a stop while a question is open, and names the ways to settle it', async () => {
    const project = await talking();
    expect(await claude(project, 'stop')).toEqual(SILENT);
    await patch(project, [GOAL, QUESTION]);
    const outcome = await claude(project, 'stop');
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(outcome.stdout)).toEqual({
      decision: 'block',
      reason: expect.any(String),
      systemMessage: 'forge: before you stop, 1 entry of working memory must be settled.',
    });
    expect(blockOf(outcome)).toContain('- kfr-2 (OpenQuestion) which cookie holds the token?');
    expect(blockOf(outcome)).toContain('forge kfr patch --resolve kfr-2="the answer"');
    expect(blockOf(outcome)).toContain('--park kfr-2=');
    await runForge(project, ['kfr', 'patch', '--resolve', 'kfr-2=sid']);
    expect(await claude(project, 'stop', { name: 'stop-active' })).toEqual(SILENT);
  });
});
