import * as z from 'zod/mini';
import { explainSyntax, refused, usage } from '../core/error.js';
import { isWritable, type Write } from '../core/files.js';
import { parseJson } from '../core/json.js';
import { kfrFile, openFile } from '../core/paths.js';
import { checkInput, encodeDocument } from '../core/schema.js';
import { checkText, makeToken, oneLine, plural } from '../core/text.js';
import { type Context, madeBy, readConfig, timestamp } from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { isLeftBehind, isOwnSession, keptOpen, readRunning, requireOwn } from '../session/running.js';
import { applyPatch, MAX_OPERATIONS, nameOf, type Operation, type Patched } from './patch.js';
import {
  closeEntries,
  countKfr,
  type Entry,
  injection,
  KFR,
  type Kfr,
  NO_KFR,
  openEntries,
  requireResolved,
} from './rules.js';

/** The current KFR and its size in a prompt (tokens, without the header). */
export interface KfrList {
  session: string | null;
  entries: Entry[];
  tokens: number;
}

export type KfrPatched = ReturnType<typeof patchKfr>;

const KfrPatch = z.strictObject({ operations: z.array(z.unknown()) });
export type KfrPatch = { operations: Operation[] };

/** The entries of the running session. Entries of another session do not count (KFR-13). */
export function readKfr(context: Context): Kfr {
  const session = readRunning(context)?.id ?? null;
  return ofSession(session, readKfrFile(context));
}

/** As stored, even without a running session. Valid only with a session id that this git dir issued (SES-13). */
export function readKfrFile(context: Context): Kfr {
  const kfr = readAnyKfr(context);
  return kfr.session !== null && isOwnSession(context, kfr.session) ? kfr : NO_KFR;
}

/** As stored, also with the id of another clone's session. An archive keeps it as data. */
export function readAnyKfr(context: Context): Kfr {
  const { value, bytes } = context.disk.readDocument(KFR, kfrFile(context.layout), NO_KFR);
  return bytes ? value : keptOpen(context);
}

const ofSession = (session: string | null, kfr: Kfr): Kfr =>
  kfr.session === session ? kfr : { ...NO_KFR, session };

/** What a session left open whose record is gone, as after `rm -rf .forge` and `git restore .forge`. Null if nothing. */
export function describeLost(context: Context): string | null {
  const open = readRunning(context) || isLeftBehind(context) ? [] : openEntries(readKfrFile(context));
  const named = open.map(({ id, kind, text }) => `${id} (${kind}) ${oneLine(text, 120)}`);
  return open.length === 0 ? null : `Open in a session whose record is gone: ${named.join('; ')}`;
}

export function listKfr(context: Context): KfrList {
  const lost = describeLost(context);
  if (lost) context.warnings.push(`${lost}. To take it along: ${TAKE_LOST}`);
  return summarize(readKfr(context));
}

export const TAKE_LOST = 'forge start --resume latest';

const summarize = ({ session, entries }: Kfr): KfrList => ({
  session: session === null ? null : sessionName(session),
  entries,
  tokens: countKfr(entries),
});

/** More than any patch needs. */
const MAX_PATCH_BYTES = 256 * 1024;

/** The text of a patch, for the command line and the MCP tool. Exit 2 names the place of a JSON error. */
export function parsePatch(text: string): KfrPatch {
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > MAX_PATCH_BYTES)
    throw usage('kfr.too_large', `The patch has ${bytes} bytes; ${MAX_PATCH_BYTES} are allowed.`);
  const given = explainSyntax(parseJson, text, ({ message, line }) =>
    usage('kfr.json', `The patch is not JSON: ${message} (line ${line}).`, {
      line,
      hint: `echo '{"operations":[{"op":"add","kind":"Constraint","text":"…"}]}' | forge kfr patch -`,
    }),
  );
  return checkInput(KfrPatch, Array.isArray(given) ? { operations: given } : given) as KfrPatch;
}

/** `forge kfr patch`: all operations or none (KFR-02). Exit 3 names each refused operation, exit 2 each malformed one. */
export function patchKfr(context: Context, raw: KfrPatch) {
  const operations = checkInput(KfrPatch, raw).operations as Operation[];
  if (operations.length === 0)
    throw usage('kfr.nothing', 'The patch has no operation.', { hint: 'forge kfr patch --help' });
  const tooMany = `The patch has ${operations.length} operations; ${MAX_OPERATIONS} are allowed.`;
  if (operations.length > MAX_OPERATIONS) throw usage('kfr.too_many', tooMany);
  const { entry_characters: characters, tokens } = readConfig(context).kfr;
  const { by } = madeBy(context);
  return changeKfr(context, (kfr) => {
    const patched = applyPatch(kfr, operations, { characters, tokens }, timestamp(context), by);
    const { applied, warnings, refusals } = patched;
    if (refusals.length > 0) throw patchRefused(operations, patched);
    context.warnings.push(...warnings);
    return { kfr: patched.kfr, answer: { ...summarize(patched.kfr), applied, warnings } };
  });
}

