import { join } from 'node:path';
import { createFile, makeFolder, removePath } from '../core/files.js';
import { makeToken } from '../core/text.js';
import { indexHas } from '../git/repository.js';
import type { Context } from '../project/project.js';
import { formatContainer, linesById, linesOf, parseContainer, segmentOf } from './container.js';
import { currentBranch, ledgerFolder } from './files.js';
import type { Located } from './git.js';
import { groupBy } from './graph.js';
import { appendToJournal, type JournalLine } from './journal.js';
import { containerBytes, type Snapshot } from './read.js';
import type { Links } from './record.js';

/** Writes a chain to a new file with its own indentation, so that git never pairs or merges it. */
export function writeChain(
  context: Context,
  prefix: 'put' | 'red',
  seg: string,
  lines: readonly string[],
): boolean {
  const name = `${prefix}-${seg}-${makeToken(8)}.jsonl`;
  const bytes = formatContainer(name, lines);
  if (parseContainer(name, bytes).problems.length > 0) return false;
  makeFolder(ledgerFolder(context.layout));
  return createFile(join(ledgerFolder(context.layout), name), bytes);
}

/** Moves the whole lines of a file to a new one. Returns them, or none if that was not possible. */
export function moveChain(context: Context, name: string): string[] {
  const seg = segmentOf(name) ?? '';
  const lines = [...linesOf(containerBytes(context, name))]
    .filter(({ isTorn }) => !isTorn)
    .map(({ bytes }) => bytes.toString('utf8'));
  if (lines.length === 0 || !writeChain(context, 'put', seg, lines)) return [];
  removePath(join(ledgerFolder(context.layout), name));
  return lines;
}

/** An index in another format only leaves the file where it is. */
export const isInIndex = ({ repository }: Context, name: string): boolean =>
  repository !== null && indexHas(repository, name);

/** Everything that may have a line of a chain. */
interface KnownLines {
  snapshot: Snapshot;
  own: { lines: readonly JournalLine[] };
  others: readonly JournalLine[];
  located: Located;
}

/** Writes each chain with a missing record to a new file. Returns the ids put back. The caller holds the lock. */
export function putBack(
  context: Context,
  known: KnownLines,
  records: readonly { id: string; seg: string }[],
  more: readonly Buffer[] = [],
): string[] {
  const journaled = new Set(known.own.lines.map(({ id }) => id));
  return [...groupBy(records, ({ seg }) => seg)].flatMap(([seg, group]) => {
    const lines = collectLines(context, known, seg, more);
    const chain = longestChain(lines, group);
    if (!chain || !writeChain(context, 'put', seg, chain)) return [];
    // No ref may have what others wrote and a commit removed, so the journal has to know it.
    const others = [...lines].filter(([id, line]) => chain.includes(line) && !journaled.has(id));
    const common = { seg, how: 's' as const, branch: currentBranch(context) };
    appendToJournal(
      context,
      others.map(([id, record]) => ({ ...common, id, record })),
    );
    return group.map(({ id }) => id);
  });
}

/** All known lines of a chain: in the working tree, in a journal or in git. */
export function collectLines(
  context: Context,
  { snapshot, own, others, located }: KnownLines,
  seg: string,
  more: readonly Buffer[],
): Map<string, string> {
  const here = (snapshot.graph.bySegment.get(seg) ?? []).map(({ name }) => containerBytes(context, name));
  const there = located.sources.filter(({ facts }) => facts.seg === seg).map(({ bytes }) => bytes);
  const journaled = [...own.lines, ...others].filter((line) => line.seg === seg);
  // The working tree comes last: a tombstone wins over its record.
  return new Map([
    ...[...there, ...more].flatMap((bytes) => [...linesById(bytes)]),
    ...journaled.map(({ id, record }) => [id, record] as const),
    ...here.flatMap((bytes) => [...linesById(bytes)]),
  ]);
}

/** The chain from its first record to this one. Null if a part is unknown. */
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

/** One chain with all wanted records, or null. */
export function longestChain(
  lines: ReadonlyMap<string, string>,
  wanted: readonly { id: string }[],
): string[] | null {
  const chains = wanted.map(({ id }) => chainTo(lines, id) ?? []);
  const longest = chains.reduce((a, b) => (b.length > a.length ? b : a), []);
  const known = new Set(longest);
  return wanted.every(({ id }) => known.has(lines.get(id) ?? '')) ? longest : null;
}
