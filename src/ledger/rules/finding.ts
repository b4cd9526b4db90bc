import { plural } from '../../core/text.js';
import type { LastGood, Problem } from './problem.js';
import type { LedgerRecord, Tier } from './record.js';

/** What a verification finds, and what a human can do about it (docs/format.md, "What verify finds"). */
export type FindingCode =
  | 'edited'
  | 'removed'
  | 'rewritten'
  | 'torn'
  | 'glued'
  | 'conflict_marker'
  | 'crlf'
  | 'foreign_ledger'
  | 'number'
  | 'unauthorised'
  | 'wrong_tier'
  | 'unearned'
  | 'unproven'
  | 'archive'
  | 'anchor'
  | 'set_back'
  | 'lost'
  | 'rolled_back'
  | 'dropped'
  | 'redacted_back'
  | 'secret'
  | 'signature_bad'
  | 'signed_missing';

export interface Finding {
  code: FindingCode;
  tier: Tier;
  file: string;
  /** 1-based; 0 when no line of the file is meant. */
  line: number;
  /** 0-based, in bytes. */
  offset: number;
  message: string;
  last_good: LastGood;
  /** What a human can run. */
  hint: string;
  /** True when the records are at hand and nobody edited anything: forge puts them back by itself. */
  restorable?: true;
  /** The id of the ledger that is not ours. */
  ledger?: string;
}

/** A record that the guard would refuse today. */
export interface StoredSecret extends Finding {
  code: 'secret';
  /** The rules and fingerprints. */
  guard: object[];
}

/** A record that was acknowledged and is not here; its bytes are at hand. */
export interface MissingRecord {
  id: string;
  tier: Tier;
  n: number;
  prev: string | null;
  /** What an edited copy of it would still have. */
  mark: string;
  source: 'journal' | 'head' | 'anchor' | 'history';
  /** Where it was: a shown path; empty when unknown. */
  file: string;
  /** The commit that dropped or had it. */
  commit: string;
  /** The line that stands for it, if its content was redacted: that alone comes back. */
  tombstone?: Buffer;
}

/** With exit 5, or 1 for `unproven`. */
const HARMLESS: ReadonlySet<FindingCode> = new Set(['secret', 'redacted_back', 'unproven']);

/** What is whole but should not be here, or not yet, is no damage: memory goes on, and verify says so. */
export const isDamage = ({ code }: Finding): boolean => !HARMLESS.has(code);

/** The first records of two segments may have the same number; then their time and session tell them apart. */
export const markOf = ({
  n,
  prev,
  at,
  session,
}: Pick<LedgerRecord, 'n' | 'prev' | 'at' | 'session'>): string =>
  prev === null ? `${n} first ${at} ${session}` : `${n} ${prev}`;

const RESTORE = 'forge memory restore --reason "…"';
const REPAIR = 'forge memory repair --reason "…"';
const SAY_SO = 'forge memory override acknowledge --reason "…"';

/**
 * The next command for a finding in a file; `differs` when HEAD has it otherwise, `atHand` when only records are gone
 * that some place has.
 */
export function hintFor(code: FindingCode, file: string, differs: boolean, atHand = false): string {
  switch (code) {
    case 'conflict_marker':
      return `sed -i -E '/^(<{7}|={7}|>{7}|[|]{7})( |$)/d' ${file}  (both sides' records stay), then: forge memory verify`;
    case 'crlf':
      return `sed -i 's/\\r$//' ${file}  (and keep .forge/.gitattributes), then: forge memory verify`;
    case 'foreign_ledger':
      return 'forge memory adopt ID --reason "…"  (its records belong here)  or  forge memory drop ID --reason "…"';
    case 'torn':
    case 'glued':
    case 'number':
    case 'unauthorised':
    case 'wrong_tier':
    case 'unearned':
    case 'anchor':
      return REPAIR;
    case 'unproven':
      return `forge memory promote  (shows it; a merge may bring its evidence)  or, if nobody has that: ${REPAIR}`;
    case 'redacted_back':
      return 'forge memory redact ID --reason "…"';
    case 'lost':
    case 'rolled_back':
    case 'dropped':
      return RESTORE;
    default:
      return differs ? `git restore -SW ${file}  then: ${SAY_SO}` : atHand ? RESTORE : REPAIR;
  }
}

/** A problem of one line as a finding. */
export function toFinding(
  tier: Tier,
  { code, file, line, offset, message, last_good }: Problem,
  differs: boolean,
): Finding {
  const known = code as FindingCode;
  return { code: known, tier, file, line, offset, message, last_good, hint: hintFor(known, file, differs) };
}

const numbers = (records: readonly MissingRecord[]): string => {
  const all = records.map(({ n }) => n).sort((a, b) => a - b);
  return all.length === 1
    ? `record ${all[0]}`
    : `${plural(all.length, 'record')} (${all[0]} to ${all.at(-1)})`;
};

/** Whole records that git took from the working tree: by reset, rebase, clean, stash drop, or in a commit. */
export function describeGone(tier: Tier, records: readonly MissingRecord[], maxN: number): Finding {
  const { source, commit, file } = records[0] as MissingRecord;
  const top = Math.max(...records.map(({ n }) => n));
  const short = commit.slice(0, 12);
  const code = source === 'history' ? 'dropped' : source === 'journal' ? 'lost' : 'rolled_back';
  const message =
    code === 'dropped'
      ? `commit ${short} dropped ${numbers(records)} of the ${tier} ledger; history has the bytes`
      : code === 'lost'
        ? `${numbers(records)} of the ${tier} ledger left the working tree (git clean, stash drop, reset or a hand); the journal has the bytes`
        : `the ${tier} ledger was rolled back from ${top} to ${maxN}: the branch was at ${short} when it was last verified; that commit has the bytes`;
  return { code, tier, file, line: 0, offset: 0, message, last_good: null, hint: RESTORE, restorable: true };
}

/** More files than this are not named one by one. */
const NAMED_FILES = 4;

/** Files that git took away, or brought back to what a commit has, on request: HEAD has all that they lack. */
export function describeSetBack(tier: Tier, commit: string, files: readonly string[]): Finding {
  const [file = ''] = files;
  const several = files.length > 1 ? ` (and ${files.length - 1} more)` : '';
  const message =
    commit === ''
      ? `it was taken away${several}; HEAD has it`
      : `it was set back to what commit ${commit.slice(0, 12)} has${several}; HEAD has more`;
  const hint = `git restore -SW ${nameFiles(files).join(' ')}`;
  return { code: 'set_back', tier, file, line: 0, offset: 0, message, last_good: null, hint };
}

/** Segments by their folder, where there are many. */
const nameFiles = (files: readonly string[]): string[] =>
  files.length <= NAMED_FILES
    ? [...files]
    : [...new Set(files.map((file) => file.replace(/\.d\/.*$/s, '.d')))];
