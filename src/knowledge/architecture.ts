import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { formatArgv } from '../core/argv.js';
import { corrupted, ForgeError, usage } from '../core/error.js';
import { readTarget } from '../core/files.js';
import { MAX_STATE_BYTES } from '../core/json.js';
import { architectureDraft, architectureDrafts, architectureFile, shown } from '../core/paths.js';
import { checkInput, decodeUtf8 } from '../core/schema.js';
import { makeToken } from '../core/text.js';
import { userGit } from '../git/client.js';
import { openEditor } from '../git/editor.js';
import { loadGuard, maskText } from '../guard/guard.js';
import { type Context, requireSupervisor } from '../project/project.js';
import { approveRules } from '../trust/trust.js';
import { type Architecture, readArchitecture } from './architecture-rules.js';

export interface ShownArchitecture extends Architecture {
  /** From the project's folder. */
  path: string;
  /** The whole text, with LF. Text that the guard forbids in messages is removed. */
  text: string;
}

/** KNO-03. Exit 4 if it is missing or not text. */
export async function showArchitecture(context: Context): Promise<ShownArchitecture> {
  const path = shown(context.layout, architectureFile(context.layout));
  const bytes = context.disk.read(architectureFile(context.layout));
  if (!bytes) throw missing(path);
  const text = decodeProse(bytes, path);
  const architecture = await withoutSecrets(context, readArchitecture(text), path);
  return { path, ...architecture, text: await maskText(text.replace(/\r\n?/g, '\n')) };
}

/** Its invariants for the briefing. People write this file, so a problem is a warning and does not stop work. */
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
    hint: 'forge init   # restores what is missing',
  });

/** Some editors write a byte-order mark. */
function decodeProse(bytes: Buffer, path: string): string {
  const hasMark = bytes.subarray(0, 3).toString('hex') === 'efbbbf';
  return decodeUtf8(hasMark ? bytes.subarray(3) : bytes, path);
}

/** LTM-13: an editor bypasses the guard, and the invariants get into every prompt. */
async function withoutSecrets(context: Context, read: Architecture, path: string): Promise<Architecture> {
  const { invariants } = read;
  if (invariants.length === 0) return read;
  const guard = await loadGuard(context.world.env, context);
  // All are scanned together, because a finding is rare.
  if (guard.scanGrave(invariants.map(({ text }) => text).join('\n')).length === 0) return read;
  const clean = invariants.filter(({ text, line }) => {
    const [hit] = guard.scanGrave(text);
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

const ArchitectureEdit = z.strictObject({
  /** Replaces the existing text. Without it an editor is opened, which needs a terminal. */
  text: z.optional(z.string()),
});

export interface EditedArchitecture extends Architecture {
  /** From the project's folder. */
  path: string;
  changed: boolean;
}

/**
 * KNO-03: a new text for `architecture.md`. The editor works on a copy in the git dir, so that text that the guard refuses
 * (exit 5) never gets into `.forge/`. The copy is kept, and named in the message, unless it was saved back. It is also kept
 * if nothing was changed, because the editor may have passed it to a window that is still open.
 */
export async function editArchitecture(
  context: Context,
  raw: z.infer<typeof ArchitectureEdit> = {},
): Promise<EditedArchitecture> {
  const { text } = checkInput(ArchitectureEdit, raw);
  requireSupervisor(context, 'knowledge');
  const { disk, layout } = context;
  const file = architectureFile(layout);
  const before = disk.read(file);
  if (!before) throw missing(shown(layout, file));
  const { bytes, draft } =
    text === undefined ? await edit(context, before) : { bytes: Buffer.from(text), draft: null };
  const changed = !bytes.equals(before);
  try {
    if (changed) takeOver(context, bytes, before);
  } catch (error) {
    throw draft === null ? error : kept(error, draft);
  }
  if (draft !== null && !changed) warnOfOpen(context, draft);
  // Some editors leave a backup file beside it.
  if (draft !== null && changed)
    disk.withLock(() => {
      for (const path of [draft, `${draft}~`]) disk.remove(path);
    });
  const path = shown(layout, file);
  const read = readArchitecture(decodeProse(bytes, path));
  const known = new Set(readArchitecture(before.toString('utf8')).invariants.map(({ text }) => text));
  approveRules(
    context,
    read.invariants.map(({ text }) => text).filter((text) => !known.has(text)),
  );
  return { path, changed, ...(await withoutSecrets(context, read, path)) };
}

function takeOver({ disk, layout }: Context, bytes: Buffer, before: Buffer): void {
  const file = architectureFile(layout);
  if (bytes.length > MAX_STATE_BYTES)
    throw usage(
      'architecture.too_large',
      `The text has ${bytes.length} bytes; ${MAX_STATE_BYTES} are allowed.`,
    );
  if (decodeProse(bytes, shown(layout, file)).trim() === '')
    throw usage('architecture.empty', 'The text is empty; nothing was changed.');
  disk.withLock(() => disk.replace(file, bytes, before));
}

/** The text that the person saved in the editor. */
async function edit(context: Context, before: Buffer): Promise<{ bytes: Buffer; draft: string | null }> {
  const { disk, layout, world, repository } = context;
  if (!world.terminal)
    throw usage('architecture.no_terminal', 'Editing needs a terminal.', {
      hint: 'forge architecture edit FILE   # - is stdin',
    });
  warnOfDrafts(context);
  if (disk.dryRun) return { bytes: before, draft: null };
  const draft = architectureDraft(layout, `${makeToken(8)}-${markOf(before)}`);
  disk.withLock(() => disk.replaceMoved(draft, before));
  const read = (): Buffer => readTarget(draft, Number.MAX_SAFE_INTEGER) ?? before;
  try {
    await openEditor(userGit(repository?.root ?? layout.root, world.env), draft, world.env);
  } catch (error) {
    if (!read().equals(before)) throw kept(error, draft);
    disk.withLock(() => disk.remove(draft));
    throw error;
  }
  return { bytes: read(), draft };
}

function warnOfOpen({ warnings }: Context, draft: string): void {
  const take = formatArgv(['forge', 'architecture', 'edit', draft]);
  warnings.push(
    `The editor has ended, and nothing was changed. If its window is open still (code needs --wait), save there, then: ${take}`,
  );
}

/** A digest of a draft's original text. It is in the draft's name, so that an unchanged draft can be recognized. */
const markOf = (text: Buffer): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

const DAY_MS = 24 * 60 * 60_000;

/** A draft is open in another editor, was refused, or was interrupted. Unchanged drafts are removed after a day. */
function warnOfDrafts({ disk, layout, warnings, world }: Context): void {
  for (const name of disk.list(architectureDrafts(layout)).filter((file) => file.endsWith('.md'))) {
    const path = join(architectureDrafts(layout), name);
    const text = readTarget(path, Number.MAX_SAFE_INTEGER);
    if (text === null || !name.endsWith(`-${markOf(text)}.md`))
      warnings.push(`${path} was not taken over yet: forge architecture edit FILE  takes it.`);
    else if (world.now().getTime() - lstatSync(path).mtimeMs > DAY_MS) disk.withLock(() => disk.remove(path));
  }
}

/** The person's text is kept. */
function kept(error: unknown, draft: string): unknown {
  if (!(error instanceof ForgeError)) return error;
  const words = `What you wrote is kept: ${draft}   # forge architecture edit FILE takes it`;
  const hint = error.hint === undefined ? words : `${error.hint}\n    ${words}`;
  return new ForgeError(error.kind, error.code, error.message, {
    ...error.details,
    hint,
    data: { ...error.details.data, draft },
  });
}
