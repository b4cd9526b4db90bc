import type { Sides } from '../core/conflict-marks.js';
import { decodeDocument, encodeDocument, type Format } from '../core/schema.js';
import { compareText } from '../core/text.js';
import { asUnproved, type Feature, type FeatureStatus, testsDiffer } from '../feature/rules.js';
import { FEATURE, FEATURE_LIST } from '../feature/store.js';
import { ACTIVE_ISSUES, UNIT } from '../feature/tasks.js';
import { ARCHIVED_SESSION } from '../session/rules.js';

export type Fields = Record<string, unknown>;

/** What was chosen where the sides differ. */
export interface Choice {
  /** Of the record; null for a field of the file itself. */
  id: string | null;
  /** `name`, `estimate.points`; null: the record as a whole. */
  field: string | null;
  ours: unknown;
  theirs: unknown;
  /** The value now; undefined if there is none. */
  value: unknown;
  why: string;
}

export interface Merged<T> {
  value: T;
  choices: Choice[];
}

/** The same content, whatever the order of keys. */
export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || keyText(one) === keyText(other);

export const keyText = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value, (_, part) => (isFields(part) ? sorted(part) : part));

const sorted = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).sort(([a], [b]) => compareText(a, b)));

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNothing = (value: unknown): boolean => value === undefined || value === null;

/** What surrounds a field: its record, the path to it, and which side is newer. */
interface Surroundings {
  id: string | null;
  path: string;
  newer: 'ours' | 'theirs' | null;
  /** The fields are the records of a list, by id. */
  areRecords?: boolean;
}

/** Three-way, field by field (LAY-09). Ours' order of fields, then what theirs adds. */
export const mergeDocument = (sides: Sides<Fields>): Merged<Fields> =>
  mergeFields(sides, { id: null, path: '', newer: null });

function mergeFields({ ours, theirs, base }: Sides<Fields>, around: Surroundings): Merged<Fields> {
  const newer = newerOf(ours.updated_at, theirs.updated_at) ?? around.newer;
  const value: Fields = {};
  const choices: Choice[] = [];
  for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const merged = mergeField(
      { ours: ours[name], theirs: theirs[name], base: base?.[name] ?? null },
      {
        name,
        newer,
        hasBase: base !== null,
        id: around.areRecords ? name.slice(1) : around.id,
        field: around.areRecords ? null : `${around.path}${name}`,
      },
    );
    choices.push(...merged.choices);
    if (merged.value !== undefined) value[name] = merged.value;
  }
  return { value, choices };
}

interface Field {
  name: string;
  newer: Surroundings['newer'];
  hasBase: boolean;
  id: string | null;
  field: string | null;
}

function mergeField({ ours, theirs, base }: Sides<unknown>, at: Field): Merged<unknown> {
  const { id, field, newer } = at;
  if (isSame(ours, theirs)) return { value: ours, choices: [] };
  if (isRecords(ours) && isRecords(theirs)) {
    const sides = { ours: byId(ours), theirs: byId(theirs), base: isRecords(base) ? byId(base) : null };
    const { value, choices } = mergeFields(sides, { id: null, path: '', newer: null, areRecords: true });
    return { value: Object.values(value), choices };
  }
  if (isFields(ours) && isFields(theirs))
    return mergeFields(
      { ours, theirs, base: isFields(base) ? base : null },
      { id, newer, path: field === null ? '' : `${field}.` },
    );
  const choose = (value: unknown, why: string): Merged<unknown> => ({
    value,
    choices: [{ id, field, ours, theirs, value, why }],
  });
  // Absent and null are the same where neither side has set it before.
  if (at.hasBase && isSame(theirs ?? undefined, base ?? undefined))
    return choose(ours, 'ours: only it changed');
  if (at.hasBase && isSame(ours ?? undefined, base ?? undefined))
    return choose(theirs, 'theirs: only it changed');
  if (isNothing(ours)) return choose(theirs, 'theirs: ours has none');
  if (isNothing(theirs)) return choose(ours, 'ours: theirs has none');
  if (Array.isArray(ours) && Array.isArray(theirs))
    return choose(uniteLists(ours, theirs, Array.isArray(base) ? base : []), 'both lists');
  const rule = ORDERED[at.name];
  if (rule) return choose(rule.takesTheirs(ours, theirs) ? theirs : ours, rule.why);
  return choose(
    newer === 'theirs' ? theirs : ours,
    newer === null ? 'ours: neither side is known to be newer' : `${newer}: updated later`,
  );
}

