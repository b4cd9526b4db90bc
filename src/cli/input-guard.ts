import { ForgeError, usage } from '../core/error.js';
import type { Field } from '../guard/fields.js';
import { type Forge, textGuard } from '../index.js';
import type { Invocation } from './spec.js';

/** Words that name places and ways, not content. */
const NO_CONTENT: ReadonlySet<string> = new Set(['cwd', 'color']);

type Inputs = Pick<Invocation, 'args' | 'options'> & { spec?: Pick<Invocation['spec'], 'runs'> };

/** The words of a call that a person or an agent chose. */
function inputFields({ args, options, spec }: Inputs): Field[] {
  const fields = (spec?.runs ? [] : args).map((text, i): Field => ({ path: `argument ${i + 1}`, text }));
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
  invocation: Invocation,
  env: NodeJS.ProcessEnv,
  forge: () => Forge,
): Promise<void> {
  const writes = invocation.spec.writes === true;
  const isKept = writes && !invocation.flags.dryRun;
  await refuseFields(inputFields(invocation), { env, writes, forge: isKept ? forge : null });
}

interface Refusing {
  env: NodeJS.ProcessEnv;
  /** More is refused of what is to be stored. */
  writes: boolean;
  /** Keeps what was tried; null: nobody does. */
  forge: (() => Forge) | null;
}

export async function refuseFields(
  fields: readonly Field[],
  { env, writes, forge }: Refusing,
): Promise<void> {
  if (fields.length === 0) return;
  const found = await textGuard.inspect(fields, env, writes);
  const [first] = found;
  if (!first) return;
  if (first.class === 'invisible')
    throw usage('text.hidden_character', `${first.field} has a ${first.what} (rule ${first.rule}).`);
  if (writes && forge) await openQuietly(forge)?.guard.refuseInput(found);
  throw new ForgeError(
    'secret',
    `guard.${first.class}`,
    `${first.field}: ${first.what} (rule ${first.rule}).`,
  );
}

/** The call with placeholders in its words. */
export async function redactInput(invocation: Invocation): Promise<Invocation> {
  const redact = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(redact));
    return typeof value === 'string' ? textGuard.redact(value) : value;
  };
  const options: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(invocation.options))
    options[name] = NO_CONTENT.has(name) ? value : await redact(value);
  const args = invocation.spec.runs ? invocation.args : ((await redact(invocation.args)) as string[]);
  return { ...invocation, options, args };
}

function openQuietly(forge: () => Forge): Forge | null {
  try {
    return forge();
  } catch {
    return null;
  }
}

/** A message may repeat what it was given, but never a secret. Should the rules be unusable, it says nothing. */
export async function maskText(text: string): Promise<string> {
  try {
    return await textGuard.mask(text);
  } catch {
    return 'The guard could not be loaded; nothing was written.';
  }
}

export async function maskError(error: ForgeError): Promise<ForgeError> {
  // Neither repeats what it was given.
  if (error.kind === 'secret' || error.code === 'guard.unavailable') return error;
  const mask = async (value: unknown): Promise<unknown> => {
    if (typeof value === 'string') return maskText(value);
    if (Array.isArray(value)) return Promise.all(value.map(mask));
    if (typeof value !== 'object' || value === null || value instanceof Error) return value;
    const entries = Object.entries(value).map(async ([key, item]) => [key, await mask(item)] as const);
    return Object.fromEntries(await Promise.all(entries));
  };
  const details = (await mask(error.details)) as ForgeError['details'];
  return new ForgeError(error.kind, error.code, await maskText(error.message), details);
}
