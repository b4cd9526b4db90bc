import { dirname } from 'node:path';
import { isWritable, lookThrough, roomIn, unreliableFileSystem } from '../core/file-system.js';
import { hookScript, shown } from '../core/paths.js';
import { headTime } from '../git/read.js';
import { runtimeOf } from '../hooks/shim.js';
import { readMemory, TIERS } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { valueOr } from './attempt.js';
import type { PlaceFacts } from './place-rules.js';
import { findOnPath, findProgram, ownPackage } from './program.js';

/** More are no help. */
const MAX_UNREADABLE = 20;

/** Where forge works: looked at from outside, so that what is damaged cannot keep anybody from asking. */
export async function lookAtPlace(context: Context): Promise<PlaceFacts> {
  const { layout, world } = context;
  const { dir, state } = layout;
  const { bytes, unreadable } = lookThrough(dir, MAX_UNREADABLE);
  const folders = [...new Set([dir, state])];
  return {
    self: ownPackage(),
    onPath: findOnPath(world.env, layout.root),
    hooked: await valueOr(null, () => hookedProgram(context)),
    room: roomIn(dir),
    bytes,
    unwritable: [dir, state, dirname(state)]
      .filter((folder) => !isWritable(folder))
      .slice(0, 1)
      .map((folder) => shown(layout, folder)),
    unreadable: unreadable.map((path) => shown(layout, path)),
    network: folders.flatMap((folder) => {
      const name = unreliableFileSystem(folder);
      return name === null ? [] : [{ folder: shown(layout, folder), name }];
    }),
    now: world.now(),
    latest: await latestTime(context),
  };
}

function hookedProgram({ disk, layout }: Context): PlaceFacts['hooked'] {
  const script = disk.read(hookScript(layout))?.toString('utf8');
  const path = script && runtimeOf(script)?.forge;
  return path ? findProgram(path, layout.root) : null;
}

/** Of the last use of forge, of the records, and of HEAD. */
async function latestTime(context: Context): Promise<PlaceFacts['latest']> {
  const { git, lastActivity } = context;
  const times: { at: string; what: string }[] = [];
  if (lastActivity && Number.isFinite(lastActivity.at) && Math.abs(lastActivity.at) < 8.64e15)
    times.push({ at: new Date(lastActivity.at).toISOString(), what: 'the last use of forge here' });
  const memory = await valueOr(null, () => readMemory(context));
  for (const tier of TIERS) {
    const at = (memory?.records(tier) ?? []).map(({ record }) => record.at ?? '').sort();
    times.push({ at: at.at(-1) ?? '', what: `a record of the tier ${tier}` });
  }
  const head = git && (await valueOr(null, () => headTime(git)));
  if (head) times.push({ at: new Date(head).toISOString(), what: 'the commit that is checked out' });
  const known = times.filter(({ at }) => Number.isFinite(Date.parse(at)));
  return known.sort((a, b) => Date.parse(b.at) - Date.parse(a.at))[0] ?? null;
}
