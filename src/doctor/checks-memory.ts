import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { lookAtLock } from '../core/lock.js';
import {
  activeIssuesFile,
  configFile,
  focusFile,
  kfrFile,
  lockFile,
  progressFile,
  sessionFile,
  sessionIdsLock,
  shown,
  shownFrom,
} from '../core/paths.js';
import type { Format } from '../core/schema.js';
import { plural } from '../core/text.js';
import { readFeatures } from '../feature/store.js';
import { ACTIVE_ISSUES } from '../feature/tasks.js';
import { type Git, gitError, must } from '../git/client.js';
import { isShallow } from '../git/state.js';
import { trackedFiles } from '../git/status.js';
import { loadGuard } from '../guard/guard.js';
import { hooksStatus } from '../hooks/install.js';
import { KFR } from '../kfr/rules.js';
import { listKnowledge } from '../knowledge/knowledge.js';
import { describeUnreviewed, readUnreviewed } from '../ledger/audit.js';
import { ACCEPT, describeSize, readSize } from '../ledger/growth.js';
import {
  describeForeignEdits,
  FOREIGN_EDITS_COMMAND,
  findForeignEdits,
  findTracked,
} from '../project/edits.js';
import { readHalt } from '../project/halt.js';
import { type Context, hasRecovery, lockPolicy, readConfig } from '../project/project.js';
import { FOCUS, RUNNING_SESSION } from '../session/rules.js';
import { readArchives } from '../session/store.js';
import { showTrust } from '../trust/trust.js';
import { attempt, type Check, type Observed, type Problem } from './check.js';
import { findConflicts } from './conflicts.js';
import { withRescue } from './rescue.js';

/** No git command holds the lock of the index for so long. */
const MAX_INDEX_LOCK_MS = 10 * 60_000;

