import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { stateHome } from '../core/environment.js';
import { makeFolder, PRIVATE, readPlain, replaceFiles } from '../core/files.js';
import { MAX_STATE_BYTES } from '../core/json.js';
import { withLock } from '../core/lock.js';
import { trustFile } from '../core/paths.js';
import { decodeDocument, encodeDocument, type Format } from '../core/schema.js';
import { identityOf } from '../git/repository.js';
import { type Context, lockPolicy, timestamp } from '../project/project.js';
import { Approval, digestRunnable, type Runnable, toUrl } from './rules.js';

export const identityHere = ({ layout, repository }: Context): string => identityOf(layout.root, repository);

const Approvals = z.looseObject({
  schema_version: z.string(),
  identity: z.string(),
  approvals: z.array(Approval),
});
const APPROVALS: Format<z.infer<typeof Approvals>> = { name: 'trust', version: '1.0', schema: Approvals };

export const approvalsFile = (context: Context): string =>
  trustFile(stateHome(context.world.env), identityHere(context));

/** The approvals for this repository; none when the file is missing or names another one. */
export function readApprovals(context: Context): Approval[] {
  const path = approvalsFile(context);
  const bytes = readPlain(path, MAX_STATE_BYTES);
  const found = bytes && decodeDocument(APPROVALS, bytes, path);
  return found?.identity === identityHere(context) ? found.approvals : [];
}

/** Characters of a content that is kept. A change of a longer one is shown as a whole. */
const MAX_KEPT = 20_000;

/** Whether a person approved exactly this here. */
export function approvedHere(context: Context): (runnable: Runnable) => boolean {
  const known = new Set(readApprovals(context).map(({ digest }) => digest));
  return (runnable) => known.has(digestRunnable(runnable));
}

/** Adds approvals, readable by this person only. Durable on return. */
export function approve(context: Context, runnables: readonly Runnable[], how: Approval['how']): void {
  if (context.disk.dryRun || runnables.length === 0) return;
  const path = approvalsFile(context);
  const at = timestamp(context);
  makeFolder(dirname(path), PRIVATE);
  withLock(join(dirname(path), 'lock'), lockPolicy(context.world), () => {
    const isKnown = approvedHere(context);
    const added = runnables
      .filter((runnable) => !isKnown(runnable))
      .map((runnable) => ({
        ...runnable,
        content: runnable.content.length > MAX_KEPT ? '' : runnable.content,
        ...{ digest: digestRunnable(runnable), at, how },
      }));
    if (added.length === 0) return;
    const approvals = [...readApprovals(context), ...added];
    const after = { schema_version: APPROVALS.version, identity: identityHere(context), approvals };
    replaceFiles([{ path, bytes: encodeDocument(after), mode: 0o600 }]);
  });
}

/** Approves an address that a person just set. */
export const approveUrl = (context: Context, url: string): void => approve(context, [toUrl(url)], 'entered');

/** B-74: an address may come with a clone, so forge connects to it only after a person approved it. */
export const isUrlApproved = (context: Context, url: string): boolean => approvedHere(context)(toUrl(url));
