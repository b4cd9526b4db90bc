import * as z from 'zod/mini';
import { readEntries, updateEntries } from '../core/entries.js';
import { usage } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import { queueEvent } from '../events/outbox.js';
import { type Observed, observerOf } from '../project/observe.js';
import { type Context, madeBy, requireSupervisor, timestamp } from '../project/project.js';
import { approveRules } from '../trust/trust.js';
import {
  describeLearning,
  forget,
  LEARNED_LIST,
  type Learning,
  learn,
  listLearnings,
  type NewLearning,
  searchLearnings,
} from './rules.js';

const Text = z.string();
const LearningInput = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('success'), context: Text, approach: Text }),
  z.strictObject({ kind: z.literal('failure'), context: Text, issue: Text, resolution: Text }),
  z.strictObject({ kind: z.literal('invariant'), text: Text }),
]);

/** KNO-01. Learning the same thing again stores nothing. */
/** A builder's becomes an observation of its cycle. */
export function addLearning(
  context: Context,
  raw: NewLearning,
): { learning: Learning; duplicate: boolean } | Observed {
  const observe = observerOf(context, 'knowledge');
  const entry = checkInput(LearningInput, raw);
  const { kind: _kind, ...texts } = entry;
  for (const [field, text] of Object.entries(texts))
    if (field !== 'resolution' || text !== '') checkText(text, { what: `The ${field}` });
  if (observe) return observe([toPattern(entry)]);
  return keepLearnings(context, [entry], timestamp(context))[0] as {
    learning: Learning;
    duplicate: boolean;
  };
}

/** A pattern for a cycle's observation, without a meaningless context. */
const toPattern = (entry: NewLearning): string => describeLearning(entry).replace(/^any task(: | → )/, '');

/** Stores the new ones, in one step. */
export function keepLearnings(
  context: Context,
  entries: readonly NewLearning[],
  at: string,
): { learning: Learning; duplicate: boolean }[] {
  const kept: { learning: Learning; duplicate: boolean }[] = [];
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

export function searchKnowledge(context: Context, { query }: { query: string }): { learnings: Learning[] } {
  return {
    learnings: searchLearnings(listKnowledge(context).learnings, checkText(query, { what: 'The query' })),
  };
}

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
