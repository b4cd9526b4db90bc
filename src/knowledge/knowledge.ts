import { readEntries, updateEntries } from '../core/entries.js';
import { usage } from '../core/error.js';
import { shown } from '../core/paths.js';
import { checkInput } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import { queueEvent } from '../events/outbox.js';
import { FEATURE_LIST } from '../feature/store.js';
import { readMemory, TIERS } from '../ledger/memory.js';
import { rebuildViews, viewFile } from '../ledger/view.js';
import {
  type Context,
  madeBy,
  type Observed,
  observerOf,
  requireSupervisor,
  timestamp,
} from '../project/project.js';
import { approveRules } from '../trust/trust.js';
import {
  describeLearning,
  forget,
  LEARNED_LIST,
  type Learning,
  learn,
  listLearnings,
  NewLearning,
  searchLearnings,
} from './rules.js';

type Added = { learning: Learning; duplicate: boolean };

/** KNO-01. Learning the same thing again stores nothing. A builder's becomes an observation of its cycle. */
export function addLearning(context: Context, raw: NewLearning): Added | Observed {
  const observe = observerOf(context, 'knowledge');
  const entry = checkInput(NewLearning, raw);
  const { kind: _, ...texts } = entry;
  for (const [field, text] of Object.entries(texts))
    if (field !== 'resolution' || text !== '') checkText(text, { what: `The ${field}` });
  // A pattern has no meaningless context.
  if (observe) return observe([describeLearning(entry).replace(/^any task(: | → )/, '')]);
  return keepLearnings(context, [entry], timestamp(context))[0] as Added;
}

/** Stores the new ones, in one step. */
export function keepLearnings(context: Context, entries: readonly NewLearning[], at: string): Added[] {
  const kept: Added[] = [];
  updateEntries(context, LEARNED_LIST, (before) =>
    entries.reduce((known, entry) => {
      const { stored, ...result } = learn(known, { ...entry, ...madeBy(context) }, at);
      kept.push(result);
      return stored;
    }, before),
  );
  for (const { learning, duplicate } of kept) {
    const { kind, id } = learning;
    if (!duplicate) queueEvent(context, 'learning', id, { kind, id, title: describeLearning(learning) });
  }
  approveRules(
    context,
    entries.flatMap((entry) => (entry.kind === 'invariant' ? [entry.text] : [])),
  );
  return kept;
}

export const listKnowledge = ({ disk }: Pick<Context, 'disk'>): { learnings: Learning[] } => ({
  learnings: listLearnings(readEntries(disk, LEARNED_LIST).entries),
});

export const searchKnowledge = (
  context: Context,
  { query }: { query: string },
): { learnings: Learning[] } => ({
  learnings: searchLearnings(listKnowledge(context).learnings, checkText(query, { what: 'The query' })),
});

export function removeLearning(context: Context, { id }: { id: string }): { removed: Learning } {
  requireSupervisor(context, 'knowledge');
  let removed: Learning | undefined;
  updateEntries(context, LEARNED_LIST, (before) => {
    removed = listLearnings(before).find((learning) => learning.id === id);
    if (!removed)
      throw usage('knowledge.unknown', `There is no knowledge ${JSON.stringify(oneLine(id, 40))}.`, {
        hint: 'forge knowledge list',
      });
    return forget(before, id);
  });
  return { removed: removed as Learning };
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
