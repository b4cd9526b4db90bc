import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { withLock } from '../../src/core/lock.js';
import { liveness, self } from '../../src/core/world.js';

/** What the tests start as processes of their own: node child.mjs VERB PATH [WORD]. */
const [verb, path = '', word = ''] = process.argv.slice(2);
const policy = { me: self, liveness, waitMs: 300_000 };

if (verb === 'count')
  for (let i = 0; i < Number(word); i++)
    withLock(`${path}.lock`, policy, () =>
      writeFileSync(path, String(Number(readFileSync(path, 'utf8')) + 1)),
    );

if (verb === 'hold')
  withLock(path, policy, () => {
    writeSync(1, 'held\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
