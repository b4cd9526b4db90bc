import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { initScript, shown } from '../core/paths.js';
import { templatesFolder } from '../core/templates.js';
import { type Context, isBuilding } from '../project/project.js';
import { approveInitScript, showTrust } from '../trust/trust.js';
import { type Part, partsFor, type Stack, TOOLCHAINS } from './stack.js';

/** LAY-03: the init.sh that this project should have, and what to do with the one that is there. */
export interface ScriptPlan {
  stack: Stack;
  parts: Part[];
  text: string;
  before: Buffer | null;
  action: 'create' | 'renew' | 'keep';
  /** The existing script was edited or chosen, and differs from `text`. */
  isOwn: boolean;
}

/** A script that forge wrote for what it found is renewed. A chosen stack or an edited script is kept. */
export function planScript(
  context: Context,
  found: { stack: Stack; parts: readonly Part[] },
  chosen: Stack | undefined,
): ScriptPlan {
  const before = context.disk.read(initScript(context.layout));
  const stack = chosen ?? found.stack;
  const parts = partsFor(stack, found.parts);
  const text = composeScript(stack, parts, chosen === undefined);
  const isSame = before?.equals(Buffer.from(text)) ?? false;
  const isOwn = before !== null && !isSame && !isUnedited(before.toString('utf8'));
  // A cycle runs this script before it judges the builder.
  const isKept = isSame || isOwn || (before !== null && isBuilding(context));
  const action = before === null ? 'create' : isKept ? 'keep' : 'renew';
  return { stack, parts, text, before, isOwn, action };
}

const digestLine = (body: string): string =>
  `\n# forge init renews this script until you edit it. SHA-256 of the lines above: ${createHash('sha256').update(body).digest('hex')}\n`;

/** `renewable`: the last line has a digest, which shows later that nobody edited the script. */
export function composeScript(stack: Stack, parts: readonly Part[], renewable: boolean): string {
  const piece = (name: string): string => readFileSync(join(templatesFolder(), 'init', `${name}.sh`), 'utf8');
  const used = TOOLCHAINS.filter((name) => parts.some((part) => part.stack === name));
  // A chosen `mixed` without any projects yet: include everything for whoever adds them.
  const included = stack === 'mixed' && used.length === 0 ? TOOLCHAINS : used;
  const body = [piece('head'), ...included.map(piece), formatParts(parts), piece('tail')].join('');
  return renewable ? body + digestLine(body) : body;
}

export function isUnedited(script: string): boolean {
  const body = script.slice(0, -digestLine('').length);
  return script === body + digestLine(body);
}

function formatParts(parts: readonly Part[]): string {
  if (parts.length === 0)
    return "\n# This project has nothing to install yet. When that changes: forge init\nsay 'nothing to install'\n";
  const lines = parts.map(({ stack, folder }) => `part ${stack} ${quote(folder)}\n`);
  return `\n# ---- The parts of this project, each with its folder ----\n\n${lines.join('')}`;
}

const quote = (word: string): string =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** Writes and approves the script, since forge composed every line. A renewed one is approved only if the old one was. */
export function writeScript(context: Context, { text, before, action }: ScriptPlan): void {
  if (action === 'keep') return;
  const isTrusted = action === 'create' || isApproved(context);
  context.disk.replaceAll([
    { path: initScript(context.layout), bytes: Buffer.from(text), mode: 0o777, expected: before },
  ]);
  if (isTrusted) approveInitScript(context);
}

function isApproved(context: Context): boolean {
  const name = shown(context.layout, initScript(context.layout));
  try {
    return showTrust(context).items.some((item) => item.name === name && item.state === 'trusted');
  } catch {
    // The list is incomplete if a file is damaged. Nothing counts as approved then.
    return false;
  }
}
