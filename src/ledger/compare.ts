import { compareText, firstNames, plural } from '../core/text.js';
import type { GuardFinding } from '../guard/guard.js';
import type { Context } from '../project/project.js';
import { type Container, eachRecord, type Line, UNLINKED } from './container.js';
import { type AbsentRecord, type Graph, groupBy } from './graph.js';
import type { Observation } from './observe.js';
import { containerBytes, MAX_CONTAINERS } from './read.js';

/** `damage` is exit 4 and halts writing, `returned` is exit 5, `finding` is exit 1, `note` is exit 0. */
type Level = 'damage' | 'returned' | 'finding' | 'note';

const RESTORE = 'restore the file, or vouch for its bytes by SHA-256 if no copy is known';
const PUT_BACK = 'put the records back; --discard accepts that they are gone';

interface Meaning {
  level: Level;
  /** What `forge memory repair` does about it. */
  repair?: string;
  /** A note that is worth a warning before work starts. */
  isNews?: true;
}

const KINDS = {
  unreadable: { level: 'damage', repair: RESTORE },
  link: { level: 'damage', repair: RESTORE },
  edited: { level: 'damage', repair: 'restore the record from the journal or from git' },
  unexplained: { level: 'damage', repair: 'accept that the record was redacted' },
  foreign: { level: 'finding', repair: 'take the records in' },
  returned: { level: 'returned' },
  set_back: { level: 'finding', repair: 'restore the files from HEAD' },
  removed_by_commit: { level: 'finding', repair: PUT_BACK },
  missing: { level: 'finding', repair: PUT_BACK },
  disappeared: { level: 'note', repair: PUT_BACK, isNews: true },
  put_back: { level: 'note', isNews: true },
  unknown: { level: 'note', isNews: true },
  rewound: { level: 'note' },
  elsewhere: { level: 'note' },
  file: { level: 'note' },
  journal: { level: 'note', isNews: true },
  incomplete: { level: 'note' },
  // From `verify --scan` and `--signatures`.
  secret: { level: 'returned' },
  signature_bad: { level: 'finding' },
  signed_missing: { level: 'finding' },
} satisfies Record<string, Meaning>;

type FindingCode = keyof typeof KINDS;

export const meaningOf = (code: FindingCode): Meaning => KINDS[code];

/** The findings of some levels. */
export const ofLevel = (findings: readonly Finding[], ...levels: readonly Level[]): Finding[] =>
  findings.filter(({ code }) => levels.includes(meaningOf(code).level));

const STATES = { damage: 'corrupted', returned: 'secret', finding: 'removed' } as const;

/** What memory with these findings is called. The worst one decides. */
export function stateOf(findings: readonly Finding[]): 'intact' | (typeof STATES)[keyof typeof STATES] {
  const worst = (['damage', 'returned', 'finding'] as const).find((level) => ofLevel(findings, level)[0]);
  return worst ? STATES[worst] : 'intact';
}

/** A finding with its exact place. */
export interface Finding {
  code: FindingCode;
  /** '' if it does not concern one file. */
  file: string;
  /** 1-based; 0 if it does not concern one line. */
  line: number;
  /** In bytes. */
  offset: number;
  message: string;
  last_good: { line: number; n: number; id: string } | null;
  /** A command that settles it; '' for a note that needs nothing. */
  hint: string;
  ids: string[];
  commit?: string;
  guard?: GuardFinding[];
}

/** Where the files of the ledger are. */
const LEDGER = '.forge/memory/ledger';

/** `file`: the name of a container. */
export function makeFinding(code: FindingCode, message: string, rest: Partial<Finding> = {}): Finding {
  const place = { file: '', line: 0, offset: 0, message, last_good: null };
  const hint = meaningOf(code).repair ? 'forge memory repair' : '';
  const finding = { code, ...place, hint, ids: [], ...rest };
  return { ...finding, file: finding.file && `${LEDGER}/${finding.file}` };
}

/** In one line, with its place. */
export const describeFinding = ({ file, line, message }: Finding): string =>
  [file, line || '', ` ${message}`].filter(Boolean).join(':').trim();

/** One finding for all these records, or none without records. `{count}` in the message is their number. */
export function describeRecords(
  code: FindingCode,
  records: readonly { id: string }[],
  message: string,
  rest: Partial<Finding> = {},
): Finding[] {
  if (records.length === 0) return [];
  const ids = records.map(({ id }) => id);
  return [makeFinding(code, message.replace('{count}', plural(ids.length, 'record')), { ids, ...rest })];
}

export type Comparison = ReturnType<typeof compare>;

/** If more are missing, a person decides. */
const MAX_PUT_BACK = 20;
/** This many containers make git and forge slow. */
const MANY_CONTAINERS = 20_000;