/** Whether forge can read what it needs, whether git keeps it, and what blocks work. */
export const MEMORY_CHECKS: readonly Check<Context>[] = [
  {
    severity: 'blocking',
    expected: 'memory that is intact',
    why: 'no session starts and nothing is recorded until a human has settled it',
    fix: 'forge memory verify',
    look: async ({ disk }) => {
      const halt = await attempt(() => readHalt(disk)?.reasons[0] ?? null);
      const reason = 'problem' in halt ? halt.problem.message : halt.value;
      return reason !== null && `memory is halted: ${reason}`;
    },
  },
  {
    severity: 'degraded',
    expected: 'memory below 80 MB, or a size that a human has accepted',
    why: 'nothing is promoted while consolidation is paused',
    fix: ACCEPT,
    look: (context) => describeSize(readSize(context))?.replace(/ A human.*|\.$/, ''),
  },
  {
    severity: 'blocking',
    expected: 'settings that forge understands',
    why: 'most commands read the settings first, and stop there',
    fix: 'forge config list',
    look: (context) => problemOf(context, () => readConfig(context)),
  },
  {
    severity: 'advisory',
    expected: 'settings that forge understands',
    why: 'it has no effect',
    fix: 'forge config list',
    look: async (context) => {
      await attempt(() => readConfig(context));
      return context.warnings;
    },
  },
  {
    severity: 'blocking',
    expected: 'a guard that checks what is stored',
    why: 'without its rules nothing is written, because it may hold a secret',
    fix: 'forge guard scan',
    look: (context) => problemOf(context, () => loadGuard(context.world.env, context)),
  },
  {
    severity: 'advisory',
    expected: 'a .forge/ folder that git keeps',
    why: 'other clones do not have it until it is committed (the end of a session does that too)',
    fix: 'git add .forge && forge commit -m "Add forge" --why "agents remember"',
    look: lookAtTracking,
  },
  {
    severity: 'blocking',
    expected: 'a file that forge can read',
    why: 'commands that need it stop',
    fix: 'git status -- .forge',
    look: findDamaged,
  },
  {
    severity: 'degraded',
    expected: 'tests that forge may run',
    why: 'an agent cannot prove a feature before a person has approved its tests',
    fix: 'forge trust',
    look: (context) => {
      const { items } = showTrust(context);
      const count = items.filter(({ kind, state }) => kind !== 'rule' && state !== 'trusted').length;
      return count > 0 && `not approved: ${count} of this project's tests and scripts`;
    },
  },
  {
    severity: 'advisory',
    expected: 'features and knowledge written by forge',
    why: 'agents are told to rely on it, and nobody has checked it; a commit accepts it',
    fix: FOREIGN_EDITS_COMMAND,
    look: async (context) => describeForeignEdits(await findForeignEdits(context)),
  },
  {
    severity: 'blocking',
    expected: 'one version of each file',
    why: 'commands that read it stop there',
    fix: 'forge doctor --fix',
    look: async (context) => (await findConflicts(context)).flatMap(({ symptoms }) => symptoms),
  },
  {
    severity: 'blocking',
    expected: 'a rollback that is complete',
    why: 'until then the working tree may be a mixture of two states',
    fix: 'forge recover',
    look: (context) => hasRecovery(context) && 'a rollback or its undo was interrupted',
  },
  {
    severity: 'blocking',
    expected: 'memory that was never damaged, or that a human has reviewed',
    why: 'cycle, loop and promotion are refused',
    fix: 'forge memory override acknowledge --reason "TEXT"',
    look: (context) => readUnreviewed(context).slice(0, 1).map(describeUnreviewed),
  },
  {
    severity: 'degraded',
    expected: 'git hooks that start this forge',
    why: 'they pass without a check',
    fix: 'forge hooks install',
    look: lookAtHooks,
  },
  {
    severity: 'degraded',
    expected: 'a lock that is held for moments',
    why: 'other writers wait for it and then give up',
    fix: 'ls -l',
    look: ({ layout, world }) =>
      [lockFile(layout), sessionIdsLock(layout)].flatMap((path) => {
        const holder = lookAtLock(path, lockPolicy(world));
        // A holder that is known to be alive is working.
        if (!holder || holder.isSure) return [];
        const file = shown(layout, path);
        const observed = `${file} is held by ${holder.who}, which cannot be checked from here`;
        return [{ observed, commands: [`ls -l ${file}`, `rm ${file}   (if the holder is gone for good)`] }];
      }),
  },
  {
    severity: 'degraded',
    expected: 'an index lock that git holds for moments',
    why: 'no git command can stage or commit, and no session can end',
    fix: 'ps -C git',
    look: ({ repository, layout, world }) => {
      const path = repository && join(repository.gitDir, 'index.lock');
      const at = path && lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (!path || !at || world.now().getTime() - at <= MAX_INDEX_LOCK_MS) return null;
      const lock = shown(layout, path);
      const commands = ['ps -C git', `rm ${lock}   (if no git is running)`];
      return { observed: `${lock} has existed for more than ten minutes`, commands };
    },
  },
  {
    severity: 'advisory',
    expected: 'all commits',
    why: 'files cannot be restored from missing commits, and memory cannot be verified against them',
    fix: 'git fetch --unshallow',
    look: ({ repository }) => repository && isShallow(repository) && 'this clone is shallow',
  },
  {
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
    severity: 'degraded',
    expected: 'the files that were committed',
    why: 'commands that read them find nothing',
    fix: 'git status -- .forge',
    look: lookForDeleted,
  },
];

/** The error of `work`, with the command that restores a damaged file. Conflicts have a separate check. */
async function problemOf(context: Context, work: () => unknown): Promise<Observed> {
  const made = await attempt(async () => {
    try {
      await work();
    } catch (error) {
      throw await withRescue(context, error);
    }
  });
  return 'problem' in made && made.problem.code !== 'file.conflict' ? toFinding(made.problem) : null;
}

const toFinding = ({ message, hint }: Problem) => ({
  observed: message.replace(/\.$/, ''),
  ...(hint === undefined ? {} : { commands: [hint] }),
});

