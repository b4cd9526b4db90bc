import { plural } from '../core/text.js';
import type { GuardFinding } from '../guard/guard.js';
import type { Container } from './container.js';
import { type Graph, groupBy } from './graph.js';

/** `damage` is exit 4 and halts writing, `returned` is exit 5, `finding` is exit 1, `note` is exit 0. */
export type Level = 'damage' | 'returned' | 'finding' | 'note';

const RESTORE = 'restore the file, or vouch for its bytes by SHA-256 where no copy is known';
const PUT_BACK = 'put the records back; --discard accepts that they are gone';

interface Meaning {
  level: Level;
  /** What `forge memory repair` does about it. */
  repair?: string;
  /** A note that a person should know before working on. */
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
  missing: { level: 'note', repair: PUT_BACK, isNews: true },
  published: { level: 'note', repair: PUT_BACK, isNews: true },
  put_back: { level: 'note', isNews: true },
  unknown: { level: 'note', isNews: true },
  rewound: { level: 'note' },
  elsewhere: { level: 'note' },
  file: { level: 'note' },
  journal: { level: 'note', isNews: true },
  incomplete: { level: 'note' },
  // Of a closer look: `verify --scan` and `--signatures`.
  secret: { level: 'returned' },
  signature_bad: { level: 'finding' },
  signed_missing: { level: 'finding' },
} satisfies Record<string, Meaning>;

export type FindingCode = keyof typeof KINDS;

export const meaningOf = (code: FindingCode): Meaning => KINDS[code];

/** A finding with its exact place, as commands show it. */
export interface Finding {
  code: FindingCode;
  level: Level;
  /** '' where it is not one file. */
  file: string;
  /** 1-based; 0 where it is not one line. */
  line: number;
  /** In bytes. */
  offset: number;
  message: string;
  last_good: { line: number; n: number; id: string } | null;
  /** A command that settles it; '' of a note that waits for nobody. */
  hint: string;
  /** The records concerned. */
  ids: string[];
  commit?: string;
  /** What the guard found in a stored record. */
  guard?: GuardFinding[];
}

/** Where the files of the ledger are. */
const LEDGER = '.forge/memory/ledger';

/** `file`: the name of a container. */
export function makeFinding(code: FindingCode, message: string, rest: Partial<Finding> = {}): Finding {
  const place = { file: '', line: 0, offset: 0 };
  const { level, repair } = meaningOf(code);
  const common = { last_good: null, hint: repair ? 'forge memory repair' : '', ids: [] };
  const finding = { code, level, ...place, message, ...common, ...rest };
  return { ...finding, file: finding.file && `${LEDGER}/${finding.file}` };
}

/** In one line, with its place. */
export const describeFinding = ({
  file,
  line,
  message,
}: Pick<Finding, 'file' | 'line' | 'message'>): string =>
  file === '' ? message : line > 0 ? `${file}:${line}: ${message}` : `${file}: ${message}`;

/** One finding for all these records; none without records. */
export function describeRecords(
  code: FindingCode,
  records: readonly { id: string }[],
  text: string,
  rest: Partial<Finding> = {},
): Finding[] {
  if (records.length === 0) return [];
  const message = `${plural(records.length, 'record')} ${text}`;
  return [makeFinding(code, message, { ids: records.map(({ id }) => id), ...rest })];
}

export const wasOrWere = ({ length }: readonly unknown[]): string => (length === 1 ? 'was' : 'were');

/** A record that something outside the working tree knows, and that is not in the working tree. */
export interface AbsentRecord {
  id: string;
  seg: string;
  prev: string | null;
  /** Who knows it. HEAD outranks history, history the journal, the journal an anchor. */
  source: 'head' | 'history' | 'journal' | 'anchor';
  /** Written in this worktree. */
  isOwn: boolean;
  isPublished: boolean;
  /** Where git has its bytes. */
  file?: string;
  blob?: string;
  commit?: string;
  subject?: string;
}

export interface UnknownRecord {
  id: string;
  file: string;
}

export interface Evidence {
  graph: Graph;
  /** Files in the ledger folder that are not containers. */
  others: readonly string[];
  absent: readonly AbsentRecord[];
  /** Where an absent record stands instead: a ref or another worktree. */
  places: ReadonlyMap<string, string>;
  /** Ids, and SHA-256 of lines, that a person settled: discarded or vouched for. */
  settled: ReadonlySet<string>;
  unknown: readonly UnknownRecord[];
  sparse: ReadonlySet<string>;
  damagedJournalLines: number;
  incomplete: readonly string[];
}

