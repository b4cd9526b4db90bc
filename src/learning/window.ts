import { createHash } from 'node:crypto';
import { readHint, writeHint } from '../core/cache.js';
import { type Layout, windowFile } from '../core/paths.js';

interface Window {
  /** Digest of the heads of both ledgers: while these are the same, so are the records. */
  of: string;
  uncovered: number;
}

const digestHeads = (evaluation: readonly string[], knowledge: readonly string[]): string =>
  createHash('sha256')
    .update(`${evaluation.join(' ')}|${knowledge.join(' ')}`)
    .digest('hex');

/** How many cycles no consolidation covers, as it was told for these very heads; null when nobody has counted. */
export function readWindow(
  layout: Layout,
  evaluation: readonly string[],
  knowledge: readonly string[],
): number | null {
  const window = readHint<Window>(windowFile(layout));
  return window?.of === digestHeads(evaluation, knowledge) && Number.isSafeInteger(window.uncovered)
    ? window.uncovered
    : null;
}

export const writeWindow = (
  layout: Layout,
  evaluation: readonly string[],
  knowledge: readonly string[],
  uncovered: number,
): void => writeHint(windowFile(layout), { of: digestHeads(evaluation, knowledge), uncovered });
