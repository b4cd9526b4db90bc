import { join } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { conflictLines, type Sides, sidesOf } from '../core/conflict-marks.js';
import { corrupted } from '../core/error.js';
import {
  activeIssuesFile,
  checkpointsFolder,
  configFile,
  doneIssuesFolder,
  featuresFolder,
  localPaths,
  memoryFolder,
  progressFile,
  sessionFile,
  sessionsFolder,
  shown,
  shownFrom,
} from '../core/paths.js';
import { decodeUtf8 } from '../core/schema.js';
import { streamGit } from '../git/client.js';
import { readObject } from '../git/read.js';
import { findMarked, readUnmerged, type Stages } from '../git/status.js';
import type { Context } from '../project/project.js';
import { advisory, blocking, degraded, type Symptom } from '../status/symptom.js';
import { attempt, valueOr } from './check.js';
import { type Choice, mergeState, type StateName } from './merge.js';

/** A file of `.forge/` that two branches changed, and what can be done about it. */
export interface Conflict {
  /** As it is shown. */
  file: string;
  path: string;
  /** What stands there; null: nothing. */
  before: Buffer | null;
  /** As git names it, where git has to be told; null where it knows of no conflict. */
  unmerged: string | null;
  symptoms: Symptom[];
  /** What it would become, and by which choices; absent where only a person can decide. */
  merged?: { bytes: Buffer; choices: Choice[] };
}

/** All conflicts in `.forge/`. Reads only. If git does not answer, only those with markers in state files. */
export async function findConflicts(context: Context): Promise<Conflict[]> {
  const { layout, disk } = context;
  const known = [activeIssuesFile, configFile, progressFile, sessionFile].map((of) => of(layout));
  const { unmerged, marked } = await askGit(context);
  const found: Conflict[] = [];
  for (const path of [...new Set([...known, ...marked, ...unmerged.keys()])].sort()) {
    const stages = unmerged.get(path) ?? null;
    // A file that cannot be read is reported by what needs it.
    const before = await valueOr(undefined, () => disk.read(path));
    const lines = before ? conflictLines(before.toString('latin1')) : null;
    if (before !== undefined && (stages || lines))
      found.push(await judge(context, { path, before, lines, stages }));
  }
  return found;
}

async function askGit({ git, repository, layout }: Context) {
  const none = { unmerged: new Map<string, Stages>(), marked: [] as string[] };
  if (!git || !repository) return none;
  const folder = shownFrom(repository.root, layout.dir);
  return await valueOr(none, async () => {
    const [unmerged, marked] = await Promise.all([readUnmerged(git, folder), findMarked(git, folder)]);
    const whole = (path: string): string => join(repository.root, path);
    return {
      unmerged: new Map([...unmerged].map(([path, stages]) => [whole(path), stages])),
      marked: marked.map(whole),
    };
  });
}

interface Seen {
  path: string;
  before: Buffer | null;
  lines: { from: number; to: number } | null;
  stages: Stages | null;
}

async function judge(context: Context, seen: Seen): Promise<Conflict> {
  const { path, before, lines, stages } = seen;
  const { layout, repository } = context;
  const file = shown(layout, path);
  const kind = kindOf(context, path);
  const unmerged = stages && repository ? shownFrom(repository.root, path) : null;
  const what = `${file} has a merge conflict${lines ? ` (lines ${lines.from} to ${lines.to})` : ''}`;
  const conflict = (symptoms: Symptom[], merged?: Conflict['merged']): Conflict => ({
    ...{ file, path, before, unmerged, symptoms },
    ...(merged ? { merged } : {}),
  });
  const byHand = (problem?: string): Conflict =>
    conflict(
      (lines ? blocking : advisory)(
        problem === undefined ? what : `${what}: ${problem}`,
        'one version of it',
        'only a person can decide what it should be',
        ...commandsFor(context, seen),
      ),
    );
  if (kind === 'ledger') return conflict(inLedger(what));
  if (kind === 'local') return conflict(inLocalFile(what, file));

  const read = await attempt(() => readVersions(context, stages, file));
  if ('problem' in read) return byHand(read.problem.message);
  const versions = read.value;
  const alone = lines ? null : sideAlone(before, versions);
  if (before && !lines && versions.ours && versions.theirs && alone === null) return conflict(resolved(file));
  const note = alone === null ? undefined : `it has what ${alone} has, and no more.`;
  if (kind === 'other') return byHand(note);
  const merged = await attempt(() => mergeFile(kind, before, versions, file));
  if ('problem' in merged) return byHand(merged.problem.message);
  if (alone !== null && before?.equals(merged.value.bytes)) return conflict(resolved(file));
  const symptoms =
    note === undefined
      ? blocking(what, 'one version of it', 'commands that read it stop there', 'forge doctor --fix')
      : blocking(
          `${what}: ${note}`,
          'what both sides mean',
          'git add would drop the other side',
          'forge doctor --fix',
        );
  return conflict(symptoms, merged.value);
}

