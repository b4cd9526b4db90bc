import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isWritable, unreliableFileSystem } from '../core/files.js';
import { shown } from '../core/paths.js';
import { readHead } from '../git/read.js';
import { readMemory, TIERS } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { type Check, type Problem, valueOr } from './check.js';

/** What every command needs, with or without a `.forge/`. */
interface Machine {
  /** `process.versions.node` */
  node: string;
  /** The output of `git --version`; null without git. */
  git: string | null;
  /** Why no `.forge/` can be opened. */
  problem: Problem | null;
  needsGit: boolean;
}

const LEAST_NODE = '20.19';
const LEAST_GIT = '2.39';

/** `20.9.1` is below `20.19`. */
export function isBelow(version: string, least: string): boolean {
  const found = version.split('.').map(Number);
  for (const [i, part] of least.split('.').map(Number).entries())
    if ((found[i] ?? 0) !== part) return (found[i] ?? 0) < part;
  return false;
}

export const MACHINE_CHECKS: readonly Check<Machine>[] = [
  {
    severity: 'blocking',
    expected: `Node ${LEAST_NODE} or newer`,
    why: 'an older one may stop in the middle of a command',
    fix: 'nvm install 22',
    look: ({ node }) => isBelow(node, LEAST_NODE) && `Node ${node}`,
  },
  {
    severity: 'degraded',
    expected: `git ${LEAST_GIT} or newer on the PATH`,
    why: 'forge uses options that an older one does not have',
    fix: 'git --version',
    look: ({ git, needsGit }) => {
      const observed = 'git was not found';
      if (git === null)
        return needsGit
          ? { observed, severity: 'blocking', why: 'in a repository no session starts without it' }
          : { observed, why: 'without it memory has no history' };
      const version = /\d+\.\d+(\.\d+)*/.exec(git)?.[0];
      return version !== undefined && isBelow(version, LEAST_GIT) && `git ${version}`;
    },
  },
  {
    severity: 'blocking',
    expected: 'a .forge/ folder in this project',
    why: 'it holds all of memory; without it hooks and the MCP server cannot answer',
    fix: 'forge init',
    look: ({ problem }) =>
      problem && { observed: problem.message, ...(problem.hint ? { commands: [problem.hint] } : {}) },
  },
];

const MB = 1024 * 1024;
const LEAST_ROOM = 50 * MB;
/** Clocks of two machines differ. */
const TOLERANCE_MS = 5 * 60_000;
/** The first forge is newer. */
const BEGINNING = Date.UTC(2025, 0, 1);

/** The disk and the clock. */
export const PLACE_CHECKS: readonly Check<Context>[] = [
  {
    severity: 'degraded',
    expected: `${LEAST_ROOM / MB} MB or more`,
    why: 'on a full disk nothing is written, and a session cannot end',
    fix: 'df -h .',
    look: ({ layout }) => {
      const { bavail, bsize } = statfsSync(layout.dir);
      const bytes = bavail * bsize;
      return bytes < LEAST_ROOM && `${Math.floor(bytes / MB)} MB are free on the disk`;
    },
  },
  {
    severity: 'blocking',
    expected: 'a folder that you own',
    why: 'nothing can be stored',
    fix: 'id',
    look: ({ layout }) => {
      const { dir, state } = layout;
      const folder = [dir, state, dirname(state)].find((path) => !isWritable(path));
      const path = folder && shown(layout, folder);
      return path && { observed: `${path} is not writable`, commands: [`ls -ld ${path}`, 'id'] };
    },
  },
  {
    severity: 'degraded',
    expected: 'a local disk',
    why: 'locks, renames and fsync are not reliable there: let one machine at a time use it',
    fix: 'df -hT .',
    look: ({ layout }) =>
      [...new Set([layout.dir, layout.state])].flatMap((path) => {
        const name = unreliableFileSystem(path);
        const folder = shown(layout, path);
        return name === null ? [] : [{ observed: `${folder} is on ${name}`, commands: [`df -hT ${folder}`] }];
      }),
  },
  {
    severity: 'degraded',
    expected: 'a correct clock',
    why: 'times decide which evidence is newer, and whether an agent is gone',
    fix: ['date -u', 'timedatectl status'],
    look: async (context) => {
      const now = context.world.now();
      const observed = `the clock shows ${now.toISOString()}`;
      if (now.getTime() < BEGINNING) return observed;
      const latest = await latestTime(context);
      return (
        latest.at - now.getTime() > TOLERANCE_MS &&
        `${observed}, but ${latest.of} is from ${new Date(latest.at).toISOString()}`
      );
    },
  },
];

/** The newest time that forge or git has stored here. */
async function latestTime(context: Context): Promise<{ at: number; of: string }> {
  const { git, lastActivity } = context;
  const memory = await valueOr(null, () => readMemory(context));
  const head = git && (await valueOr(null, () => readHead(git)));
  const times = [
    { at: lastActivity ?? 0, of: 'the last use of forge' },
    { at: Date.parse(head?.at ?? ''), of: 'the current commit' },
    ...TIERS.flatMap((tier) =>
      (memory?.records(tier) ?? []).map(({ record }) => ({
        at: Date.parse(record.at ?? ''),
        of: `a record of the tier ${tier}`,
      })),
    ),
  ].filter(({ at }) => Math.abs(at) < 8.64e15);
  return times.reduce((latest, time) => (time.at > latest.at ? time : latest), { at: 0, of: '' });
}
