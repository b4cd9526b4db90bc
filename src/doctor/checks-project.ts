import { formatArgv } from '../core/argv.js';
import { ForgeError } from '../core/error.js';
import {
  activeIssuesFile,
  configFile,
  featuresFolder,
  focusFile,
  kfrFile,
  learnedFolder,
  progressFile,
  sessionFile,
  sessionsFolder,
  shown,
  shownFrom,
} from '../core/paths.js';
import type { Format } from '../core/schema.js';
import { readFeatures } from '../feature/store.js';
import { ACTIVE_ISSUES } from '../feature/tasks.js';
import { type Git, gitError, must } from '../git/client.js';
import { loadGuard } from '../guard/guard.js';
import { KFR } from '../kfr/rules.js';
import { listKnowledge } from '../knowledge/knowledge.js';
import { ACCEPT, describeSize, readSize } from '../learning/growth.js';
import { describeForeignEdits, FOREIGN_EDITS_COMMAND, findForeignEdits } from '../project/edits.js';
import { readHalt } from '../project/halt.js';
import { type Context, readConfig } from '../project/project.js';
import { readArchives } from '../session/archive.js';
import { FOCUS } from '../session/focus-rules.js';
import { RUNNING_SESSION } from '../session/rules.js';
import type { Problem } from '../status/symptom.js';
import { showTrust } from '../trust/trust.js';
import { attempt, type Check, type Observed } from './check.js';
import { findConflicts } from './conflicts.js';
import { asideHint, withRescue } from './rescue.js';

/** Whether forge can read what it needs, and whether git keeps it. */
export const PROJECT_CHECKS: readonly Check<Context>[] = [
  {
    id: 'halt',
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
    id: 'size',
    severity: 'degraded',
    expected: 'memory below 80 MB, or one whose size a human has accepted',
    why: 'nothing is promoted while consolidation is paused',
    fix: ACCEPT,
    look: (context) => {
      const text = describeSize(readSize(context));
      return text?.replace(/ A human.*|\.$/, '');
    },
  },
  {
    id: 'settings',
    severity: 'blocking',
    expected: 'settings that forge understands',
    why: 'most commands read the settings first, and stop there',
    fix: 'forge config list',
    look: (context) =>
      problemOf(() => rescued(context, configFile(context.layout), () => readConfig(context))),
  },
  {
    id: 'odd-settings',
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
    id: 'guard',
    severity: 'blocking',
    expected: 'a guard that checks what is stored',
    why: 'without its rules nothing is written, for it may hold a secret',
    fix: 'forge guard scan',
    look: (context) => problemOf(() => loadGuard(context.world.env, context)),
  },
  {
    id: 'tracking',
    severity: 'advisory',
    expected: 'a .forge/ folder that git keeps',
    why: 'until it is committed (the end of a session does that, too) it does not travel',
    fix: 'git add .forge && forge commit -m "Add forge" --why "agents remember"',
    look: lookAtTracking,
  },
  {
    id: 'state',
    severity: 'blocking',
    expected: 'a file that forge can read',
    why: 'commands that need it stop',
    fix: 'git status -- .forge',
    look: async (context) =>
      (await findDamaged(context)).map((problem) => ({
        ...found(problem),
        observed: problem.message.replace(/\.$/, ''),
      })),
  },
  {
    id: 'approved',
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
    id: 'foreign-edits',
    severity: 'advisory',
    expected: 'features and knowledge written by forge',
    why: 'agents are told to rely on it, and nobody has checked it; a commit accepts it',
    fix: FOREIGN_EDITS_COMMAND,
    look: async (context) => describeForeignEdits(await findForeignEdits(context)),
  },
  {
    id: 'conflicts',
    severity: 'blocking',
    expected: 'one version of each file',
    why: 'commands that read it stop there',
    fix: 'forge doctor --fix',
    look: async (context) => (await findConflicts(context)).flatMap(({ symptoms }) => symptoms),
  },
];

