import { shown } from '../core/paths.js';
import type { Found } from '../guard/document.js';
import { loadGuard, toFinding } from '../guard/guard.js';
import type { Context } from '../project/project.js';
import type { Cut } from './cut.js';
import type { LookOptions } from './look.js';
import type { StoredSecret } from './rules/finding.js';
import { recordId, TIERS, type Tier } from './rules/record.js';
import { type Container, scanContainer } from './store/files.js';
import { tierOfArchive } from './store/scan.js';

/** LTM-13: what the guard would refuse today, in records that are stored already. The place, never the value. */
export async function scanMemory(
  context: Context,
  cut: Cut,
  { onProgress, signal }: LookOptions,
): Promise<StoredSecret[]> {
  const guard = await loadGuard(context.world.env);
  const found = new Map<string, StoredSecret>();
  const total = [...Object.values(cut.tiers).flat(), ...cut.archives].reduce(
    (sum, { size }) => sum + size,
    0,
  );
  let read = 0;
  const scan = (tier: Tier, { path, size }: Container): void => {
    signal?.throwIfAborted();
    const ignore = (): void => {};
    const line = (bytes: Buffer, number: number, offset: number): void => {
      read += bytes.length + 1;
      onProgress?.(read, total);
      const hits = guard.scanBytes('.json', bytes);
      const place = { file: shown(context.layout, path), line: number, offset };
      // A merge may have left a line twice: one record, one finding.
      if (hits.length > 0) found.set(recordId(bytes), describe(context, tier, bytes, place, hits));
    };
    scanContainer(path, size, { line, long: ignore, tail: ignore });
  };
  for (const tier of TIERS) for (const container of cut.tiers[tier]) scan(tier, container);
  for (const archive of cut.archives) scan(tierOfArchive(archive), archive);
  return [...found.values()];
}

function describe(
  context: Context,
  tier: Tier,
  bytes: Buffer,
  place: { file: string; line: number; offset: number },
  hits: readonly Found[],
): StoredSecret {
  const guard = hits.map((hit) => toFinding(context, place.file, { ...hit, line: place.line }));
  const [first] = guard;
  const more = guard.length > 1 ? ` and ${guard.length - 1} more` : '';
  const message = `its ${first?.field} holds ${first?.what}${more} (rule ${first?.rule}, fingerprint ${first?.fingerprint})`;
  const hint = `forge memory redact ${recordId(bytes).slice(0, 12)} --reason "…"  (and revoke what it was)`;
  return { code: 'secret', tier, ...place, message, last_good: null, hint, guard };
}
