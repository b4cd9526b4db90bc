import { surroundings } from '../ledger/append.js';
import { compactAtSessionEnd } from '../ledger/compact.js';
import { foldAll, foldsAtSessionEnd } from '../ledger/fold.js';
import { type ReadyKey, readyToSeal, sealMemory } from '../ledger/seal.js';
import type { Around } from '../ledger/store/ledger.js';
import type { Config } from '../project/config.js';
import type { Context } from '../project/project.js';

/** Reads the key and looks at earlier seals while git, which was started first, looks for what changed. */
export async function openKeyMeanwhile(context: Context, named: readonly string[]): Promise<ReadyKey | null> {
  if (named.length === 0) return null;
  await new Promise(setImmediate);
  return readyToSeal(context, named).catch((error) => notSealed(context, error));
}

/** LTM-18: the commit holds a seal over what it holds. A session ends without one all the same. */
function notSealed({ warnings }: Context, error: unknown): null {
  warnings.push(`Not sealed: ${(error as Error).message}`);
  return null;
}

/** The seal comes before the fold, which moves records and changes no head. */
export async function sealAndFold(
  context: Context,
  config: Config,
  key: ReadyKey | null,
  verified: Around,
): Promise<void> {
  const [folds, around] = await Promise.all([
    foldsAtSessionEnd(context, config),
    key && surroundings(context).catch((error) => notSealed(context, error)),
  ]);
  try {
    if (key && around) sealMemory(context, key, around, folds);
  } catch (error) {
    notSealed(context, error);
  }
  if (!folds) return;
  foldAll(context);
  compactAtSessionEnd(context, verified);
}
