import { ForgeError, usage } from '../core/error.js';
import { mapTexts } from '../core/text.js';
import type { Field } from '../guard/document.js';
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

/** What is given to one command, on its way in: cleaned, redacted where that was asked for, and scanned once. */
export interface Entrance {
  /** The call with cleaned words. */
  words(): Promise<Invocation>;
  /** LTM-13: before a command runs, or a message could repeat its words. Exit 5, recorded where there is a `.forge/`. */
  refuseWords(forge: () => Forge): Promise<void>;
  /** The text of stdin or of a file, before anything parses it. */
  enter(text: string, name: string, forge: () => Forge): Promise<string>;
  /** What was left out of it all, for one report. */
  left(): readonly string[];
}

export function makeEntrance(given: Invocation, env: NodeJS.ProcessEnv, dir: string): Entrance {
  const left = new Set<string>();
  const { spec, flags } = given;
  const writes = spec.writes === true;
  const clean = async (text: string): Promise<string> => {
    const cleaned = writes ? await textGuard.clean(text) : { text, left: [] };
    for (const name of cleaned.left) left.add(name);
    return flags.redact ? textGuard.redact(cleaned.text) : cleaned.text;
  };
  const refusing = (forge: () => Forge): Refusing => ({
    env,
    dir,
    writes,
    forge,
    records: writes && !flags.dryRun,
  });
  let words = given;
  return {
    words: async () => {
      words = await mapWords(given, clean);
      return words;
    },
    refuseWords: (forge) => refuseFields(inputFields(words), refusing(forge)),
    enter: async (text, name, forge) => {
      const entered = await clean(text);
      // What is hidden in it, its parser reports by place.
      const fields = await textGuard.fields(entered, name);
      await refuseFields(fields, { ...refusing(forge), passes: 'invisible' });
      return entered;
    },
    left: () => [...left],
  };
}

interface Refusing {
  env: NodeJS.ProcessEnv;
  /** Where the project is: its own code is not foreign. */
  dir: string;
  /** More is refused of what is to be stored. */
  writes: boolean;
  forge: () => Forge;
  /** Whether the refusal is recorded. */
  records: boolean;
  /** A class that is not refused here. */
  passes?: 'invisible';
}

export async function refuseFields(
  fields: readonly Field[],
  { env, dir, writes, forge, records, passes }: Refusing,
): Promise<void> {
  if (fields.length === 0) return;
  const inspected = await textGuard.inspect(fields, { env, dir, writes });
  const all = inspected.filter(({ class: name }) => name !== passes);
  if (all.length === 0) return;
  const opened = openQuietly(forge);
  // A ledger that cannot be read allows nothing.
  const found = opened ? await opened.guard.withoutAllowed(all).catch(() => all) : all;
  const [first] = found;
  if (!first) return;
  if (first.class === 'invisible')
    throw usage('text.hidden_character', `${first.field} has a ${first.what} (rule ${first.rule}).`);
  if (records) await opened?.guard.refuseInput(found);
  throw new ForgeError(
    'secret',
    `guard.${first.class}`,
    `${first.field}: ${first.what} (rule ${first.rule}).`,
  );
}

/** The call with other words. */
async function mapWords(given: Invocation, change: (text: string) => Promise<string>): Promise<Invocation> {
  const options = await mapTexts(given.options, change);
  for (const name of NO_CONTENT) if (name in options) options[name] = given.options[name];
  return { ...given, options, args: given.spec.runs ? given.args : await mapTexts(given.args, change) };
}

function openQuietly(forge: () => Forge): Forge | null {
  try {
    return forge();
  } catch {
    return null;
  }
}

/** A message may repeat what it was given, but never a secret. Without the rules it repeats nothing. */
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
  const details = await mapTexts(error.details, maskText);
  return new ForgeError(error.kind, error.code, await maskText(error.message), details);
}
