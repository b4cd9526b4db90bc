import { updateEntries } from '../core/entries.js';
import { FEATURE_LIST } from '../feature/rules.js';
import type { Context } from '../project/project.js';
import { LEARNED_LIST } from './rules.js';

/** Writes features.json and knowledge.json anew, and takes in what a person edited there. */
export function refreshViews(context: Context): void {
  updateEntries(context, FEATURE_LIST);
  updateEntries(context, LEARNED_LIST);
}