const found = ({ message, hint }: Problem) => ({
  observed: message,
  ...(hint === undefined ? {} : { commands: [hint] }),
});

/** Why it fails. Conflicts have a check of their own. */
async function problemOf(work: () => unknown): Promise<Observed> {
  const made = await attempt(work);
  return 'problem' in made && made.problem.code !== 'file.conflict' ? found(made.problem) : null;
}

/** Judged by the settings: what git does with one file, it does with the folder. */
async function lookAtTracking({ repository, git, layout }: Context): Promise<Observed> {
  if (!repository || !git)
    return {
      observed: 'the project is not in a git repository',
      why: 'sessions end without a commit, and memory has no history to restore from',
      commands: ['git init'],
    };
  const path = shownFrom(repository.root, configFile(layout));
  const ignored = ['--cached', '--others', '--ignored', '--exclude-standard', '--', path];
  const asked = await attempt(async () => {
    if (await lists(git, ignored)) return 'ignored';
    await requireHead(git);
    return (await lists(git, ['--', path])) ? 'tracked' : 'untracked';
  });
  if ('problem' in asked)
    return {
      severity: 'blocking',
      expected: 'a git that answers',
      why: 'no session starts or ends without its answers',
      commands: ['git status'],
      ...found(asked.problem),
    };
  if (asked.value === 'ignored')
    return {
      observed: 'git ignores .forge/',
      severity: 'degraded',
      why: 'what is learned stays on this machine, and git clean -x deletes it',
      commands: ['grep -n forge .gitignore .git/info/exclude'],
    };
  return asked.value === 'untracked' && '.forge/ is not in git yet';
}

/** The commit that HEAD names may be missing; a branch without a commit is no damage. */
async function requireHead(git: Git): Promise<void> {
  const args = ['rev-list', '--max-count=1', 'HEAD', '--'];
  const { code, stderr } = await git(args);
  if (code !== 0 && !/bad revision|unknown revision/.test(stderr)) throw gitError(args, stderr);
}

const lists = async (git: Git, args: readonly string[]): Promise<boolean> =>
  (await must(git, ['ls-files', ...args])) !== '';

/** Files of state that cannot be read, with what restores them. Conflicts are reported as conflicts. */
async function findDamaged(context: Context): Promise<Problem[]> {
  const { disk, layout } = context;
  const file = (format: unknown) => (path: string) =>
    disk.readDocument(format as Format<unknown>, path, null);
  const looks: [path: string, look: (path: string) => unknown][] = [
    [activeIssuesFile(layout), file(ACTIVE_ISSUES)],
    [focusFile(layout), file(FOCUS)],
    [kfrFile(layout), file(KFR)],
    [sessionFile(layout), file(RUNNING_SESSION)],
    [progressFile(layout), (path) => disk.read(path)],
    [featuresFolder(layout), () => readFeatures(context)],
    [learnedFolder(layout), () => listKnowledge(context)],
    [sessionsFolder(layout), () => readArchives(context)],
  ];
  const found: Problem[] = [];
  for (const [path, look] of looks) {
    const looked = await attempt(() => rescued(context, path, () => look(path)));
    if ('problem' in looked && looked.problem.code !== 'file.conflict') found.push(looked.problem);
  }
  return found;
}

/** What `look` returns; its error says what restores the file. */
async function rescued<T>(context: Context, path: string, look: () => T): Promise<T> {
  try {
    return look();
  } catch (error) {
    const known = await withRescue(context, error);
    if (!(known instanceof ForgeError) || known.code !== 'file.kind') throw known;
    const { kind, code, message, details } = known;
    const file = shown(context.layout, details.file ?? path);
    const hint = asideHint(context, file) ?? replaceHint(context, file);
    throw new ForgeError(kind, code, message, { ...details, hint });
  }
}

/** A folder in the place of a file has no content to repair. */
function replaceHint({ repository }: Context, name: string): string {
  const file = formatArgv([name]);
  return `mv ${file} ${file}.damaged && ${repository ? `git restore -- ${file}` : 'forge init'}`;
}
