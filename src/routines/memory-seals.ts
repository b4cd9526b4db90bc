import type { Finding } from '../domain/finding.js';
import {
  byNumber,
  isRecordId,
  type LedgerRecord,
  parseLine,
  recordId,
  TIERS,
  type Tier,
} from '../domain/ledger.js';
import { fingerprintOf, holds, readSeal, type SignedSeal } from '../domain/seal.js';
import {
  brokenSeal,
  foreignKey,
  invalidSeal,
  removedKey,
  removedSeal,
  shortSeal,
} from '../domain/seal-finding.js';
import { SealGraph } from '../domain/seal-graph.js';
import { pinKeys, pinSeals, type SupervisorKey } from '../domain/supervisor.js';
import { configFile, shown } from '../store/layout.js';
import { eachLine, listArchives, listContainers, MOVES, wasMoved } from '../store/ledger-files.js';
import { type Context, isBuilding, timestamp } from './context.js';
import { dropElsewhere, findGoneSeals } from './seal-look.js';
import { type Keyring, knownKeys, pin, readKeyring, supervisorKeys } from './supervisor-keys.js';

/** One seal, and what is left of what it vouches for. */
export interface SealReport {
  id: string;
  n: number;
  at: string;
  key: string;
  /** The signature holds. */
  valid: boolean;
  /** The settings name its key, and this machine has accepted it. */
  known: boolean;
  /** How many records it counts, and up to which number each ledger's go. */
  records: number;
  ledgers: Partial<Record<Tier, { records: number; n: number }>>;
  problem?: string;
}

/** LTM-18: who vouched for what. */
export interface Signatures {
  keys: SupervisorKey[];
  /** The oldest first. */
  seals: SealReport[];
  /** Records that no seal that counts covers. */
  unsealed: Record<Tier, number>;
}

interface StoredSeal {
  id: string;
  record: LedgerRecord;
}

interface Read {
  graphs: Record<Tier, SealGraph>;
  seals: StoredSeal[];
}

/** The newest cover the older ones, so only of these the records are counted. */
const COUNTED = 64;

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
    ...judgeKeyring(context, keys, seals),
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

function readLedgers(context: Context): Read {
  for (let tries = 1; ; tries++)
    try {
      return readOnce(context);
    } catch (error) {
      if (!wasMoved(error) || tries === MOVES) throw error;
    }
}

function readOnce({ layout }: Context): Read {
  const graphs = Object.fromEntries(TIERS.map((tier) => [tier, new SealGraph()])) as Read['graphs'];
  const seals = new Map<string, StoredSeal>();
  const voided = new Set<string>();
  const containers = [...listArchives(layout), ...TIERS.flatMap((tier) => listContainers(layout, tier))];
  eachLine(containers, (bytes) => {
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind === 'tombstone') for (const graph of Object.values(graphs)) graph.add(parsed, () => '');
    if (parsed.kind !== 'record') return;
    const { record } = parsed;
    const id = recordId(bytes);
    graphs[record.tier].add(parsed, () => id);
    if (record.tier === 'audit' && record.kind === 'seal') seals.set(id, { id, record });
    if (record.kind === 'repair' && Array.isArray(record.voided))
      for (const one of record.voided) if (isRecordId(one)) voided.add(one);
  });
  const standing = [...seals.values()].filter(({ id }) => !voided.has(id));
  const inOrder = standing.sort((a, b) => byNumber({ n: a.record.n, id: a.id }, { n: b.record.n, id: b.id }));
  return { graphs, seals: inOrder };
}

/** Of seals that count: heads that are not here, and what their records follow where fewer are here than were sealed. */
function findGaps({ graphs, seals }: Read, known: ReadonlySet<string>): Map<string, Tier> {
  const gaps = new Map<string, Tier>();
  for (const [i, { record }] of seals.entries()) {
    const seal = readSeal(record);
    if (!seal || !known.has(seal.public_key)) continue;
    for (const tier of TIERS) {
      const { heads, records } = seal.ledgers[tier];
      const gone = heads.filter((head) => !graphs[tier].has(head));
      const isCounted = gone.length === 0 && i >= seals.length - COUNTED;
      const covered = isCounted ? graphs[tier].count(heads) : null;
      const followed = covered && covered.records < records && !covered.settled ? covered.outside : [];
      for (const id of [...gone, ...followed]) gaps.set(id, tier);
    }
  }
  return gaps;
}

