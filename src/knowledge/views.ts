import { updateEntries } from '../core/entries.js';
import { shown } from '../core/paths.js';
import { FEATURE_LIST } from '../feature/store.js';
import { readMemory, TIERS } from '../ledger/memory.js';
import { rebuildViews, viewFile } from '../ledger/view.js';
import type { Context } from '../project/project.js';
import { LEARNED_LIST } from './rules.js';

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
