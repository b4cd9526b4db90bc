import { join } from 'node:path';
import { findMarked, readObject, readUnmerged, type Stages } from '../../adapters/git/conflict.js';
import { streamGit } from '../../adapters/git/git.js';
import { formatArgv } from '../../domain/argv.js';
import type { Choice } from '../../domain/conflict/fields.js';
import { mergeProgress } from '../../domain/conflict/progress.js';
import { conflictLines, type Sides, sidesOf } from '../../domain/conflict/sides.js';
import { mergeState, type StateName } from '../../domain/conflict/state.js';
import type { ConflictFacts } from '../../domain/diagnosis/conflict.js';
import { decodeUtf8 } from '../../domain/document.js';
import { corrupted } from '../../domain/error.js';
import { hintFor } from '../../domain/ledger/finding.js';
import {
  activeIssuesFile,
  checkpointsFolder,
  configFile,
  doneIssuesFolder,
  featuresFile,
  focusFile,
  kfrFile,
  knowledgeFile,
  memoryFolder,
  progressFile,
  sessionFile,
  sessionsFolder,
  shown,
  shownFrom,
} from '../../store/layout.js';
import { attempt, valueOr } from '../attempt.js';
import type { Context } from '../context.js';

/** A file that two branches changed, and what can be done about it. */
export interface Conflict extends ConflictFacts {
  path: string;
  /** What stands there; null: nothing. */
  before: Buffer | null;
  /** What it would become, and by which choices; absent where only a person can tell. */
  merged?: { bytes: Buffer; choices: Choice[] };
  /** As git names it, where git has to be told; null where it knows of no conflict. */
  unmerged: string | null;
}

type Kind = StateName | 'progress' | 'ledger' | 'local' | 'other';

/** All conflicts in `.forge/`. Reads only. A git that does not answer hides none that stand in the files of state. */
export async function findConflicts(context: Context): Promise<Conflict[]> {
  const { layout, disk } = context;
  const known = [
    featuresFile,
    knowledgeFile,
    activeIssuesFile,
    configFile,
    progressFile,
    focusFile,
    kfrFile,
    sessionFile,
  ];
  const { unmerged, marked } = await askGit(context);
  const paths = new Set([...known.map((of) => of(layout)), ...marked, ...unmerged.keys()]);
  const found: Conflict[] = [];
  for (const path of [...paths].sort()) {
    const stages = unmerged.get(path);
    // What cannot be read is told by whoever needs it.
    const before = await valueOr(undefined, () => disk.read(path));
    if (before === undefined) continue;
    const lines = before && conflictLines(before.toString('latin1'));
    if (stages || lines) found.push(await judge(context, { path, before, lines, stages: stages ?? null }));
  }
  return found;
}

async function askGit({
  git,
  repository,
  layout,
}: Context): Promise<{ unmerged: Map<string, Stages>; marked: string[] }> {
  if (!git || !repository) return { unmerged: new Map(), marked: [] };
  const folder = shownFrom(repository.root, layout.dir);
  const asked = await attempt(() => Promise.all([readUnmerged(git, folder), findMarked(git, folder)]));
  if ('problem' in asked) return { unmerged: new Map(), marked: [] };
  const [unmerged, marked] = asked.value;
  const whole = (path: string): string => join(repository.root, path);
  return {
    unmerged: new Map([...unmerged].map(([path, stages]) => [whole(path), stages])),
    marked: marked.map(whole),
  };
}

interface Seen {
  path: string;
  before: Buffer | null;
  lines: { from: number; to: number } | null;
  stages: Stages | null;
}

async function judge(context: Context, seen: Seen): Promise<Conflict> {
  const { layout, repository } = context;
  const { path, before, lines, stages } = seen;
  const file = shown(layout, path);
  const kind = kindOf(context, path);
  const unmerged = stages && repository ? shownFrom(repository.root, path) : null;
  const conflict = { file, path, before, lines, unmerged };
  if (kind === 'ledger')
    return { ...conflict, state: 'ledger', commands: [hintFor('conflict_marker', file, true)] };
  if (kind === 'local')
    return { ...conflict, state: 'local', commands: [`mv ${file} ${file}.damaged && forge init`] };
  if (stages && !lines && before && stages.ours && stages.theirs)
    return { ...conflict, state: 'resolved', commands: [`git add -- ${formatArgv([file])}`] };
  if (kind === 'other') return { ...conflict, state: 'hand', commands: byHand(context, seen) };
  const merged = await attempt(() => mergeFile(context, kind, seen, file));
  if ('value' in merged) return { ...conflict, state: 'mergeable', commands: [], merged: merged.value };
  return { ...conflict, state: 'hand', problem: merged.problem.message, commands: byHand(context, seen) };
}