const time = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number.NaN);

/** What decides about fields with an order. */
const ORDERED: Record<string, { takesTheirs(ours: unknown, theirs: unknown): boolean; why: string }> = {
  created_at: { takesTheirs: (ours, theirs) => time(theirs) < time(ours), why: 'the earlier one' },
  ended_at: { takesTheirs: (ours, theirs) => time(theirs) > time(ours), why: 'the later one' },
  priority: { takesTheirs: (ours, theirs) => Number(theirs) < Number(ours), why: 'the more urgent one' },
  schema_version: { takesTheirs: (ours, theirs) => Number(theirs) > Number(ours), why: 'the higher one' },
};

function newerOf(ours: unknown, theirs: unknown): 'ours' | 'theirs' | null {
  if (time(ours) > time(theirs)) return 'ours';
  return time(theirs) > time(ours) ? 'theirs' : null;
}

/** One after the other. What a side removed is gone where the base is known. */
function uniteLists(ours: unknown[], theirs: unknown[], base: unknown[]): unknown[] {
  const keys = (list: unknown[]): Set<string> => new Set(list.map(keyText));
  const [inOurs, inTheirs, inBase] = [keys(ours), keys(theirs), keys(base)];
  const isKept = (item: unknown): boolean =>
    (inOurs.has(keyText(item)) && inTheirs.has(keyText(item))) || !inBase.has(keyText(item));
  // Begin with the longer one: where it has all of the other, its order stays.
  const [first, second, inFirst] =
    theirs.length > ours.length ? [theirs, ours, inTheirs] : [ours, theirs, inOurs];
  return [...first, ...second.filter((item) => !inFirst.has(keyText(item)))].filter(isKept);
}

const idOf = (record: Fields): unknown => record.linear_id ?? record.id;
const isRecords = (value: unknown): value is Fields[] =>
  Array.isArray(value) &&
  value.every((item) => isFields(item) && typeof idOf(item) === 'string') &&
  new Set(value.map(idOf)).size === value.length;

/** The character before the id keeps ids that are numbers in their order. */
const byId = (list: readonly Fields[]): Fields =>
  Object.fromEntries(list.map((record) => [`#${String(idOf(record))}`, record]));

/** State files that can be merged. Checkpoints cannot: what one of them proved, the other did not. */
const FORMATS = {
  feature: FEATURE as Format<unknown>,
  issues: ACTIVE_ISSUES as Format<unknown>,
  issue: UNIT as Format<unknown>,
  session: ARCHIVED_SESSION as Format<unknown>,
};
export type StateName = keyof typeof FORMATS;

/**
 * The bytes of the merged file, and what was chosen. Each side is decoded as the file would be, and so is the result.
 * Exit 4 names the side that cannot be read. `isSure`: the base is the one that git merged from.
 */
export function mergeState(
  name: StateName,
  sides: Sides<Buffer>,
  file: string,
  isSure: boolean,
): { bytes: Buffer; choices: Choice[] } {
  const format = FORMATS[name];
  const read = (bytes: Buffer, side: string): Fields =>
    decodeDocument(format, bytes, `${file} (${side})`) as Fields;
  const decoded = {
    ours: read(sides.ours, 'ours'),
    theirs: read(sides.theirs, 'theirs'),
    base: tryRead(read, sides.base),
  };
  const isFeature = name === 'feature';
  const merged = isFeature
    ? mergeFeature(decoded as unknown as Sides<Feature>, isSure)
    : mergeDocument(decoded);
  const bytes = isFeature ? FEATURE_LIST.encode(merged.value as Feature) : encodeDocument(merged.value);
  decodeDocument(format, bytes, `${file} (merged)`);
  const id = isFeature ? String(decoded.ours.id) : null;
  return { bytes, choices: merged.choices.map((choice) => ({ ...choice, id: choice.id ?? id })) };
}

