import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { isWritable, unreliableFileSystem } from '../core/files.js';
import { hookScript, shown } from '../core/paths.js';
import { oneLine, plural } from '../core/text.js';
import { headTime } from '../git/read.js';
import { runtimeOf } from '../hooks/shim.js';
import { readMemory, TIERS } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import type { Problem } from '../status/symptom.js';
import { type Check, valueOr } from './check.js';
import { findOnPath, findProgram, ownPackage } from './program.js';

/** What every command needs, with or without a `.forge/`. */
interface Machine {
  /** `process.versions.node` */
  node: string;
  /** The output of `git --version`; null: there is no git. */
  git: string | null;
  /** Why no `.forge/` can be opened. */
  problem: Problem | null;
  needsGit: boolean;
}

const LEAST_NODE = '20.19';
const LEAST_GIT = '2.39';

/** `20.9.1` is below `20.19`. */
export function isBelow(version: string, least: string): boolean {
  const numbers = (text: string): number[] => text.split('.').map((part) => Number.parseInt(part, 10));
  const found = numbers(version);
  for (const [i, part] of numbers(least).entries())
    if ((found[i] ?? 0) !== part) return (found[i] ?? 0) < part;
  return false;
}

export const MACHINE_CHECKS: readonly Check<Machine>[] = [
  {
    id: 'node',
    severity: 'blocking',
    expected: `Node ${LEAST_NODE} or newer`,
    why: 'forge is built for it; an older one may stop in the middle of a command',
    fix: 'nvm install 22',
    look: ({ node }) => isBelow(node, LEAST_NODE) && `Node ${node}`,
  },
  {
    id: 'git',
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
      if (version === undefined) return `git says ${JSON.stringify(git)}`;
      return isBelow(version, LEAST_GIT) && `git ${version}`;
    },
  },
  {
    id: 'folder',
    severity: 'blocking',
    expected: 'a .forge/ folder in this project',
    why: 'it holds all of memory; without it hooks and the MCP server have nothing to answer',
    fix: 'forge init',
    look: ({ problem }) =>
      problem && { observed: problem.message, ...(problem.hint ? { commands: [problem.hint] } : {}) },
  },
];

const MB = 1024 * 1024;
const LEAST_ROOM = 50 * MB;
const LEAST_FILES = 100;
const MUCH = 500 * MB;
/** Clocks of two machines differ. */
const TOLERANCE_MS = 5 * 60_000;
/** No forge is older. */
const BEGINNING = Date.UTC(2025, 0, 1);
const megabytes = (bytes: number): string => `${Math.floor(bytes / MB)} MB`;
/** More are no help. */
const MAX_UNREADABLE = 20;

