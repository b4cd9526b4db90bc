import { writeSync } from 'node:fs';
import { withLock } from '../../src/core/lock.js';
import { liveness, self } from '../../src/core/world.js';

/** A process that holds a lock until it is killed: node child.mjs hold PATH. */
withLock(process.argv[3] ?? '', { self, liveness, waitMs: 300_000 }, () => {
  writeSync(1, 'held\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
