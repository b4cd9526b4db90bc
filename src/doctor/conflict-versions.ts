import { editsIn, type Sides, sidesOf } from '../core/conflict-marks.js';
import { corrupted } from '../core/error.js';
import { decodeUtf8 } from '../core/schema.js';
import { streamGit } from '../git/client.js';
import { readObject } from '../git/read.js';
import type { Stages } from '../git/status.js';
import type { Context } from '../project/project.js';
import type { Choice } from './merge-fields.js';
import { mergeState, type StateName } from './merge-state.js';

/** What git has of each side; null for one that deleted the file. */
export type Versions = { [Side in keyof Sides<Buffer>]: Buffer | null };

export async function readVersions(
  { world, repository }: Context,
  stages: Stages | null,
  file: string,
): Promise<Versions | null> {
  if (!stages) return null;
  const stream = streamGit(repository?.root ?? '.', world.env);
  const read = async (oid: string | undefined): Promise<Buffer | null> =>
    oid === undefined ? null : await readObject(stream, oid, file);
  return { ours: await read(stages.ours), theirs: await read(stages.theirs), base: await read(stages.base) };
}

/**
 * The side that is all there is: without markers git leaves a file (the attributes `-merge`, `binary`) as ours has it, and
 * nothing tells that from a file in which somebody put all that theirs has.
 */
export function sideAlone(before: Buffer | null, versions: Versions | null): 'ours' | 'theirs' | null {
  if (!before || !versions?.ours || !versions.theirs) return null;
  const plain = (bytes: Buffer): string => bytes.toString('latin1').replaceAll('\r\n', '\n');
  if (plain(before) === plain(versions.ours)) return 'ours';
  return plain(before) === plain(versions.theirs) ? 'theirs' : null;
}

/** What is merged is git's versions: what was done by hand between the markers is not in it. */
export function editNotes(before: Buffer | null, lines: object | null, versions: Versions | null): string[] {
  if (!before || !lines || !versions?.ours || !versions.theirs) return [];
  const [ours, theirs] = [versions.ours.toString('utf8'), versions.theirs.toString('utf8')];
  const edits = editsIn(before.toString('utf8'), {
    ours,
    theirs,
    base: versions.base?.toString('utf8') ?? null,
  });
  if (edits.lines.length === 0 && !edits.isCut) return [];
  const [first] = edits.lines;
  const where =
    first === undefined ? 'lines are gone' : `line ${first}${edits.lines.length > 1 ? ' and others' : ''}`;
  return [`edited by hand since (${where}): that is not taken over, the kept copy has it`];
}

export function mergeFile(
  kind: StateName,
  before: Buffer | null,
  versions: Versions | null,
  file: string,
): { bytes: Buffer; choices: Choice[] } {
  const { ours, theirs, base } = versions ?? { ours: null, theirs: null, base: null };
  const survivor = ours ?? theirs;
  if (survivor && !(ours && theirs)) return keep(kind, before ?? survivor, file, ours ? 'theirs' : 'ours');
  if (ours && theirs) return mergeState(kind, { ours, theirs, base }, file, true);
  return mergeState(kind, marked(before, file), file, false);
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

/** Deleted by one side, changed by the other: it stays, if it can be read. */
function keep(
  kind: StateName,
  bytes: Buffer,
  file: string,
  deletedBy: 'ours' | 'theirs',
): { bytes: Buffer; choices: Choice[] } {
  mergeState(kind, { ours: bytes, theirs: bytes, base: null }, file, true);
  const [ours, theirs] = deletedBy === 'ours' ? [undefined, 'changed'] : ['changed', undefined];
  const why = `kept: deleted by ${deletedBy}, changed by ${deletedBy === 'ours' ? 'theirs' : 'ours'}`;
  return { bytes, choices: [{ id: null, field: null, ours, theirs, value: 'kept', why }] };
}