const PREVENTS = 'this line in .forge/.gitattributes prevents them:';
const ATTRIBUTES = 'memory/ledger/** -text -filter -ident -working-tree-encoding';

/** Compares the ledger of a working tree with everything else that knows records. */
export function compare(observation: Observation) {
  const { context, graph, located, settled, sparse } = observation;
  const open = observation.absent.filter(({ id }) => !settled.has(id));
  const replaced = graph.replaced(open);
  const edited = new Set(replaced.map(({ record }) => record));
  const missing = open.filter((record) => !edited.has(record) && !sparse.has(record.file ?? ''));
  const from = (...sources: AbsentRecord['source'][]): AbsentRecord[] =>
    missing.filter(({ source }) => sources.includes(source));
  const away = from('journal', 'anchor');
  const nowhere = away.filter(({ id }) => !located.places.has(id));
  const others = nowhere.filter(({ isOwn }) => !isOwn);
  const lost = nowhere.filter(({ isOwn, isPublished }) => isOwn && !isPublished);
  const wanted = lost.length > MAX_PUT_BACK ? [] : lost;
  // Somebody rejected what was published, so it does not return by itself.
  const disappeared = nowhere.filter((record) => record.isOwn && !wanted.includes(record));
  const edits = [...groupBy(replaced, ({ holder }) => holder.container)].flatMap(([container, records]) =>
    describeEdits(context, container, records),
  );
  // Nothing after an edit is good.
  const withGood = (finding: Finding): Finding => {
    const first = edits.find(({ file, line }) => file === finding.file && line < finding.line);
    return first ? { ...finding, last_good: first.last_good } : finding;
  };
  const damage = oncePerPlace(findDamage(observation), edits).map(withGood);
  const changed = replaced.map(({ holder }) => holder.id);
  return {
    findings: [
      ...damage.sort((a, b) => compareText(a.file, b.file) || a.line - b.line),
      ...findForeign(graph, settled),
      ...findReturned(graph),
      ...describeSetBack(from('head')),
      ...describeRemoved(from('history')),
      ...describeRecords('disappeared', disappeared, '{count} written here disappeared; none was restored'),
      ...describeRecords('rewound', others, '{count} of other writers disappeared with a branch'),
      ...findNotes(observation, away, changed),
    ],
    putBack: wanted,
    // They are reported once.
    forgotten: others.map(({ id }) => id),
  };
}

/** The line after a damaged one has a wrong link, and the line after a removed one is not an edit of it. */
function oncePerPlace(damage: readonly Finding[], edits: readonly Finding[]): Finding[] {
  const at = ({ file, line }: Finding, back = 0): string => `${file}:${line - back}`;
  const unreadable = new Set(damage.map((one) => at(one)));
  const all = [...damage, ...edits.filter((edit) => !unreadable.has(at(edit)))];
  const places = new Set(all.map((one) => at(one)));
  return all.filter((one) => one.message !== UNLINKED || !places.has(at(one, 1)));
}

function findDamage({ graph, settled }: Observation): Finding[] {
  const isOpen = (subject: string): boolean => !settled.has(subject);
  const unreadable = graph.containers.flatMap(({ name: file, problems }) =>
    problems
      .filter(({ sha256 }) => isOpen(sha256))
      .map(({ reason, sha256: _, ...place }) => makeFinding('unreadable', reason, { file, ...place })),
  );
  const links = graph
    .checkLinks()
    .filter(({ id }) => isOpen(id))
    .map(({ file, id, reason }) => makeFinding('link', reason, { ids: [id], file }));
  const unexplained = [...graph.tombstones()].filter(isOpen).map((id) => {
    const message = `record ${id.slice(0, 12)} was redacted, but no audit record says by whom`;
    return makeFinding('unexplained', message, { ids: [id] });
  });
  const isFull = graph.containers.length > MAX_CONTAINERS;
  const full = isFull ? [makeFinding('unreadable', `more than ${MAX_CONTAINERS} files`)] : [];
  return [...unreadable, ...links, ...unexplained, ...full];
}

/** Records of another ledger: two people ran `init` before they had a common commit. */
function findForeign(graph: Graph, settled: ReadonlySet<string>): Finding[] {
  const home = graph.ledger();
  return graph.containers.flatMap(({ name: file, ids, ledger }) =>
    ledger === null || ledger === home || settled.has(ledger)
      ? []
      : [makeFinding('foreign', `it belongs to another ledger (${ledger.slice(0, 8)})`, { ids, file })],
  );
}

