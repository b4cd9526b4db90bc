import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, AGENTS, type AgentName, type Moment } from '../../src/agent/agents.js';
import { KFR_HEADER } from '../../src/kfr/rules.js';
import { call, started, told, wordAt } from '../support/agent-calls.js';
import { GOAL, hook, SILENT } from '../support/agent-hooks.js';
import { runForge } from '../support/forge.js';
import { makeForge, SESSION } from '../support/forge-project.js';
import { ask, patch } from '../support/kfrs.js';
import { makePlainProject } from '../support/project.js';

/** The moment at which each agent gets changed working memory. */
const NEWS: Record<AgentName, Moment> = {
  claude: 'prompt',
  codex: 'prompt',
  gemini: 'prompt',
  cursor: 'after-tool',
  opencode: 'prompt',
  copilot: 'prompt',
};

describe.each(AGENT_NAMES)('forge hook %s', (agent) => {
  it('AGT-01 SES-01 starts a session and sends the briefing', async () => {
    const project = await makeForge();
    expect(await told(agent, project, 'start')).toMatch(/FORGE briefing, \d{4}-\d\d-\d\d-session-001\n/);
    expect(project.json(SESSION)).toMatchObject({
      holder: { agent: expect.stringMatching(new RegExp(`^${agent}-\\w`)) },
    });
  });

  it('KFR-04 AGT-01 sends working memory once when it changed, and again after a compaction', async () => {
    const project = await started(agent);
    await patch(project, [GOAL]);
    expect(await told(agent, project, NEWS[agent])).toContain(KFR_HEADER);
    expect(await told(agent, project, NEWS[agent])).toBe('');
    const summary = await told(agent, project, 'compaction', { trigger: 'auto' });
    expect(summary === '').toBe(!AGENTS[agent].takes.includes('compaction'));
    expect(await told(agent, project, NEWS[agent])).toContain('[kfr-1] logout works');
    expect(await told(agent, project, NEWS[agent])).toBe('');
    await patch(project, [{ ...GOAL, text: 'logout and login work' }]);
    expect(await told(agent, project, NEWS[agent])).toContain('[kfr-2] logout and login');
  });

  it('KFR-04 AGT-01 reports once that working memory was cleared', async () => {
    const project = await started(agent);
    await patch(project, [GOAL]);
    expect(await told(agent, project, NEWS[agent])).toContain('It is in force until forge sends another');
    await runForge(project, ['kfr', 'clear', '--yes']);
    expect(await told(agent, project, NEWS[agent])).toContain('Working memory is empty now');
    await call(agent, project, 'compaction', { trigger: 'auto' });
    expect(await told(agent, project, NEWS[agent])).toBe('');
  });

  it('AGT-01 SES-07 SES-09 parks the session at the end of the conversation', async () => {
    const project = await started(agent);
    project.write('work.txt', 'x');
    expect(await call(agent, project, 'end')).toEqual(SILENT);
    expect(project.json(SESSION)).toMatchObject({
      parked: { agent: expect.stringMatching(new RegExp(`^${agent}-`)) },
    });
  });

  it('AGT-01 ignores invalid payloads, unknown events, and folders outside a project', async () => {
    const project = await started(agent);
    await ask(project);
    for (const input of ['', '{', '[]', 'null'])
      expect(await hook(project, [agent, wordAt(agent, 'stop')], input)).toEqual(SILENT);
    expect(await hook(project, [agent, 'subagent-stop'], { cwd: project.dir })).toEqual(SILENT);
    const outside = makePlainProject();
    expect(await call(agent, outside, 'start')).toEqual(SILENT);
    expect(outside.has('.forge')).toBe(false);
  });
});
