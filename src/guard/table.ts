import { invisibleRules } from './invisible.js';
import { makeIndexData } from './keyword-index.js';
import { type IndexData, type KeywordIndex, openIndex } from './keywords.js';
import { PERSONAL_GROUPS } from './personal.js';
import { proprietaryRules } from './proprietary.js';
import type { Kind, Rule, RuleGroup, RuleTable } from './rule.js';
import { SECRET_GROUPS, VENDOR_GROUPS } from './vendor-rules.js';

/** A table as plain data: the index, and by rank the group that has the rule, its place there and its kind. */
export interface TableData {
  index: IndexData;
  places: readonly number[];
  kindOf: readonly number[];
  kinds: readonly Kind[];
}

/** What the build writes down (scripts/build.mjs), as JSON. It is the same for all owners: they change no keyword. */
declare const FORGE_GUARD_TABLE: string | undefined;

const PLACES = 256;

const groupsFor = (owners: readonly string[]): readonly RuleGroup[] => [
  ...SECRET_GROUPS,
  ...PERSONAL_GROUPS,
  () => proprietaryRules(owners),
  () => invisibleRules(),
];

/** Vendors' rules that are known by form, then those known by a name beside them, then all others as they stand. */
const orderOf = (group: RuleGroup | undefined, rule: Rule): number =>
  group && VENDOR_GROUPS.includes(group) ? (rule.isLoose ? 1 : 0) : 2;

function arrange(groups: readonly RuleGroup[]): { rule: Rule; place: number }[] {
  return groups
    .flatMap((group, at) =>
      group().map((rule, i) => ({ rule, place: at * PLACES + i, order: orderOf(group, rule) })),
    )
    .sort((a, b) => a.order - b.order);
}

export const rulesOf = (groups: readonly RuleGroup[]): readonly Rule[] =>
  arrange(groups).map(({ rule }) => rule);

/** All rules there are (docs/guard.md); copyright lines that name one of the owners are no foreign ones. */
export const guardRules = (owners: readonly string[] = []): readonly Rule[] => rulesOf(groupsFor(owners));

export function makeTableData(): TableData {
  const arranged = arrange(groupsFor([]));
  const kinds = arranged.map(({ rule }) => JSON.stringify({ class: rule.class, isLoose: rule.isLoose }));
  const different = [...new Set(kinds)];
  return {
    index: makeIndexData(arranged.map(({ rule }) => rule)),
    places: arranged.map(({ place }) => place),
    kindOf: kinds.map((kind) => different.indexOf(kind)),
    kinds: different.map((kind) => JSON.parse(kind)),
  };
}

let data: TableData | undefined;
let index: KeywordIndex | undefined;
const tables = new Map<string, RuleTable>();

/** The same rules, none of which is made before it is needed. */
export function guardTable(owners: readonly string[] = []): RuleTable {
  const key = owners.join('\n');
  const known = tables.get(key);
  if (known) return known;
  data ??= writtenDown() ?? makeTableData();
  index ??= openIndex(data.index);
  const { places, kinds, kindOf } = data;
  const kindAt = (rank: number): Kind => kinds[kindOf[rank] ?? -1] as Kind;
  const table = { index, kindAt, ruleAt: lazyRules(groupsFor(owners), places) };
  tables.set(key, table);
  return table;
}

const writtenDown = (): TableData | undefined =>
  typeof FORGE_GUARD_TABLE === 'undefined' ? undefined : JSON.parse(FORGE_GUARD_TABLE);

function lazyRules(groups: readonly RuleGroup[], places: readonly number[]): (rank: number) => Rule {
  const made: (readonly Rule[] | undefined)[] = [];
  return (rank) => {
    const place = places[rank] ?? -1;
    const at = Math.floor(place / PLACES);
    made[at] ??= groups[at]?.() ?? [];
    const rule = made[at]?.[place % PLACES];
    // A text that one rule less has looked at must not be written.
    if (!rule) throw new Error(`The guard has no rule ${rank}`);
    return rule;
  };
}
