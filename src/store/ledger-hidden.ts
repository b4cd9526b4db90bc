import { parseLine } from '../domain/ledger.js';
import type { ArchiveSeal } from '../domain/ledger-problem.js';
import { isSeal } from '../domain/ledger-settlement.js';
import { identify } from '../domain/tombstone.js';
import type { Layout } from './layout.js';
import { archiveFileOf, type Container, describeContainer, eachLine, listArchives } from './ledger-files.js';
import { sealOf } from './ledger-scan.js';
import { readRedacted } from './redacted.js';

/** What readers do not show. */
export interface Hidden {
  /** Records that were redacted, declared void or reset. */
  ids: Set<string>;
  /** Ledgers that were dropped. */
  ledgers: Set<string>;
}

const HIDING = ['"redacted":"', '"kind":"repair"', '"kind":"drop"', '"kind":"reset"', '"kind":"archive"'].map(
  (text) => Buffer.from(text),
);

/** Few lines say what is not to be shown; only those are parsed. Whatever is redacted anywhere here is shown nowhere. */
export function findHidden(layout: Layout, containers: readonly Container[]): Hidden {
  const hidden: Hidden = { ids: new Set(readRedacted(layout).keys()), ledgers: new Set() };
  const seals = new Map<string, ArchiveSeal>();
  const resets: ArchiveSeal[] = [];
  eachLine(containers, (bytes) => {
    if (!HIDING.some((mark) => bytes.includes(mark))) return;
    const parsed = parseLine(bytes.toString('utf8'));
    if (parsed.kind === 'tombstone') hidden.ids.add(parsed.tombstone.redacted);
    if (parsed.kind !== 'record') return;
    const { kind, voided, subject } = parsed.record;
    if (kind === 'repair' && Array.isArray(voided)) for (const id of voided) hidden.ids.add(id);
    if (kind === 'drop' && typeof subject === 'string') hidden.ledgers.add(subject);
    if (!isSeal(parsed.record)) return;
    seals.set(identify(bytes), parsed.record);
    if (kind === 'reset') resets.push(parsed.record);
  });
  hideMembers(layout, resets, seals, hidden.ids);
  return hidden;
}

/** All that a reset sealed; where that is the seal of an older archive, all of that one too. */
function hideMembers(
  layout: Layout,
  resets: readonly ArchiveSeal[],
  known: ReadonlyMap<string, ArchiveSeal>,
  hidden: Set<string>,
): void {
  const done = new Set<ArchiveSeal>();
  const open = [...resets];
  for (let seal = open.pop(); seal; seal = open.pop()) {
    if (done.has(seal)) continue;
    done.add(seal);
    for (const { id, sealed } of membersOf(layout, seal)) {
      hidden.add(id);
      const inner = sealed ?? known.get(id);
      if (inner) open.push(inner);
    }
  }
}

/** The records of an archive; of those that seal an older one, what they say of it. */
export function membersOf(layout: Layout, seal: ArchiveSeal): { id: string; sealed?: ArchiveSeal }[] {
  const file = findArchive(layout, seal);
  const members: { id: string; sealed?: ArchiveSeal }[] = [];
  eachLine(file ? [file] : [], (bytes) => {
    const id = identify(bytes);
    const parsed = bytes.includes('"ids_sha256":"') ? parseLine(bytes.toString('utf8')) : null;
    const isInner = parsed?.kind === 'record' && isSeal(parsed.record);
    members.push({ id, ...(isInner ? { sealed: parsed.record as unknown as ArchiveSeal } : {}) });
  });
  return members;
}

/** The archive of a seal: by its name, or by its ids once something in it was redacted and it has another name. */
export function findArchive(layout: Layout, seal: ArchiveSeal): Container | null {
  const named = describeContainer(archiveFileOf(layout, seal.archive));
  if (named) return named;
  const isOf = (container: Container): boolean => sealOf([container]).ids_sha256 === seal.ids_sha256;
  return listArchives(layout).find(isOf) ?? null;
}
