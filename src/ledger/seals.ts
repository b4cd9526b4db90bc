import { configFile, shown } from '../core/paths.js';
import { type Context, isBuilding, timestamp } from '../project/project.js';
import { untilSettled } from './read.js';
import type { Finding } from './rules/finding.js';
import { byNumber, parseLine, recordId, TIERS, type Tier } from './rules/record.js';
import { removedSeal } from './rules/seal-finding.js';
import { SealGraph } from './rules/seal-graph.js';
import {
  COUNTED,
  countUnsealed,
  findGaps,
  judgeKeyring,
  judgeSeal,
  type ReadSeals,
  type Signatures,
  type StoredSeal,
} from './rules/seal-judge.js';
import { Voids } from './rules/settlement.js';
import { pinKeys, pinSeals } from './rules/supervisor.js';
import { dropElsewhere, findGoneSeals } from './seal-look.js';
import { eachLine, listArchives, listContainers } from './store/files.js';
import { type Keyring, knownKeys, pin, readKeyring, supervisorKeys } from './supervisor-keys.js';

/** Checks every seal of the audit ledger against the keys, and what it sealed against what is here. */
export async function judgeSeals(context: Context): Promise<{ signatures: Signatures; findings: Finding[] }> {
  const read = readLedgers(context);
  const { graphs, seals } = read;
  const { keys, pins } = readKeyring(context);
  const known = knownKeys(keys);
  const missing = await dropElsewhere(context, new Set(findGaps(read, known).keys()));
  const findings: Finding[] = [];
  const reports = seals.map((seal, i) =>
    judgeSeal(seal, { graphs, known, missing, findings, counts: i >= seals.length - COUNTED }),
  );
  findings.push(
    ...judgeKeyring(keys, read, shown(context.layout, configFile(context.layout))),
    ...(await findGoneSeals(context, pins)).map(removedSeal),
  );
  const counting = seals.filter((_, i) => reports[i]?.valid && reports[i]?.known);
  remember(context, { keys, pins }, counting);
  return { signatures: { keys, seals: reports, unsealed: countUnsealed(graphs, counting) }, findings };
}

/** Sealed records that are nowhere: what a repair names as lost. */
export async function lostSealedRecords(context: Context): Promise<{ tier: Tier; head: string }[]> {
  const read = readLedgers(context);
  const gaps = findGaps(read, knownKeys(supervisorKeys(context)));
  const missing = await dropElsewhere(context, new Set(gaps.keys()));
  return [...gaps].filter(([id]) => missing.has(id)).map(([head, tier]) => ({ tier, head }));
}

const readLedgers = (context: Context): ReadSeals => untilSettled(() => readOnce(context));

function readOnce({ layout }: Context): ReadSeals {
  const graphs = Object.fromEntries(TIERS.map((tier) => [tier, new SealGraph()])) as ReadSeals['graphs'];
  const seals = new Map<string, StoredSeal>();
  const retirements = new Map<string, string>();
  const voids = new Voids();
  const containers = [...listArchives(layout), ...TIERS.flatMap((tier) => listContainers(layout, tier))];
  eachLine(containers, (bytes) => {
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind === 'tombstone') {
      // One that does not say where it belongs is nobody's in particular.
      const { tier } = parsed.tombstone;
      for (const graph of tier ? [graphs[tier]] : Object.values(graphs)) graph.add(parsed, () => '');
    }
    if (parsed.kind !== 'record') return;
    const { record } = parsed;
    const id = recordId(bytes);
    graphs[record.tier].add(parsed, () => id);
    if (record.tier === 'audit' && record.kind === 'seal') seals.set(id, { id, record });
    if (record.kind === 'supervisor_key' && record.action === 'retired')
      retirements.set(id, String(record.public_key));
    voids.add(record, id);
  });
  const standing = [...seals.values()].filter(({ id }) => !voids.has(id));
  const inOrder = standing.sort((a, b) => byNumber({ n: a.record.n, id: a.id }, { n: b.record.n, id: b.id }));
  const retired = new Set([...retirements].flatMap(([id, key]) => (voids.has(id) ? [] : key)));
  return { graphs, seals: inOrder, retired };
}

/** Where nothing was pinned yet, what is named now is; from then on another key is foreign. */
function remember(context: Context, { keys, pins: before }: Keyring, counting: readonly StoredSeal[]): void {
  if (keys.length === 0 || isBuilding(context)) return;
  const isFirst = before.keys.length === 0;
  try {
    pin(context, (pins) => {
      const named = isFirst ? keys.map(({ public_key }) => public_key) : [];
      const known = pinKeys(pins, named, 'first', timestamp(context));
      return pinSeals(
        known,
        counting.map(({ id }) => id),
      );
    });
  } catch (error) {
    context.warnings.push(`What was seen could not be kept: ${(error as Error).message}`);
  }
}
