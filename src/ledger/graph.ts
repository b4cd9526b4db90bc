import type { Container } from './container.js';
import { type Identified, type LedgerRecord, textsIn } from './record.js';

/** An audit record that waits for a human. */
export interface OpenReview {
  id: string;
  reasons: string[];
}

interface Place {
  container: Container;
  index: number;
}

/** A record that git or a journal knows and that is not in the working tree. */
export interface AbsentRecord {
  id: string;
  seg: string;
  prev: string | null;
  /** Who knows it. HEAD outranks history, history the journal, the journal an anchor. */
  source: 'head' | 'history' | 'journal' | 'anchor';
  /** It was written in this worktree. */
  isOwn: boolean;
  isPublished: boolean;
  /** Where git has its bytes. */
  file?: string;
  blob?: string;
  /** The commit that removed it. */
  commit?: string;
  subject?: string;
}

/** All records of a working tree or a commit as one hash graph. */
export class Graph {
  readonly bySegment: ReadonlyMap<string, Container[]>;
  private known: Map<string, Place> | null = null;

  constructor(readonly containers: readonly Container[]) {
    this.bySegment = groupBy(containers, ({ seg }) => seg);
  }

  /** Where each record, or its tombstone, is. */
  private get places(): ReadonlyMap<string, Place> {
    if (this.known) return this.known;
    this.known = new Map();
    for (const container of this.containers)
      for (const [index, id] of container.ids.entries()) this.known.set(id, { container, index });
    return this.known;
  }

  /** With its chain this is cheap; without, an index of all records is made first. */
  has(id: string, seg?: string): boolean {
    if (seg === undefined) return this.places.has(id);
    return (this.bySegment.get(seg) ?? []).some(({ ids }) => ids.includes(id));
  }

  count(): number {
    return this.places.size;
  }

  /** The container with the record that follows `prev` (null: the first) in its chain, and its index there. */
  holderOf(seg: string, prev: string | null): (Place & { id: string }) | null {
    for (const container of this.bySegment.get(seg) ?? []) {
      const index = container.ids.indexOf(prev ?? '') + 1;
      const id = prev !== null && index === 0 ? undefined : container.ids[index];
      if (id !== undefined) return { container, index, id };
    }
    return null;
  }

  /** Absent records of which another one has the place. */
  replaced(absent: readonly AbsentRecord[]) {
    return absent.flatMap((record) => {
      const holder = this.holderOf(record.seg, record.prev);
      return holder ? [{ record, holder }] : [];
    });
  }

  /** Ids that no record names yet, sorted. Only the last record of a chain can be one. */
  heads(): string[] {
    const named = new Set(this.containers.flatMap(({ seen }) => seen.flatMap(([, ids]) => ids)));
    const tails = [...this.bySegment.values()].flatMap(
      (containers) => containers.reduce((a, b) => (b.ids.length > a.ids.length ? b : a)).ids.at(-1) ?? [],
    );
    return tails.filter((id) => !named.has(id)).sort();
  }

  maxN(): number {
    return this.containers.reduce((max, { ns }) => Math.max(max, ns.at(-1) ?? 0), 0);
  }

  maxCycle(): number {
    return this.containers.reduce((max, { cycle }) => Math.max(max, cycle), 0);
  }

  /** The ledger that `init` made here. */
  ledger(): string | null {
    const genesis = this.containers.filter(({ audit }) =>
      audit.some(({ record }) => record.kind === 'genesis'),
    );
    // The file of the first record may be missing, but every chain names its ledger.
    const named = genesis.length > 0 ? genesis : this.containers;
    return named.flatMap(({ ledger }) => ledger ?? []).sort()[0] ?? null;
  }

  /** Audit records of these kinds, or all of them, each once. */
  audit(...kinds: readonly string[]): Identified[] {
    const found = new Map(this.containers.flatMap(({ audit }) => audit.map((entry) => [entry.id, entry])));
    return [...found.values()].filter(({ record }) => kinds.length === 0 || kinds.includes(record.kind));
  }

  subjects(...kinds: readonly string[]): Set<string> {
    return new Set(this.audit(...kinds).flatMap(({ record }) => textsIn(record.subjects)));
  }

  /** These records and all their ancestors, across files. */
  ancestorsOf(heads: readonly string[]): Set<string> {
    const found = new Set<string>();
    const open = [...heads];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const place = this.places.get(id);
      if (!place || found.has(id)) continue;
      const { index } = place;
      const { ids, seen } = place.container;
      // The rest of its chain is above it in the same file.
      let first = index;
      while (first >= 0 && !found.has(ids[first] as string)) found.add(ids[first--] as string);
      for (const [at, others] of seen) if (at > first && at <= index) open.push(...others);
    }
    return found;
  }

  tombstones(): Set<string> {
    return new Set(
      this.containers.flatMap(({ ids, tombstones }) => tombstones.map((index) => ids[index] as string)),
    );
  }

  /** Damage that only several containers together show: chains that fork, and numbers that do not grow along `seen`. */
  checkLinks() {
    return [...this.findForks(), ...this.checkNumbers()];
  }

  private findForks() {
    return [...this.bySegment.values()].flatMap((containers) => {
      if (containers.length < 2) return [];
      const next = new Map<string | null, string>();
      return containers.flatMap(({ name, ids }) =>
        ids.flatMap((id, index) => {
          const prev = ids[index - 1] ?? null;
          const known = next.get(prev) ?? id;
          next.set(prev, known);
          return known === id ? [] : [{ file: name, id, reason: 'another record has the same place' }];
        }),
      );
    });
  }

  private checkNumbers() {
    // Most records name the last one of another chain.
    const tails = new Map(this.containers.map(({ ids, ns }) => [ids.at(-1), ns.at(-1)]));
    const numberOf = (id: string): number => {
      const last = tails.get(id);
      if (last !== undefined) return last;
      const place = this.places.get(id);
      return place?.container.ns[place.index] ?? 0;
    };
    return this.containers.flatMap(({ name, ids, ns, seen }) =>
      seen.flatMap(([index, parents]) => {
        const n = ns[index] as number;
        const parent = parents.find((other) => numberOf(other) >= n);
        if (parent === undefined) return [];
        return [{ file: name, id: ids[index] as string, reason: `"n" is ${n}, not above that of ${parent}` }];
      }),
    );
  }
}

export function groupBy<K, V>(values: Iterable<V>, keyOf: (value: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/** Audit records that nobody has acknowledged or settled by a repair. */
function unanswered(graph: Graph, isWanted: (record: LedgerRecord) => boolean): OpenReview[] {
  const answered = graph.subjects('acknowledged', 'repaired');
  const open = graph.audit().filter(({ id, record }) => isWanted(record) && !answered.has(id));
  return open.map(({ id, record: { reason, reasons = [reason] } }) => ({ id, reasons: textsIn(reasons) }));
}

/** They stop every writing command (LTM-13). */
export const openHalts = (graph: Graph): OpenReview[] => unanswered(graph, ({ halts }) => halts === true);

/** Damage that is gone but that no human has reviewed. It stops `cycle`, `loop` and `promote`. */
export const openDamage = (graph: Graph): OpenReview[] => unanswered(graph, ({ kind }) => kind === 'damage');
