import { join } from 'node:path';
import { CHECKPOINT } from '../checkpoint/rules.js';
import { formatArgv } from '../core/argv.js';
import { type ForgeError, toForgeError } from '../core/error.js';
import { FULL_DISK, isWritable } from '../core/files.js';
import * as paths from '../core/paths.js';
import type { Format } from '../core/schema.js';
import { readActive, readFeatures } from '../feature/store.js';
import { UNIT } from '../feature/tasks.js';
import { must } from '../git/client.js';
import { isShallow } from '../git/repository.js';
import { loadGuard } from '../guard/guard.js';
import { hooksStatus } from '../hooks/install.js';
import { KFR } from '../kfr/rules.js';
import { listKnowledge } from '../knowledge/knowledge.js';
import { describeUnreviewed, readUnreviewed } from '../ledger/audit.js';
import { describeFinding } from '../ledger/compare.js';
import { problemsOf, verifyReadOnly } from '../ledger/integrity.js';
import { ACCEPT, describeSize, readSize } from '../ledger/memory.js';
import { describeForeignEdits, FOREIGN_EDITS_COMMAND, findForeignEdits } from '../project/edits.js';
import {
  type Context,
  findFullDisk,
  findIgnored,
  findTracked,
  hasRecovery,
  readConfig,
  readHalt,
} from '../project/project.js';
import { FOCUS, RUNNING_SESSION } from '../session/rules.js';
import { readArchives } from '../session/store.js';
import { showTrust } from '../trust/trust.js';
import { withRescue } from './rescue.js';

/** The worst first: forge cannot do its work, does part of it, or could work better. */
export const SEVERITIES = ['blocking', 'degraded', 'advisory'] as const;
type Severity = (typeof SEVERITIES)[number];

/** A problem that `forge doctor` found, and what to type. */
export interface Symptom {
  observed: string;
  expected: string;
  why: string;
  commands: string[];
  severity: Severity;
}

const maker =
  (severity: Severity) =>
  (observed: string, expected: string, why: string, ...commands: string[]): Symptom[] => [
    { observed, expected, why, commands, severity },
  ];

/** Lists of one, so that lists of symptoms are easy to join. */
export const blocking = maker('blocking');
export const degraded = maker('degraded');
export const advisory = maker('advisory');

/** One thing that doctor checks: what is expected, why it matters, and what to type otherwise. */
export interface Check<Place> {
  severity: Severity;
  expected: string;
  why: string;
  fix: string | readonly string[];
  /** What is wrong. A finding may override the texts of its check. */
  look(place: Place): Observed | Promise<Observed>;
}

type Finding = string | (Pick<Symptom, 'observed'> & Partial<Symptom>);
export type Observed = Finding | false | null | undefined | readonly Finding[];

/** Runs every check. A check that fails finds nothing: another check reports what stopped it. */
export async function runChecks<Place>(checks: readonly Check<Place>[], place: Place): Promise<Symptom[]> {
  const found = await Promise.all(
    checks.map(async ({ severity, expected, why, fix, look }) => {
      const observed = await valueOr(null, async () => look(place));
      const findings = [observed || []].flat() as Finding[];
      const common: Symptom = { observed: '', expected, why, commands: [fix].flat(), severity };
      return findings.map((finding) => ({
        ...common,
        ...(typeof finding === 'string' ? { observed: finding } : finding),
      }));
    }),
  );
  return found.flat();
}

type Attempt<T> = { value: T } | { problem: ForgeError };

/** The value, or an error of forge or of the system. A bug is thrown. */
export async function attempt<T>(work: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    const problem = toForgeError(error);
    if (problem.kind === 'bug') throw error;
    return { problem };
  }
}

/** `other` for a problem that is reported elsewhere. */
export async function valueOr<T, U>(other: U, work: () => T | Promise<T>): Promise<T | U> {
  const made = await attempt(work);
  return 'problem' in made ? other : made.value;
}

