import { initScript, shown } from '../core/paths.js';
import { decodeUtf8 } from '../core/schema.js';
import { type Context, isBuilding, requireSupervisor } from '../project/project.js';
import { approveInitScript, showTrust } from '../trust/trust.js';
import { composeScript, readScriptMark, type ScriptOrigin } from './script-rules.js';
import { type Part, partsFor, type Stack } from './stack.js';
import { scriptPieces } from './templates.js';

export interface ScriptPlan {
  stack: Stack;
  parts: Part[];
  text: string;
  /** What is there now; null: nothing. */
  before: Buffer | null;
  /** `kept`: it is as it would be written, or somebody has changed it. */
  action: 'create' | 'renew' | 'kept';
  /** Somebody has changed it, so that it does not become what was asked for. */
  edited: boolean;
}

/** LAY-03: the init.sh for what was found, or chosen. One that nobody has changed is renewed; any other stays. */
export function planScript(
  context: Context,
  found: { stack: Stack; parts: readonly Part[] },
  chosen: Stack | undefined,
): ScriptPlan {
  const { disk, layout } = context;
  const before = disk.read(initScript(layout));
  const mark = before === null ? null : readScriptMark(textOf(before));
  const kept = mark?.origin === 'chosen' ? mark.stack : undefined;
  const stack = chosen ?? kept ?? found.stack;
  const origin: ScriptOrigin = chosen === undefined && kept === undefined ? 'found' : 'chosen';
  const parts = partsFor(stack, found.parts);
  const text = composeScript(scriptPieces(), stack, parts, origin);
  const edited = before !== null && mark === null;
  const plan = { stack, parts, text, before, edited };
  if (before === null) return { ...plan, action: 'create' };
  if (edited || before.equals(Buffer.from(text))) return { ...plan, action: 'kept' };
  // What a cycle checks first is not for whoever works in it to change.
  if (chosen !== undefined) requireSupervisor(context, 'config');
  return { ...plan, action: isBuilding(context) ? 'kept' : 'renew' };
}

/** What is no text was not written by forge. */
function textOf(bytes: Buffer): string {
  try {
    return decodeUtf8(bytes, 'init.sh');
  } catch {
    return '';
  }
}

/** Writes it, and approves it: forge wrote every line. In place of one that was not approved it is not approved either. */
export function writeScript(context: Context, { text, before, action }: ScriptPlan): void {
  if (action === 'kept') return;
  const isTrusted = action === 'create' || isApproved(context);
  context.disk.replaceAll([
    { path: initScript(context.layout), bytes: Buffer.from(text), mode: 0o777, expected: before },
  ]);
  if (isTrusted) approveInitScript(context);
}

function isApproved(context: Context): boolean {
  const name = shown(context.layout, initScript(context.layout));
  try {
    return showTrust(context).items.some((item) => item.name === name && item.state === 'trusted');
  } catch {
    // What else could run is listed in files that are damaged: then nothing counts as approved.
    return false;
  }
}
