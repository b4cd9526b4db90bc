import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { makeFolder, PRIVATE, readPlain, replaceFiles } from '../../core/files.js';
import { MAX_STATE_BYTES } from '../../core/json.js';
import { type LockPolicy, withLock } from '../../core/lock.js';
import { decodeDocument, encodeDocument, type Format } from '../../core/schema.js';
import { formatPinnedSeals, MAX_SEALS, type Pins, parsePinnedSeals } from '../rules/supervisor.js';

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
});
type Stored = z.infer<typeof Stored>;
const PINS: Format<Stored> = { name: 'pins', version: '1.0', schema: Stored };

/** Seals stand in a file beside the keys: one comes with each session, keys hardly ever. */
const sealsFile = (path: string): string => path.replace(/\.json$/, '.seals');

function readKeys(path: string, identity: string): Stored {
  const bytes = readPlain(path, MAX_STATE_BYTES);
  const none: Stored = { schema_version: PINS.version, identity, keys: [] };
  if (!bytes) return none;
  const stored = decodeDocument(PINS, bytes, path).value;
  return stored.identity === identity ? stored : none;
}

const readSeals = (path: string): Pick<Pins, 'seals' | 'covered'> =>
  parsePinnedSeals(readPlain(sealsFile(path), MAX_STATE_BYTES)?.toString('latin1') ?? '');

/** What is pinned for one repository; no keys when the file is missing or speaks of another one. */
export function readPins(path: string, identity: string): Pins {
  return { keys: readKeys(path, identity).keys, ...readSeals(path) };
}

/** Changes it, readable by this person only. Durable on return. Takes a lock of its own. */
export function updatePins(
  path: string,
  identity: string,
  policy: LockPolicy,
  change: (pins: Pins) => Pins,
): void {
  makeFolder(dirname(path), PRIVATE);
  withLock(join(dirname(path), 'lock'), policy, () => {
    const stored = readKeys(path, identity);
    const before: Pins = { keys: stored.keys, ...readSeals(path) };
    const after = change(before);
    const writes = [
      ...(after.keys === before.keys
        ? []
        : [{ path, bytes: encodeDocument({ ...stored, keys: after.keys }), mode: 0o600 }]),
      ...(after.seals === before.seals
        ? []
        : [{ path: sealsFile(path), bytes: Buffer.from(formatPinnedSeals(after)), mode: 0o600 }]),
    ];
    if (writes.length === 0) return;
    replaceFiles(writes);
  });
}

/**
 * One more seal, in one small write behind the others: no lock, no fsync. A crash may lose it, and then only another
 * machine, or the next look, knows of that seal. False where the file is not there yet or has grown long.
 */
export function appendPinnedSeal(path: string, id: string, covered: string): boolean {
  const { O_APPEND, O_WRONLY, O_NOFOLLOW = 0 } = fs.constants;
  const line = formatPinnedSeals({ seals: [id], covered });
  let fd: number;
  try {
    fd = fs.openSync(sealsFile(path), O_APPEND | O_WRONLY | O_NOFOLLOW);
  } catch {
    return false;
  }
  try {
    if (fs.fstatSync(fd).size > 8 * MAX_SEALS * line.length) return false;
    fs.writeSync(fd, line);
    return true;
  } finally {
    fs.closeSync(fd);
  }
}
