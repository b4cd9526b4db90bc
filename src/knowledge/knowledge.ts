import * as z from 'zod/mini';
import { updateEntries } from '../core/entries.js';
import { corrupted, ForgeError, usage } from '../core/error.js';
import { readTarget } from '../core/files.js';
import { architectureDraft, architectureFile, shown } from '../core/paths.js';
import { checkInput, decodeProse, findTwin, isSameId, refuseConflict } from '../core/schema.js';
import { checkText, makeToken, noSuch } from '../core/text.js';
import { queueEvent } from '../events/outbox.js';
import { FEATURE_LIST } from '../feature/store.js';
import { userGit } from '../git/client.js';
import { openEditor } from '../git/commit.js';
import { maskText } from '../guard/guard.js';
import { candidateId, listKnown, openCandidates, readKnowledge } from '../learning/knowledge.js';
import { knowledgeId } from '../learning/proven.js';
import { derive, readMemory, TIERS } from '../ledger/memory.js';
import { rebuildViews, viewFile } from '../ledger/view.js';
import {
  type Context,
  madeBy,
  type Observed,
  observerOf,
  orWarn,
  refuseAgent,
  requireSupervisor,
  timestamp,
} from '../project/project.js';
import { sessionHere } from '../session/running.js';
import { approveRules, forgetRules } from '../trust/trust.js';
import {
  describeLearning,
  idOf,
  idsOf,
  keptOpen,
  knownLearnings,
  LEARNED_LIST,
  type Learning,
  MAX_CANDIDATES,
  MAX_LESSON,
  NewLearning,
  parseInvariants,
  readLearnings,
  textsOf,
} from './rules.js';

type Added = { learning: Learning; duplicate: boolean };

/** KNO-01. Learning the same thing again stores nothing. A builder's becomes an observation of its cycle. */
export function addLearning(context: Context, raw: NewLearning): Added | Observed {
  const observe = observerOf(context, 'knowledge');
  const entry = checkInput(NewLearning, raw);
  const { kind: _, ...texts } = entry;
  for (const [field, text] of Object.entries(texts))
    if (field !== 'resolution' || text !== '')
      checkText(text, { what: `The ${field}`, maxBytes: MAX_LESSON });
  // A pattern has no meaningless context.
  if (observe) return observe([describeLearning(entry)]);
  return keepLearnings(context, [entry], timestamp(context))[0] as Added;
}

export function keepLearnings(context: Context, entries: readonly NewLearning[], at: string): Added[] {
  const kept: Added[] = [];
  const session = sessionHere(context);
  updateEntries(context, LEARNED_LIST, (before) => {
    const known = knownLearnings(before);
    const fresh = entries.flatMap((entry) => {
      const stored = { ...entry, ...madeBy(context), learned_at: at, ...(session && { session }) };
      const learning = { ...stored, id: idOf(entry) };
      const twin = idsOf(entry).flatMap((id) => known.get(id) ?? [])[0];
      kept.push({ learning: twin ?? learning, duplicate: twin !== undefined });
      known.set(learning.id, twin ?? learning);
      return twin ? [] : [stored];
    });
    return [...before, ...fresh];
  });
  for (const { learning, duplicate } of kept) {
    const { kind, id } = learning;
    if (!duplicate) queueEvent(context, 'learning', id, { kind, id, title: describeLearning(learning) });
  }
  approveRules(context, rulesIn(entries));
  return kept;
}

const rulesIn = (entries: readonly NewLearning[]): string[] =>
  entries.flatMap((entry) => (entry.kind === 'invariant' ? [entry.text] : []));

export const listKnowledge = ({ disk }: Context): { learnings: Learning[] } => ({
  learnings: readLearnings(disk),
});

/** Those with every word of the query, in upper or lower case. */
export function searchKnowledge({ disk }: Context, { query }: { query: string }): { learnings: Learning[] } {
  const words = checkText(query, { what: 'The query' }).toLowerCase().split(/\s+/).filter(Boolean);
  const hasAll = (learning: Learning): boolean => {
    const all = textsOf(learning).join(' ').toLowerCase();
    return words.every((word) => all.includes(word));
  };
  return { learnings: readLearnings(disk).filter(hasAll) };
}

