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
import { type Approval, digestRunnable, type Runnable, toUrl } from './rules.js';

export const identityHere = ({ layout, repository }: Context): string => identityOf(layout.root, repository);

const Approvals = z.looseObject({
  schema_version: z.string(),
  identity: z.string(),
  approvals: z.array(
    z.looseObject({
      kind: z.enum(['file', 'command', 'rule', 'url']),
      name: z.string(),
      digest: z.string(),
      content: z.string(),
      at: z.string(),
      how: z.enum(['entered', 'approved']),
    }),
  ),
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

/** Adds approvals, readable by this person only. Durable on return. */
export function approve(context: Context, runnables: readonly Runnable[], how: Approval['how']): void {
  if (context.disk.dryRun || runnables.length === 0) return;
  const path = approvalsFile(context);
  const at = timestamp(context);
  makeFolder(dirname(path), PRIVATE);
  withLock(join(dirname(path), 'lock'), lockPolicy(context.world), () => {
    const before = readApprovals(context);
    const known = new Set(before.map(({ digest }) => digest));
    const added = runnables
      .map((runnable) => ({
        ...runnable,
        content: runnable.content.length > MAX_KEPT ? '' : runnable.content,
        ...{ digest: digestRunnable(runnable), at, how },
      }))
      .filter(({ digest }) => !known.has(digest));
    if (added.length === 0) return;
    const approvals = [...before, ...added];
    const after = { schema_version: APPROVALS.version, identity: identityHere(context), approvals };
    replaceFiles([{ path, bytes: encodeDocument(after), mode: 0o600 }]);
  });
}

/** Approves an address that a person just set. */
export const approveUrl = (context: Context, url: string): void => approve(context, [toUrl(url)], 'entered');

/** B-74: an address may come with a clone, so forge connects to it only after a person approved it. */
export const isUrlApproved = (context: Context, url: string): boolean =>
  readApprovals(context).some(({ digest }) => digest === digestRunnable(toUrl(url)));
