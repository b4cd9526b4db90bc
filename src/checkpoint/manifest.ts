import { idHere } from '../commit/check.js';
import { formatCommitMessage } from '../commit/message.js';
import { checkpointFile, checkpointsFolder, shown, shownFrom } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { type CommitOutcome, commitFolder } from '../git/commit.js';
import { type Context, readConfig } from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { issueOf, type Manifest, nameIn } from './rules.js';

/** The manifest as a file, byte for byte as the tag has it, and a commit of it alone. Again, it changes nothing. */
export async function keepManifest(context: Context, manifest: Manifest): Promise<CommitOutcome> {
  const { disk, layout, repository, git, world } = context;
  const name = nameIn(manifest.tag) as string;
  const path = checkpointFile(layout, name);
  disk.withLock(() => {
    if (!disk.exists(path)) disk.replace(path, encodeDocument(manifest));
  });
  if (!repository || !git) return { skipped: 'this folder is no git repository' };
  return commitFolder({
    repository,
    git,
    folder: shownFrom(repository.root, checkpointsFolder(layout)),
    outerIndex: world.env.GIT_INDEX_FILE,
    sign: readConfig(context).git.sign,
    message: (parent) =>
      manifestMessage(manifest, {
        name,
        id: idHere(context, issueOf(name)),
        file: shown(layout, path),
        parent,
      }),
  });
}

function manifestMessage(
  manifest: Manifest,
  { name, id, file, parent }: { name: string; id: string; file: string; parent: string | null },
): string {
  const { commit, verified_by, linear_issues_closed, session, message } = manifest;
  return formatCommitMessage({
    id,
    subject: `Checkpoint ${name}`,
    what: [
      `Marked ${commit.slice(0, 12)} as ${manifest.tag}`,
      ...verified_by.map((command) => `Ran: ${command}`),
    ],
    why: message ?? 'A verified state to come back to.',
    learned: [],
    updated: [file],
    backtrace: {
      parent: parent ?? 'none',
      parentNote: `the verified state is ${commit.slice(0, 12)}`,
      linear: linear_issues_closed.includes(id) ? id : 'none',
      session: session ? sessionName(session) : 'none',
    },
  });
}
