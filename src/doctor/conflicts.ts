import { dirname, join } from 'node:path';
import { formatArgv } from '../core/argv.js';
import * as paths from '../core/paths.js';
import { conflictLines } from '../core/schema.js';
import { must, PORCELAIN } from '../git/client.js';
import { readBlob } from '../git/read.js';
import { operationInProgress } from '../git/repository.js';
import { findMarked, readUnmerged, type Stages } from '../git/status.js';
import { installGuard } from '../guard/guard.js';
import { type Context, refuseHalted, requireRepository, timestamp } from '../project/project.js';
import { attempt, blocking, degraded, type Symptom, valueOr } from './checks.js';
import { type Choice, mergeState, type StateName } from './merge.js';
import { commitHint, isInOperation, mergeAgain } from './rescue.js';

/** A merge that `forge doctor --fix` makes, or made. */
export interface Fix {
  what: string;
  /** What was chosen between the sides, a field each. */
  choices: Choice[];
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
  const folder = paths.shownFrom(repository.root, layout.dir);
  const [unmerged, marked] = await Promise.all([readUnmerged(git, folder), findMarked(git, [folder])]);
  const names = [...new Set([...unmerged.keys(), ...marked])].sort();
  const found = names.map((name) => judge(context, name, unmerged.get(name) ?? null));
  return (await Promise.all(found)).flatMap((conflict) => conflict ?? []);
}

/** `name` is relative to the repository. `stages` is null where git considers the file merged. */
async function judge(context: Context, name: string, stages: Stages | null): Promise<Conflict | null> {
  const { layout, disk, repository } = context;
  const path = join(repository?.root ?? '', name);
  const file = paths.shown(layout, path);
  // A file that cannot be read is reported by another check.
  const before = await valueOr(undefined, () => disk.read(path));
  const lines = before ? conflictLines(before.toString('latin1')) : null;
  if (before === undefined || !(stages || lines)) return null;
  const place = { name, lines };
  const what = `${file} has a merge conflict${lines ? ` (lines ${lines.from} to ${lines.to})` : ''}`;
  if (path.startsWith(`${paths.memoryFolder(layout)}/`) && path.endsWith('.jsonl')) {
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
  const merged = kind && stages && (await attempt(() => mergeStages(context, kind, stages, file)));
  if (before && merged && 'value' in merged && merged.value) {
    const why = 'commands that read it stop there';
    const symptoms = blocking(what, 'one version of it', why, 'forge doctor --fix');
    return { ...place, symptoms, fix: planFix(context, { path, file, before, name }, merged.value) };
  }
  const problem = merged && 'problem' in merged ? `: ${merged.problem.message}` : '';
  const why = 'only a person can decide what it should be';
  if (!stages && isInOperation(context))
    return {
      ...place,
      symptoms: blocking(what, 'one version of it', 'it was added with its markers', mergeAgain(file)),
    };
  // Markers that somebody committed have no sides to merge.
  const restore = stages ? null : await commitHint(context, file);
  const commands = [...commandsFor(file, stages), ...(restore === null ? [] : [restore])];
  return { ...place, symptoms: blocking(`${what}${problem}`, 'one version of it', why, ...commands) };
}

function kindOf({ layout }: Context, path: string): StateName | null {
  const folders: Record<StateName, string> = {
    feature: paths.featuresFolder(layout),
    session: paths.sessionsFolder(layout),
    issue: paths.activeIssuesFolder(layout),
    done: paths.doneIssuesFolder(layout),
  };
  if (!path.endsWith('.json')) return null;
  return (Object.keys(folders) as StateName[]).find((kind) => folders[kind] === dirname(path)) ?? null;
}

/** Merges the versions in git's index; null for a file that one side deleted. */
async function mergeStages(context: Context, kind: StateName, stages: Stages, file: string) {
  const { git } = requireRepository(context);
  const read = (oid: string | undefined) => (oid === undefined ? null : readBlob(git, oid));
  const [ours, theirs, base] = [await read(stages.ours), await read(stages.theirs), await read(stages.base)];
  return ours && theirs && mergeState(kind, { ours, theirs, base }, file);
}

function planFix(
  context: Context,
  { path, file, before, name }: { path: string; file: string; before: Buffer; name: string },
  { bytes, choices }: ReturnType<typeof mergeState>,
): PlannedFix {
  const { disk, layout, git, repository } = context;
  const stamp = timestamp(context).replaceAll(/[:.]/g, '-');
  const copy = paths.keptConflict(layout, `${stamp}-${paths.shown(layout, path).replaceAll('/', '-')}`);
  const isRebase = repository && operationInProgress(repository) === 'a rebase';
  const word = formatArgv([file]);
  return {
    what: [
      `merge both sides of ${file}, and tell git (git add)`,
      `the current file, with your edits, is kept in ${paths.shown(layout, paths.conflictsFolder(layout))}`,
      ...(isRebase ? ['in a rebase, "ours" is what you rebase onto, "theirs" your own commits'] : []),
    ].join('; '),
    choices,
    // Git restores its conflict until the merge is committed. The copy has the edits.
    undo: `git checkout --merge -- ${word} && cp ${formatArgv([paths.shown(layout, copy)])} ${word}`,
    act: async () => {
      refuseHalted({ disk });
      await installGuard(context);
      disk.replaceMoved(copy, before);
      disk.withLock(() => disk.replaceAll([{ path, bytes, expected: before }]));
      if (git) await must(git, ['add', '--', name], PORCELAIN);
    },
  };
}

function commandsFor(file: string, stages: Stages | null): string[] {
  const name = formatArgv([file]);
  const edit = `\${EDITOR:-vi} ${name}`;
  const add = `git add -- ${name}`;
  if (!stages) return [`${edit}   # keep what both sides mean, remove the marker lines`];
  if (!(stages.ours && stages.theirs)) return [`${add}   # keeps it`, `git rm -- ${name}   # deletes it`];
  return [
    `${edit} && ${add}   # keep what both sides mean`,
    `git checkout --ours -- ${name} && ${add}   # or --theirs; drops the other side's changes`,
  ];
}
