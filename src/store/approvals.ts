import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { decodeDocument, encodeDocument, type Format } from '../domain/document.js';
import { MAX_STATE_BYTES } from '../domain/json.js';
import type { Approval } from '../domain/trust.js';
import { makeFolder, PRIVATE, readPlain, replaceFiles } from './durable.js';
import { type LockPolicy, withLock } from './lock.js';

const Approvals = z.looseObject({
  schema_version: z.string(),
  identity: z.string(),
  approvals: z.array(
    z.looseObject({
      kind: z.enum(['file', 'command']),
      name: z.string(),
      digest: z.string(),
      content: z.string(),
      at: z.string(),
      how: z.enum(['entered', 'approved']),
    }),
  ),
});
type Approvals = z.infer<typeof Approvals>;
const APPROVALS: Format<Approvals> = { name: 'trust', version: '1.0', schema: Approvals };

/** The approvals for one repository; none when the file is missing or speaks of another one. */
export function readApprovals(path: string, identity: string): Approvals {
  const bytes = readPlain(path, MAX_STATE_BYTES);
  const none: Approvals = { schema_version: APPROVALS.version, identity, approvals: [] };
  if (!bytes) return none;
  const approvals = decodeDocument(APPROVALS, bytes, path).value;
  return approvals.identity === identity ? approvals : none;
}

/** Adds what is not there yet, readable by this person only. Durable on return. */
export function addApprovals(
  path: string,
  identity: string,
  added: readonly Approval[],
  policy: LockPolicy,
): void {
  makeFolder(dirname(path), PRIVATE);
  withLock(join(dirname(path), 'lock'), policy, () => {
    const before = readApprovals(path, identity);
    const known = new Set(before.approvals.map(({ digest }) => digest));
    const fresh = added.filter(({ digest }) => !known.has(digest));
    if (fresh.length === 0) return;
    const after: Approvals = { ...before, approvals: [...before.approvals, ...fresh] };
    replaceFiles([{ path, bytes: encodeDocument(after), mode: 0o600 }]);
  });
}