export interface Comparison {
  findings: Finding[];
  putBack: AbsentRecord[];
  /** Records of other writers that disappeared with their branch. They are reported once. */
  forgotten: string[];
}

/** Beyond it the folder is damage: no project writes so many. */
export const MAX_CONTAINERS = 100_000;
/** With more missing records a person decides. */
const MAX_PUT_BACK = 20;
/** So many containers slow git and forge down. */
const MANY_CONTAINERS = 20_000;

const ATTRIBUTES = 'memory/ledger/** -text -filter -ident -working-tree-encoding';

/** Judges a working tree's ledger by everything else that knows records. */
export function compare(evidence: Evidence): Comparison {
  const { graph } = evidence;
  const open = evidence.absent.filter(({ id }) => !evidence.settled.has(id));
  const isEdited = ({ seg, prev }: AbsentRecord): boolean => graph.holderOf(seg, prev) !== null;
  const isSparse = ({ file }: AbsentRecord): boolean => file !== undefined && evidence.sparse.has(file);
  const missing = open.filter((record) => !isEdited(record) && !isSparse(record));
  const from = (source: AbsentRecord['source']): AbsentRecord[] =>
    missing.filter((record) => record.source === source);
  const away = [...from('journal'), ...from('anchor')];
  const nowhere = away.filter(({ id }) => !evidence.places.has(id));
  const own = nowhere.filter(({ isOwn }) => isOwn);
  const [published, lost] = [own.filter((r) => r.isPublished), own.filter((r) => !r.isPublished)];
  const isMany = lost.length > MAX_PUT_BACK;
  const others = nowhere.filter(({ isOwn }) => !isOwn);
  return {
    findings: [
      ...[
        ...findDamage(evidence),
        ...open.filter(isEdited).map((record) => describeEdit(graph, record)),
      ].sort(byPlace),
      ...findForeign(graph, evidence.settled),
      ...findReturned(graph),
      ...describeSetBack(from('head')),
      ...describeRemoved(from('history')),
      // Somebody rejected what was published and then taken back: it does not return by itself.
      ...describeRecords(
        'published',
        published,
        `written here ${wasOrWere(published)} published, and the branch is gone`,
      ),
      ...describeRecords('missing', isMany ? lost : [], 'written here are nowhere; nothing was put back'),
      ...describeRecords('rewound', others, 'of other writers disappeared with a branch'),
      ...findNotes(evidence, away),
    ],
    putBack: isMany ? [] : lost,
    forgotten: others.map(({ id }) => id),
  };
}

function findDamage({ graph, settled }: Evidence): Finding[] {
  const isOpen = (subject: string): boolean => !settled.has(subject);
  const unreadable = graph.containers.flatMap(({ name: file, problems }) =>
    problems
      .filter(({ sha256 }) => isOpen(sha256))
      .map(({ line, offset, reason, last_good }) =>
        makeFinding('unreadable', reason, { file, line, offset, last_good }),
      ),
  );
  const links = graph
    .checkLinks()
    .filter(({ id }) => isOpen(id))
    .map(({ file, id, reason }) => makeFinding('link', reason, { ids: [id], file }));
  const unexplained = [...graph.tombstones()].filter(isOpen).map((id) => {
    const message = `record ${id.slice(0, 12)} was redacted, and no audit record says by whom`;
    return makeFinding('unexplained', message, { ids: [id] });
  });
  const isFull = graph.containers.length > MAX_CONTAINERS;
  const full = isFull ? [makeFinding('unreadable', `more than ${MAX_CONTAINERS} files`)] : [];
  return [...unreadable, ...links, ...unexplained, ...full];
}

/** What was changed comes before the lines that follow it, which are damaged in their links only. */
const byPlace = (a: Finding, b: Finding): number =>
  a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line;

/** Records of another ledger: two people ran `init` where no common commit was. */
function findForeign(graph: Graph, settled: ReadonlySet<string>): Finding[] {
  const home = graph.ledger();
  const foreign = graph.containers.filter(({ ledger }) => ledger !== null && ledger !== home);
  const open = foreign.filter(({ ledger }) => !settled.has(ledger ?? ''));
  return open.map(({ name: file, ids, ledger }) =>
    makeFinding('foreign', `it belongs to another ledger (${ledger?.slice(0, 8)})`, { ids, file }),
  );
}

