import { writeChain } from './append.js';
import type { AbsentRecord } from './compare.js';
import { linesById } from './container.js';
import type { LedgerContext } from './context.js';
import { groupBy } from './graph.js';
import type { Observation } from './observe.js';
import { containerBytes } from './read.js';
import type { Links } from './record.js';

/** Writes each chain with a missing record to a file of its own; returns the ids put back. The caller holds the lock. */
export function putBack(
  context: LedgerContext,
  observation: Observation,
  records: readonly AbsentRecord[],
  more: readonly Buffer[] = [],
): string[] {
  const done: string[] = [];
  for (const [seg, group] of groupBy(records, (record) => record.seg)) {
    const lines = collectLines(context, observation, seg, more);
    const chain = longestChain(lines, group);
    if (chain && writeChain(context, 'put', seg, chain)) done.push(...group.map(({ id }) => id));
  }
  return done;
}

/** All lines of a chain that are known anywhere: in the working tree, in a journal or in git. */
export function collectLines(
  context: LedgerContext,
  { snapshot, own, others, located }: Observation,
  seg: string,
  more: readonly Buffer[],
): Map<string, string> {
  const here = (snapshot.graph.bySegment.get(seg) ?? []).map(({ name }) => containerBytes(context, name));
  const there = located.sources.filter(({ facts }) => facts.seg === seg).map(({ bytes }) => bytes);
  // The working tree comes last: a tombstone wins over its record.
  return new Map([
    ...[...there, ...more].flatMap((bytes) => [...linesById(bytes)]),
    ...[...own.lines, ...others]
      .filter((line) => line.seg === seg)
      .map(({ id, record }) => [id, record] as const),
    ...here.flatMap((bytes) => [...linesById(bytes)]),
  ]);
}

/** The chain from its first record to one. Null when a part is unknown. */
function chainTo(lines: ReadonlyMap<string, string>, id: string): string[] | null {
  const chain: string[] = [];
  for (let at: string | null = id; at !== null; ) {
    const line = lines.get(at);
    if (line === undefined) return null;
    chain.unshift(line);
    at = (JSON.parse(line) as Links).prev;
  }
  return chain;
}

/** One chain that has all wanted records. Null when there is none. */
export function longestChain(
  lines: ReadonlyMap<string, string>,
  wanted: readonly { id: string }[],
): string[] | null {
  const chains = wanted.map(({ id }) => chainTo(lines, id) ?? []);
  const longest = chains.reduce((a, b) => (b.length > a.length ? b : a), []);
  const known = new Set(longest);
  return wanted.every(({ id }) => known.has(lines.get(id) ?? '')) ? longest : null;
}
