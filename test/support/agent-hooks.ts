import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentName } from '../../src/agent/agents.js';
import { type Outcome, type RunOptions, runForge } from './forge.js';
import { makeForge } from './forge-project.js';
import type { Project } from './project.js';

const folder = fileURLToPath(new URL('../fixtures/agents', import.meta.url));

/** A documented payload of an agent, with fields changed. */
export const payload = (agent: AgentName, name: string, change: object = {}): Record<string, unknown> => ({
  ...JSON.parse(readFileSync(`${folder}/${agent}/${name}.json`, 'utf8')),
  ...change,
});

/** Calls the hook as the agent does. The event is the payload's name up to the first one that is no event: `stop-active`. */
export function hook(
  project: Pick<Project, 'dir'>,
  [agent, event]: readonly [AgentName, string],
  input: object | string,
  options: RunOptions = {},
): Promise<Outcome> {
  const stdin = typeof input === 'string' ? input : JSON.stringify(input);
  return runForge(project, ['hook', agent, event], { ...options, stdin });
}

/** The same, for Claude Code, in its project. */
export const claude = (
  project: Pick<Project, 'dir'>,
  event: string,
  {
    name = event,
    options = {},
    ...change
  }: { name?: string; options?: RunOptions; [field: string]: unknown } = {},
): Promise<Outcome> =>
  hook(project, ['claude', event], payload('claude', name, { cwd: project.dir, ...change }), options);

/** What it puts before the agent; null when it says nothing. */
export function contextOf({ stdout }: Outcome): string | null {
  if (stdout === '') return null;
  return JSON.parse(stdout).hookSpecificOutput?.additionalContext ?? null;
}

/** Why it holds the agent back; null when it does not. */
export function blockOf({ stdout }: Outcome): string | null {
  if (stdout === '') return null;
  const { decision, reason } = JSON.parse(stdout);
  return decision === 'block' ? reason : null;
}

export const QUESTION = { op: 'add', kind: 'OpenQuestion', text: 'which cookie holds the token?' };
export const GOAL = { op: 'replace', kind: 'Goal', text: 'logout works' };
export const SILENT = { stdout: '', stderr: '', exitCode: 0 };

/** A conversation that has begun, in a session of its own. */
export async function talking() {
  const project = await makeForge();
  await claude(project, 'session-start');
  return project;
}

export const sessionOf = (project: { dir: string }) =>
  JSON.parse(readFileSync(join(project.dir, '.forge/memory/short-term/session.json'), 'utf8'));
