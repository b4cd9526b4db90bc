import type { Layout } from '../../core/paths.js';
import type { ArchiveManifest } from '../rules/problem.js';
import { type LedgerRecord, type ParsedLine, parseLine, recordId } from '../rules/record.js';
import { isManifest, Voids } from '../rules/settlement.js';
import { identify } from '../rules/tombstone.js';
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
  private readonly voids = new Voids();
  /** What hides whole ledgers or archives, until it is clear whether it is void itself. */
  private readonly hiders: { record: LedgerRecord; id: string; isReset: boolean }[] = [];

  constructor(private readonly layout: Layout) {
    this.hidden = { ids: new Set(readRedacted(layout).keys()), reset: new Set(), ledgers: new Set() };
  }

  /** `inReset`: a line of an archive that was reset; what older archives hold is reset with it. */
  add(parsed: ParsedLine, line: Uint8Array, inReset = false): void {
    if (parsed.kind === 'tombstone') this.hidden.ids.add(parsed.tombstone.redacted);
    if (parsed.kind !== 'record') return;
    const { record } = parsed;
    const { kind } = record;
    if (kind === 'repair') this.voids.add(record, recordId(line));
    const isReset = isManifest(record) && (inReset || kind === 'reset');
    if (kind === 'drop' || isReset) this.hiders.push({ record, id: recordId(line), isReset });
  }

  /** Once every line was added. */
  finish(): Hidden {
    const done = new Set<unknown>();
    // The list grows while archives that were reset are read.
    for (const { record, id, isReset } of this.hiders) {
      if (this.voids.has(id)) continue;
      if (!isReset) this.hidden.ledgers.add(String(record.subject));
      else if (!done.has(record.ids_sha256)) this.hideMembers(record as LedgerRecord & ArchiveManifest);
      done.add(record.ids_sha256);
    }
    for (const id of this.voids.list()) this.hidden.ids.add(id);
    return this.hidden;
  }

  /** All that a reset sealed. */
  private hideMembers(manifest: ArchiveManifest): void {
    const file = findArchive(this.layout, manifest);
    eachLine(file ? [file] : [], (bytes) => {
      const id = identify(bytes);
      this.hidden.ids.add(id);
      this.hidden.reset.add(id);
      if (mayHide(bytes)) this.add(parseLine(bytes.toString('utf8')), bytes, true);
    });
  }
}

/** Few lines say what is not to be shown; only those are parsed. */
export function findHidden(layout: Layout, containers: readonly Container[]): Hidden {
  const hiding = new Hiding(layout);
  eachLine(containers, (bytes) => {
    if (mayHide(bytes)) hiding.add(parseLine(bytes.toString('utf8')), bytes);
  });
  return hiding.finish();
}

const mayHide = (bytes: Buffer): boolean => HIDING.some((mark) => bytes.includes(mark));

/** The archive of a manifest: by its name, or by its ids once something in it was redacted and it has another name. */
function findArchive(layout: Layout, manifest: ArchiveManifest): Container | null {
  const named = describeContainer(archiveFileOf(layout, manifest.archive));
  if (named) return named;
  const isOf = (container: Container): boolean => manifestOf([container]).ids_sha256 === manifest.ids_sha256;
  return listArchives(layout).find(isOf) ?? null;
}
