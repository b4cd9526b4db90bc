import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { decodeDocument, encodeDocument, type Format } from '../domain/document.js';
import { MAX_STATE_BYTES } from '../domain/json.js';
import type { Pins } from '../domain/supervisor.js';
import { makeFolder, readPlain, replaceFiles } from './durable.js';
import { type LockPolicy, withLock } from './lock.js';

const Stored = z.looseObject({
  schema_version: z.string(),
  identity: z.string(),
  keys: z.array(
    z.looseObject({
      public_key: z.string(),
      at: z.string(),
      how: z.enum(['made', 'accepted', 'first']),
    }),
  ),
  seals: z.array(z.string()),
  covered: z.record(z.string(), z.array(z.string())),
});
type Stored = z.infer<typeof Stored>;
const PINS: Format<Stored> = { name: 'pins', version: '1.0', schema: Stored };

/** What is pinned for one repository; nothing when the file is missing or speaks of another one. */
export function readPins(path: string, identity: string): Stored & Pins {
  const bytes = readPlain(path, MAX_STATE_BYTES);
  const none: Stored = { schema_version: PINS.version, identity, keys: [], seals: [], covered: {} };
  if (!bytes) return none;
  const pins = decodeDocument(PINS, bytes, path).value;
  return pins.identity === identity ? pins : none;
}

/** Changes it, readable by this person only. Durable on return. Takes a lock of its own. */
export function updatePins(
  path: string,
  identity: string,
  policy: LockPolicy,
  change: (pins: Pins) => Pins,
): void {
  withLock(join(dirname(path), 'lock'), policy, () => {
    const before = readPins(path, identity);
    const after = change(before);
    if (after === before) return;
    makeFolder(dirname(path));
    replaceFiles([{ path, bytes: encodeDocument({ ...before, ...after }), mode: 0o600 }]);
  });
}
