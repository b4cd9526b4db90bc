import { type ParsedLine, parseLine } from '../../domain/ledger/ledger.js';
import type { ArchiveManifest } from '../../domain/ledger/problem.js';
import { isManifest } from '../../domain/ledger/settlement.js';
import { identify } from '../../domain/ledger/tombstone.js';
import type { Layout } from '../layout.js';
import { archiveFileOf, type Container, describeContainer, eachLine, listArchives } from './files.js';
import { readRedacted } from './redacted.js';
import { manifestOf } from './scan.js';

/** What readers do not show. */
export interface Hidden {
  /** Records that were redacted, declared void or reset. */
  ids: Set<string>;
  /** Those of them that a reset sealed. */
  reset: Set<string>;
  /** Ledgers that were dropped. */
  ledgers: Set<string>;
}

const HIDING = ['"redacted":"', '"kind":"repair"', '"kind":"drop"', '"ids_sha256":"'].map((text) =>
  Buffer.from(text),
);

/** Gathers what is not to be shown from parsed lines. Whatever is redacted anywhere here is shown nowhere. */
export class Hiding {
  private readonly hidden: Hidden;
  private readonly resets: ArchiveManifest[] = [];

  constructor(private readonly layout: Layout) {
    this.hidden = { ids: new Set(readRedacted(layout).keys()), reset: new Set(), ledgers: new Set() };
  }

  add(parsed: ParsedLine): void {
    const manifest = note(parsed, this.hidden);
    if (manifest?.kind === 'reset') this.resets.push(manifest);
  }

  /** Once every line was added. */
  finish(): Hidden {
    const done = new Set<string>();
    for (let manifest = this.resets.pop(); manifest; manifest = this.resets.pop())
      if (!done.has(manifest.ids_sha256)) {
        done.add(manifest.ids_sha256);
        this.resets.push(...hideMembers(this.layout, manifest, this.hidden));
      }
    return this.hidden;
  }
}

/** Few lines say what is not to be shown; only those are parsed. */
export function findHidden(layout: Layout, containers: readonly Container[]): Hidden {
  const hiding = new Hiding(layout);
  eachLine(containers, (bytes) => {
    if (mayHide(bytes)) hiding.add(parseLine(bytes.toString('utf8')));
  });
  return hiding.finish();
}

const mayHide = (bytes: Buffer): boolean => HIDING.some((mark) => bytes.includes(mark));

/** All that a reset sealed. The manifests of older archives among it: what these hold is reset with them. */
function hideMembers(layout: Layout, manifest: ArchiveManifest, hidden: Hidden): ArchiveManifest[] {
  const file = findArchive(layout, manifest);
  const inner: ArchiveManifest[] = [];
  eachLine(file ? [file] : [], (bytes) => {
    const id = identify(bytes);
    hidden.ids.add(id);
    hidden.reset.add(id);
    const older = mayHide(bytes) ? note(parseLine(bytes.toString('utf8')), hidden) : null;
    if (older) inner.push(older);
  });
  return inner;
}

/** What a line hides, and the manifest that it is. */
function note(parsed: ParsedLine, hidden: Hidden): (ArchiveManifest & { kind: string }) | null {
  if (parsed.kind === 'tombstone') hidden.ids.add(parsed.tombstone.redacted);
  if (parsed.kind !== 'record') return null;
  const { record } = parsed;
  const { kind, voided, subject } = record;
  if (kind === 'repair' && Array.isArray(voided)) for (const id of voided) hidden.ids.add(id);
  if (kind === 'drop' && typeof subject === 'string') hidden.ledgers.add(subject);
  return isManifest(record) ? record : null;
}

/** The archive of a manifest: by its name, or by its ids once something in it was redacted and it has another name. */
function findArchive(layout: Layout, manifest: ArchiveManifest): Container | null {
  const named = describeContainer(archiveFileOf(layout, manifest.archive));
  if (named) return named;
  const isOf = (container: Container): boolean => manifestOf([container]).ids_sha256 === manifest.ids_sha256;
  return listArchives(layout).find(isOf) ?? null;
}
