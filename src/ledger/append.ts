import { elapsed } from '../core/clock.js';
import { fixedFile } from '../core/paths.js';
import { makeToken } from '../core/text.js';
import { rootCommit } from '../git/memory.js';
import { identifyGitDir, indexMayKnow, readGitState, stampGit } from '../git/state.js';
import { type Context, timestamp } from '../project/project.js';
import { readRunning } from '../session/running.js';
import { ledgerId, TIERS, type Tier } from './rules/record.js';
import type { Draft } from './rules/segment.js';
import { type AppendOptions, type Around, appendRecords } from './store/ledger.js';

/** How a stored record is named in answers. */
export interface RecordRef {
  id: string;
  n: number;
}

/** A look at git that is younger than this is not repeated. */
const FRESH_MS = 2;

/** What the ledgers must know of the repository. Git is asked only where a ledger has to be begun. */
export async function surroundings(context: Context): Promise<Around> {
  const { repository, disk, layout } = context;
  let lookedAt = elapsed();
  let stamp = repository && stampGit(repository);
  const git = repository ? readGitState(repository) : { head: '', index: '' };
  const known = TIERS.every((tier) => disk.exists(fixedFile(layout, tier)));
  const root = known || !context.git ? null : await rootCommit(context.git);
  const around: Around = {
    home: repository ? identifyGitDir(repository) : `${layout.dir}:${disk.inode(layout.dir)}`,
    session: readRunning(context)?.id ?? null,
    ...git,
    gitMayKnow: (name) => repository !== null && indexMayKnow(repository, name),
    ledger: (tier) => ledgerId(tier, root ?? makeToken(32)),
    hasMoved: () => {
      if (!repository || elapsed() - lookedAt < FRESH_MS) return false;
      lookedAt = elapsed();
      const [before, { head, index }] = [stamp, around];
      stamp = stampGit(repository);
      if (stamp !== null && stamp === before) return false;
      Object.assign(around, readGitState(repository));
      return around.head !== head || around.index !== index;
    },
  };
  return around;
}

/** Stores records of one tier, all or none. Who wrote them and when stands in each. */
export function storeRecords(
  context: Context,
  around: Around,
  tier: Tier,
  drafts: readonly Draft[],
  options: AppendOptions = {},
): RecordRef[] {
  const stamp = { at: timestamp(context), session: around.session, actor: 'supervisor' };
  const stamped = drafts.map((draft) => (n: number) => ({
    ...stamp,
    ...(typeof draft === 'function' ? draft(n) : draft),
  }));
  const { lines, journalFailure } = appendRecords(context.disk, around, tier, stamped, options);
  if (journalFailure !== null)
    context.warnings.push(
      `Stored, but the journal in the git dir could not be written (${journalFailure}): until the next commit nothing guards this record against git clean.`,
    );
  return lines.map(({ id, n }) => ({ id, n }));
}

/** One audit record: what was done to memory, by whom and why. */
export function storeAudit(
  context: Context,
  around: Around,
  draft: Draft,
  options: AppendOptions = {},
): RecordRef {
  return storeRecords(context, around, 'audit', [draft], options)[0] as RecordRef;
}
