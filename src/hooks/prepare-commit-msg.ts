import { checkMessage } from '../commit/check-message.js';
import { aboveScissors, cleanupOf, protectHeadings } from '../commit/clean.js';
import { composeMessage } from '../commit/compose.js';
import { operationOf, readMessageSettings } from '../commit/git-messages.js';
import { formatCommitMessage } from '../commit/message.js';
import { makeRules } from '../commit/rules.js';
import { knownWork } from '../commit/work.js';
import type { World } from '../core/world.js';
import { type Git, gitIn } from '../git/client.js';
import { findForge, readGitFile } from '../git/repository.js';
import { readStagedFiles } from '../git/status.js';
import { type Context, contextAt } from '../project/project.js';

const REMARK =
  'Filled in by forge. To commit nothing, delete all of it: an editor that is just closed commits it.';

/**
 * The `prepare-commit-msg` hook: what `forge commit` would write, in front of git's remarks, where nothing stands yet. False
 * where it is left as it is: a text of somebody's, no `.forge/`.
 */
export async function prepareMessage(from: string, world: World, path: string): Promise<boolean> {
  const found = findForge(from);
  if (!found?.repository || operationOf(found.repository)) return false;
  const { root, repository } = found;
  const file = readGitFile(from, path);
  const git = gitIn(repository.root, world.env);
  const settings = await readMessageSettings(git, world.env);
  const { comment = '#' } = settings;
  const message = aboveScissors(file.bytes, comment);
  const isEmpty = checkMessage(message, makeRules(), { comment, cleanup: 'strip' }).empty;
  if (!isEmpty) return false;
  const draft = await draftOf(contextAt(root, repository, world, true), inHook(git, world.env));
  const before = file.bytes.toString('utf8');
  // Where git keeps lines with its comment character, headings are safe, and a remark would be stored.
  const isStripped = (cleanupOf(settings.cleanup) ?? 'strip') === 'strip';
  file.replace(
    isStripped
      ? `${protectHeadings(draft, comment)}\n${comment} ${REMARK}\n${before.replace(/^\n/, '')}`
      : `${draft}${before}`,
  );
  return true;
}

/** The index of the commit that is being made, which is another one with `-a` and with paths. */
function inHook(git: Git, { GIT_INDEX_FILE: index }: NodeJS.ProcessEnv): Git {
  if (index === undefined) return git;
  return (args, options = {}) => git(args, { ...options, env: { ...options.env, GIT_INDEX_FILE: index } });
}

/** Without the ledgers' heads: a proof is nothing to be edited. */
async function draftOf(context: Context, git: Git): Promise<string> {
  const root = context.repository?.root ?? context.layout.root;
  const files = await readStagedFiles(git, false);
  const work = await knownWork(context, { root, git, files, all: false });
  return formatCommitMessage(composeMessage({}, { ...work, ledger: [] }));
}
