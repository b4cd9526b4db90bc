import { constants, writeFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { deniedToBuilder, isBuilder } from '../core/environment.js';
import { outside, systemCode } from '../core/error.js';
import { oneLine } from '../core/text.js';
import type { Context } from './project.js';

/** What a builder wants to keep. Its cycle decides. */
export interface Observed {
  observed: string[];
}

/**
 * GOV-05: passes a builder's texts to its cycle. Null for everybody else. Exit 3 `role.denied` for a builder without a
 * cycle.
 */
export function observerOf(
  { world, disk }: Context,
  what: string,
): ((texts: readonly string[], confirmed?: readonly string[]) => Observed) | null {
  if (!isBuilder(world.env)) return null;
  const path = world.env.FORGE_OBSERVATIONS ?? '';
  if (!isAbsolute(path)) throw deniedToBuilder(what);
  return (texts, confirmed = []) => {
    const lines = [...texts.map((pattern) => ({ pattern })), ...confirmed.map((confirm) => ({ confirm }))];
    if (!disk.dryRun) append(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return { observed: [...texts, ...confirmed] };
  };
}

export const describeObserved = (texts: readonly string[]): string =>
  `observations of this cycle, which decides what to keep: ${oneLine(texts.join('; '), 200)}`;

const { O_APPEND, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_WRONLY } = constants;

/** The cycle made the file. */
function append(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: (O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK) as never });
  } catch (cause) {
    const why = systemCode(cause) ?? (cause as Error).message;
    throw outside('observation.file', `FORGE_OBSERVATIONS, ${path}: ${why}; nothing was kept.`, {
      file: path,
      cause,
    });
  }
}
