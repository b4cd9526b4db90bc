import { ForgeError, refused } from '../core/error.js';
import { findTwin } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import {
  type CheckedOperation,
  checkShape,
  checkWords,
  doubtfulContent,
  duplicateKey,
  forbiddenContent,
  kindOf,
  nameOf,
  normalizeEntry,
  type Operation,
  type OperationName,
} from './operation.js';
import { closeEntries, countKfr, type Entry, isSingle, type Kfr, type Kind, type Outcome } from './rules.js';

export interface Limits {
  /** For one entry. */
  characters: number;
  /** For the whole KFR, without the header. */
  tokens: number;
}

export interface Applied {
  index: number;
  op: OperationName;
  id: string;
  kind: Kind;
  replaced?: string;
}

/** Why an operation failed, so that an agent can fix it. */
interface Refusal {
  index: number;
  op: string;
  code: string;
  message: string;
}

export interface Patched {
  kfr: Kfr;
  applied: Applied[];
  warnings: string[];
  /** If there are any, `kfr` is unchanged, and nothing was applied. */
  refusals: Refusal[];
  /** Some operations are malformed, rather than refused by a rule. */
  isMalformed: boolean;
}

/** AGN-024 §5, AGN-025: applies all operations in order, or none, and names each failure. `by`: who gave them. Pure. */
export function applyPatch(
  kfr: Kfr,
  operations: readonly Operation[],
  limits: Limits,
  now: string,
  by?: 'agent',
): Patched {
  const patcher = new Patcher(kfr, limits, now, by);
  for (const [index, operation] of operations.entries()) patcher.apply(index, operation);
  return patcher.finish();
}

type EntryOperation = Extract<CheckedOperation, { op: 'add' | 'replace' }>;

class Patcher {
  private kfr: Kfr;
  private readonly applied: Applied[] = [];
  private readonly warnings: string[] = [];
  private readonly refusals: Refusal[] = [];
  private isMalformed = false;

  constructor(
    private readonly before: Kfr,
    private readonly limits: Limits,
    private readonly now: string,
    private readonly by: 'agent' | undefined,
  ) {
    this.kfr = before;
  }

  apply(index: number, operation: Operation): void {
    try {
      const checked = checkShape(operation);
      const done =
        checked.op === 'add' || checked.op === 'replace'
          ? this.add(checked, nameOf(operation, index))
          : this.settle(checked);
      this.applied.push({ index, op: checked.op, ...done });
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      const { kind, code, message } = error;
      this.isMalformed ||= kind === 'usage';
      const op = typeof operation?.op === 'string' ? oneLine(operation.op, 40) : '';
      this.refusals.push({ index, op, code, message });
    }
  }

  finish(): Patched {
    const { before, applied, warnings, refusals, isMalformed } = this;
    // If an operation failed, the entries that it would have removed are still there.
    if (refusals.length === 0) this.checkBudget();
    return { kfr: refusals.length > 0 ? before : this.kfr, applied, warnings, refusals, isMalformed };
  }

  private add(operation: EntryOperation, name: string): Omit<Applied, 'index' | 'op'> {
    const kind = kindOf(operation.kind);
    if (operation.op === 'replace' && !isSingle(kind))
      throw refused(
        'not_replaceable',
        `There may be many of ${kind}: remove the one that no longer holds (or resolve it), and add the new one.`,
      );
    const prior = isSingle(kind) ? this.kfr.entries.find((entry) => entry.kind === kind) : undefined;
    // Repeating what already holds is not an error.
    if (prior && duplicateKey(normalizeEntry(kind, operation.text)) === duplicateKey(prior.text))
      return { id: prior.id, kind };
    const text = this.checkEntry(kind, operation.text, name);
    if (prior) this.remove(prior, 'replaced');
    const last = this.kfr.last + 1;
    const id = `kfr-${last}`;
    const requires_resolution = kind === 'OpenQuestion' || operation.requires_resolution === true;
    const entry: Entry = { id, kind, text, requires_resolution, created_at: this.now };
    this.kfr = { ...this.kfr, last, entries: [...this.kfr.entries, entry] };
    return { id, kind, ...(prior ? { replaced: prior.id } : {}) };
  }