const inLedger = (what: string): Symptom[] =>
  blocking(
    what,
    'the records of both sides',
    'nothing is recorded until it can be read',
    'forge memory repair',
  );

const inLocalFile = (what: string, file: string): Symptom[] =>
  blocking(
    what,
    'a file that stays on this machine',
    'git should not have it: see .forge/.gitignore',
    `mv ${file} ${file}.damaged && forge init`,
  );

const resolved = (file: string): Symptom[] =>
  degraded(
    `${file} has no conflict marker, but git waits to be told that it is resolved`,
    'a file that git may commit',
    'neither the merge nor the end of a session can commit it',
    `git add -- ${formatArgv([file])}`,
  );

function kindOf({ layout }: Context, path: string): StateName | 'ledger' | 'local' | 'other' {
  const isIn = (folder: string, name: RegExp): boolean =>
    path.startsWith(`${folder}/`) && name.test(path.slice(folder.length + 1));
  const entry = /^[^./][^/]*\.json$/;
  if (path === activeIssuesFile(layout)) return 'issues';
  if (isIn(featuresFolder(layout), entry)) return 'feature';
  if (isIn(sessionsFolder(layout), entry)) return 'session';
  if (isIn(doneIssuesFolder(layout), entry)) return 'issue';
  if (isIn(memoryFolder(layout), /\.jsonl$/)) return 'ledger';
  const local = [...localPaths(layout), progressFile(layout), sessionFile(layout)];
  return local.some((place) => path === place || path.startsWith(`${place}/`)) ? 'local' : 'other';
}

/** What git has of each side; null for one that deleted the file. */
type Versions = { [Side in keyof Sides<Buffer>]: Buffer | null };

async function readVersions(
  { world, repository }: Context,
  stages: Stages | null,
  file: string,
): Promise<Versions> {
  const stream = streamGit(repository?.root ?? '.', world.env);
  const read = async (oid: string | undefined): Promise<Buffer | null> =>
    oid === undefined ? null : await readObject(stream, oid, file);
  return {
    ours: await read(stages?.ours),
    theirs: await read(stages?.theirs),
    base: await read(stages?.base),
  };
}

/** With the attributes `-merge` and `binary` git leaves ours without markers, as if theirs had been merged. */
function sideAlone(before: Buffer | null, { ours, theirs }: Versions): 'ours' | 'theirs' | null {
  if (!before || !ours || !theirs) return null;
  const plain = (bytes: Buffer): string => bytes.toString('latin1').replaceAll('\r\n', '\n');
  if (plain(before) === plain(ours)) return 'ours';
  return plain(before) === plain(theirs) ? 'theirs' : null;
}

/** Git's own versions are merged, where it has them: markers hold lines that git has merged already. */
function mergeFile(
  kind: StateName,
  before: Buffer | null,
  { ours, theirs, base }: Versions,
  file: string,
): { bytes: Buffer; choices: Choice[] } {
  if (ours && theirs) return mergeState(kind, { ours, theirs, base }, file, true);
  const survivor = ours ?? theirs;
  if (survivor) return keep(kind, before ?? survivor, file, ours ? 'theirs' : 'ours');
  const sides = before && sidesOf(decodeUtf8(before, file));
  if (!sides) throw corrupted('file.conflict', `${file}: its conflict markers are incomplete.`, { file });
  const bytes = (text: string): Buffer => Buffer.from(text);
  const marked = { ours: bytes(sides.ours), theirs: bytes(sides.theirs) };
  return mergeState(kind, { ...marked, base: sides.base === null ? null : bytes(sides.base) }, file, false);
}

/** Deleted by one side, changed by the other: it stays, if it can be read. */
function keep(kind: StateName, bytes: Buffer, file: string, deletedBy: 'ours' | 'theirs') {
  mergeState(kind, { ours: bytes, theirs: bytes, base: null }, file, true);
  const [ours, theirs] = deletedBy === 'ours' ? [undefined, 'changed'] : ['changed', undefined];
  const why = `kept: deleted by ${deletedBy}, changed by ${deletedBy === 'ours' ? 'theirs' : 'ours'}`;
  return { bytes, choices: [{ id: null, field: null, ours, theirs, value: 'kept', why }] };
}

/** Of two checkpoints of one name each proves its own state, so a person chooses one. */
function commandsFor({ layout }: Context, { path, stages, lines }: Seen): string[] {
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
