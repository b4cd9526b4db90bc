import { decodeUtf8 } from '../../domain/document.js';
import { corrupted, ForgeError } from '../../domain/error.js';
import { type Architecture, readArchitecture } from '../../domain/knowledge/architecture.js';
import { architectureFile, shown } from '../../store/layout.js';
import type { Context } from '../context.js';
import { loadGuard, maskText } from '../guard/guard.js';

export interface ShownArchitecture extends Architecture {
  /** From the project's folder. */
  path: string;
  /** All of it, with LF; what may stand in no message is taken out. */
  text: string;
}

/** KNO-03. Exit 4 where it is missing, or no text. */
export async function showArchitecture(context: Context): Promise<ShownArchitecture> {
  const path = shown(context.layout, architectureFile(context.layout));
  const bytes = context.disk.read(architectureFile(context.layout));
  if (!bytes) throw missing(path);
  const text = decodeProse(bytes, path);
  const architecture = await withoutSecrets(context, readArchitecture(text), path);
  return { path, ...architecture, text: await maskText(text.replace(/\r\n?/g, '\n')) };
}

/** Its invariants for the briefing. People write this file: whatever is wrong with it is a warning, and stops no work. */
export async function readInvariants(context: Context): Promise<string[]> {
  const path = shown(context.layout, architectureFile(context.layout));
  try {
    const bytes = context.disk.read(architectureFile(context.layout));
    const text = bytes ? decodeProse(bytes, path) : '';
    if (!/invariant/i.test(text)) return [];
    const { invariants } = await withoutSecrets(context, readArchitecture(text), path);
    return invariants.map(({ text }) => text);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    warnOnce(context, `No invariants of the architecture are known: ${error.message}`);
    return [];
  }
}

export const missing = (path: string): Error =>
  corrupted('file.missing', `${path} is missing.`, {
    file: path,
    hint: 'forge init  (puts back what is missing)',
  });

/** Editors of some systems begin with a byte-order mark. */
export function decodeProse(bytes: Buffer, path: string): string {
  const hasMark = bytes.subarray(0, 3).toString('hex') === 'efbbbf';
  return decodeUtf8(hasMark ? bytes.subarray(3) : bytes, path);
}

/** LTM-13: an editor writes this file past the guard, and its invariants get into every prompt. */
export async function withoutSecrets(
  context: Context,
  read: Architecture,
  path: string,
): Promise<Architecture> {
  const { invariants } = read;
  if (invariants.length === 0) return read;
  const guard = await loadGuard(context.world.env);
  // One look at all of them, as there is hardly ever anything to find.
  if (guard.scanCritical(invariants.map(({ text }) => text).join('\n')).length === 0) return read;
  const clean = invariants.filter(({ text, line }) => {
    const [hit] = guard.scanCritical(text);
    if (hit)
      warnOnce(
        context,
        `${path}:${line}: ${hit.what} (rule ${hit.rule}): this invariant is not shown. Take it out.`,
      );
    return hit === undefined;
  });
  return { ...read, invariants: clean };
}

function warnOnce({ warnings }: Context, warning: string): void {
  if (!warnings.includes(warning)) warnings.push(warning);
}
