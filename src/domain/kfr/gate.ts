import { type ForgeError, refused } from '../error.js';
import { oneLine, plural } from '../text.js';
import type { Entry, Kfr } from './kfr.js';

/** AGN-025 §7: what must not be forgotten. */
export const openEntries = ({ entries }: Kfr): Entry[] =>
  entries.filter(({ requires_resolution }) => requires_resolution);

/** What an agent's stop hook still asks for: a parked entry waits for a human, and holds nothing else open. */
export const unparked = (kfr: Kfr): Entry[] => openEntries(kfr).filter(({ parked }) => !parked);

/**
 * The resolution gate (KFR-09): exit 3 `kfr.gate` names each entry and the ways out. `what` is what it keeps from being
 * done: "The session cannot end".
 */
export function requireResolved(kfr: Kfr, what: string, hint?: string): void {
  const open = openEntries(kfr);
  if (open.length > 0) throw gateClosed(open, what, hint);
}

const BEFORE_YOU = 'forge: before you';

/** Such a reason, whatever else stands beside it: some agents hand it to their own prompt hook as if a person spoke. */
export const isStopReason = (text: string): boolean => text.includes(`${BEFORE_YOU} stop, `);

/** What an agent reads when its hook holds it back: each entry, and each way out. */
export function stopReason(open: readonly Entry[], what: string): string {
  const first = open[0]?.id ?? 'kfr-1';
  const named = open.map(({ id, kind, text }) => `- ${id} (${kind}) ${oneLine(text, 280)}`);
  return [
    `${BEFORE_YOU} ${what}, ${plural(open.length, 'entry', 'entries')} of working memory must be settled:`,
    ...named,
    'Ways to settle one (or the tool session_working_memory_update):',
    `  forge kfr patch --resolve ${first}="the answer"`,
    `  forge kfr patch --dismiss ${first}="why it no longer matters"`,
    ...(what === 'stop'
      ? [`  forge kfr patch --park ${first}="what a human has to decide"   (then you may stop and ask)`]
      : []),
  ].join('\n');
}

export function gateClosed(open: readonly Entry[], what: string, hint?: string): ForgeError {
  const named = open.map(({ id, kind, text }) => `${id} (${kind}) ${oneLine(text, 120)}`).join('; ');
  const first = open[0]?.id ?? 'kfr-1';
  return refused(
    'kfr.gate',
    `${what}: ${plural(open.length, 'entry requires', 'entries require')} resolution: ${named}`,
    {
      hint:
        hint ??
        `forge kfr patch --resolve ${first}="the answer"   or   --dismiss ${first}="why it no longer matters"`,
      data: {
        entries: open.map(({ id, kind, text, parked }) => ({ id, kind, text, parked: parked !== undefined })),
      },
    },
  );
}
