import { ForgeError, unlessFailed, usage } from '../core/error.js';
import { codePoint, mapTexts } from '../core/text.js';
import type { Field } from '../guard/document.js';
import { type Forge, textGuard } from '../index.js';
import type { Invocation } from './spec.js';

const NO_CONTENT: ReadonlySet<string> = new Set(['cwd', 'color']);

/** The input of one writing command: cleaned, redacted on request, and scanned once. */
export function makeEntrance(given: Invocation, env: NodeJS.ProcessEnv, dir: string) {
  const removed = new Set<string>();
  const { flags } = given;
  const clean = async (text: string): Promise<string> => {
    const cleaned = await textGuard.clean(text);
    for (const name of cleaned.left) removed.add(name);
    return flags.redact ? textGuard.redact(cleaned.text) : cleaned.text;
  };
  const scan = { env, dir, records: !flags.dryRun };
  let words = given;
  return {
    words: async (): Promise<Invocation> => {
      words = await mapWords(given, clean);
      return words;
    },
    /** LTM-13: runs before the command, and before a message could repeat its words. Exit 5. */
    refuseWords: (forge: () => Forge): Promise<void> => refuseFields(inputFields(words), { ...scan, forge }),
    /** Takes the text of stdin or of a file before anything parses it. */
    enter: async (text: string, name: string, forge: () => Forge): Promise<string> => {
      const entered = await clean(text);
      const fields = await textGuard.fields(entered, name);
      // The parser reports invisible characters with their place.
      await refuseFields(fields, { ...scan, forge, passes: 'invisible' });
      return entered;
    },
    /** The kinds of characters that were removed, for one report. */
    removed: (): readonly string[] => [...removed],
  };
}

async function mapWords(given: Invocation, change: (text: string) => Promise<string>): Promise<Invocation> {
  const options = await mapTexts(given.options, change);
  for (const name of NO_CONTENT) if (name in options) options[name] = given.options[name];
  return { ...given, options, args: given.spec.runs ? given.args : await mapTexts(given.args, change) };
}

function inputFields({ args, options, spec }: Invocation): Field[] {
  const fields = (spec.runs ? [] : args).map((text, i): Field => ({ path: `argument ${i + 1}`, text }));
  for (const [name, value] of Object.entries(options)) {
    if (NO_CONTENT.has(name)) continue;
    const path = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    for (const text of Array.isArray(value) ? value : [value])
      if (typeof text === 'string' && text !== '') fields.push({ path, text });
  }
  return fields;
}

interface Scan {
  env: NodeJS.ProcessEnv;
  /** The project's folder: its own code is not foreign. */
  dir: string;
  forge: () => Forge;
  /** Whether the refusal is recorded. */
  records: boolean;
  /** A class that is not refused here. */
  passes?: 'invisible';
}

export async function refuseFields(
  fields: readonly Field[],
  { env, dir, forge, records, passes }: Scan,
): Promise<void> {
  if (fields.length === 0) return;
  const inspected = await textGuard.inspect(fields, { env, dir });
  const all = inspected.filter(({ class: name }) => name !== passes);
  if (all.length === 0) return;
  const opened = unlessFailed(null, forge);
  // A ledger that cannot be read allows nothing.
  const found = opened ? await opened.guard.withoutAllowed(all).catch(() => all) : all;
  const [first] = found;
  if (!first) return;
  if (first.class === 'invisible')
    throw usage('text.hidden_character', `${first.field} has a ${first.what} (rule ${first.rule}).`, {
      hint: `Remove the character ${codePoint(first.value)}.`,
    });
  if (records) await opened?.guard.refuseInput(found);
  const message = `${first.field}: ${first.what} (rule ${first.rule}).`;
  throw new ForgeError('secret', `guard.${first.class}`, message);
}

/** A message may repeat its input, but never a secret. Without the rules it repeats nothing. */
export async function maskText(text: string): Promise<string> {
  try {
    return await textGuard.mask(text);
  } catch {
    return 'The guard could not be loaded; nothing was written.';
  }
}

export async function maskError(error: ForgeError): Promise<ForgeError> {
  // These repeat no input.
  const isOwn = error.code === 'guard.unavailable' || error.code === 'package.incomplete';
  if (error.kind === 'secret' || isOwn) return error;
  const details = await mapTexts(error.details, maskText);
  return new ForgeError(error.kind, error.code, await maskText(error.message), details);
}
