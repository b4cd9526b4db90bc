import { type ForgeError, refused, usage } from './error.js';
import { oneLine } from './text.js';

/**
 * What LTM-12 keeps from a BUILDER (the role that forge gives to what it launches): it works, it does not decide what
 * is known, what may run, or how forge is set up.
 */
export type Reserved =
  | 'knowledge'
  | 'checkpoints'
  | 'the state that work goes on from'
  | 'memory'
  | 'trust'
  | 'config'
  | 'how agents are wired'
  | 'what features are judged by';

const ROLES = ['builder', 'supervisor'];

/** Unset is a supervisor. A word that was misspelt must not give a builder more than it was to have: exit 2. */
export function isBuilder(env: Record<string, string | undefined>): boolean {
  const role = env.FORGE_ROLE?.trim().toLowerCase() ?? '';
  if (role !== '' && !ROLES.includes(role))
    throw usage(
      'role.unknown',
      `FORGE_ROLE: found ${JSON.stringify(oneLine(role, 40))}, allowed: ${ROLES.join(' | ')}.`,
      { field: 'FORGE_ROLE' },
    );
  return role === 'builder';
}

/**
 * Variables that agents set in what they run. Exact names only: CODEX_HOME, for example, is a setting that people export
 * in their shells.
 */
const AGENT_MARKS = [
  'CLAUDECODE',
  'GEMINI_CLI',
  'CODEX_THREAD_ID',
  'CODEX_SANDBOX',
  'OPENCODE',
  'AGENT',
  'CURSOR_AGENT',
] as const;

/** The first variable that shows that an agent started this process; null where none does. */
export const agentMark = (env: Record<string, string | undefined>): string | null =>
  AGENT_MARKS.find((name) => env[name]) ?? null;

export const deniedToBuilder = (what: Reserved): ForgeError =>
  refused('role.denied', `A builder may not change ${what}; nothing was written.`, {
    hint: 'Whoever supervises this work does it, without FORGE_ROLE=builder.',
    data: { what },
  });