/** The disk, the programs and the clock where forge works. */
export const PLACE_CHECKS: readonly Check<Context>[] = [
  {
    id: 'versions',
    severity: 'advisory',
    expected: 'one version',
    why: 'a process with another PATH, such as an agent or a hook, may start another version',
    fix: 'which -a forge',
    look: ({ world, layout }) => {
      // Another package's forge is reported with the agents, which start it.
      const ours = findOnPath(world.env, layout.root).filter(({ name }) => name === ownPackage().name);
      if (new Set(ours.map(({ version }) => version)).size < 2) return null;
      const list = ours.map(({ path, version }) => `${path} (${version ?? 'version unknown'})`).join(', ');
      return `several versions of forge are on the PATH: ${list}`;
    },
  },
  {
    id: 'hooked',
    severity: 'advisory',
    expected: `forge ${ownPackage().version}, as you do`,
    why: 'they check by the rules of that version',
    fix: 'forge hooks install',
    look: ({ disk, layout }) => {
      const path = runtimeOf(disk.read(hookScript(layout))?.toString('utf8') ?? '')?.forge;
      const program = path ? findProgram(path, layout.root) : null;
      if (!program || program.version === null || program.version === ownPackage().version) return null;
      return `git's hooks start forge ${program.version} (${program.path})`;
    },
  },
  {
    id: 'room',
    severity: 'degraded',
    expected: `${megabytes(LEAST_ROOM)} or more`,
    why: 'forge refuses to write what it cannot write whole, and a session cannot end',
    fix: 'df -h .',
    look: ({ layout }) => {
      const { bytes, files } = roomIn(layout.dir) ?? { bytes: LEAST_ROOM, files: null };
      const observed = `${megabytes(bytes)} are free on the disk`;
      if (bytes < LEAST_ROOM) return bytes < MB ? { observed, severity: 'blocking' } : observed;
      if (files === null || files >= LEAST_FILES) return null;
      const fit = `${plural(files, 'more file')} fit on the disk`;
      return { observed: fit, expected: `${LEAST_FILES} or more`, commands: ['df -i .'] };
    },
  },
  {
    id: 'size',
    severity: 'advisory',
    expected: `less than ${megabytes(MUCH)}`,
    why: 'each clone takes all of it, and reading memory takes longer',
    fix: ['forge memory stats', 'du -sh .forge/*/*'],
    look: ({ layout }) => {
      const { bytes } = lookThrough(layout.dir, MAX_UNREADABLE);
      return bytes >= MUCH && `.forge/ has ${megabytes(bytes)}`;
    },
  },
  {
    id: 'writable',
    severity: 'blocking',
    expected: 'a folder that you own',
    why: 'nothing can be kept',
    fix: 'id',
    look: ({ layout }) => {
      const { dir, state } = layout;
      const folder = [dir, state, dirname(state)].find((path) => !isWritable(path));
      const path = folder && shown(layout, folder);
      return path && { observed: `${path} cannot be written to`, commands: [`ls -ld ${path}`, 'id'] };
    },
  },
  {
    id: 'readable',
    severity: 'blocking',
    expected: 'files that you may read',
    why: 'their content is missing as if it were lost',
    fix: 'id',
    look: ({ layout }) => {
      const paths = lookThrough(layout.dir, MAX_UNREADABLE).unreadable.map((path) => shown(layout, path));
      const observed = `${some(paths)} cannot be read`;
      return paths.length > 0 && { observed, commands: [`ls -l ${paths[0]}`] };
    },
  },
  {
    id: 'network',
    severity: 'degraded',
    expected: 'a disk of this machine',
    why: 'locks, renames and fsync are not reliable there: let one machine at a time work in it',
    fix: 'df -hT .',
    look: ({ layout }) =>
      [...new Set([layout.dir, layout.state])].flatMap((path) => {
        const name = unreliableFileSystem(path);
        const folder = shown(layout, path);
        return name === null ? [] : [{ observed: `${folder} is on ${name}`, commands: [`df -hT ${folder}`] }];
      }),
  },
  {
    id: 'clock',
    severity: 'degraded',
    expected: 'a clock that goes right',
    why: 'times say which evidence is newer, and whether an agent is gone',
    fix: ['date -u', 'timedatectl status'],
    look: async (context) => {
      const now = context.world.now();
      const said = `the clock says ${now.toISOString()}`;
      if (now.getTime() < BEGINNING) return said;
      const latest = await latestTime(context);
      if (!latest || Date.parse(latest.at) - now.getTime() <= TOLERANCE_MS) return null;
      return `${said}, but ${latest.what} has ${oneLine(latest.at, 40)}`;
    },
  },
];

export const some = (files: readonly string[]): string =>
  `${files.slice(0, 3).join(', ')}${files.length > 3 ? ', …' : ''}`;

/** Of the last use of forge, of the records, and of HEAD. */
async function latestTime(context: Context): Promise<{ at: string; what: string } | null> {
  const { git, lastActivity } = context;
  const times: { at: string; what: string }[] = [];
  if (lastActivity && Math.abs(lastActivity.at) < 8.64e15)
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

/** What this person may still write where a folder is: bytes, and files where their number is limited; null: unknown. */
function roomIn(folder: string): { bytes: number; files: number | null } | null {
  try {
    const { bavail, bsize, files, ffree } = fs.statfsSync(folder);
    return { bytes: bavail * bsize, files: files > 0 ? ffree : null };
  } catch {
    return null;
  }
}

/** The size of a folder, and files that this process may not read: `limit` at most. Does not follow symlinks. */
function lookThrough(folder: string, limit: number): { bytes: number; unreadable: string[] } {
  const found = { bytes: 0, unreadable: [] as string[] };
  const look = (path: string): void => {
    try {
      const stat = fs.lstatSync(path);
      if (stat.isDirectory()) for (const name of fs.readdirSync(path)) look(join(path, name));
      else if (stat.isFile()) {
        found.bytes += stat.size;
        fs.accessSync(path, fs.constants.R_OK);
      }
    } catch (error) {
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isGone && found.unreadable.length < limit) found.unreadable.push(path);
    }
  };
  look(folder);
  return found;
}
