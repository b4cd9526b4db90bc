import { realpathSync } from 'node:fs';
import { promptStatus, systemWorld } from '../index.js';
import { hasUnicode } from './screen.js';
import { makeStyle } from './style.js';
import { renderShort } from './views/status.js';

/**
 * The line of `forge status --short`, which a shell may ask for before every prompt: a bundle of its own, with what it needs
 * and no more. Null where the whole command has to be asked.
 */
export async function shortStatus(env: NodeJS.ProcessEnv, cwd: string): Promise<string | null> {
  const wantsMore = env.FORGE_DIR || env.FORCE_COLOR;
  const status = wantsMore ? null : await promptStatus(realpathSync.native(cwd), systemWorld(env, false));
  return status && `${renderShort(status, await makeStyle(false, { unicode: hasUnicode(env) }))}\n`;
}