/** Content of a redacted record that a merge brought back. */
function findReturned(graph: Graph): Finding[] {
  const gone = new Set([...graph.tombstones(), ...graph.subjects('redacted')]);
  return graph.containers.flatMap(({ name, ids, tombstones }) => {
    const cut = new Set(tombstones);
    const back = ids.filter((id, index) => gone.has(id) && !cut.has(index));
    if (back.length === 0) return [];
    const message = `it has the content of ${plural(back.length, 'redacted record')} again`;
    const hint = `forge memory redact ${back.map((id) => id.slice(0, 12)).join(' ')} --reason "TEXT"`;
    return [makeFinding('returned', message, { ids: back, file: name, hint })];
  });
}

function describeEdit(graph: Graph, { id, seg, prev, file, commit }: AbsentRecord): Finding {
  const holder = graph.holderOf(seg, prev) ?? '';
  const {
    name = file ?? '',
    ids = [],
    ns = [],
  } = graph.bySegment.get(seg)?.find((c) => c.ids.includes(holder)) ?? {};
  const index = ids.indexOf(holder);
  const before = ids[index - 1];
  const message = `the record was changed (${id.slice(0, 12)} before, ${holder.slice(0, 12)} now)`;
  return makeFinding('edited', message, {
    ...{ ids: [id], file: name, line: index + 1 },
    last_good: before === undefined ? null : { line: index, n: ns[index - 1] ?? 0, id: before },
    ...(commit === undefined ? {} : { commit }),
  });
}

function describeSetBack(records: readonly AbsentRecord[]): Finding[] {
  const files = [...new Set(records.map(({ file }) => file))].sort();
  // Closed files never change, so the commit's are whole.
  const paths = files.length > 3 ? LEDGER : files.map((file) => `${LEDGER}/${file}`).join(' ');
  const text = `in ${plural(files.length, 'file')} of HEAD are not in the working tree`;
  return describeRecords('set_back', records, text, { hint: `git restore --source=HEAD -- ${paths}` });
}

const describeRemoved = (records: readonly AbsentRecord[]): Finding[] =>
  [...groupBy(records, ({ commit = '' }) => commit)].flatMap(([commit, group]) => {
    const text = `${wasOrWere(group)} removed by commit ${commit.slice(0, 7)} (${group[0]?.subject})`;
    return describeRecords('removed_by_commit', group, text, { commit });
  });

function findNotes(evidence: Evidence, away: readonly AbsentRecord[]): Finding[] {
  const { graph, others, unknown, places, incomplete, damagedJournalLines } = evidence;
  const elsewhere = away.filter(({ id, isOwn }) => isOwn && places.has(id));
  const place = places.get(elsewhere[0]?.id ?? '');
  const count = graph.containers.length;
  return [
    ...[...groupBy(unknown, ({ file }) => file)].map(([file, records]) =>
      makeFinding('unknown', 'it has records that forge did not write here and no commit has', {
        ids: records.map(({ id }) => id),
        file,
      }),
    ),
    ...describeRecords('elsewhere', elsewhere, `written here are in ${place}, not in this tree`),
    ...graph.containers.flatMap(describeFile),
    ...others.map((file) => makeFinding('file', 'not a file of the ledger', { file })),
    ...(damagedJournalLines > 0
      ? [
          makeFinding(
            'journal',
            `${plural(damagedJournalLines, 'line')} of the journal in the git dir could not be read`,
          ),
        ]
      : []),
    ...incomplete.map((message) => makeFinding('incomplete', message)),
    ...(count > MANY_CONTAINERS ? [makeFinding('file', `${count} files make git slow`)] : []),
  ];
}

/** A file that forge did not leave so, with records that are whole. */
function describeFile({ name: file, torn, isRenamed, hasCr }: Container): Finding[] {
  const note = (isSo: boolean, message: string, line = 0): Finding[] =>
    isSo ? [makeFinding('file', message, { file, line })] : [];
  return [
    ...note(torn !== null, 'an unfinished line; its writer was interrupted', torn?.line),
    ...note(isRenamed, 'it does not have the name and indentation that forge gave it'),
    ...note(hasCr, `it has CRLF line ends. This line in .forge/.gitattributes prevents it: ${ATTRIBUTES}`),
  ];
}
