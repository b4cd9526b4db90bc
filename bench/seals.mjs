// A session's end with a supervisor's key, which seals the ledgers, beside one without.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, rounds, run, summary, wallMs } from './measure.mjs';
import { forge, makeSmall } from './repositories.mjs';

const END = forge('session', 'end', '--next', 'build the form');

/** Like the small repository, with a key that is named as the supervisor's. */
function makeSealed(scratch, env) {
  const folder = mkdtempSync(join(scratch, 'sealed-'));
  const key = join(folder, 'supervisor.pem');
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const place = makeSmall(folder, { ...env, FORGE_SUPERVISOR_KEY: key });
  run(forge('supervisor', 'init'), place);
  return place;
}

/** Milliseconds that it takes more; `ms` is the whole end with a key. */
function sealing({ limit }, { env }, scratch) {
  const sealed = makeSealed(scratch, env);
  const plain = makeSmall(mkdtempSync(join(scratch, 'plain-')), env);
  const [more, times] = [[], []];
  for (let round = -1; round < rounds(15); round++) {
    for (const place of [plain, sealed]) run(forge('session', 'start'), place);
    const without = wallMs(END, plain);
    const took = wallMs(END, sealed);
    if (round < 0) continue;
    more.push(took - without);
    times.push(took);
  }
  return { ...summary(more), ms: median(times), limit };
}

export const SEALS = [
  { name: 'session end with a key, over one without', unit: 'ms', limit: 3, where: 'none', measure: sealing },
];
