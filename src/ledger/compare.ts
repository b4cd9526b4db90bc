import { plural } from '../core/text.js';
import type { Graph } from './graph.js';

/** `damage` is exit 4 and halts writing, `returned` is exit 5, `finding` is exit 1, `note` is exit 0. */
export type Level = 'damage' | 'returned' | 'finding' | 'note';

export type FindingKind =
  | 'unreadable'
  | 'link'
  | 'edited'
  | 'foreign'
  | 'returned'
  | 'unexplained'
  | 'set_back'
  | 'removed_by_commit'
  | 'missing'
  | 'published'
  | 'put_back'
  | 'rewound'
  | 'unknown'
  | 'elsewhere'
  | 'torn'
  | 'other'
  | 'renamed'
  | 'carriage_return'
  | 'journal'
  | 'incomplete';

export interface Finding {
  kind: FindingKind;
  level: Level;
  message: string;
  /** The records concerned. */
  ids: string[];
  file?: string;
  line?: number;
  offset?: number;
  commit?: string;
  /** A command that settles it. */
  hint?: string;
  last_good?: { line: number; n: number; id: string } | null;
}

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

const REPAIR = 'forge memory repair';
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
      ...describePublished(published),
      ...(isMany ? [describeMissing(lost)] : []),
      ...describeRewound(others),
      ...findNotes(evidence, away),
    ],
    putBack: isMany ? [] : lost,
    forgotten: others.map(({ id }) => id),
  };
}

function findDamage({ graph, settled }: Evidence): Finding[] {
  const unreadable = graph.containers.flatMap(({ name, problems }) =>
    problems
      .filter(({ sha256 }) => !settled.has(sha256))
      .map(({ line, offset, reason, last_good }) => ({
        ...{
          kind: 'unreadable' as const,
          level: 'damage' as const,
          ids: [],
          file: name,
          line,
          offset,
          last_good,
        },
        ...{ message: `${name}:${line}: ${reason}`, hint: REPAIR },
      })),
  );
  const links = graph
    .checkLinks()
    .filter(({ id }) => !settled.has(id))
    .map(({ file, id, reason }) => ({
      ...{ kind: 'link' as const, level: 'damage' as const, ids: [id], file },
      ...{ message: `${file}: ${reason}`, hint: REPAIR },
    }));
  const unexplained = [...graph.tombstones()].filter((id) => !settled.has(id));
  const cut: Finding[] = unexplained.map((id) => ({
    ...{ kind: 'unexplained', level: 'damage', ids: [id], hint: REPAIR },
    message: `record ${id.slice(0, 12)} was redacted, and no audit record says by whom`,
  }));
  if (graph.containers.length > MAX_CONTAINERS)
    cut.push({ kind: 'unreadable', level: 'damage', ids: [], message: `more than ${MAX_CONTAINERS} files` });
  return [...unreadable, ...links, ...cut];
}

/** What was changed comes before the lines that follow it, which are damaged in their links only. */
function byPlace(a: Finding, b: Finding): number {
  const [one = '', two = ''] = [a.file, b.file];
  return one < two ? -1 : one > two ? 1 : (a.line ?? 0) - (b.line ?? 0);
}

/** Records of another ledger: two people ran `init` where no common commit was. */
function findForeign(graph: Graph, settled: ReadonlySet<string>): Finding[] {
  const home = graph.ledger();
  const foreign = graph.containers.filter(({ ledger }) => ledger !== null && ledger !== home);
  const open = foreign.filter(({ ledger }) => !settled.has(ledger ?? ''));
  return open.map(({ name, ids, ledger }) => ({
    ...{ kind: 'foreign', level: 'finding', ids: [...ids], file: name, hint: REPAIR },
    message: `${name} belongs to another ledger (${ledger?.slice(0, 8)})`,
  }));
}

/** Content of a redacted record that a merge brought back. */
function findReturned(graph: Graph): Finding[] {
  const gone = new Set([...graph.tombstones(), ...graph.subjects('redacted')]);
  return graph.containers.flatMap(({ name, ids, tombstones }) => {
    const cut = new Set(tombstones);
    const back = ids.filter((id, index) => gone.has(id) && !cut.has(index));
    if (back.length === 0) return [];
    const message = `${name} has the content of ${plural(back.length, 'redacted record')} again`;
    const hint = `forge memory redact ${back.map((id) => id.slice(0, 12)).join(' ')} --reason "…"`;
    return [{ kind: 'returned', level: 'returned', ids: back, file: name, message, hint }];
  });
}

function describeEdit(graph: Graph, { id, seg, prev, file, commit }: AbsentRecord): Finding {
  const holder = graph.holderOf(seg, prev);
  const place = graph.bySegment.get(seg)?.find(({ ids }) => ids.includes(holder ?? ''));
  const index = place?.ids.indexOf(holder ?? '') ?? 0;
  const line = index + 1;
  const last_good =
    index > 0 ? { line: index, n: place?.ns[index - 1] ?? 0, id: place?.ids[index - 1] ?? '' } : null;
  return {
    ...{
      kind: 'edited',
      level: 'damage',
      ids: [id],
      file: place?.name ?? file ?? '',
      line,
      last_good,
      hint: REPAIR,
    },
    ...(commit === undefined ? {} : { commit }),
    message: `${place?.name}:${line}: the record was changed (${id.slice(0, 12)} before, ${holder?.slice(0, 12)} now)`,
  };
}

