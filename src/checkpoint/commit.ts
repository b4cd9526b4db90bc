import { idHere } from '../commit/check.js';
import { guardCommit } from '../commit/guard.js';
import { linkCommits } from '../commit/issue-commits.js';
import { formatCommitMessage } from '../commit/message.js';
import { refused } from '../core/error.js';
import { commitFolder, NOTHING_CHANGED } from '../git/commit.js';
import { describeUnsigned } from '../git/signing.js';
import { recordsIn } from '../ledger/git.js';
import { reportTiers, requireVerified } from '../ledger/integrity.js';
import { ledgerOf } from '../ledger/memory.js';
import { type Context, readConfig } from '../project/project.js';
import { ledgerHeads } from '../session/commit.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { notNow, type Place, type Tested } from './place.js';
import type { Manifest } from './rules.js';

/** A state that was tested, and what it is called. */
export interface Proven {
  place: Place;
  issue: string;
  message: string | undefined;
  tested: Tested;
}

/** What is marked. */
export interface CommittedState {
  commit: string;
  tree: string;
  ledger: NonNullable<Manifest['ledger']>;
}

/**
 * `.forge/` in a commit on HEAD. The ledger is told as it was at one moment; what others append while git reads it may be in
 * the commit too.
 */
export async function commitState(context: Context, making: Proven): Promise<CommittedState> {
  const { place, tested } = making;
  const { git } = place;
  await linkCommits(context);
  await guardCommit(context);
  for (let attempt = 1; attempt <= 3; attempt++) {
    const tiers = reportTiers(context, await requireVerified(context));
    const commit = await commitForge(context, making);
    if ((await tested.treeOf(commit)) !== tested.tree)
      throw refused('checkpoint.moved', 'HEAD moved while the commands ran; no checkpoint was made.', {
        hint: 'forge checkpoint create',
      });
    const held = await recordsIn(ledgerOf(context), commit);
    if (tiers.some(({ heads }) => heads.some((head) => !held.has(head)))) continue;
    const tree = (await git(['rev-parse', `${commit}^{tree}`])).stdout.trim();
    return {
      commit,
      tree,
      ledger: Object.fromEntries(tiers.map(({ tier, heads, records }) => [tier, { heads, records }])),
    };
  }
  throw notNow('memory kept changing while git read it');
}

/** HEAD as it is when there is nothing to commit. */
async function commitForge(context: Context, { place, issue, message }: Proven): Promise<string> {
  const { repository, git, folder } = place;
  const session = readRunning(context)?.id;
  const outcome = await commitFolder({
    repository,
    git,
    folder,
    outerIndex: context.world.env.GIT_INDEX_FILE,
    sign: readConfig(context).git.sign,
    message: (parent) =>
      formatCommitMessage({
        id: idHere(context, issue),
        subject: 'Memory at a checkpoint',
        what: ['Committed .forge/ as it is, so that the checkpoint holds it'],
        why: message ?? 'A verified state is marked, to come back to.',
        learned: [],
        updated: [],
        backtrace: {
          parent: parent ?? 'none',
          linear: 'none',
          session: session === undefined ? 'none' : sessionName(session),
        },
        ledger: ledgerHeads(context),
      }),
  });
  if ('hash' in outcome) {
    if (outcome.unsigned !== undefined)
      context.warnings.push(describeUnsigned('The commit of .forge/', outcome.unsigned));
    return outcome.hash;
  }
  if (outcome.skipped !== NOTHING_CHANGED) throw notNow(outcome.skipped);
  return (await git(['rev-parse', 'HEAD'])).stdout.trim();
}
