import { AGENT_NAMES } from '../agent/agents.js';
import { ForgeError, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import type { Context } from '../project/project.js';

/** What `init` may set up outside `.forge/`. It does so only when asked. */
export interface WiringWish {
  /** An agent, `all`, `found` or `none`. */
  agents?: string | undefined;
  /** The agents use forge's everyday tools without asking. */
  allow?: boolean | undefined;
  /** `block` and `warn` install git hooks, and set `[commit] enforce`. */
  hooks?: string | undefined;
}

export const HOOK_CHOICES = ['warn', 'block', 'none'] as const;
export const AGENT_CHOICES = [...AGENT_NAMES, 'all', 'found', 'none'] as const;

/** Exit 2, before anything is written. */
export function checkWiring({ agents, hooks }: WiringWish): void {
  const choices = [
    ['agents', agents, AGENT_CHOICES],
    ['hooks', hooks, HOOK_CHOICES],
  ] as const;
  for (const [flag, given, allowed] of choices)
    if (given !== undefined && !allowed.some((word) => word === given))
      throw usage(
        `init.${flag}`,
        `--${flag}: found ${JSON.stringify(oneLine(given, 40))}, allowed: ${allowed.join(' | ')}.`,
        { field: flag },
      );
}

interface Wired {
  /** Files outside `.forge/` to commit with it. */
  files: string[];
  agents: string[];
  hooks: string[];
  /** What could not be set up, with what to type. */
  skipped: string[];
}

/** Installs what was asked for. One that is refused does not stop the other: `.forge/` stands by now. */
export async function wire(context: Context, { agents, allow, hooks }: WiringWish): Promise<Wired> {
  const wired: Wired = { files: [], agents: [], hooks: [], skipped: [] };
  if (agents !== undefined && agents !== 'none')
    await attempt(wired, 'agents', async () => {
      const { installAgents } = await import('../agent/install.js');
      const change = await installAgents(context, { agent: agents, ...(allow && { allow }) });
      wired.agents = change.agents;
      wired.files = change.files.map(({ path }) => path);
    });
  if (hooks === 'warn' || hooks === 'block')
    await attempt(wired, 'hooks', async () => {
      const { installHooks } = await import('../hooks/install.js');
      wired.hooks = (await installHooks(context)).hooks.map(({ name }) => name);
    });
  return wired;
}

async function attempt(wired: Wired, what: string, install: () => Promise<void>): Promise<void> {
  try {
    await install();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    const next = error.details.hint === undefined ? '' : `; ${error.details.hint}`;
    wired.skipped.push(`${what}: ${error.message}${next}`);
  }
}
