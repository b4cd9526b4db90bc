import { ForgeError } from '../domain/error.js';
import type { Field } from '../domain/guard/fields.js';
import { type Forge, textGuard } from '../index.js';
import type { Invocation } from './program.js';

/** Words that name places and ways, not content. */
const NO_CONTENT: ReadonlySet<string> = new Set(['cwd', 'color']);

/** The words of a call that a person or an agent chose. */
export function inputFields({ args, options }: Pick<Invocation, 'args' | 'options'>): Field[] {
  const fields = args.map((text, i): Field => ({ path: `argument ${i + 1}`, text }));
  for (const [name, value] of Object.entries(options)) {
    if (NO_CONTENT.has(name)) continue;
    for (const text of Array.isArray(value) ? value : [value])
      if (typeof text === 'string' && text !== '') fields.push({ path: `--${dashed(name)}`, text });
  }
  return fields;
}

const dashed = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * LTM-13: before a command is run, or a message could repeat its words. Exit 5; where there is a `.forge/` it keeps that
 * this was tried.
 */
export async function guardInput(
  fields: readonly Field[],
  writes: boolean,
  env: NodeJS.ProcessEnv,
  forge: () => Forge,
): Promise<void> {
  if (fields.length === 0) return;
  const found = await textGuard.inspect(fields, env, writes);
  const [first] = found;
  if (!first) return;
  const opened = openQuietly(forge);
  if (opened && writes) await opened.guard.refuseInput(found);
  throw new ForgeError('secret', `guard.${first.class}`, `The ${first.field} holds ${first.what} (rule ${first.rule}).`, {
    hint: 'Leave it out.',
  });
}

function openQuietly(forge: () => Forge): Forge | null {
  try {
    return forge();
  } catch {
    return null;
  }
}
