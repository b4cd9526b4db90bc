import { basename, join } from 'node:path';
import { formatArgv } from '../core/argv.js';
import {
  activeIssuesFolder,
  conflictsFolder,
  doneIssuesFolder,
  featuresFolder,
  keptConflict,
  memoryFolder,
  sessionsFolder,
  shown,
  shownFrom,
} from '../core/paths.js';
import { conflictLines, decodeDocument } from '../core/schema.js';
import { isDoneIssue } from '../feature/store.js';
import { ISSUE_LIST } from '../feature/tasks.js';
import type { Git } from '../git/client.js';
import { readObject } from '../git/read.js';
import { operationInProgress } from '../git/repository.js';
import { addResolved, findMarked, readUnmerged, type Stages } from '../git/status.js';
import { installGuard } from '../guard/guard.js';
import { type Context, refuseHalted, requireRepository, timestamp } from '../project/project.js';
import { attempt, blocking, degraded, type Symptom, valueOr } from './checks.js';
import { type Choice, mergeState, type Newer, type StateName } from './merge.js';
import { sideHint } from './rescue.js';

/** A merge that `forge doctor --fix` makes, or made. */
export interface Fix {
  /** In a line. */
  what: string;
  /** What was chosen between the sides, a field each. */
  choices: Choice[];
  /** The command that restores the conflict. */
  undo: string;
}

interface PlannedFix extends Fix {
  act(): Promise<void>;
}

/** A file of `.forge/` that two branches changed. */
interface Conflict {
  /** From the top of the repository. */
  name: string;
  /** Of its first markers; null without any. */
  lines: { from: number; to: number } | null;
  symptoms: Symptom[];
  /** Absent where only a person can decide. */
  fix?: PlannedFix;
}

/** All conflicts in `.forge/`. Reads only. */
export async function findConflicts(context: Context): Promise<Conflict[]> {
  const { git, repository, layout } = context;
  if (!git || !repository) return [];
  const folder = shownFrom(repository.root, layout.dir);
  const [unmerged, marked] = await Promise.all([readUnmerged(git, folder), findMarked(git, [folder])]);
  const names = [...new Set([...unmerged.keys(), ...marked])].sort();
  const found = names.map((name) => judge(context, name, unmerged.get(name) ?? null));
  return (await Promise.all(found)).flatMap((conflict) => conflict ?? []);
}

/** `name` is relative to the repository. `stages` is null where git considers the file merged. */
async function judge(context: Context, name: string, stages: Stages | null): Promise<Conflict | null> {
  const { layout, disk, repository } = context;
  const path = join(repository?.root ?? '', name);
  const file = shown(layout, path);
  // A file that cannot be read is reported by another check.
  const before = await valueOr(undefined, () => disk.read(path));
  const lines = before ? conflictLines(before.toString('latin1')) : null;
  if (before === undefined || !(stages || lines)) return null;
  const place = { name, lines };
  const what = `${file} has a merge conflict${lines ? ` (lines ${lines.from} to ${lines.to})` : ''}`;
  if (path.startsWith(`${memoryFolder(layout)}/`) && path.endsWith('.jsonl')) {
    const why = 'nothing is recorded until it can be read';
    return { ...place, symptoms: blocking(what, 'the records of both sides', why, 'forge memory repair') };
  }
  if (stages?.ours && stages.theirs && before && !lines) {
    const observed = `${file} has no conflict markers, but git considers it unmerged`;
    const why = 'neither the merge nor the end of a session can commit it';
    const command = `git add -- ${formatArgv([file])}`;
    return { ...place, symptoms: degraded(observed, 'a file that git may commit', why, command) };
  }
  const kind = kindOf(context, path);
  // Markers that somebody committed have no base.
  const merged = kind && stages && (await attempt(() => mergeStages(context, kind, stages, { file, name })));
  if (merged && 'value' in merged && merged.value) {
    const why = 'commands that read it stop there';
    const symptoms = blocking(what, 'one version of it', why, 'forge doctor --fix');
    return { ...place, symptoms, fix: planFix(context, { path, file, before, name }, merged.value) };
  }
  const problem = merged && 'problem' in merged ? `: ${merged.problem.message}` : '';
  const why = 'only a person can decide what it should be';
  const commands = [...commandsFor(file, stages), (await sideHint(context, file)) ?? []].flat();
  return { ...place, symptoms: blocking(`${what}${problem}`, 'one version of it', why, ...commands) };
}

function kindOf({ layout }: Context, path: string): StateName | null {
  if (!path.endsWith('.json')) return null;
  const isIn = (folder: string): boolean => path === join(folder, basename(path));
  if (isIn(featuresFolder(layout))) return 'feature';
  if (isIn(sessionsFolder(layout))) return 'session';
  if (isIn(activeIssuesFolder(layout))) return 'issue';
  return isIn(doneIssuesFolder(layout)) ? 'done' : null;
}