  private checkEntry(kind: Kind, given: string, name: string): string {
    const wrong = forbiddenContent(kind, given);
    if (wrong) throw refused(`content.${wrong.name}`, `This never belongs in a KFR: ${wrong.says}.`);
    const text = checkText(normalizeEntry(kind, given), { what: 'The text' });
    const length = [...text].length;
    const { characters } = this.limits;
    if (length > characters)
      throw refused(
        'too_long',
        `The text has ${length} characters; ${characters} are allowed. Say only what must be right, or keep the rest as a note.`,
      );
    const key = duplicateKey(text);
    const twin = this.kfr.entries.find((entry) => duplicateKey(entry.text) === key);
    if (twin) throw refused('duplicate', `${twin.id} (${twin.kind}) says that already.`);
    const doubt = doubtfulContent(text);
    if (doubt) this.warnings.push(`${name}: it ${doubt.says} (${doubt.name})`);
    return text;
  }

  private settle(operation: Exclude<CheckedOperation, EntryOperation>): Omit<Applied, 'index' | 'op'> {
    const entry = this.find(operation.id);
    const { id, kind, requires_resolution } = entry;
    if (!requires_resolution && (operation.op === 'resolve' || operation.op === 'park'))
      throw refused('not_required', `${id} (${kind}) requires no resolution: remove it.`);
    if (operation.op === 'remove') this.remove(entry, 'removed');
    else if (operation.op === 'park') this.park(entry, checkWords('reason', operation.reason));
    else if (operation.op === 'resolve')
      this.close(id, 'resolved', checkWords('resolution', operation.resolution));
    else this.close(id, 'dismissed', checkWords('reason', operation.reason));
    return { id, kind };
  }

  private park(entry: Entry, reason: string): void {
    const { entries } = this.kfr;
    const parked = { ...entry, parked: { at: this.now, reason } };
    this.kfr = { ...this.kfr, entries: entries.with(entries.indexOf(entry), parked) };
  }

  private find(id: string): Entry {
    const entry = findTwin(this.kfr.entries, id);
    if (entry) return entry;
    const closed = findTwin(this.kfr.closed, id);
    const there = this.kfr.entries.map((candidate) => candidate.id).join(', ') || 'none';
    const what = closed
      ? `${closed.id} was ${closed.outcome} already${closed.words ? ` (${oneLine(closed.words, 280)})` : ''}`
      : `There is no entry ${JSON.stringify(oneLine(id, 40))}`;
    throw refused('unknown_id', `${what}. Active: ${there}.`);
  }

  /** KFR-08: an entry that requires resolution leaves only with an answer or a reason. */
  private remove({ id, kind, requires_resolution }: Entry, outcome: 'removed' | 'replaced'): void {
    if (requires_resolution)
      throw refused(
        'requires_resolution',
        `${id} (${kind}) requires resolution and cannot be ${outcome}: resolve it {"op":"resolve","id":"${id}","resolution":"…"} or dismiss it {"op":"dismiss","id":"${id}","reason":"…"}.`,
      );
    this.close(id, outcome);
  }

  private close(id: string, outcome: Outcome, words?: string): void {
    this.kfr = closeEntries(this.kfr, new Set([id]), outcome, this.now, words, this.by);
  }

  /** The size is checked after all operations, because a patch may remove entries to make room. */
  private checkBudget(): void {
    const { tokens } = this.limits;
    const count = countKfr(this.kfr.entries);
    const last = this.applied.findLast(({ op }) => op === 'add' || op === 'replace');
    if (count <= tokens || !last) return;
    const largest = this.kfr.entries
      .filter(({ requires_resolution }) => !requires_resolution)
      .sort((a, b) => countKfr([b]) - countKfr([a]))
      .slice(0, 3)
      .map((entry) => `${entry.id} (${entry.kind}, ${countKfr([entry])} tokens)`);
    const message = `The KFR would have ${count} tokens; ${tokens} are allowed. Remove what is no longer needed, or promote it to a note: ${largest.join(', ') || 'resolve open questions'}.`;
    this.refusals.push({ index: last.index, op: last.op, code: 'budget', message });
  }
}
