import type { Group } from './spec.js';

export interface GroupEntry {
  name: string;
  summary: string;
  /** Under which heading the help lists it; null: not listed. */
  heading: 'Start' | 'Every day' | 'What is known' | 'Set-up' | null;
  load(): Promise<{ group: Group }>;
}

/** The whole tool on one page. A group's file is loaded when it is used. */
export const GROUPS: readonly GroupEntry[] = [
  {
    name: 'where',
    heading: null,
    summary: 'Show where you stand (forge without a command)',
    load: () => import('../status/command-where.js'),
  },
  {
    name: 'hook',
    heading: null,
    summary: 'Answer a hook of an agent (called by agents)',
    load: () => import('../hooks/command-hook.js'),
  },
  {
    name: 'init',
    heading: 'Start',
    summary: 'Create or repair the .forge/ folder',
    load: () => import('../init/command.js'),
  },
  {
    name: 'status',
    heading: 'Start',
    summary: 'Show how memory is: five parts, each green, yellow or red',
    load: () => import('../status/command.js'),
  },
  {
    name: 'session',
    heading: 'Start',
    summary: 'Start, end, list and resume sessions',
    load: () => import('../session/command.js'),
  },
  {
    name: 'briefing',
    heading: 'Start',
    summary: 'Show where the work stands, within a token budget',
    load: () => import('../session/command-briefing.js'),
  },
  {
    name: 'progress',
    heading: 'Every day',
    summary: "Write the session's log",
    load: () => import('../session/command-progress.js'),
  },
  {
    name: 'focus',
    heading: 'Every day',
    summary: 'Set the current task, files and blockers',
    load: () => import('../session/command-focus.js'),
  },
  {
    name: 'kfr',
    heading: 'Every day',
    summary: 'Keep working memory: what must be right in the next few turns',
    load: () => import('../kfr/command.js'),
  },
  {
    name: 'next',
    heading: 'Every day',
    summary: 'Show which task comes next, and why',
    load: async () => ({ group: (await import('../feature/command.js')).nextGroup }),
  },
  {
    name: 'feature',
    heading: 'Every day',
    summary: 'Keep the feature list; verify features by their tests',
    load: () => import('../feature/command.js'),
  },
  {
    name: 'checkpoint',
    heading: 'Every day',
    summary: 'Mark a verified state to come back to',
    load: () => import('../checkpoint/command.js'),
  },
  {
    name: 'recover',
    heading: 'Every day',
    summary: 'Run what the last checkpoint proved; go on, or roll back to it',
    load: () => import('../recover/command.js'),
  },
  {
    name: 'undo',
    heading: 'Every day',
    summary: 'Take back the last recover, feature remove or session discard',
    load: () => import('../undo/command.js'),
  },
  {
    name: 'cycle',
    heading: 'Every day',
    summary: 'Run a command as one governed cycle',
    load: () => import('../cycle/command.js'),
  },
  {
    name: 'loop',
    heading: 'Every day',
    summary: 'Run governed cycles, one after the other',
    load: () => import('../cycle/command-loop.js'),
  },
  {
    name: 'commit',
    heading: 'Every day',
    summary: 'Commit in the protocol; check messages',
    load: () => import('../commit/command.js'),
  },
  {
    name: 'knowledge',
    heading: 'What is known',
    summary: 'Keep what was learned, and the invariants',
    load: () => import('../knowledge/command.js'),
  },
  {
    name: 'architecture',
    heading: 'What is known',
    summary: 'Show and edit what the system is, and must stay',
    load: async () => ({ group: (await import('../knowledge/command.js')).architectureGroup }),
  },
  {
    name: 'note',
    heading: 'What is known',
    summary: 'Keep notes for good',
    load: () => import('../note/command.js'),
  },
  {
    name: 'memory',
    heading: 'What is known',
    summary: 'Record cycles; verify, repair and keep the ledgers',
    load: () => import('../ledger/command.js'),
  },
  {
    name: 'guard',
    heading: 'What is known',
    summary: 'Look for secrets and personal data',
    load: () => import('../guard/command.js'),
  },
  {
    name: 'agent',
    heading: 'Set-up',
    summary: 'Wire forge into coding agents',
    load: () => import('../agent/command.js'),
  },
  {
    name: 'doctor',
    heading: 'Set-up',
    summary: 'Find out what is wrong, and what to type',
    load: () => import('../doctor/command.js'),
  },
  {
    name: 'mcp',
    heading: 'Set-up',
    summary: 'Serve agents by the Model Context Protocol',
    load: () => import('../mcp/command.js'),
  },
  {
    name: 'hooks',
    heading: 'Set-up',
    summary: 'Install, remove and show git hooks',
    load: () => import('../hooks/command.js'),
  },
  {
    name: 'ci',
    heading: 'Set-up',
    summary: 'Check commits, memory, secrets, features, checkpoints in CI',
    load: () => import('../ci/command.js'),
  },
  {
    name: 'trust',
    heading: 'Set-up',
    summary: 'Show and approve what this repository may run here',
    load: () => import('../trust/command.js'),
  },
  {
    name: 'config',
    heading: 'Set-up',
    summary: 'Read and change settings',
    load: () => import('../config/command.js'),
  },
  {
    name: 'schema',
    heading: 'Set-up',
    summary: 'Print the JSON Schema of a file format',
    load: () => import('./command-schema.js'),
  },
  {
    name: 'complete',
    heading: 'Set-up',
    summary: 'Complete commands, ids and files at TAB in your shell',
    load: () => import('./command-complete.js'),
  },
];

export const EXIT_CODE_HELP = [
  ['0', 'done'],
  ['1', 'findings: a rule is broken (a failing feature)'],
  ['2', 'usage: wrong words or input'],
  ['3', 'refused: a gate, a lock, trust or a role says no'],
  ['4', 'stored state is damaged, or memory is halted'],
  ['5', 'a secret or personal data'],
  ['6', 'git, the disk or another program failed'],
  ['70', 'a bug in forge'],
  ['130', 'interrupted'],
] as const;

export const ENVIRONMENT_HELP = [
  ['FORGE_DIR', 'the project folder to work in, instead of the current one'],
  [
    'FORGE_ROLE',
    '"builder": may work, not change memory, knowledge, trust or settings; "supervisor" or unset: may',
  ],
  ['FORGE_TRUST', 'the sha256 of "forge trust --show": approves exactly that, in CI'],
  ['FORGE_HOOKS', "0: forge's git hooks do nothing, this once"],
  ['FORGE_NODE', 'the Node that git hooks start, instead of the one that installed them'],
  ['XDG_STATE_HOME', 'where approvals are kept (default: ~/.local/state)'],
  ['XDG_CONFIG_HOME', 'where forge/owners lists the owners of your code (default: ~/.config)'],
  ['NO_COLOR, FORCE_COLOR', 'colour off, on; TERM=dumb: off'],
  ['LC_ALL, LC_CTYPE, LANG', 'with UTF-8 in them a terminal is shown more than ASCII'],
  ['SHELL', 'which shell "forge complete" speaks of'],
  ['CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR', "where an agent's hook looks for the project"],
  ['GITHUB_*, CI_*, GITLAB_CI', 'where "forge ci" runs, and which commits it is about'],
] as const;