/** Each failed operation, in one line and as data. */
function patchRefused(given: readonly Operation[], { refusals, isMalformed }: Patched): Error {
  const named = refusals.map(({ index, message }) => `${nameOf(given[index] ?? null, index)}: ${message}`);
  const lines = ['Nothing was changed:', ...named];
  return (isMalformed ? usage : refused)('kfr.patch', lines.join(lines.length > 2 ? '\n  ' : ' '), {
    data: { operations: refusals },
  });
}

/** Reads, decides and replaces under the lock, so two agents that patch at once lose nothing. */
function changeKfr<T>(context: Context, change: (kfr: Kfr) => { kfr: Kfr; answer: T }): T {
  const { disk, layout } = context;
  return disk.withLock(() => {
    const { id } = requireOwn(context);
    const before = disk.readDocument(KFR, kfrFile(layout), NO_KFR);
    const own = ofSession(id, before.bytes ? before.value : keptOpen(context));
    const { kfr, answer } = change(own);
    if (kfr !== own) disk.replaceAll(kfrWrites(context, kfr, before.bytes));
    return answer;
  });
}

/** The writes that store working memory, and what is open in the git dir too, in case the file is lost. */
export function kfrWrites({ layout }: Context, kfr: Kfr, expected?: Buffer | null): Write[] {
  const open = { ...kfr, entries: openEntries(kfr), closed: [] };
  return [
    { path: kfrFile(layout), bytes: encodeDocument(kfr), expected },
    // An agent's sandbox makes .git read-only.
    ...(isWritable(layout.state) ? [{ path: openFile(layout), bytes: encodeDocument(open) }] : []),
  ];
}

export type KfrCleared = ReturnType<typeof clearKfr>;

/** `forge kfr clear` (AGN-025 §10): removes all entries if the gate allows it. `dismiss` is the reason that opens it. */
export function clearKfr(context: Context, { dismiss }: { dismiss?: string | undefined } = {}) {
  if (dismiss !== undefined) checkText(dismiss, { what: 'The reason', lines: false, maxBytes: 2000 });
  const hint = 'forge kfr clear --yes --dismiss-all "why they no longer matter"';
  return changeKfr(context, (kfr) => {
    if (dismiss === undefined) requireResolved(kfr, 'The KFR cannot be cleared', hint);
    const at = timestamp(context);
    const open = new Set(openEntries(kfr).map(({ id }) => id));
    const dismissed = closeEntries(kfr, open, 'dismissed', at, dismiss);
    const cleared = kfr.entries.map(({ id, kind }) => ({
      ...{ id, kind, outcome: open.has(id) ? ('dismissed' as const) : ('expired' as const) },
    }));
    const answer = { session: sessionName(kfr.session ?? ''), cleared };
    return { kfr: cleared.length === 0 ? kfr : expireAll(dismissed, at), answer };
  });
}

const expireAll = (kfr: Kfr, at: string): Kfr =>
  closeEntries(kfr, new Set(kfr.entries.map(({ id }) => id)), 'expired', at);

/**
 * A context switch (KFR-14): refused while the gate is closed. Afterward nothing of the old task is left. Returns the
 * writes to apply together with the new focus. The caller holds the lock.
 */
export function switchContext(context: Context, what: string): Write[] {
  const kfr = readKfr(context);
  requireResolved(kfr, what);
  if (kfr.entries.length === 0) return [];
  const expired = kfr.entries.map(({ id, kind, text }) => `${id} (${kind}) ${oneLine(text, 400)}`);
  context.warnings.push(
    `${plural(expired.length, 'KFR entry', 'KFR entries')} of the former task expired. Add again those that still hold: ${expired.join('; ')}`,
  );
  return kfrWrites(context, expireAll(kfr, timestamp(context)));
}

/** The header and the entries for a prompt. Null without entries (KFR-04). */
export const injectKfr = (context: Context): { text: string | null } => ({
  text: injection(readKfr(context).entries, makeToken(12)),
});