/** Content of a redacted record that a merge brought back. */
function findReturned(graph: Graph): Finding[] {
  const redacted = new Set([...graph.tombstones(), ...graph.subjects('redacted')]);
  if (redacted.size === 0) return [];
  return graph.containers.flatMap(({ name, ids, tombstones }) => {
    const back = ids.filter((id, index) => redacted.has(id) && !tombstones.includes(index));
    if (back.length === 0) return [];
    const message = `it has the content of ${plural(back.length, 'redacted record')} again`;
    const hint = `forge memory redact ${back.map((id) => id.slice(0, 12)).join(' ')} --reason "TEXT"`;
    return [makeFinding('returned', message, { ids: back, file: name, hint })];
  });
}

/** The records in the place of those that are gone, in the order of the file. */
function describeEdits(context: Context, { name, ids, ns }: Container, edits: ReturnType<Graph['replaced']>) {
  // A line that is no record has no index.
  const lines = new Map<string, Line>();
  eachRecord(containerBytes(context, name), (id, _, line) => lines.set(id, line));
  const found = edits.map(({ record: { id, commit }, holder: { index, id: now } }) => {
    const { number: line = 0, offset = 0 } = lines.get(now) ?? {};
    const [before = '', n = 0] = [ids[index - 1], ns[index - 1]];
    const good = lines.get(before);
    const message = `the record was changed (${id.slice(0, 12)} before, ${now.slice(0, 12)} now)`;
    const last_good = good ? { line: good.number, n, id: before } : null;
    const place = { file: name, line, offset, last_good };
    return makeFinding('edited', message, { ...place, ids: [id], ...(commit && { commit }) });
  });
  return found.sort((a, b) => a.line - b.line);
}

function describeSetBack(records: readonly AbsentRecord[]): Finding[] {
  const files = [...new Set(records.map(({ file }) => file))].sort();
  const paths = files.length > 3 ? LEDGER : files.map((file) => `${LEDGER}/${file}`).join(' ');
  const message = `the working tree lacks {count} in ${plural(files.length, 'file')} of HEAD`;
  return describeRecords('set_back', records, message, { hint: `git restore --source=HEAD -- ${paths}` });
}

const describeRemoved = (records: readonly AbsentRecord[]): Finding[] =>
  [...groupBy(records, ({ commit = '' }) => commit)].flatMap(([commit, group]) => {
    const short = commit.slice(0, 7);
    const by = `commit ${short} (${group[0]?.subject})`;
    const more = `git show --diff-merges=separate --stat ${short} -- .forge shows what went with them`;
    return describeRecords('removed_by_commit', group, `${by} removed {count}; ${more}`, { commit });
  });

function findNotes(
  { graph, unknown, incomplete, located, own }: Observation,
  away: readonly AbsentRecord[],
  changed: readonly string[],
): Finding[] {
  const { places } = located;
  const elsewhere = away.filter(({ id, isOwn }) => isOwn && places.has(id));
  const [stashed = [], others = []] = [true, false].map((isStash) =>
    elsewhere.filter(({ id }) => (places.get(id) === 'stash') === isStash),
  );
  const named = firstNames([...new Set(others.map(({ id }) => places.get(id) ?? ''))], 3);
  const files = graph.containers.length;
  const journal = `the journal in the git dir has ${plural(own.damaged.length, 'damaged line')}`;
  const strange = unknown.filter(({ id }) => !changed.includes(id));
  const unwritten = 'it has {count} that forge did not write here and no commit has';
  return [
    ...[...groupBy(strange, ({ file }) => file)].flatMap(([file, records]) =>
      describeRecords('unknown', records, unwritten, { file }),
    ),
    ...describeRecords('elsewhere', others, `in ${named}, not in this tree: {count} written here`),
    ...describeRecords(
      'elsewhere',
      stashed,
      'in stash, not in this tree: {count} written here (git stash pop)',
    ),
    ...graph.containers.flatMap(describeFile),
    ...(own.damaged.length > 0 ? [makeFinding('journal', journal)] : []),
    ...incomplete.map((message) => makeFinding('incomplete', message)),
    ...(files > MANY_CONTAINERS ? [makeFinding('file', `${files} files make git slow`)] : []),
  ];
}

/** A file with whole records that forge did not leave like this. */
function describeFile({ name: file, torn, hasCr }: Container): Finding[] {
  const crlf = `it has CRLF line ends. To remove them: sed -i 's/\\r$//' FILE; ${PREVENTS} ${ATTRIBUTES}`;
  const cut = 'an unfinished line; its writer was interrupted';
  return [
    ...(torn === null ? [] : [makeFinding('file', cut, { file, line: torn })]),
    ...(hasCr ? [makeFinding('file', crlf, { file })] : []),
  ];
}
