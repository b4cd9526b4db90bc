import { createHash } from 'node:crypto';
import { type Part, STACKS, type Stack, TOOLCHAINS, type Toolchain } from './stack.js';

/** Raised when forge writes another script for the same parts. */
const FORM = 1;

/** The texts that an init.sh is put together from (`templates/init/`). */
export type ScriptPieces = Record<Toolchain | 'head' | 'tail', string>;

/** `chosen` by somebody, or `found` by forge, which may then find something else another time. */
export type ScriptOrigin = 'chosen' | 'found';

/** What the last line of an init.sh says, while it is true: nobody has changed what forge wrote. */
interface ScriptMark {
  form: number;
  stack: Stack;
  origin: ScriptOrigin;
}

/** The whole init.sh. Its last line says who wrote it, and bears the digest of all before it. */
export function composeScript(
  pieces: ScriptPieces,
  stack: Stack,
  parts: readonly Part[],
  origin: ScriptOrigin,
): string {
  const used = TOOLCHAINS.filter((name) => parts.some((part) => part.stack === name));
  // For somebody who will add the parts.
  const shown = stack === 'mixed' && used.length === 0 ? TOOLCHAINS : used;
  const body = [pieces.head, ...shown.map((name) => pieces[name]), formatParts(parts), pieces.tail].join('');
  return `${body}\n# Written by forge init (form ${FORM}, stack ${stack}, ${origin}), which renews it while nobody has changed it: sha256 ${digest(body)}\n`;
}

function formatParts(parts: readonly Part[]): string {
  if (parts.length === 0)
    return "\n# This project has nothing to install yet. When that changes: forge init\nsay 'nothing to install'\n";
  const lines = parts.map(({ stack, folder }) => `part ${stack} ${quote(folder)}\n`);
  return `\n# ---- The parts of this project, each with its folder ----\n\n${lines.join('')}`;
}

/** As one word for a shell. */
const quote = (word: string): string =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const LAST_LINE =
  /\n# Written by forge init \(form (\d{1,4}), stack ([a-z]+), (chosen|found)\), [^\n]*: sha256 ([0-9a-f]{64})\n$/;

/** Null for a script that somebody has changed or written, or that is in a form that this forge does not know. */
export function readScriptMark(text: string): ScriptMark | null {
  const found = LAST_LINE.exec(text);
  if (!found) return null;
  const [line, form, word, origin, sum] = found;
  const stack = STACKS.find((name) => name === word);
  if (!stack || Number(form) > FORM || digest(text.slice(0, -line.length)) !== sum) return null;
  return { form: Number(form), stack, origin: origin as ScriptOrigin };
}