function kindOf({ layout }: Context, path: string): Kind {
  const kinds: [string, Kind][] = [
    [featuresFile(layout), 'features'],
    [knowledgeFile(layout), 'knowledge'],
    [activeIssuesFile(layout), 'issues'],
    [progressFile(layout), 'progress'],
    [focusFile(layout), 'local'],
    [kfrFile(layout), 'local'],
    [sessionFile(layout), 'local'],
  ];
  const kind = kinds.find(([known]) => known === path)?.[1];
  if (kind) return kind;
  const name = shown({ ...layout, root: sessionsFolder(layout) }, path);
  if (/^[^./][^/]*\/session\.json$/.test(name)) return 'session';
  if (/^[^./][^/]*\/progress\.txt$/.test(name)) return 'progress';
  if (/^[^./][^/]*\.json$/.test(shown({ ...layout, root: doneIssuesFolder(layout) }, path))) return 'issue';
  return path.startsWith(memoryFolder(layout)) && path.endsWith('.jsonl') ? 'ledger' : 'other';
}

/** One side may have deleted it; of two checkpoints of one name each proves a state of its own: there is one to choose. */
function byHand({ layout }: Context, { path, stages }: Seen): string[] {
  const name = formatArgv([shown(layout, path)]);
  if (stages && !(stages.ours && stages.theirs))
    return [`git add -- ${name}   (keeps it)`, `git rm -- ${name}   (deletes it)`];
  if (stages && path.startsWith(checkpointsFolder(layout)))
    return ['ours', 'theirs'].map((side) => `git checkout --${side} -- ${name} && git add -- ${name}`);
  return [
    `\${EDITOR:-vi} ${name}   (keep what both sides mean, remove the marker lines)`,
    ...(stages ? [`git add -- ${name}`] : []),
  ];
}

async function mergeFile(
  { world, repository }: Context,
  kind: StateName | 'progress',
  { before, stages }: Seen,
  file: string,
): Promise<{ bytes: Buffer; choices: Choice[] }> {
  const stream = streamGit(repository?.root ?? '.', world.env);
  const stage = async (oid: string | undefined): Promise<Buffer | null> =>
    oid === undefined ? null : await readObject(stream, oid, file);
  const [ours, theirs, base] = stages
    ? [await stage(stages.ours), await stage(stages.theirs), await stage(stages.base)]
    : [null, null, null];
  const survivor = ours ?? theirs;
  if (stages && survivor && !(ours && theirs))
    return keep(kind, before ?? survivor, file, ours ? 'theirs' : 'ours');
  if (ours && theirs) return merge(kind, { ours, theirs, base }, file, true);
  return merge(kind, marked(before, file), file, false);
}

function marked(before: Buffer | null, file: string): Sides<Buffer> {
  const sides = before && sidesOf(decodeUtf8(before, file));
  if (!sides) throw corrupted('file.conflict', `${file}: its conflict markers do not pair up.`, { file });
  const { ours, theirs, base } = sides;
  return {
    ours: Buffer.from(ours),
    theirs: Buffer.from(theirs),
    base: base === null ? null : Buffer.from(base),
  };
}

function merge(
  kind: StateName | 'progress',
  sides: Sides<Buffer>,
  file: string,
  isSure: boolean,
): { bytes: Buffer; choices: Choice[] } {
  if (kind !== 'progress') return mergeState(kind, sides, file, isSure);
  const [ours, theirs] = [decodeUtf8(sides.ours, file), decodeUtf8(sides.theirs, file)];
  const merged = mergeProgress({ ours, theirs, base: null });
  if (!merged) throw corrupted('file.progress', `${file}: not all of it is lines of progress.`, { file });
  return { bytes: Buffer.from(merged.text), choices: merged.choices };
}

/** Deleted by one side, changed by the other: it stays, if it can be read. */
function keep(
  kind: StateName | 'progress',
  bytes: Buffer,
  file: string,
  deletedBy: 'ours' | 'theirs',
): { bytes: Buffer; choices: Choice[] } {
  if (kind !== 'progress') mergeState(kind, { ours: bytes, theirs: bytes, base: null }, file, true);
  const [ours, theirs] = deletedBy === 'ours' ? [undefined, 'changed'] : ['changed', undefined];
  const why = `kept: deleted by ${deletedBy}, changed by ${deletedBy === 'ours' ? 'theirs' : 'ours'}`;
  return { bytes, choices: [{ id: null, field: null, ours, theirs, value: 'kept', why }] };
}