export function removeLearning(context: Context, { id }: { id: string }) {
  requireSupervisor(context, 'knowledge');
  // The briefing lists the candidate of a lesson.
  const candidateOf = (entry: Learning): string =>
    entry.kind === 'success' ? candidateId(knowledgeId('execution', entry.approach)) : entry.id;
  const isMeant = (entry: Learning): boolean =>
    [entry.id, candidateOf(entry)].some((one) => isSameId(one, id));
  const meant = readLearnings(context.disk).filter(isMeant);
  const [removed, ...also] = meant;
  if (!removed) {
    const other = idInLedger(context, id);
    const reject = `forge memory override invalidate ${other} --reason "TEXT"   # a person, at a terminal`;
    throw noSuch(other ? 'lesson' : 'knowledge', id, other ? reject : 'forge knowledge list', 'knowledge');
  }
  const rules = rulesIn(meant);
  if (rules.length > 0) refuseAgent(context, 'Removing an invariant');
  const ids = new Set(meant.map((learning) => learning.id));
  updateEntries(context, LEARNED_LIST, (before) => before.filter((entry) => !ids.has(idOf(entry))));
  forgetRules(context, rules);
  return { removed, ...(also.length > 0 && { also }) };
}

/** Of knowledge that was promoted, or of a candidate. */
function idInLedger(context: Context, id: string): string | undefined {
  const memory = readMemory(context);
  const isMeant = (one: string): boolean => id.length >= 6 && one.startsWith(id);
  for (const { knowledge_id, record } of readKnowledge(memory).values())
    if ([knowledge_id, record, candidateId(knowledge_id)].some(isMeant)) return record.slice(0, 12);
  return findTwin(openCandidates(memory), id)?.id;
}

/** What memory holds as known, and what may become knowledge. */
export type Learned = Awaited<ReturnType<typeof listLearned>>;

export async function listLearned(context: Context) {
  const { assess, whyWaiting } = await import('../learning/consolidation.js');
  const { due_in, known, open } = derive(context, 'learned', () => {
    const { due_in, memory } = assess(context);
    return { due_in, known: listKnown(memory), open: openCandidates(memory) };
  });
  const waits = due_in > 0 ? null : whyWaiting(context, readMemory(context));
  return {
    known,
    candidates: keptOpen(open, readLearnings(context.disk)).slice(0, MAX_CANDIDATES),
    consolidation: { due_in, waits },
  };
}

/** Rewrites features.json and knowledge.json, and imports a person's edits. */
export function refreshViews(context: Context): void {
  updateEntries(context, FEATURE_LIST);
  updateEntries(context, LEARNED_LIST);
}

/** Writes missing views of the ledger, as in a fresh clone. Returns which ones. */
export function restoreLedgerViews(context: Context): string[] {
  const { disk, layout } = context;
  const memory = readMemory(context);
  const missing = TIERS.filter((tier) => memory.records(tier).length > 0)
    .map((tier) => viewFile(layout, tier))
    .filter((path) => !disk.exists(path));
  if (missing.length > 0) rebuildViews(context);
  return missing.map((path) => shown(layout, path));
}

export type ShownArchitecture = Awaited<ReturnType<typeof showArchitecture>>;

/** KNO-03: with LF, and without what the guard forbids in messages. Exit 4 if it is missing or not text. */
export async function showArchitecture(context: Context) {
  const { path, bytes } = readFile(context);
  const text = decodeProse(bytes, path);
  const invariants = await statedIn(context, text);
  return { path, invariants, text: await maskText(text.replace(/\r\n?/g, '\n')) };
}

