// One measurement in a process of its own, so that no other one warms it up: `node ledger-child.mjs KIT WHAT FOLDER`.
import * as crypto from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [kitPath, what, folder] = process.argv.slice(2);
const kit = await import(kitPath);
const ledger = join(folder, '.forge', 'memory', 'ledger');
const context = kit.openContext(folder, kit.systemWorld(process.env, false), false);
// The guard has figures of its own.
context.disk.guard = () => {};

/** What any verifier must do at least: read, split, parse and hash each line. */
function parseAndHash() {
  let count = 0;
  for (const name of readdirSync(ledger)) {
    const bytes = readFileSync(join(ledger, name));
    for (let start = 0, end = bytes.indexOf(10); end >= 0; start = end + 1, end = bytes.indexOf(10, start)) {
      let first = start;
      while (bytes[first] === 32) first++;
      const line = bytes.subarray(first, end);
      if (JSON.parse(line.toString('latin1')).v === 1) count += crypto.hash('sha256', line).length;
    }
  }
  return count;
}

async function verify() {
  const { findings } = await kit.verify(context);
  if (kit.stateOf(findings) !== 'intact') throw new Error(JSON.stringify(findings));
}

const MEASURES = {
  bare: parseAndHash,
  verify: () => {
    rmSync(join(folder, '.git', 'forge', 'cache'), { recursive: true, force: true });
    return verify();
  },
  end: () => {
    kit.append(context, [{ tier: 'note', kind: 'note', text: 'the last word of a session' }]);
    return verify();
  },
  parse: () => {
    for (const name of readdirSync(ledger))
      for (const line of readFileSync(join(ledger, name), 'utf8').trimEnd().split('\n'))
        if (line.includes('"tier":"evaluation"')) JSON.parse(line);
  },
  weigh: () => {
    const { promoted } = kit.planFor(kit.assess(context).memory);
    if (promoted.length === 0) throw new Error('nothing was promoted');
  },
};

const start = performance.now();
const before = process.cpuUsage();
await MEASURES[what]();
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ ms: performance.now() - start, cpu_ms: (user + system) / 1000 }));