async function findDamaged(context: Context): Promise<Observed> {
  const { disk, layout } = context;
  const documents: [path: string, format: Format<unknown>][] = [
    [activeIssuesFile(layout), ACTIVE_ISSUES as Format<unknown>],
    [focusFile(layout), FOCUS as Format<unknown>],
    [kfrFile(layout), KFR as Format<unknown>],
    [sessionFile(layout), RUNNING_SESSION as Format<unknown>],
  ];
  const looks = [
    ...documents.map(
      ([path, format]) =>
        () =>
          disk.readDocument(format, path, null),
    ),
    () => disk.read(progressFile(layout)),
    () => readFeatures(context),
    () => listKnowledge(context),
    () => readArchives(context),
  ];
  const found = await Promise.all(looks.map((look) => problemOf(context, look)));
  return found.flatMap((finding) => (finding ? [finding].flat() : []));
}

/** Looks at config.toml: what git does with it, it does with the folder. */
async function lookAtTracking({ repository, git, layout }: Context): Promise<Observed> {
  if (!repository || !git)
    return {
      observed: 'the project is not in a git repository',
      why: 'sessions end without a commit, and memory has no history to restore from',
      commands: ['git init'],
    };
  const path = shownFrom(repository.root, configFile(layout));
  const lists = async (...args: string[]): Promise<boolean> =>
    (await must(git, ['ls-files', ...args, '--', path])) !== '';
  const asked = await attempt(async () => {
    if (await lists('--cached', '--others', '--ignored', '--exclude-standard')) return 'ignored';
    await requireHead(git);
    return (await lists()) ? 'tracked' : 'untracked';
  });
  if ('problem' in asked) {
    // A missing git is reported by another check.
    if (asked.problem.code === 'git.missing') return null;
    const why = 'no session starts or ends without git';
    const finding = { expected: 'a git that answers', why, commands: ['git status'] };
    return { ...finding, severity: 'blocking', ...toFinding(asked.problem) };
  }
  if (asked.value === 'ignored')
    return {
      observed: 'git ignores .forge/',
      severity: 'degraded',
      why: 'what is learned stays on this machine, and git clean -x deletes it',
      commands: ['grep -n forge .gitignore .git/info/exclude'],
    };
  return asked.value === 'untracked' && '.forge/ is not in git yet';
}

/** The commit that HEAD names may be missing. A branch without a commit is not damaged. */
async function requireHead(git: Git): Promise<void> {
  const args = ['rev-list', '--max-count=1', 'HEAD', '--'];
  const { code, stderr } = await git(args);
  if (code !== 0 && !/bad revision|unknown revision/.test(stderr)) throw gitError(args, stderr);
}

async function lookAtHooks(context: Context): Promise<Observed> {
  if (!context.git || readConfig(context).commit.enforce === 'off') return null;
  const { hooks, gone } = await hooksStatus(context);
  const absent = hooks.filter(({ state }) => state === 'absent' || state === 'refused');
  if (absent.length === hooks.length) {
    const refused = absent.find((hook) => hook.why !== undefined)?.why;
    return {
      observed: `git's hooks are not installed${refused === undefined ? '' : `: ${refused}`}`,
      severity: 'advisory',
      why: 'violations of the commit protocol are found late, by forge ci',
      commands: [refused === undefined ? 'forge hooks install' : 'forge hooks status'],
    };
  }
  const names = absent.map(({ name }) => name).join(', ');
  const missing = { observed: `${names}: not installed`, why: 'only some of the hooks check' };
  const broken = gone.map((path) => `git's hooks start ${path}, which does not exist`);
  return [...(absent.length > 0 ? [missing] : []), ...broken];
}

async function lookForDeleted({ git, repository, layout }: Context): Promise<Observed> {
  if (!git || !repository) return null;
  const deleted = await trackedFiles(git, [shownFrom(repository.root, layout.dir)], '--deleted');
  const files = deleted
    .map((path) => shown(layout, join(repository.root, path)))
    // `feature remove` and `knowledge remove` delete these.
    .filter((path) => !/\/long-term\/(?:features|learned)\.d\//.test(path));
  const first = files.slice(0, 3);
  const list = `${first.join(', ')}${files.length > 3 ? ', …' : ''}`;
  return (
    files.length > 0 && {
      observed: `${plural(files.length, 'committed file')} of .forge/ ${files.length === 1 ? 'is' : 'are'} missing: ${list}`,
      commands: first.map((file) => `git restore -- ${file}`),
    }
  );
}
