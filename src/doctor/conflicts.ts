import { join } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { conflictLines } from '../core/conflict-marks.js';
import {
  activeIssuesFile,
  checkpointsFolder,
  configFile,
  doneIssuesFolder,
  featuresFolder,
  focusFile,
  kfrFile,
  memoryFolder,
  progressFile,
  sessionFile,
  sessionsFolder,
  shown,
  shownFrom,
} from '../core/paths.js';
import { oneLine } from '../core/text.js';
import { findMarked, readUnmerged, type Stages } from '../git/status.js';
import type { Context } from '../project/project.js';
import { attempt, valueOr } from './attempt.js';
import type { ConflictFacts } from './conflict-rules.js';
import { editNotes, mergeFile, readVersions, sideAlone, type Versions } from './conflict-versions.js';
import type { Choice } from './merge-fields.js';
import type { StateName } from './merge-state.js';
import { mergeTwice } from './merge-twice.js';

/** A file that two branches changed, and what can be done about it. */
export interface Conflict extends ConflictFacts {
  path: string;
  /** What stands there; null: nothing. */
  before: Buffer | null;
  /** What it would become, and by which choices; absent where only a person can tell. */
  merged?: { bytes: Buffer; choices: Choice[] };
  /** As git names it, where git has to be told; null where it knows of no conflict. */
  unmerged: string | null;
  /** What a person should know of the file before it is merged. */
  notes: string[];
}

type Kind = StateName | 'ledger' | 'local' | 'other';

/** All conflicts in `.forge/`. Reads only. A git that does not answer hides none that stand in the files of state. */
export async function findConflicts(context: Context): Promise<Conflict[]> {
  const { layout, disk } = context;
  const known = [activeIssuesFile, configFile, progressFile, focusFile, kfrFile, sessionFile];
  const { unmerged, marked } = await askGit(context);
  const paths = new Set([...known.map((of) => of(layout)), ...marked, ...unmerged.keys()]);
  const found: Conflict[] = [];
  for (const path of [...paths].sort()) {
    const stages = unmerged.get(path);
    // What cannot be read is told by whoever needs it.
    const before = await valueOr(undefined, () => disk.read(path));
    if (before === undefined) continue;
    const lines = before && conflictLines(before.toString('latin1'));
    const twice = stages || lines || !before ? null : judgeTwice(context, path, before);
    if (twice) found.push(twice);
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

/** Git saw no conflict, and left ids that stand twice. */
function judgeTwice(context: Context, path: string, before: Buffer): Conflict | null {
  const file = shown(context.layout, path);
  const kind = kindOf(context, path);
  const merged = kind === 'issues' ? mergeTwice(before, file) : null;
  if (!merged) return null;
  const notes = [`"ours" is the one further up`];
  const problem = oneLine(merged.ids.join(', '), 80);
  return {
    file,
    path,
    before,
    lines: null,
    unmerged: null,
    notes,
    state: 'twice',
    problem,
    commands: [],
    merged,
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
  const conflict = { file, path, before, lines, unmerged, notes: [] };
  if (kind === 'ledger') return { ...conflict, state: 'ledger', commands: ['forge memory repair'] };
  if (kind === 'local')
    return { ...conflict, state: 'local', commands: [`mv ${file} ${file}.damaged && forge init`] };
  const read = await attempt(() => readVersions(context, stages, file));
  if ('value' in read) return weigh(context, { ...seen, kind, conflict, versions: read.value });
  return { ...conflict, state: 'hand', problem: read.problem.message, commands: byHand(context, seen) };
}

interface Read extends Seen {
  kind: StateName | 'other';
  conflict: Pick<Conflict, 'file' | 'path' | 'before' | 'lines' | 'unmerged'>;
  versions: Versions | null;
}

async function weigh(context: Context, seen: Read): Promise<Conflict> {
  const { kind, before, lines, versions } = seen;
  const { file } = seen.conflict;
  const alone = lines ? null : sideAlone(before, versions);
  const notes =
    alone === null ? editNotes(before, lines, versions) : [`it has what ${alone} has, and no more`];
  const conflict = { ...seen.conflict, notes };
  const resolved = {
    ...conflict,
    state: 'resolved' as const,
    commands: [`git add -- ${formatArgv([file])}`],
  };
  if (before && !lines && versions?.ours && versions.theirs && alone === null) return resolved;
  const hand = { ...conflict, state: 'hand' as const, commands: byHand(context, seen) };
  if (kind === 'other') return alone === null ? hand : { ...hand, problem: `${notes[0]}.` };
  const merged = await attempt(() => mergeFile(kind, before, versions, file));
  if ('problem' in merged) return { ...hand, problem: merged.problem.message };
  if (alone !== null && before?.equals(merged.value.bytes)) return resolved;
  const told = alone === null ? {} : { problem: `${notes[0]}.` };
  return { ...conflict, ...told, state: 'mergeable', commands: [], merged: merged.value };
}

function kindOf({ layout }: Context, path: string): Kind {
  const kinds: [string, Kind][] = [
    [activeIssuesFile(layout), 'issues'],
    [progressFile(layout), 'local'],
    [focusFile(layout), 'local'],
    [kfrFile(layout), 'local'],
    [sessionFile(layout), 'local'],
  ];
  const kind = kinds.find(([known]) => known === path)?.[1];
  if (kind) return kind;
  if (path.startsWith(featuresFolder(layout))) return 'feature';
  const name = shown({ ...layout, root: sessionsFolder(layout) }, path);
  if (/^[^./][^/]*\.json$/.test(name)) return 'session';
  if (/^[^./][^/]*\.json$/.test(shown({ ...layout, root: doneIssuesFolder(layout) }, path))) return 'issue';
  return path.startsWith(memoryFolder(layout)) && path.endsWith('.jsonl') ? 'ledger' : 'other';
}

/** One side may have deleted it; of two checkpoints of one name each proves a state of its own: there is one to choose. */
function byHand({ layout }: Context, { path, stages, lines }: Seen): string[] {
  const name = formatArgv([shown(layout, path)]);
  if (stages && !(stages.ours || stages.theirs)) return [`git rm -- ${name}`];
  if (stages && !lines && !(stages.ours && stages.theirs))
    return [`git add -- ${name}   (keeps it)`, `git rm -- ${name}   (deletes it)`];
  if (stages && path.startsWith(checkpointsFolder(layout)))
    return ['ours', 'theirs'].map((side) => `git checkout --${side} -- ${name} && git add -- ${name}`);
  return [
    `\${EDITOR:-vi} ${name}   (keep what both sides mean, remove the marker lines)`,
    ...(stages ? [`git add -- ${name}`] : []),
  ];
}
