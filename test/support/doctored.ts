import { expect } from 'vitest';
import type { Diagnosis } from '../../src/index.js';
import { forgeFound, type RunOptions } from './forge.js';
import type { Project } from './project.js';
import { hookLists, serverFor } from './wirings.js';

export const SETTINGS = '.claude/settings.json';

export const SERVERS = '.mcp.json';

export const NO_HOOKS = "git's hooks are not installed";

export async function doctor(project: Pick<Project, 'dir'>, args: string[] = [], options: RunOptions = {}) {
  const { findings: all, exitCode } = await forgeFound<Diagnosis>(project, ['doctor', ...args], options);
  // Hardly any of these projects has hooks.
  const findings = all.filter(({ observed }) => observed !== NO_HOOKS);
  for (const finding of findings)
    expect(Object.keys(finding)).toEqual(['observed', 'expected', 'why', 'commands', 'severity']);
  return {
    exitCode,
    /** `severity: observed` */
    found: findings.map(({ severity, observed }) => `${severity}: ${observed}`),
    commands: findings.flatMap(({ commands }) => commands),
  };
}

/** The hooks and the server as forge wires them. */
export function wire(project: Project, command = 'forge'): void {
  const hooks = hookLists('claude', command);
  project.write(SETTINGS, JSON.stringify({ hooks }));
  const { value } = serverFor('claude', false, command) ?? {};
  project.write(SERVERS, JSON.stringify({ mcpServers: { forge: value } }));
}
