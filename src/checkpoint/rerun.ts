import { refused } from '../core/error.js';
import { checkpointTrees, shownFrom } from '../core/paths.js';
import { whyFailed } from '../core/process.js';
import { makeToken, plural } from '../core/text.js';
import { readTrees, treeWithout } from '../git/tree.js';
import type { Context } from '../project/project.js';
import { requireApproved } from '../trust/trust.js';
import { differing, listed, type Place } from './place.js';
import { type CheckEvidence, type CheckpointFinding, type Manifest, nameIn } from './rules.js';
import { type CheckpointWatch, runChecks, toEvidence } from './run.js';

/** On the working tree as it stands, which has to be the checkpoint's: a fresh checkout lacks what git ignores. */
export async function runAgain(
  context: Context,
  { tag, commit, verified_by }: Manifest,
  watch: CheckpointWatch,
): Promise<{ findings: CheckpointFinding[]; evidence: CheckEvidence[] }> {
  const { repository, git, layout } = context;
  if (!repository || !git) return { findings: [], evidence: [] };
  requireApproved(context, verified_by);
  const place: Pick<Place, 'folder'> = { folder: shownFrom(repository.root, layout.dir) };
  const at = checkpointTrees(layout, makeToken(12));
  const changed = await differing(readTrees(repository, git, at), place, commit);
  if (changed.length > 0)
    throw refused(
      'checkpoint.elsewhere',
      `The working tree is not ${tag} (${plural(changed.length, 'file')}: ${listed(changed)}); nothing was run.`,
      {
        hint: `git worktree add ../${nameIn(tag)} ${tag}   and there: forge checkpoint verify ${nameIn(tag)} --run`,
      },
    );
  const tree = await treeWithout(repository, git, { commit, folder: place.folder, place: at });
  const runs = await runChecks(context, verified_by, watch);
  const findings = runs.flatMap((run, i): CheckpointFinding[] => {
    const why = whyFailed(run);
    const hint = `git diff ${tag}   (it passed then; look at what is outside git)`;
    return why === null ? [] : [{ code: 'run', tag, message: `${tag}: ${verified_by[i]}: ${why}`, hint }];
  });
  return { findings, evidence: toEvidence(runs, verified_by, tree) };
}
