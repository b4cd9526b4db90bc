import { readMark } from '../cycle/state.js';
import type { Context } from '../project/project.js';
import { type Cut, isUnchanged, stillOpen } from './cut.js';
import type { Look } from './facts.js';
import type { Inspection } from './inspect.js';
import { recordId, TIERS } from './rules/record.js';
import { redactedIn } from './rules/tombstone.js';
import { readAnchors, writeAnchors } from './store/anchors.js';
import { journalStamp, pruneJournal } from './store/journal.js';
import { keepRedacted, redactedStamp } from './store/redacted.js';
import { digestContainers } from './store/scan.js';
import { saveState } from './store/state.js';
import { toState } from './store/tip.js';

const MAX_REMEMBERED = 20;

/** What was verified is not verified again until something changes; what HEAD has leaves the journal. */
export function remember(context: Context, { around, cut, look, notes }: Inspection): void {
  const { disk } = context;
  if (!look || disk.dryRun) return;
  try {
    disk.withLock(() => {
      if (!isUnchanged(context, cut)) return;
      prune(context, look, cut);
      writeAnchors(disk, anchorsAfter(context, look));
      for (const tier of TIERS) {
        const known = cut.state.tiers[tier];
        const open = stillOpen(known, cut.tiers[tier]);
        cut.state.tiers[tier] = toState(
          disk,
          tier,
          look.scans[tier],
          known?.ledger ?? around.ledger(tier),
          open,
        );
      }
      // What somebody else redacted is known here from now on, whatever is checked out next.
      keepRedacted(
        disk,
        TIERS.flatMap((tier) => look.scans[tier].result.tombstones.map((stone) => ({ ...stone, tier }))),
      );
      const archives = digestContainers(cut.archives);
      const verdict = {
        head: around.head,
        archives,
        redacted: redactedStamp(context.layout),
        notes,
        unproven: look.unproven.slice(0, MAX_REMEMBERED),
        doubtful: look.doubtful,
      };
      saveState(disk, { ...cut.state, home: around.home, verdict });
    });
  } catch {
    // Read-only, or busy: the next one verifies again.
  }
}

function anchorsAfter({ disk }: Context, { git, settled }: Look) {
  const anchors = readAnchors(disk);
  if (!git) return anchors;
  for (const name of settled) delete anchors.branches[name];
  if (git.branch !== null) anchors.branches[git.branch] = git.head;
  return { ...anchors, history: git.head };
}

/**
 * Not on a detached HEAD: whatever is committed there, no branch has it, and no anchor will miss it. Not while a cycle is
 * under way: it tells by the journal what forge wrote meanwhile.
 */
function prune({ disk, layout, world }: Context, { scans, git }: Look, cut: Cut): void {
  if (!git || git.branch === null || journalStamp(layout).stat !== cut.journal.stat) return;
  const mark = readMark(disk);
  if (mark && world.liveness(mark.holder) === 'alive') return;
  pruneJournal(layout, cut.journal.size, (bytes) => {
    const grave = redactedIn(bytes);
    const id = grave ?? recordId(bytes);
    return !TIERS.some((tier) => {
      const { graph } = scans[tier];
      return grave === null ? graph.isCommitted(id) : graph.isBuried(id);
    });
  });
}
