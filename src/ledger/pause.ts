import { createHash } from 'node:crypto';
import { readHint, writeHint } from '../core/cache.js';
import { refused } from '../core/error.js';
import { pausesFile } from '../core/paths.js';
import { oneLine } from '../core/text.js';
import type { Context } from '../project/project.js';
import { readRecords } from './read.js';
import { listArchives, listContainers } from './store/files.js';

/** Work that waits for a human (RFC-9060 §5.3). */
export interface Pause {
  id: string;
  at: string;
  reasons: string[];
}

const KINDS: ReadonlySet<string> = new Set(['paused', 'acknowledged']);

/** Those that no human has ended. They travel with the repository, as every record does. */
export function readPauses(context: Context): Pause[] {
  const records = readRecords(context, 'audit', { wanted: ({ kind }) => KINDS.has(kind) });
  const ended = new Set(records.flatMap(({ record }) => (record.pauses as string[] | undefined) ?? []));
  return records
    .filter(({ id, record }) => record.kind === 'paused' && !ended.has(id))
    .map(({ id, record: { at = '', reasons } }) => ({
      id,
      at,
      reasons: (reasons as string[] | undefined) ?? [],
    }));
}

const LENGTH = 8 * 1024;

/**
 * The same for those who only mention it: nothing is read while the files of the audit ledger are what they were. Who only
 * looks leaves nothing behind (`keeps`).
 */
export function mentionedPauses(context: Context, keeps = false): Pause[] {
  const { layout } = context;
  const stamp = [...listContainers(layout, 'audit'), ...listArchives(layout)]
    .map(({ path, stat }) => `${path} ${stat}`)
    .join('\n');
  const key = createHash('sha256').update(stamp).digest('hex');
  const known = readHint<{ key: string; pauses: Pause[] }>(pausesFile(layout));
  if (known?.key === key) return known.pauses;
  const pauses = readPauses(context);
  if (keeps && !context.disk.dryRun) writeHint(pausesFile(layout), { key, pauses }, LENGTH);
  return pauses;
}

/** In one line. */
export const describePause = ({ at, reasons }: Pause): string =>
  `work is paused since ${at} until a human has looked (${reasons.map((reason) => oneLine(reason, 200)).join('; ')})`;

/** What the person should know who begins to work all the same. */
export function warnPaused(context: Context): void {
  const [first] = mentionedPauses(context, true);
  if (first)
    context.warnings.push(
      `${capital(describePause(first))}: cycle, loop and recover are refused. It is shown by: forge recover --plan; a human ends it with: forge memory override acknowledge --reason "…"`,
    );
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Exit 3 `paused` while a human has to look. */
export function refusePaused(context: Context): void {
  const [first] = readPauses(context);
  if (!first) return;
  throw refused('paused', `${capital(describePause(first))}; nothing was run.`, {
    hint: 'forge recover --plan  shows it; a human goes on with: forge memory override acknowledge --reason "…"',
  });
}
