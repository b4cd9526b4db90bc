import { expect } from 'vitest';
import { AGENTS, type AgentName, type Moment, stringsIn } from '../../src/agent/agents.js';
import { hook, payload } from './agent-hooks.js';
import { makeForge } from './forge-project.js';
import type { Project } from './project.js';

export const rule = (text: string) => ({ op: 'add', kind: 'Constraint', text });

/** The word of an agent's event at a moment. */
export const wordAt = (agent: AgentName, moment: Moment): string =>
  Object.entries(AGENTS[agent].events).find(([, event]) => event.moment === moment)?.[0] ?? '';

/** Calls the hook of an agent with its recorded payload. */
export const call = (agent: AgentName, project: Project, moment: Moment, change: object = {}) => {
  const word = wordAt(agent, moment);
  const place = { cwd: project.dir, workspace_roots: [project.dir] };
  const name = word === 'pre-compact' && agent === 'claude' ? 'pre-compact-auto' : word;
  return hook(project, [agent, word], payload(agent, name, { ...place, ...change }));
};

/** Everything that the agent is told. '' for nothing. */
export async function told(
  agent: AgentName,
  project: Project,
  moment: Moment,
  change: object = {},
): Promise<string> {
  const { stdout, stderr, exitCode } = await call(agent, project, moment, change);
  expect([stderr, exitCode]).toEqual(['', 0]);
  return stdout === '' ? '' : stringsIn(JSON.parse(stdout)).join('\n');
}

export async function started(agent: AgentName): Promise<Project> {
  const project = await makeForge();
  await call(agent, project, 'start');
  return project;
}
