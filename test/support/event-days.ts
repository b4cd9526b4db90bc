import { readdirSync } from 'node:fs';
import type { EndedSession } from '../../src/index.js';
import { forgeJson } from './forge.js';
import { listed, type NatsServer, OUTBOX } from './nats-server.js';
import type { Project } from './project.js';

export const waiting = (project: Project): number =>
  project.has(OUTBOX) ? readdirSync(project.path(OUTBOX)).length : 0;

export const types = async (project: Project, server: NatsServer): Promise<string[]> =>
  (await listed(project, server)).events.map(({ type }) => type);

/** A day with every kind of event. */
export async function playDay(project: Project, env: NodeJS.ProcessEnv): Promise<EndedSession> {
  await forgeJson(project, ['start', '--task', 'Wire the login'], { env });
  await forgeJson(project, ['note', 'add', 'Redis needs a restart'], { env });
  await forgeJson(project, ['learn', 'Use tabs', '--as', 'success'], { env });
  await forgeJson(project, ['focus', 'set', '--phase', 'TEST'], { env });
  await forgeJson(project, ['checkpoint', 'create', 'APP-1', '--verify', 'true'], { env });
  return forgeJson<EndedSession>(project, ['end', '--learned', 'Log out first', '--next', 'Deploy'], { env });
}

export const DAY = 'session_start learning learning focus checkpoint learning session_end'.split(' ');
