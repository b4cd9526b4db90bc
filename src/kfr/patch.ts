import * as z from 'zod/mini';
import { ForgeError, refused, usage } from '../core/error.js';
import { describeIssue, fieldName, findTwin } from '../core/schema.js';
import { checkText, MAX_TEXT_BYTES, oneLine, wordsOf } from '../core/text.js';
import {
  closeEntries,
  countKfr,
  type Entry,
  isSingle,
  type Kfr,
  KINDS,
  type Kind,
  type Outcome,
  readKind,
} from './rules.js';

const text = z.string();
const entry = { kind: text, text, requires_resolution: z.optional(z.boolean()) };
const Checked = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('replace'), ...entry }),
  z.strictObject({ op: z.literal('add'), ...entry }),
  z.strictObject({ op: z.literal('remove'), id: text }),
  z.strictObject({ op: z.literal('resolve'), id: text, resolution: text }),
  z.strictObject({ op: z.literal('dismiss'), id: text, reason: text }),
  z.strictObject({ op: z.literal('park'), id: text, reason: text }),
]);
type CheckedOperation = z.infer<typeof Checked>;
type OperationName = CheckedOperation['op'];
export const OPERATIONS = ['replace', 'add', 'remove', 'resolve', 'dismiss', 'park'] as const;

/** More than any working memory needs: a patch is one step of an agent. */
export const MAX_OPERATIONS = 100;

/** One operation as given. Its shape is checked here, so that each error has its place. */
export type Operation = Readonly<Record<string, unknown>>;

/** The operation, if it has all required fields and no unknown ones. A usage error is one of form, not of a rule. */
function checkShape(operation: Operation): CheckedOperation {
  const { success, data, error } = Checked.safeParse(operation);
  if (success) return data;
  const issue = error.issues[0] as z.core.$ZodIssue;
  const field = fieldName(issue.path);
  const choices = field === 'op' ? OPERATIONS : KINDS;
  const problem =
    field === 'op' || field === 'kind'
      ? `${operation[field] === undefined ? 'missing' : `found ${shownValue(operation[field])}`}, allowed: ${choices.join(', ')}`
      : describeIssue(issue, operation);
  throw usage('malformed', `${field || 'operation'}: ${oneLine(problem, 300)}.`);
}

/** How messages name an operation: `add Constraint "Use port 0"`, `resolve kfr-2`, or by its place, from 1. */
export function nameOf(operation: Operation | null, index: number): string {
  const { op, kind, id, text } = operation ?? {};
  if (typeof op !== 'string') return `operation ${index + 1}`;
  const words = [op, kind ?? id].filter((word) => typeof word === 'string');
  const quoted = typeof text === 'string' ? [JSON.stringify(oneLine(text, 40))] : [];
  return [...words.map((word) => oneLine(word, 40)), ...quoted].join(' ');
}

const shownValue = (value: unknown): string => oneLine(JSON.stringify(value) ?? '?', 60);

function kindOf(spelling: string): Kind {
  const kind = readKind(spelling);
  if (kind) return kind;
  throw refused('unknown_kind', `Unknown kind ${shownValue(spelling)}. Use ${KINDS.join(', ')}.`);
}

const checkWords = (field: string, words: string): string =>
  checkText(words.replace(/\s+/g, ' ').trim(), { what: `The ${field}`, maxBytes: 2000 });

/** Removes meaningless white space. A plan keeps its lines. */
function normalizeEntry(kind: Kind, text: string): string {
  const lines = text.normalize('NFC').split(/[\n\r\u2028\u2029]/);
  const folded = lines.map((line) => line.replace(/\s+/g, ' ').trim()).filter((line) => line !== '');
  return folded.join(kind === 'Plan' ? '\n' : ' ');
}

/** Texts with equal keys are duplicates: case, width, white space and a final punctuation mark are ignored. */
export const duplicateKey = (text: string): string => wordsOf(text, '.!?;');

interface ContentRule {
  name: string;
  says: string;
}

/** AGN-024 §6 and AGN-025 §11: content that does not belong in a KFR, judged by its form, before normalization. */
function forbiddenContent(kind: Kind, text: string): ContentRule | undefined {
  const head = text.slice(0, MAX_TEXT_BYTES);
  return FORBIDDEN.find(({ test }) => test(kind, head));
}

/** Text that probably does not belong there. The author gets a warning and decides. */
const doubtfulContent = (text: string): ContentRule | undefined =>
  DOUBTFUL.find(({ pattern }) => pattern.test(text));

const ITEM = /^[ \t]{0,8}(?:[-*+•]|\d{1,3}[.)])[ \t]/gm;

const FORBIDDEN: readonly (ContentRule & { test: (kind: Kind, text: string) => boolean })[] = [
  {
    name: 'code_block',
    says: 'a code block is no fact; name the file, or state the rule that the code must keep',
    test: (_, text) => /```|~~~/.test(text),
  },
  {
    name: 'check_box',
    says: 'check boxes are task tracking; keep tasks as features or in the focus',
    test: (_, text) => /(?:^|[\s\-*+])\[[ xX✓✔]\](?=\s|$)|[☐☑☒]/.test(text),
  },
  {
    name: 'todo',
    says: 'a to-do is task tracking; state it as the Plan, or keep it as a feature',
    test: (kind, text) => kind !== 'Plan' && /^\s*(?:to-?do|fixme|task list)\b\s*[:\-–]/i.test(text),
  },
  {
    name: 'list',
    says: 'entries are atomic: a list belongs in the Plan, or in one entry for each item',
    test: (kind, text) => kind !== 'Plan' && (text.match(ITEM)?.length ?? 0) > 1,
  },
];

const DOUBTFUL: readonly (ContentRule & { pattern: RegExp })[] = [
  {
    name: 'rationale',
    says: 'reads like rationale; keep the rule, and the reasons in a note',
    pattern: /\b(?:because|the reason (?:is|was|for)|rationale|since we|so that we)\b/i,
  },
  {
    name: 'rejected_alternative',
    says: 'reads like a rejected alternative; keep only what holds now',
    pattern:
      /\b(?:instead of|rather than|we (?:considered|rejected|decided against)|rejected (?:alternatives?|options?)|alternatively)\b/i,
  },
  {
    name: 'example',
    says: 'reads like an example; keep the rule alone',
    pattern: /\b(?:for example|for instance|e\.g\.|such as)/i,
  },
  {
    name: 'history',
    says: 'reads like history; keep only what is active now',
    pattern: /\b(?:previously|formerly|used to|earlier we|yesterday|last (?:week|session|time)|no longer)\b/i,
  },
  {
    name: 'narrative',
    says: 'reads like a narrative; state what must be right',
    pattern: /\b(?:(?:I|we) (?:then|first|tried|found|noticed|discovered|started)|after that)\b/i,
  },
];

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

export type Patched = ReturnType<typeof applyPatch>;

/** AGN-024 §5, AGN-025: applies all operations in order, or none, and names each failure. `by`: who gave them. Pure. */
export function applyPatch(
  kfr: Kfr,
  operations: readonly Operation[],
  limits: Limits,
  now: string,
  by?: 'agent',
) {
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
  /** Some operations are malformed, rather than refused by a rule. */
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

  /** If there are refusals, `kfr` is unchanged, and nothing was applied. */
  finish() {
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