const LEDGER = '.forge/memory/ledger';

function describeSetBack(records: readonly AbsentRecord[]): Finding[] {
  if (records.length === 0) return [];
  const files = [...new Set(records.map(({ file }) => file))].sort();
  const message = `${plural(records.length, 'record')} in ${plural(files.length, 'file')} of HEAD are not in the working tree`;
  // Closed files never change, so the commit's are whole.
  const paths = files.length > 3 ? LEDGER : files.map((file) => `${LEDGER}/${file}`).join(' ');
  const hint = `git restore --source=HEAD -- ${paths}`;
  return [{ kind: 'set_back', level: 'finding', ids: idsOf(records), message, hint }];
}

function describeRemoved(records: readonly AbsentRecord[]): Finding[] {
  const commits = new Map<string, AbsentRecord[]>();
  for (const record of records)
    commits.set(record.commit ?? '', [...(commits.get(record.commit ?? '') ?? []), record]);
  return [...commits].map(([commit, group]) => ({
    ...{ kind: 'removed_by_commit', level: 'finding', ids: idsOf(group), commit, hint: REPAIR },
    message: `${plural(group.length, 'record')} ${group.length === 1 ? 'was' : 'were'} removed by commit ${commit.slice(0, 7)} (${group[0]?.subject})`,
  }));
}

/** What was published and taken back was rejected by somebody: it does not come back by itself. */
function describePublished(records: readonly AbsentRecord[]): Finding[] {
  if (records.length === 0) return [];
  const message = `${plural(records.length, 'record')} written here ${records.length === 1 ? 'was' : 'were'} published, and the branch is gone`;
  return [{ kind: 'published', level: 'note', ids: idsOf(records), message, hint: REPAIR }];
}

const describeMissing = (records: readonly AbsentRecord[]): Finding => ({
  ...{ kind: 'missing', level: 'note', ids: idsOf(records), hint: REPAIR },
  message: `${plural(records.length, 'record')} written here are nowhere; nothing was put back`,
});

function describeRewound(records: readonly AbsentRecord[]): Finding[] {
  if (records.length === 0) return [];
  const message = `${plural(records.length, 'record')} of other writers disappeared with a branch`;
  return [{ kind: 'rewound', level: 'note', ids: idsOf(records), message }];
}

function findNotes(evidence: Evidence, away: readonly AbsentRecord[]): Finding[] {
  const { graph, others, unknown, places, incomplete, damagedJournalLines } = evidence;
  const note = (kind: FindingKind, message: string, rest: Partial<Finding> = {}): Finding => ({
    ...{ kind, level: 'note', ids: [], message },
    ...rest,
  });
  const elsewhere = away.filter(({ id, isOwn }) => isOwn && places.has(id));
  const place = places.get(elsewhere[0]?.id ?? '');
  const files = new Set(unknown.map(({ file }) => file));
  const torn = graph.containers.filter((container) => container.torn);
  const renamed = graph.containers.filter(({ isRenamed }) => isRenamed);
  const withCr = graph.containers.filter(({ hasCr }) => hasCr);
  return [
    ...[...files].map((file) =>
      note('unknown', `${file} has records that forge did not write here and no commit has`, {
        ids: unknown.filter((record) => record.file === file).map(({ id }) => id),
        file,
      }),
    ),
    ...(elsewhere.length > 0
      ? [
          note(
            'elsewhere',
            `${plural(elsewhere.length, 'record')} written here are in ${place}, not in this tree`,
          ),
        ]
      : []),
    ...torn.map(({ name, torn: at }) =>
      note('torn', `${name}:${at?.line}: an unfinished line; its writer was interrupted`, { file: name }),
    ),
    ...renamed.map(({ name }) =>
      note('renamed', `${name} does not have the name and indentation that forge gave it`, { file: name }),
    ),
    ...withCr.map(({ name }) =>
      note(
        'carriage_return',
        `${name} has CRLF line ends. This line in .forge/.gitattributes prevents it: ${ATTRIBUTES}`,
        { file: name },
      ),
    ),
    ...others.map((name) => note('other', `${name} is not a file of the ledger`, { file: name })),
    ...(damagedJournalLines > 0
      ? [note('journal', `${plural(damagedJournalLines, 'line')} of the journal cannot be read`)]
      : []),
    ...incomplete.map((message) => note('incomplete', message)),
    ...(graph.containers.length > MANY_CONTAINERS
      ? [note('other', `${graph.containers.length} files make git slow`)]
      : []),
  ];
}

const idsOf = (records: readonly AbsentRecord[]): string[] => records.map(({ id }) => id);