/** Its invariants for the briefing. People write this file, so a problem is a warning and does not stop work. */
export async function readInvariants(context: Context): Promise<string[]> {
  const { layout, disk } = context;
  const path = shown(layout, architectureFile(layout));
  const read = async (): Promise<string[]> => {
    const bytes = disk.read(architectureFile(layout));
    const text = bytes ? decodeProse(bytes, path) : '';
    refuseConflict(text, path, `edit ${path}`);
    return statedIn(context, text);
  };
  return (await orWarn(context, 'No invariants of the architecture are known', read)) ?? [];
}

function readFile({ disk, layout }: Context): { path: string; bytes: Buffer } {
  const path = shown(layout, architectureFile(layout));
  const bytes = disk.read(architectureFile(layout));
  if (bytes) return { path, bytes };
  const hint = 'forge init   # restores what is missing';
  throw corrupted('file.missing', `${path} is missing.`, { file: path, hint });
}

/** LTM-13: an editor bypasses the guard, and the invariants get into every prompt. */
const statedIn = (context: Context, text: string): Promise<string[]> =>
  Promise.all(parseInvariants(text).map((invariant) => maskText(invariant, context)));

/** Without a text an editor is opened, which needs a terminal. */
const ArchitectureEdit = z.strictObject({ text: z.optional(z.string()) });

export type EditedArchitecture = Awaited<ReturnType<typeof editArchitecture>>;

/**
 * KNO-03: a new text for `architecture.md`. An agent may add invariants, but not drop or change any. An editor works on the
 * file itself: it may save again after it returned.
 */
export async function editArchitecture(context: Context, raw: z.infer<typeof ArchitectureEdit> = {}) {
  const { text } = checkInput(ArchitectureEdit, raw);
  requireSupervisor(context, 'knowledge');
  const { path, bytes: before } = readFile(context);
  const bytes = text === undefined ? await useEditor(context, before) : Buffer.from(text);
  const [old, stated] = [before, bytes].map((each) => parseInvariants(each.toString('utf8')));
  const lacking = (from: string[] = [], those: string[] = []) => from.filter((one) => !those.includes(one));
  const gone = lacking(old, stated);
  if (gone.length > 0) refuseAgent(context, 'Removing or changing an invariant');
  const changed = !bytes.equals(before);
  if (changed) store(context, bytes, before, text === undefined);
  approveRules(context, lacking(stated, old));
  forgetRules(context, gone);
  return { path, changed, invariants: await statedIn(context, decodeProse(bytes, path)) };
}

async function useEditor(context: Context, before: Buffer): Promise<Buffer> {
  const { disk, layout, world, repository } = context;
  const hint = 'forge architecture edit FILE   # - is stdin';
  if (!world.terminal) throw usage('architecture.no_terminal', 'Editing needs a terminal.', { hint });
  if (disk.dryRun) return before;
  const file = architectureFile(layout);
  const read = (): Buffer => readTarget(file, Number.MAX_SAFE_INTEGER) ?? before;
  try {
    await openEditor(userGit(repository?.root ?? layout.root, world.env), file, world.env);
  } catch (error) {
    // An editor may fail after it has saved.
    if (read().equals(before)) throw error;
  }
  return read();
}

/** Refuses text like any input (exit 2 or 5). What an editor has put into the file is kept in a draft then. */
function store({ disk, layout }: Context, bytes: Buffer, before: Buffer, isEdited: boolean): void {
  const file = architectureFile(layout);
  disk.withLock(() => {
    try {
      if (decodeProse(bytes, shown(layout, file)).trim() === '')
        throw usage('architecture.empty', 'The text is empty.');
      // Text that was in the file before is allowed, and the editor has already replaced it.
      if (isEdited) disk.guard?.(shown(layout, file), bytes, () => before);
      disk.replace(file, bytes, isEdited ? bytes : before);
    } catch (error) {
      if (!isEdited || !(error instanceof ForgeError)) throw error;
      const draft = architectureDraft(layout, makeToken(8));
      disk.replaceMoved(draft, bytes);
      disk.replaceMoved(file, before);
      const { kind, code, message, details } = error;
      const hint = `What you wrote is kept: ${draft}   # forge architecture edit FILE takes it`;
      throw new ForgeError(kind, code, message, { ...details, hint });
    }
  });
}
