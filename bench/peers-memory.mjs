// The public memory server, which keeps entities in one JSON file, beside forge's.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, openings, takeTurns } from './mcp.mjs';
import { median, run, summary } from './measure.mjs';
import { makeFull } from './records.mjs';
import { forge } from './repositories.mjs';

const text = (i) => `observation ${i} that an agent wrote down`;
const entity = (i) => ({ name: `entity-${i}`, entityType: 'note', observations: [text(i)] });

/** Their server with so many entities. */
function makeTheirs(argv, scratch, env, entries) {
  const cwd = mkdtempSync(join(scratch, 'server-memory-'));
  const file = join(cwd, 'memory.jsonl');
  const lines = Array.from({ length: entries }, (_, i) => JSON.stringify({ type: 'entity', ...entity(i) }));
  writeFileSync(file, lines.join('\n'));
  return { argv, place: { cwd, env: { ...env, MEMORY_FILE_PATH: file } } };
}

/** Ours with as many notes, committed and verified; the notes' ids. */
async function makeOurs(scratch, env, entries) {
  const bodies = Array.from({ length: entries }, (_, i) => ({ tier: 'note', kind: 'note', text: text(i) }));
  const place = await makeFull(scratch, env, bodies);
  run(forge('session', 'start'), place);
  return { argv: forge('mcp'), place, ids: place.ids };
}

const MISSING = 'could not be installed';

export const openingsBeside =
  ({ serverMemory }) =>
  async (_figure, { env }, scratch) => {
    const argv = serverMemory();
    const servers = [await makeOurs(scratch, env, 1)];
    if (argv) servers.push(makeTheirs(argv, scratch, env, 1));
    const [ours, theirs = { skipped: MISSING }] = await openings(servers);
    return [
      { name: 'MCP start: forge', ...ours },
      { name: 'MCP start: server-memory', ...theirs },
    ];
  };

/** Each writes one more, and reads one of those that were there, in turn. */
export const callsBeside =
  ({ serverMemory }, entries) =>
  async (_figure, { env }, scratch) => {
    const argv = serverMemory();
    const ours = await makeOurs(scratch, env, entries);
    const pick = (i) => (i * 7919) % entries;
    const own = connect(ours.argv, ours.place);
    await own.open();
    const calls = [
      (i) => own.call('learn', { text: text(`new-${i}`), kind: 'note' }),
      (i) => own.read(`forge://record/${ours.ids[pick(i)]}`),
    ];
    const other = argv && connect(argv, makeTheirs(argv, scratch, env, entries).place);
    if (other) {
      await other.open();
      calls.push(
        (i) => other.call('create_entities', { entities: [entity(`new-${i}`)] }),
        (i) => other.call('open_nodes', { names: [`entity-${pick(i)}`] }),
      );
    }
    const times = await takeTurns(calls);
    await Promise.all([own.close(), other?.close()]);
    const among = `MCP, among ${entries.toLocaleString('en')}`;
    const names = [
      `${among}: forge learn`,
      `${among}: forge reads a record`,
      `${among}: server-memory create_entities`,
      `${among}: server-memory open_nodes`,
    ];
    return names.map((name, i) =>
      times[i] ? { name, ...summary(times[i]), ms: median(times[i]) } : { name, skipped: MISSING },
    );
  };
