import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { lookAtLock } from '../core/lock.js';
import {
  configFile,
  hookScript,
  intentFile,
  lockFile,
  pendingFolder,
  sessionIdsLock,
  shown,
  shownFrom,
} from '../core/paths.js';
import { plural } from '../core/text.js';
import { changedFiles } from '../git/commit.js';
import { indexMayKnow, isShallow, operationInProgress } from '../git/state.js';
import { deletedFiles } from '../git/status.js';
import { hooksStatus } from '../hooks/install.js';
import { describeWaiting, readWaiting } from '../ledger/audit.js';
import { type Context, hasRecovery, lockPolicy, readConfig } from '../project/project.js';
import { findTracked } from '../project/tracked.js';
import { readRunning } from '../session/running.js';
import { attempt, type Check, type Observed, valueOr } from './check.js';
import { some } from './checks-machine.js';

/** ms. No git holds its lock of the index for so long. */
const LONG = 10 * 60_000;

/** What blocks work, and what was interrupted. */
export const WORK_CHECKS: readonly Check<Context>[] = [
  {
    id: 'recovery',
    severity: 'blocking',
    expected: 'files that are as one commit has them, or yours',
    why: 'until then the working tree may be half of both',
    fix: 'forge recover',
    look: (context) => hasRecovery(context) && 'a rollback, or its undoing, is not completed',
  },
  {
    id: 'waiting',
    severity: 'blocking',
    expected: 'memory that was never damaged, or that a human has looked at',
    why: 'cycle, loop and promotion are refused',
    fix: 'forge memory override acknowledge --reason "TEXT"',
    look: (context) => {
      const [first] = readWaiting(context);
      return first && describeWaiting(first);
    },
  },
  {
    id: 'hooks',
    severity: 'degraded',
    expected: "git's hooks leading to this forge",
    why: 'they pass without a check',
    fix: 'forge hooks install',
    look: lookAtHooks,
  },
  {
    id: 'locks',
    severity: 'degraded',
    expected: 'a lock that is held for moments',
    why: 'other writers wait here, and give up',
    fix: 'ls -l',
    look: ({ layout, world }) =>
      [lockFile(layout), sessionIdsLock(layout)].flatMap((path) => {
        const holder = lookAtLock(path, lockPolicy(world));
        // A holder that lives is at work.
        if (!holder || holder.isSure) return [];
        const file = shown(layout, path);
        const observed = `${file} is held by ${holder.who}, which cannot be checked from here`;
        return [{ observed, commands: [`ls -l ${file}`, `rm ${file}   (if it is gone for good)`] }];
      }),
  },
  {
    id: 'index-lock',
    severity: 'degraded',
    expected: 'a lock that git holds for moments',
    why: 'no git command can stage or commit, and no session can end',
    fix: 'ps -C git',
    look: ({ repository, layout, world }) => {
      const path = repository && join(repository.gitDir, 'index.lock');
      const at = path && lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (!path || !at || world.now().getTime() - at <= LONG) return null;
      const lock = shown(layout, path);
      const commands = ['ps -C git', `rm ${lock}   (if no git is at work)`];
      return { observed: `${lock} has been there for minutes`, commands };
    },
  },
  {
    id: 'ending',
    severity: 'degraded',
    expected: 'sessions that are archived whole',
    why: 'its archive is completed by the next start',
    fix: 'forge start',
    look: ({ disk, layout }) => disk.exists(intentFile(layout)) && 'the end of a session was interrupted',
  },
  {
    id: 'pending',
    severity: 'degraded',
    expected: 'cycles that are in the ledger',
    why: 'until the next one is recorded, they are on this machine alone',
    fix: 'forge memory stats',
    look: ({ disk, layout }) => {
      const { length } = disk.list(pendingFolder(layout)).filter((name) => name.endsWith('.json'));
      return length > 0 && `${plural(length, 'cycle waits', 'cycles wait')} to be recorded`;
    },
  },
  {
    id: 'operation',
    severity: 'advisory',
    expected: 'a branch that stands still',
    why: 'a session that ends meanwhile is archived, but not committed',
    fix: 'git status',
    look: ({ repository }) => {
      const operation = repository && operationInProgress(repository);
      return operation && `${operation} is in progress`;
    },
  },
  {
    id: 'shallow',
    severity: 'advisory',
    expected: 'all commits',
    why: 'what older commits have cannot be restored, nor verified against them',
    fix: 'git fetch --unshallow',
    look: ({ repository }) => repository && isShallow(repository) && 'the history of this clone is cut off',
  },
  {
    id: 'tracked',
    severity: 'degraded',
    expected: 'files that stay on one machine',
    why: 'each clone gets them, and they conflict; forge does not trust them there',
    fix: 'git status',
    look: async (context) => {
      const tracked = await findTracked(context);
      return tracked && { observed: tracked.message, commands: [tracked.fix] };
    },
  },
  {
    id: 'deleted',
    severity: 'degraded',
    expected: 'the files that were committed',
    why: 'commands that read them find nothing',
    // Only missing files are restored: later changes to the others are in no commit.
    fix: "git ls-files -z --deleted -- .forge ':!*/features.d/*' ':!*/learned.d/*' | xargs -0 git restore --",
    look: async ({ git, repository, layout }) => {
      if (!git || !repository) return null;
      const deleted = await deletedFiles(git, shownFrom(repository.root, layout.dir));
      const files = deleted
        .map((path) => shown(layout, join(repository.root, path)))
        // `feature remove` and `knowledge remove` delete these.
        .filter((path) => !/\/long-term\/(?:features|learned)\.d\//.test(path));
      const [first] = files;
      if (first === undefined) return null;
      const observed = `${plural(files.length, 'file')} of .forge/ that git has ${files.length === 1 ? 'is' : 'are'} gone: ${some(files)}`;
      return files.length === 1 ? { observed, commands: [`git restore -- ${first}`] } : observed;
    },
  },
  {
    id: 'uncommitted',
    severity: 'advisory',
    expected: 'records that are committed',
    why: 'until then they are on this disk alone (the end of a session commits them)',
    fix: 'git add .forge && forge commit -m "Keep what was recorded" --why "it is on this disk alone"',
    look: async (context) => {
      const { git, repository, layout } = context;
      if (!git || !repository || (await valueOr(null, () => readRunning(context)))) return null;
      // A folder that git does not track yet has a check of its own.
      if (!indexMayKnow(repository, shownFrom(repository.root, configFile(layout)))) return null;
      const changed = await changedFiles(git, shownFrom(repository.root, layout.dir));
      const ledgers = changed.filter((path) => path.endsWith('.jsonl'));
      // A file of a commit never grows: one that differs was damaged, and verify says so.
      const args = ['ls-tree', '-z', '--full-tree', '--name-only', 'HEAD', '--', ...ledgers];
      const known = new Set(ledgers.length > 0 ? (await git(args)).stdout.split('\0') : []);
      const files = ledgers.filter((path) => !known.has(path));
      const names = files.map((path) => shown(layout, join(repository.root, path)));
      return files.length > 0 && `records are in no commit yet: ${some(names)}`;
    },
  },
];

/** Reported by other checks. */
const ELSEWHERE = /^(git|config|file|disk)\./;
const NO_CHECK = 'violations of the commit protocol are found late, by forge ci';

async function lookAtHooks(context: Context): Promise<Observed> {
  if (!context.git || readConfig(context).commit.enforce === 'off') return null;
  const asked = await attempt(() => hooksStatus(context));
  if ('problem' in asked) {
    const { code, message, hint = 'forge hooks status' } = asked.problem;
    if (ELSEWHERE.test(code)) return null;
    return { observed: message, severity: 'advisory', why: NO_CHECK, commands: [hint] };
  }
  const { hooks, gone } = asked.value;
  const script = hookScript(context.layout);
  const hasScript = context.disk.exists(script) && !gone.includes(script);
  const absent = hooks.filter(({ state }) => state === 'absent' || state === 'refused');
  const isAny = absent.length < hooks.length;
  if (!isAny && !hasScript) {
    const why = absent.find((hook) => hook.why !== undefined)?.why;
    const observed = "git's hooks are not installed";
    if (why === undefined) return { observed, severity: 'advisory', why: NO_CHECK };
    const commands = ['forge hooks status'];
    return { observed: `${observed}: ${why}`, severity: 'advisory', why: NO_CHECK, commands };
  }
  if (!hasScript) return "what git's hooks run is gone from the git dir";
  return [
    ...(absent.length === 0
      ? []
      : [
          {
            observed: `${absent.map(({ name }) => name).join(', ')}: not installed`,
            why: isAny
              ? 'the others are, so only a part is checked'
              : 'they were removed, or git looks elsewhere (core.hooksPath, husky): nothing is checked',
          },
        ]),
    ...gone
      .filter((path) => path !== script)
      .map((path) => ({
        observed: `git's hooks start ${path}, which is gone`,
        why: 'they look for another one in PATH, and pass without a check where there is none',
      })),
  ];
}
