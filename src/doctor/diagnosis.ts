import { advisory, blocking, degraded, type Problem, type Symptom } from '../status/symptom.js';

/** What `forge doctor` saw of this machine and this project. */
export interface Facts {
  /** `process.versions.node` */
  node: string;
  /** What `git --version` says; null: there is no git. */
  git: string | null;
  /** A problem where there is no `.forge/` that can be opened. */
  project: ProjectFacts | Problem;
}

export interface ProjectFacts {
  /** Why the settings cannot be read. */
  config: Problem | null;
  /** Of the settings. */
  warnings: readonly string[];
  /** Why memory is halted. */
  halted: string | null;
  /** What git makes of `.forge/`; a problem where it does not say. */
  tracking: 'no repository' | 'tracked' | 'untracked' | 'ignored' | Problem;
  /** Why the guard's rules cannot be loaded. */
  guard: Problem | null;
  /** Files of state that cannot be read. */
  damaged: readonly Problem[];
  /** How much of what the project would run nobody approved; 0 where that cannot be told. */
  unapproved: number;
}

const LEAST_NODE = '20.19';
const LEAST_GIT = '2.39';

export function diagnose({ node, git, project }: Facts): Symptom[] {
  if ('message' in project) return [...checkNode(node), ...checkGit(git, false), ...checkFolder(project)];
  return [
    ...checkNode(node),
    ...checkGit(git, project.tracking !== 'no repository'),
    ...checkHalt(project),
    ...checkConfig(project),
    ...checkGuard(project),
    // Without git there is nobody to ask.
    ...(git === null ? [] : checkTracking(project)),
    ...checkState(project),
    ...checkApproved(project),
  ];
}

/** `20.9.1` is below `20.19`. */
export function isBelow(version: string, least: string): boolean {
  const numbers = (text: string): number[] => text.split('.').map((part) => Number.parseInt(part, 10));
  const found = numbers(version);
  for (const [i, part] of numbers(least).entries())
    if ((found[i] ?? 0) !== part) return (found[i] ?? 0) < part;
  return false;
}

function checkNode(version: string): Symptom[] {
  if (!isBelow(version, LEAST_NODE)) return [];
  const why = 'forge is built for it; an older one may stop in the middle of a command';
  return blocking(`Node ${version}`, `Node ${LEAST_NODE} or newer`, why, 'nvm install 22');
}

function checkGit(said: string | null, isNeeded: boolean): Symptom[] {
  const expected = `git ${LEAST_GIT} or newer on the PATH`;
  if (said === null)
    return isNeeded
      ? blocking(
          'git was not found',
          expected,
          'in a repository no session starts without it',
          'git --version',
        )
      : degraded('git was not found', expected, 'without it memory has no history', 'git --version');
  const version = /\d+\.\d+(\.\d+)*/.exec(said)?.[0];
  if (version !== undefined && !isBelow(version, LEAST_GIT)) return [];
  const observed = version === undefined ? `git says ${JSON.stringify(said)}` : `git ${version}`;
  return degraded(observed, expected, 'forge asks in ways that an older one does not know', 'git --version');
}

function checkFolder({ message, hint }: Problem): Symptom[] {
  const why = 'all that forge keeps is in it; without it hooks and the MCP server have nothing to say';
  return blocking(message, 'a .forge/ folder in this project', why, hint ?? 'forge init');
}

function checkHalt({ halted }: ProjectFacts): Symptom[] {
  if (halted === null) return [];
  const why = 'no session starts and nothing is recorded until a human has settled it';
  return blocking(`memory is halted: ${halted}`, 'memory that is intact', why, 'forge memory verify');
}

function checkConfig({ config, warnings }: ProjectFacts): Symptom[] {
  const expected = 'settings that forge understands';
  const why = 'most commands read the settings first, and stop there';
  return [
    ...(config ? blocking(config.message, expected, why, config.hint ?? 'forge config list') : []),
    ...warnings.flatMap((text) =>
      advisory(text, expected, 'it has no effect as it stands', 'forge config list'),
    ),
  ];
}

function checkGuard({ guard }: ProjectFacts): Symptom[] {
  if (guard === null) return [];
  const why = 'without its rules nothing is written, for it may hold a secret';
  return blocking(guard.message, 'a guard that looks at what is kept', why, guard.hint ?? 'forge guard scan');
}

/** Whether what forge keeps travels with the repository. */
function checkTracking({ tracking }: ProjectFacts): Symptom[] {
  const expected = 'a .forge/ folder that git keeps';
  if (typeof tracking === 'object')
    return blocking(
      tracking.message,
      'a git that answers',
      'no session starts or ends without its answers',
      tracking.hint ?? 'git status',
    );
  switch (tracking) {
    case 'tracked':
      return [];
    case 'ignored':
      return degraded(
        'git ignores .forge/',
        expected,
        'what is learned stays on this machine, and git clean -x takes it away',
        'grep -n forge .gitignore .git/info/exclude',
      );
    case 'untracked':
      return advisory(
        '.forge/ is not in git yet',
        expected,
        'until it is committed (the end of a session does that, too) it does not travel',
        'git add .forge && forge commit -m "Add forge" --why "agents remember"',
      );
    case 'no repository':
      return advisory(
        'the project is in no git repository',
        expected,
        'sessions end without a commit, and memory has no history to come back from',
        'git init',
      );
  }
}

const checkState = ({ damaged }: ProjectFacts): Symptom[] =>
  damaged.flatMap(({ message, hint }) =>
    blocking(
      message.replace(/\.$/, ''),
      'a file that forge can read',
      'whatever needs it stops there',
      hint ?? 'git status -- .forge',
    ),
  );

function checkApproved({ unapproved }: ProjectFacts): Symptom[] {
  if (unapproved === 0) return [];
  return degraded(
    `${unapproved} of what this project would run is not approved`,
    'tests that forge may run',
    'an agent cannot prove a feature before a person has approved its tests',
    'forge trust',
  );
}