interface Judging {
  graphs: Read['graphs'];
  known: ReadonlySet<string>;
  missing: ReadonlySet<string>;
  findings: Finding[];
  counts: boolean;
}

function judgeSeal({ id, record }: StoredSeal, judging: Judging): SealReport {
  const { n, at = '', key } = record;
  const seal = readSeal(record);
  const bare = { id, n, at, key: String(key), valid: false, known: false, records: 0, ledgers: {} };
  const reject = (why: string): SealReport => {
    judging.findings.push(invalidSeal(id, why));
    return { ...bare, problem: why };
  };
  if (!seal) return reject('it has not the form of one');
  if (!holds(seal)) return reject('its signature does not hold');
  const records = TIERS.reduce((sum, tier) => sum + seal.ledgers[tier].records, 0);
  const report: SealReport = { ...bare, key: fingerprintOf(seal.public_key), valid: true, records };
  if (!judging.known.has(seal.public_key)) return { ...report, problem: 'its key is not accepted here' };
  const problems = judgeCovered(id, seal, judging);
  judging.findings.push(...problems);
  const [first] = problems;
  const ledgers = countLedgers(seal, judging.graphs, judging.counts);
  return { ...report, known: true, ledgers, ...(first ? { problem: first.message } : {}) };
}

function countLedgers(seal: SignedSeal, graphs: Read['graphs'], counts: boolean): SealReport['ledgers'] {
  if (!counts) return {};
  const counted = TIERS.map((tier) => {
    const { records, heads } = seal.ledgers[tier];
    return [tier, { records, n: graphs[tier].count(heads).n }];
  });
  return Object.fromEntries(counted);
}

/** A head in another branch takes its records with it: nothing is said of their count. */
function judgeCovered(id: string, seal: SignedSeal, { graphs, missing, counts }: Judging): Finding[] {
  return TIERS.flatMap((tier) => {
    const { heads, records } = seal.ledgers[tier];
    const gone = heads.filter((head) => missing.has(head));
    if (gone.length > 0) return [brokenSeal(id, seal.at, seal.key, tier, gone)];
    if (!counts || heads.some((head) => !graphs[tier].has(head))) return [];
    const covered = graphs[tier].count(heads);
    if (covered.records >= records || covered.settled) return [];
    // What another branch has is no loss; what neither it nor anything else here follows was cut out.
    const isElsewhere = covered.outside.length > 0 && !covered.outside.some((id) => missing.has(id));
    return isElsewhere ? [] : [shortSeal(id, tier, records, covered.records)];
  });
}

function judgeKeyring(
  context: Context,
  keys: readonly SupervisorKey[],
  seals: readonly StoredSeal[],
): Finding[] {
  const file = shown(context.layout, configFile(context.layout));
  const named = new Set(keys.map(({ public_key }) => public_key));
  const signing = seals.map(({ record }) => readSeal(record)).filter((seal) => seal !== null && holds(seal));
  const strangers = new Set(signing.map((seal) => seal?.public_key ?? '').filter((key) => !named.has(key)));
  return [
    ...keys.filter(({ state }) => state === 'foreign').map((key) => foreignKey(key, file)),
    ...keys.filter(({ state }) => state === 'removed').map((key) => removedKey(key, file)),
    ...[...strangers].map((public_key) =>
      foreignKey({ public_key, fingerprint: fingerprintOf(public_key) }, ''),
    ),
  ];
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

function countUnsealed(graphs: Read['graphs'], counting: readonly StoredSeal[]): Record<Tier, number> {
  const seals = counting.map(({ record }) => readSeal(record));
  const counts = TIERS.map((tier) => [
    tier,
    graphs[tier].countOthers(seals.flatMap((seal) => seal?.ledgers[tier].heads ?? [])),
  ]);
  return Object.fromEntries(counts);
}