interface MergedFile {
  /** Null for a file that is deleted. */
  bytes: Buffer | null;
  choices: Choice[];
}

/** Merges the versions in git's index. A file that one side deleted stays as the other changed it, except a done issue. */
async function mergeStages(
  context: Context,
  kind: StateName,
  stages: Stages,
  { file, name }: { file: string; name: string },
): Promise<MergedFile | null> {
  const { git } = requireRepository(context);
  const read = async (oid: string | undefined): Promise<Buffer | null> =>
    oid === undefined ? null : await readObject(git, oid);
  const [ours, theirs, base] = [await read(stages.ours), await read(stages.theirs), await read(stages.base)];
  if (ours && theirs) return mergeState(kind, { ours, theirs, base }, file, await newerSide(git, name));
  const bytes = ours ?? theirs;
  if (!bytes) return null;
  mergeState(kind, { ours: bytes, theirs: bytes, base: null }, file);
  const [kept, deleted] = ours ? ['ours', 'theirs'] : ['theirs', 'ours'];
  const sides = { ours: ours ? 'changed' : undefined, theirs: theirs ? 'changed' : undefined };
  if (kind === 'issue' && isDoneIssue(context.disk, decodeDocument(ISSUE_LIST.entry, bytes, file))) {
    const why = `done by ${deleted}, changed by ${kept}`;
    return { bytes: null, choices: [{ id: null, field: null, ...sides, value: undefined, why }] };
  }
  const why = `kept: deleted by ${deleted}, changed by ${kept}; to delete it: ${formatArgv(['git', 'rm', '-f', name])}`;
  return { bytes, choices: [{ id: null, field: null, ...sides, value: 'kept', why }] };
}

/** By the last commit of each side that changed the file. A rebase keeps the author's time. */
async function newerSide(git: Git, name: string): Promise<Newer> {
  const timeIn = async (rev: string): Promise<number> => {
    const { code, stdout } = await git(['log', '-1', '--format=%at', rev, '--', name]);
    return code === 0 ? Number.parseInt(stdout, 10) : Number.NaN;
  };
  const theirs = await Promise.all(['MERGE_HEAD', 'REBASE_HEAD', 'CHERRY_PICK_HEAD'].map(timeIn));
  const lead = (await timeIn('HEAD')) - (theirs.find((at) => !Number.isNaN(at)) ?? Number.NaN);
  return lead > 0 ? 'ours' : lead < 0 ? 'theirs' : null;
}

function planFix(
  context: Context,
  place: { path: string; file: string; before: Buffer | null; name: string },
  { bytes, choices }: MergedFile,
): PlannedFix {
  const { path, file, before, name } = place;
  const { disk, layout, git, repository } = context;
  const stamp = timestamp(context).replaceAll(/[:.]/g, '-');
  const copy = keptConflict(layout, `${stamp}-${shown(layout, path).replaceAll('/', '-')}`);
  const isRebase = repository && operationInProgress(repository) === 'a rebase';
  const word = formatArgv([file]);
  const restore = before ? `cp ${formatArgv([shown(layout, copy)])} ${word}` : `rm ${word}`;
  return {
    what: [
      bytes
        ? `merge both sides of ${file}, and tell git (git add)`
        : `delete ${file}, which is done, and tell git (git add)`,
      ...(before
        ? [`the current file, with your edits, is kept in ${shown(layout, conflictsFolder(layout))}`]
        : []),
      ...(isRebase ? ['in a rebase, "ours" is what you rebase onto, "theirs" your own commits'] : []),
    ].join('; '),
    choices,
    // Git restores its conflict until the merge is committed, but not that of a deleted file. The copy has the edits.
    undo: bytes ? `git checkout --merge -- ${word} && ${restore}` : `${restore} && git add -- ${word}`,
    act: async () => {
      refuseHalted(disk);
      await installGuard(context);
      if (before) disk.replaceMoved(copy, before);
      disk.withLock(() => disk.replaceAll([{ path, bytes, expected: before }]));
      if (git) await addResolved(git, name);
    },
  };
}

function commandsFor(file: string, stages: Stages | null): string[] {
  const name = formatArgv([file]);
  const edit = `\${EDITOR:-vi} ${name}`;
  const add = `git add -- ${name}`;
  if (!stages) return [`${edit}   (keep what both sides mean, remove the marker lines)`];
  if (!(stages.ours && stages.theirs)) return [`${add}   (keeps it)`, `git rm -- ${name}   (deletes it)`];
  return [
    `${edit} && ${add}   (keep what both sides mean)`,
    `git checkout --ours -- ${name} && ${add}   (or --theirs; drops the other side's changes)`,
  ];
}
