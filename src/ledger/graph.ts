import type { Container, Mark } from './container.js';

/** Damage that shows only between containers. */
interface LinkProblem {
  file: string;
  id: string;
  reason: string;
}

/** An audit record that says something of other records, or stops work. */
export type AuditMark = Mark & { id: string };

/** All records of one place (a working tree, a commit) as one hash graph. */
export class Graph {
  readonly bySegment: ReadonlyMap<string, Container[]>;
  private readonly sets = new Map<string, Set<string>>();
  private numbers: Map<string, number> | null = null;

  constructor(readonly containers: readonly Container[]) {
    this.bySegment = groupBy(containers, ({ seg }) => seg);
  }

  has(id: string, seg: string): boolean {
    return this.idsOf(seg).has(id);
  }

  /** A record or its tombstone, whatever chain it is of. */
  hasAnywhere(id: string): boolean {
    return this.allNumbers().has(id);
  }

  idsOf(seg: string): ReadonlySet<string> {
    let ids = this.sets.get(seg);
    if (!ids) {
      ids = new Set(this.bySegment.get(seg)?.flatMap((container) => container.ids));
      this.sets.set(seg, ids);
    }
    return ids;
  }

  /** The record that stands after `prev` (null: first) in its chain. */
  holderOf(seg: string, prev: string | null): string | null {
    for (const { ids } of this.bySegment.get(seg) ?? []) {
      const index = prev === null ? 0 : ids.indexOf(prev) + 1;
      const holder = prev !== null && index === 0 ? undefined : ids[index];
      if (holder !== undefined) return holder;
    }
    return null;
  }

  /** Ids that no record names yet, sorted. Only the last record of a chain can be one. */
  heads(): string[] {
    const named = new Set(this.containers.flatMap(({ seen }) => seen.flatMap(([, ids]) => ids)));
    const tails = [...this.bySegment.values()].map(lastOfChain);
    return tails.filter((id): id is string => id !== null && !named.has(id)).sort();
  }

  maxN(): number {
    return this.containers.reduce((max, { ns }) => Math.max(max, ns.at(-1) ?? 0), 0);
  }

  maxCycle(): number {
    return this.containers.reduce((max, { cycle }) => Math.max(max, cycle), 0);
  }

  count(): number {
    let count = 0;
    for (const [seg, containers] of this.bySegment)
      count += containers.length === 1 ? (containers[0] as Container).ns.length : this.idsOf(seg).size;
    return count;
  }

  /** The ledger that `init` made here. */
  ledger(): string | null {
    const genesis = this.containers.filter(({ marks }) => marks.some(({ kind }) => kind === 'genesis'));
    // The file of the first record may be missing. Every chain names its ledger.
    const named = genesis.length > 0 ? genesis : this.containers;
    return named.flatMap(({ ledger }) => ledger ?? []).sort()[0] ?? null;
  }

  /** Audit records of these kinds; all without any. Each with its id. */
  marks(...kinds: readonly string[]): AuditMark[] {
    const found = new Map<string, AuditMark>();
    for (const { ids, marks } of this.containers)
      for (const mark of marks) {
        const id = ids[mark.index] as string;
        if (kinds.length === 0 || kinds.includes(mark.kind)) found.set(id, { ...mark, id });
      }
    return [...found.values()];
  }

  /** Subjects of audit records of these kinds. */
  subjects(...kinds: readonly string[]): Set<string> {
    return new Set(this.marks(...kinds).flatMap(({ subjects }) => subjects));
  }

  /** These records and all that they follow, over any number of files. */
  ancestorsOf(heads: readonly string[]): Set<string> {
    if (heads.length === 0) return new Set();
    const places = new Map<string, [Container, number]>();
    for (const container of this.containers)
      for (const [index, id] of container.ids.entries()) places.set(id, [container, index]);
    const found = new Set<string>();
    const open = [...heads];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      const place = places.get(id);
      if (!place || found.has(id)) continue;
      const [{ ids, seen }, index] = place;
      // The rest of the chain stands before it in the same file.
      let first = index;
      while (first >= 0 && !found.has(ids[first] as string)) found.add(ids[first--] as string);
      for (const [at, others] of seen) if (at > first && at <= index) open.push(...others);
    }
    return found;
  }

  /** Ids of which the content is gone. */
  tombstones(): Set<string> {
    return new Set(
      this.containers.flatMap(({ ids, tombstones }) => tombstones.map((index) => ids[index] as string)),
    );
  }

  /** Checks links across files: chains that fork, and numbers that do not grow along `seen`. */
  checkLinks(): LinkProblem[] {
    return [...this.findForks(), ...this.checkNumbers()];
  }

  private findForks(): LinkProblem[] {
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

  private checkNumbers(): LinkProblem[] {
    const numbers = this.allNumbers();
    return this.containers.flatMap(({ name, ids, ns, seen }) =>
      seen.flatMap(([index, parents]) => {
        const n = ns[index] as number;
        const late = parents.find((parent) => (numbers.get(parent) ?? 0) >= n);
        if (late === undefined) return [];
        return [
          { file: name, id: ids[index] as string, reason: `"n" is ${n}, not greater than that of ${late}` },
        ];
      }),
    );
  }

  private allNumbers(): ReadonlyMap<string, number> {
    if (this.numbers) return this.numbers;
    this.numbers = new Map();
    for (const { ids, ns } of this.containers)
      for (const [i, id] of ids.entries()) this.numbers.set(id, ns[i] as number);
    return this.numbers;
  }
}

/** The longest container of a chain has its last record. */
function lastOfChain(containers: readonly Container[]): string | null {
  let longest = containers[0];
  for (const container of containers)
    if (container.ns.length > (longest?.ns.length ?? 0)) longest = container;
  return longest?.last ?? null;
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

/** Of these kinds and without an answer: acknowledged, or settled by a repair. */
function openMarks(graph: Graph, isWanted: (mark: Mark) => boolean): AuditMark[] {
  const answered = graph.subjects('acknowledged', 'repaired');
  return graph.marks().filter((mark) => isWanted(mark) && !answered.has(mark.id));
}

/** Every writing command waits for these (LTM-13). */
export const openHalts = (graph: Graph): AuditMark[] =>
  openMarks(graph, ({ halts: stops }) => stops === true);

/** Damage that is gone: `cycle`, `loop` and `promote` wait until a human has looked. */
export const openDamage = (graph: Graph): AuditMark[] => openMarks(graph, ({ kind }) => kind === 'damage');

/** `large` from 80 MB, `paused` from 100 MB: consolidation waits for a human (LTM-11). */
export type Growth = 'normal' | 'large' | 'paused';
const WARN_BYTES = 80_000_000;
const PAUSE_BYTES = 100_000_000;

/** `accepted`: how large memory was when a human accepted its size; it may double from there. */
export function growthOf(bytes: number, accepted = 0): Growth {
  if (bytes >= Math.max(PAUSE_BYTES, 2 * accepted)) return 'paused';
  return bytes >= WARN_BYTES ? 'large' : 'normal';
}

/** The size of memory that a human last accepted, or 0. */
export const acceptedGrowth = (graph: Graph): number =>
  graph.marks('acknowledged').reduce((max, { growth = 0 }) => Math.max(max, growth), 0);
