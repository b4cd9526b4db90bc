import { writeChain } from './append.js';
import type { AbsentRecord } from './compare.js';
import { linesOf } from './container.js';
import type { LedgerContext } from './context.js';
import { groupBy } from './graph.js';
import { containerBytes } from './read.js';
import { type Links, recordId } from './record.js';
import type { Observation } from './verify.js';

/** Writes each chain with a missing record to a file of its own; returns the ids put back. The caller holds the lock. */
export function putBack(
  context: LedgerContext,
  observation: Observation,
  records: readonly AbsentRecord[],
): string[] {
  const done: string[] = [];
  for (const [seg, group] of groupBy(records, (record) => record.seg)) {
    const chain = completeChain(collectLines(context, observation, seg), group);
    if (chain && writeChain(context, 'put', seg, chain)) done.push(...group.map(({ id }) => id));
  }
  return done;
}

/** All lines of a chain that are known anywhere: in the working tree, in a journal or in git. */
function collectLines(
  context: LedgerContext,
  { snapshot, own, others, located }: Observation,
  seg: string,
): Map<string, string> {
  const lines = new Map<string, string>();
  const take = (bytes: Buffer): void => {
    for (const line of linesOf(bytes)) lines.set(recordId(line.bytes), line.bytes.toString('utf8'));
  };
  for (const { facts, bytes } of located.sources) if (facts.seg === seg) take(bytes);
  for (const { name } of snapshot.graph.bySegment.get(seg) ?? []) take(containerBytes(context, name));
  for (const journal of [own, ...others.values()])
    for (const line of journal.lines) if (line.seg === seg) lines.set(line.id, line.record);
  return lines;
}

/** The chain from its first record to the last wanted one. Null when a part is unknown. */
function completeChain(lines: ReadonlyMap<string, string>, wanted: readonly AbsentRecord[]): string[] | null {
  const chains = wanted.map(({ id }) => {
    const chain: string[] = [];
    for (let at: string | null = id; at !== null; ) {
      const line = lines.get(at);
      if (line === undefined) return null;
      chain.unshift(line);
      at = (JSON.parse(line) as Links).prev;
    }
    return chain;
  });
  if (chains.includes(null)) return null;
  const longest = (chains as string[][]).reduce((a, b) => (b.length > a.length ? b : a));
  const known = new Set(longest.map((line) => recordId(line)));
  return wanted.every(({ id }) => known.has(id)) ? longest : null;
}
