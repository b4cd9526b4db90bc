import { realpathSync } from 'node:fs';
import { escapeControls } from '../domain/text.js';
import { openForge, systemWorld } from '../index.js';
import type { Io } from './io.js';
import { hasUnicode } from './screen.js';
import { renderShort } from './status-view.js';
import { makeStyle } from './style.js';

/** `forge status --short` and nothing else, before every prompt: without commander. Anything unusual is not for here. */
export async function runShortStatus(io: Io): Promise<number | null> {
  if (io.env.FORGE_DIR || io.env.FORCE_COLOR || io.stdout.isTerminal) return null;
  try {
    const forge = openForge(realpathSync.native(io.cwd()), { world: io.world ?? systemWorld(io.env, false) });
    const style = await makeStyle(false, { unicode: hasUnicode(io.env) });
    io.stdout.write(`${escapeControls(renderShort(await forge.status({ brief: true }), style))}\n`);
    return 0;
  } catch {
    return null;
  }
}
