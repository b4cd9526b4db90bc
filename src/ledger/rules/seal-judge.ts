import type { Finding } from './finding.js';
import { type LedgerRecord, TIERS, type Tier } from './record.js';
import { fingerprintOf, holds, readSeal, type SignedSeal } from './seal.js';
import { brokenSeal, foreignKey, invalidSeal, removedKey, shortSeal } from './seal-finding.js';
import type { SealGraph } from './seal-graph.js';
import type { SupervisorKey } from './supervisor.js';

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

export interface StoredSeal {
  id: string;
  record: LedgerRecord;
}

export interface ReadSeals {
  graphs: Record<Tier, SealGraph>;
  seals: StoredSeal[];
  /** Public halves of keys that some supervisor has retired. */
  retired: ReadonlySet<string>;
}

/** The newest cover the older ones, so only of these the records are counted. */
export const COUNTED = 64;

/** Of seals that count: heads that are not here, and what their records follow where fewer are here than were sealed. */
export function findGaps({ graphs, seals }: ReadSeals, known: ReadonlySet<string>): Map<string, Tier> {
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

export interface Judging {
  graphs: ReadSeals['graphs'];
  known: ReadonlySet<string>;
  missing: ReadonlySet<string>;
  findings: Finding[];
  counts: boolean;
}

export function judgeSeal({ id, record }: StoredSeal, judging: Judging): SealReport {
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

function countLedgers(seal: SignedSeal, graphs: ReadSeals['graphs'], counts: boolean): SealReport['ledgers'] {
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

export function judgeKeyring(
  keys: readonly SupervisorKey[],
  { seals, retired }: ReadSeals,
  file: string,
): Finding[] {
  const named = new Set(keys.map(({ public_key }) => public_key));
  const signing = seals.map(({ record }) => readSeal(record)).filter((seal) => seal !== null && holds(seal));
  const strangers = new Set(
    signing.map((seal) => seal?.public_key ?? '').filter((key) => !named.has(key) && !retired.has(key)),
  );
  return [
    ...keys.filter(({ state }) => state === 'foreign').map((key) => foreignKey(key, file)),
    ...keys.filter(({ state }) => state === 'removed').map((key) => removedKey(key, file)),
    ...[...strangers].map((public_key) =>
      foreignKey({ public_key, fingerprint: fingerprintOf(public_key) }, ''),
    ),
  ];
}

export function countUnsealed(
  graphs: ReadSeals['graphs'],
  counting: readonly StoredSeal[],
): Record<Tier, number> {
  const seals = counting.map(({ record }) => readSeal(record));
  const counts = TIERS.map((tier) => [
    tier,
    graphs[tier].countOthers(seals.flatMap((seal) => seal?.ledgers[tier].heads ?? [])),
  ]);
  return Object.fromEntries(counts);
}
