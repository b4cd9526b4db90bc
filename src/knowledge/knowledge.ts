import * as z from 'zod/mini';
import { usage } from '../core/error.js';
import { knowledgeFile } from '../core/paths.js';
import { checkInput } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import { type Context, requireSupervisor, timestamp } from '../project/project.js';
import {
  forget,
  KNOWLEDGE,
  type Learned,
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

/** KNO-01. The same thing learned twice stands once. */
export function addLearning(context: Context, raw: NewLearning): { learning: Learning; duplicate: boolean } {
  requireSupervisor(context, 'knowledge');
  const entry = checkInput(LearningInput, raw);
  const { kind: _kind, ...texts } = entry;
  for (const [field, text] of Object.entries(texts))
    if (field !== 'resolution' || text !== '') checkText(text, { what: `The ${field}` });
  let result: Learned | undefined;
  context.disk.update(KNOWLEDGE, knowledgeFile(context.layout), (before) => {
    result = learn(before, entry, timestamp(context));
    return result.knowledge;
  });
  const { learning, duplicate } = result as Learned;
  return { learning, duplicate };
}

export function listKnowledge({ disk, layout }: Context): { learnings: Learning[] } {
  return { learnings: listLearnings(disk.requireDocument(KNOWLEDGE, knowledgeFile(layout)).value) };
}

export function searchKnowledge(context: Context, { query }: { query: string }): { learnings: Learning[] } {
  return {
    learnings: searchLearnings(listKnowledge(context).learnings, checkText(query, { what: 'The query' })),
  };
}

export function removeLearning(context: Context, { id }: { id: string }): { removed: Learning } {
  requireSupervisor(context, 'knowledge');
  let removed: Learning | undefined;
  context.disk.update(KNOWLEDGE, knowledgeFile(context.layout), (before) => {
    removed = listLearnings(before).find((learning) => learning.id === id);
    if (!removed)
      throw usage('knowledge.unknown', `There is no knowledge ${JSON.stringify(oneLine(id, 40))}.`, {
        hint: 'forge knowledge list',
      });
    return forget(before, id);
  });
  return { removed: removed as Learning };
}