/** Without a readable base nothing counts as removed. */
function tryRead(read: (bytes: Buffer, side: string) => Fields, bytes: Buffer | null): Fields | null {
  try {
    return bytes && read(bytes, 'base');
  } catch {
    return null;
  }
}

/** They belong together: one run of the tests, or one decision of a human, made all of them. */
const PROOF = ['status', 'unproven', 'verified_at', 'verified_commit', 'verified_by', 'override'] as const;

/** Of two statuses without a base, the one that claims less. */
const CAUTIOUS: readonly FeatureStatus[] = [
  'failing',
  'blocked',
  'in_progress',
  'not_implemented',
  'passing',
];

/** The base between conflict markers may lack lines, so it proves no feature. */
function mergeFeature(sides: Sides<Feature>, isSure: boolean): Merged<Fields> {
  const { ours, theirs, base } = sameForm(sides);
  const rest = mergeDocument({ ours: without(ours), theirs: without(theirs), base: base && without(base) });
  const isAgreed = isSame(proofOf(ours), proofOf(theirs));
  const chosen = chooseProof(ours, theirs, isSure ? base : null);
  const merged = { ...rest.value, ...proofOf(chosen) } as Feature;
  // A proof holds for the tests that were run.
  const provers = isAgreed ? [ours, theirs] : [chosen];
  const isLost = merged.status === 'passing' && provers.every((prover) => testsDiffer(prover, merged));
  const value: Feature = isLost ? asUnproved(merged) : merged;
  if (isAgreed && !isLost) return { value: { ...value }, choices: rest.choices };
  const why = isLost
    ? 'its tests differ: forge done proves it again'
    : `${chosen === ours ? 'ours' : 'theirs'}: it alone changed, ran last or claims less`;
  const { status } = value;
  const choice = { id: null, field: 'status', ours: ours.status, theirs: theirs.status, value: status, why };
  return { value: { ...value }, choices: [choice, ...rest.choices] };
}

/** One blocker may be a string, several are a list. */
function sameForm({ ours, theirs, base }: Sides<Feature>): Sides<Feature> {
  const forms = [ours.blocked_by, theirs.blocked_by];
  const isTwo = forms.every((form) => typeof form === 'string') && forms[0] !== forms[1];
  if (!isTwo && !forms.some(Array.isArray)) return { ours, theirs, base };
  const form = (feature: Feature): Feature =>
    typeof feature.blocked_by === 'string' ? { ...feature, blocked_by: [feature.blocked_by] } : feature;
  return { ours: form(ours), theirs: form(theirs), base: base && form(base) };
}

const isProof = ([field]: [string, unknown]): boolean => (PROOF as readonly string[]).includes(field);
const without = (feature: Feature): Fields =>
  Object.fromEntries(Object.entries(feature).filter((entry) => !isProof(entry)));
const proofOf = (feature: Feature): Fields => Object.fromEntries(Object.entries(feature).filter(isProof));

/** The side that changed it; of two the one that claims less, else the one whose tests ran last. */
function chooseProof(ours: Feature, theirs: Feature, base: Feature | null): Feature {
  if (base && isSame(proofOf(base), proofOf(theirs))) return ours;
  if (base && isSame(proofOf(base), proofOf(ours))) return theirs;
  const [one, other] = [CAUTIOUS.indexOf(ours.status), CAUTIOUS.indexOf(theirs.status)];
  if (one !== other) return one < other ? ours : theirs;
  const newest = (feature: Feature): string => `${feature.verified_at ?? ''} ${keyText(proofOf(feature))}`;
  return newest(theirs) > newest(ours) ? theirs : ours;
}
