import type { Io } from '../cli/spec.js';
import { toForgeError } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { systemWorld } from '../index.js';
import type { Verdict } from './git-hooks.js';
import { type GitHook, isGitHook, PREPARE, SHIM_EXITS } from './shim.js';

/** ms. Then the commit goes on unchecked. A push is bounded by its commits instead. */
const DEADLINE = 10_000;

/** `forge hook HOOK …`: exit 1 refuses, exit 5 is a secret. Any other failure is one line and blocks nobody. */
export async function runGitHook(io: Io, [word = '', ...args]: readonly string[]): Promise<number> {
  if (!isGitHook(word)) return 0;
  const nothing = `nothing was ${word === PREPARE ? 'filled in' : 'checked'}`;
  if (word !== 'pre-push')
    io.deadline?.(DEADLINE, `forge: ${word} took longer than ${DEADLINE / 1000} s; ${nothing}\n`);
  try {
    const { lines, refusal } = await runHook(io, word, args);
    if (lines.length > 0) io.stderr.write(`${lines.join('\n')}\n`);
    if (refusal === null) return 0;
    return io.env.FORGE_SHIM === '1' ? SHIM_EXITS[refusal] : refusal === 'secret' ? 5 : 1;
  } catch (error) {
    const { maskError } = await import('../cli/input-guard.js');
    const { message } = await maskError(toForgeError(error));
    io.stderr.write(`forge: ${nothing}: ${oneLine(message, 300)}\n`);
    return 0;
  }
}

async function runHook(io: Io, hook: GitHook, [file = '']: readonly string[]): Promise<Verdict> {
  const { FINE, judgeMessage, judgePush, prepareMessage } = await import('./git-hooks.js');
  const world = io.world ?? systemWorld(io.env, false);
  if (hook === 'commit-msg') return judgeMessage(io.cwd(), world, file);
  if (hook === 'pre-push') return judgePush(io.cwd(), world, (await io.stdin.read()).toString('utf8'));
  if (hook === PREPARE) await prepareMessage(io.cwd(), world, file);
  return FINE;
}
