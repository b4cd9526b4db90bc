import { refused, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { requireDecision } from '../ledger/audit.js';
import { readRecords, storeAudit } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { describePause, endPause, readKnown } from './fingerprint.js';

const ACTION = 'guard_allow';

export type Allowed = Awaited<ReturnType<typeof allowText>>;

/** LTM-14: a human allows one text. It passes from then on, in every clone that has the audit record. */
export async function allowText(context: Context, input: { fingerprint: string; reason?: string }) {
  const decision = requireDecision(context, 'Allowing a text', input.reason);
  const named = /^[0-9a-f]{6,16}$/.test(input.fingerprint)
    ? readKnown(context.disk).filter(({ fingerprint }) => fingerprint.startsWith(input.fingerprint))
    : [];
  const [known] = named;
  if (!known || named.length > 1)
    throw usage(
      'guard.fingerprint',
      `${named.length} findings in this clone have the fingerprint ${JSON.stringify(oneLine(input.fingerprint, 40))}.`,
      { hint: 'forge guard scan   # shows the fingerprints' },
    );
  const { fingerprint, mark, rule, class: name } = known;
  const about = { fingerprint, rule, class: name };
  const audit = context.disk.withLock(() =>
    storeAudit(context, { kind: 'override', action: ACTION, ...about, mark, ...decision }),
  );
  endPause(context);
  return { audit, ...about };
}

/** Exit 3 for a session that was refused the same text three times. A human's own command ends the pause. */
export function refusePaused(context: Context): void {
  const pause = describePause(context);
  if (!pause) return;
  if (!context.world.terminal) throw refused('session.paused', `${pause.why}.`, { hint: pause.fix });
  context.warnings.push(`${pause.why}. It continues now.`);
  endPause(context);
}

/** Lets the guard pass what a human allowed. The audit tier is read at the first finding. */
export function knowAllowed(context: Context): void {
  let marks: readonly string[] | undefined;
  context.allowedMarks ??= () => {
    marks ??= readRecords(context, 'audit')
      .filter(({ record }) => record.kind === 'override' && record.action === ACTION)
      .map(({ record }) => String(record.mark));
    return marks;
  };
}