/** Whether forge can read what it needs, whether git keeps it, and what blocks work. */
export const MEMORY_CHECKS: readonly Check<Context>[] = [
  {
    severity: 'blocking',
    expected: 'memory that is intact',
    why: 'no session starts and nothing is recorded until a human has settled it',
    fix: 'forge memory verify',
    look: async ({ disk }) => {
      const halt = await attempt(() => readHalt(disk)?.reasons[0] ?? null);
      if ('problem' in halt) return toFinding(halt.problem);
      return halt.value !== null && `memory is halted: ${halt.value}`;
    },
  },
  {
    severity: 'degraded',
    expected: 'every record that was written here',
    why: 'records that are missing or changed no longer count',
    fix: 'forge memory verify',
    look: async (context) => {
      if (readHalt(context.disk) !== null) return null;
      const made = await attempt(() => verifyReadOnly(context));
      if ('value' in made) return problemsOf(made.value).slice(0, 1).map(describeFinding);
      const why = 'memory cannot be verified, so no session starts';
      return { ...toFinding(made.problem), severity: 'blocking', why };
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
    expected: 'tests, scripts and skills that a person has approved',
    why: 'forge neither runs nor shows them before',
    fix: 'forge trust',
    look: (context) => {
      const { items } = showTrust(context);
      const count = items.filter(({ kind, state }) => kind !== 'rule' && state !== 'trusted').length;
      return count > 0 && `not approved: ${count} of this project's tests, scripts and skills`;
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
    severity: 'blocking',
    expected: 'folders that you may write to',
    why: 'commands that store something stop there',
    fix: 'ls -la .',
    look: ({ layout }) =>
      [...new Set([layout.dir, layout.state])].flatMap((path) =>
        isWritable(path)
          ? []
          : [{ observed: `${path} is read-only here`, commands: [`ls -la ${formatArgv([path])}`] }],
      ),
  },
  {
    severity: 'blocking',
    expected: 'a disk with free space',
    why: 'commands that store something stop there',
    fix: 'df -h .; df -i .',
    look: (context) => {
      const command = findFullDisk(context);
      return command && { observed: FULL_DISK, commands: [command] };
    },
  },
];

/** The error of `work`, with the command that restores a damaged file. Conflicts have a separate check. */
async function problemOf(context: Context, work: () => unknown): Promise<Observed> {
  const made = await attempt(work);
  if (!('problem' in made) || made.problem.code === 'file.conflict') return null;
  return toFinding((await withRescue(context, made.problem)) as ForgeError);
}

const toFinding = ({ message, hint }: ForgeError) => ({
  observed: message.replace(/\.$/, ''),
  ...(hint === undefined ? {} : { commands: [hint] }),
});

async function findDamaged(context: Context): Promise<Observed> {
  const found = await Promise.all(memoryReaders(context).map((read) => problemOf(context, read)));
  return found.flatMap((finding) => (finding ? [finding].flat() : []));
}

/** Each reads files that commands need. */
export function memoryReaders(context: Context): (() => unknown)[] {
  const { disk, layout } = context;
  const reader =
    <T>(format: Format<T>, path: string) =>
    () =>
      disk.readDocument(format, path, null);
  const readersIn = <T>(format: Format<T>, folder: string) =>
    disk
      .list(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => reader(format, join(folder, name)));
  return [
    reader(FOCUS, paths.focusFile(layout)),
    reader(KFR, paths.kfrFile(layout)),
    reader(RUNNING_SESSION, paths.sessionFile(layout)),
    () => disk.read(paths.progressFile(layout)),
    () => readFeatures(context),
    () => readActive(context),
    () => listKnowledge(context),
    () => readArchives(context),
    ...readersIn(UNIT, paths.doneIssuesFolder(layout)),
    ...readersIn(CHECKPOINT, paths.checkpointsFolder(layout)),
  ];
}

async function lookAtTracking(context: Context): Promise<Observed> {
  const { git, repository, layout } = context;
  if (!repository || !git)
    return {
      observed: 'the project is not in a git repository',
      why: 'sessions end without a commit, and memory has no history to restore from',
      commands: ['git init'],
    };
  const path = paths.shownFrom(repository.root, paths.configFile(layout));
  const asked = await attempt(async () => ({
    isTracked: (await must(git, ['ls-files', '--', path])) !== '',
    ignored: await findIgnored(context),
  }));
  if ('problem' in asked) {
    // A missing git is reported by another check.
    if (asked.problem.code === 'git.missing') return null;
    const why = 'no session starts, and none is committed';
    const finding = { expected: 'a git that answers', why, commands: ['git status'] };
    return { ...finding, severity: 'blocking', ...toFinding(asked.problem) };
  }
  const { isTracked, ignored } = asked.value;
  if (ignored) {
    const why = 'what is learned stays on this machine, and git clean -x deletes it';
    return { observed: ignored.message, severity: 'degraded', why, commands: [ignored.fix] };
  }
  return !isTracked && '.forge/ is not in git yet';
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
