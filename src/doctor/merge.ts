import { isDeepStrictEqual } from 'node:util';
import type { EntryList } from '../core/entries.js';
import { decodeDocument, encodeDocument } from '../core/schema.js';
import { asInProgress, type Feature, testsDiffer } from '../feature/rules.js';
import { FEATURE_LIST } from '../feature/store.js';
import { ISSUE_LIST, UNIT } from '../feature/tasks.js';
import { ARCHIVED_SESSION } from '../session/rules.js';

/** The versions of two branches and their common ancestor, in git's words. */
interface Sides<T> {
  ours: T;
  theirs: T;
  base: T | null;
}

/** A decision where the sides differ. */
export interface Choice {
  /** The feature; null in other files. */
  id: string | null;
  field: string;
  ours: unknown;
  theirs: unknown;
  /** The merged value; undefined if it was removed. */
  value: unknown;
  why: string;
}

interface Merged<T> {
  value: T;
  choices: Choice[];
}

type Fields = Record<string, unknown>;

const isNothing = (value: unknown): boolean => value === undefined || value === null;
const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one ?? null, other ?? null);

/** Three-way merge, field by field (LAY-09): our fields in their order, then those that theirs adds. */
function mergeFields({ ours, theirs, base }: Sides<Fields>, id: string | null): Merged<Fields> {
  const isTheirsLater = String(theirs.updated_at ?? '') > String(ours.updated_at ?? '');
  const value: Fields = {};
  const choices: Choice[] = [];
  for (const field of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const sides = { ours: ours[field], theirs: theirs[field], base: base?.[field] };
    const [chosen, why] = isSame(sides.ours, sides.theirs)
      ? [sides.ours, null]
      : choose(sides, base !== null, isTheirsLater);
    if (why !== null) choices.push({ id, field, ours: sides.ours, theirs: sides.theirs, value: chosen, why });
    if (chosen !== undefined) value[field] = chosen;
  }
  return { value, choices };
}

function choose(
  { ours, theirs, base }: Sides<unknown>,
  hasBase: boolean,
  isTheirsLater: boolean,
): [value: unknown, why: string] {
  if (hasBase && isSame(theirs, base)) return [ours, 'ours: only it changed'];
  if (hasBase && isSame(ours, base)) return [theirs, 'theirs: only it changed'];
  if (isNothing(ours)) return [theirs, 'theirs: ours has none'];
  if (isNothing(theirs)) return [ours, 'ours: theirs has none'];
  if (Array.isArray(ours) && Array.isArray(theirs))
    return [uniteLists(ours, theirs, Array.isArray(base) ? base : []), 'both lists'];
  return isTheirsLater ? [theirs, 'theirs: changed later'] : [ours, 'ours: both changed it'];
}

/** Our items, then theirs. An item that one side removed from the base is gone. */
function uniteLists(ours: unknown[], theirs: unknown[], base: unknown[]): unknown[] {
  const isIn = (list: unknown[], item: unknown): boolean => list.some((other) => isSame(item, other));
  const all = [...ours, ...theirs.filter((item) => !isIn(ours, item))];
  return all.filter((item) => !isIn(base, item) || (isIn(ours, item) && isIn(theirs, item)));
}

/** State files that can be merged. Checkpoints cannot: each proves its own state. */
const KINDS = {
  feature: FEATURE_LIST,
  issue: ISSUE_LIST,
  done: { entry: UNIT, encode: encodeDocument },
  session: { entry: ARCHIVED_SESSION, encode: encodeDocument },
};
export type StateName = keyof typeof KINDS;

/** The merged file, and the choices. Exit 4 names the side, or the result, that does not have the file's format. */
export function mergeState(
  name: StateName,
  sides: Sides<Buffer>,
  file: string,
): { bytes: Buffer; choices: Choice[] } {
  const { entry: format, encode } = KINDS[name] as Pick<EntryList<unknown, unknown>, 'entry' | 'encode'>;
  const read = (bytes: Buffer, side: string): Fields =>
    decodeDocument(format, bytes, `${file} (${side})`) as Fields;
  const decoded = {
    ours: read(sides.ours, 'ours'),
    theirs: read(sides.theirs, 'theirs'),
    base: sides.base && read(sides.base, 'base'),
  };
  const { value, choices } =
    name === 'feature' ? mergeFeature(decoded as unknown as Sides<Feature>) : mergeFields(decoded, null);
  const bytes = encode(value);
  decodeDocument(format, bytes, `${file} (merged)`);
  return { bytes, choices };
}

/** These fields belong together: one test run or one person's decision wrote all of them. */
const PROOF = 'status unproven verified_at verified_commit verified_dirty verified_by override'.split(' ');

const proofOf = (feature: Feature): Fields =>
  Object.fromEntries(Object.entries(feature).filter(([field]) => PROOF.includes(field)));
const withoutProof = (feature: Feature): Fields =>
  Object.fromEntries(Object.entries(feature).filter(([field]) => !PROOF.includes(field)));

function mergeFeature({ ours, theirs, base }: Sides<Feature>): Merged<Fields> {
  const { id } = ours;
  const rest = mergeFields(
    { ours: withoutProof(ours), theirs: withoutProof(theirs), base: base && withoutProof(base) },
    id,
  );
  const fields = rest.value as unknown as Feature;
  // A proof holds only for the tests that were run.
  const prover = proversOf({ ours, theirs, base }).find(
    (side) => side.status !== 'passing' || !testsDiffer(side, fields),
  );
  const { unproven: _, ...own } = proofOf(ours);
  const proven = prover ? { ...fields, ...proofOf(prover) } : asInProgress({ ...fields, ...own });
  const testers = [ours, theirs].filter((side) => !testsDiffer(side, fields));
  // A doubt stays, unless a side saw the tests fail, or a person confirmed them.
  const isDoubted =
    testers.some(({ unproven }) => unproven) &&
    testers.every(({ status }) => status !== 'passing' && status !== 'failing') &&
    !(base?.unproven && testers.some(({ unproven }) => !unproven));
  const value = isDoubted ? { ...proven, unproven: true } : proven;
  if (isSame(proofOf(ours), proofOf(theirs)) && prover) return { value, choices: rest.choices };
  const why = prover
    ? `${prover === ours ? 'ours' : 'theirs'}: only it changed, or both have this status`
    : 'both changed it, or its tests differ: forge done proves it again';
  const choice = { id, field: 'status', ours: ours.status, theirs: theirs.status, value: value.status, why };
  return { value, choices: [choice, ...rest.choices] };
}

/** The sides whose status and proof may stand; none if both changed it to another status. */
function proversOf({ ours, theirs, base }: Sides<Feature>): Feature[] {
  const [mine, yours] = [proofOf(ours), proofOf(theirs)];
  if (base && isSame(proofOf(base), yours) && !isSame(mine, yours)) return [ours];
  if (base && isSame(proofOf(base), mine) && !isSame(mine, yours)) return [theirs];
  return ours.status === theirs.status ? [ours, theirs] : [];
}
