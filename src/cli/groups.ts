import type { Group } from './spec.js';

export interface GroupEntry {
  name: string;
  summary: string;
  /** Under which heading the help lists it; null: not listed. */
  heading: 'Start' | 'Every day' | 'What is known' | 'Set-up' | null;
  load(): Promise<{ group: Group }>;
}

type Listed = Readonly<Record<string, readonly [summary: string, load: GroupEntry['load']]>>;
const under = (heading: GroupEntry['heading'], groups: Listed): GroupEntry[] =>
  Object.entries(groups).map(([name, [summary, load]]) => ({ name, heading, summary, load }));

/** The whole tool on one page. A group's file is loaded when it is used. */
export const GROUPS: readonly GroupEntry[] = [
  ...under(null, {
    where: [
      'Show where you stand (forge without a command)',
      async () => ({ group: (await import('../status/command.js')).whereGroup }),
    ],
    hook: [
      'Answer a hook of an agent (called by agents)',
      async () => ({ group: (await import('../hooks/command.js')).hookGroup }),
    ],
  }),
  ...under('Start', {
    init: ['Create or repair the .forge/ folder', () => import('../init/command.js')],
    status: ['Show how memory is: five parts with their colours', () => import('../status/command.js')],
    session: ['Start, end, list and resume sessions', () => import('../session/command.js')],
    briefing: [
      'Show where the work stands, within a token budget',
      () => import('../session/command-briefing.js'),
    ],
    prime: [
      'Print the work with forge in 15 lines, for an agent with a shell',
      async () => ({ group: (await import('../session/command-briefing.js')).primeGroup }),
    ],
  }),
  ...under('Every day', {
    progress: ["Write the session's log", () => import('../session/command-progress.js')],
    focus: ['Set the current task, files and blockers', () => import('../session/command-focus.js')],
    kfr: ['Keep working memory: what must be right in the next few turns', () => import('../kfr/command.js')],
    next: [
      'Show which task comes next, and why',
      async () => ({ group: (await import('../feature/command.js')).nextGroup }),
    ],
    feature: ['Keep the feature list; verify features by their tests', () => import('../feature/command.js')],
    checkpoint: ['Mark a verified state to come back to', () => import('../checkpoint/command.js')],
    recover: [
      'Run what the last checkpoint proved; go on, or roll back to it',
      () => import('../recover/command.js'),
    ],
    undo: [
      'Take back the last recover, feature remove or session discard',
      () => import('../undo/command.js'),
    ],
    cycle: ['Run a command as one governed cycle', () => import('../cycle/command.js')],
    loop: [
      'Run governed cycles, one after the other',
      async () => ({ group: (await import('../cycle/command.js')).loopGroup }),
    ],
    commit: ['Commit in the protocol; check messages', () => import('../commit/command.js')],
  }),
  ...under('What is known', {
    knowledge: ['Keep what was learned, and the invariants', () => import('../knowledge/command.js')],
    architecture: [
      'Show and edit what the system is, and must stay',
      async () => ({ group: (await import('../knowledge/command.js')).architectureGroup }),
    ],
    note: ['Keep notes for good', () => import('../note/command.js')],
    learn: ['Keep a lesson for later sessions', () => import('../knowledge/command-learn.js')],
    memory: ['Record cycles; verify, repair and keep the ledgers', () => import('../ledger/command.js')],
    skill: ['Procedures for agents: list, show, match, import, export', () => import('../skill/command.js')],
    artifact: ['Keep outputs of the work, with their hashes', () => import('../artifact/command.js')],
    linear: ['Issues as units of memory, with Linear or offline', () => import('../linear/command.js')],
    recall: ['Find what memory has on a question', () => import('../recall/command.js')],
    finding: [
      "Keep what an agent's tools told; say what is known already",
      () => import('../finding/command.js'),
    ],
    guard: ['Look for secrets and personal data', () => import('../guard/command.js')],
  }),
  ...under('Set-up', {
    agent: ['Wire forge into coding agents', () => import('../agent/command.js')],
    doctor: ['Diagnose problems and suggest fixes', () => import('../doctor/command.js')],
    mcp: ['Serve agents by the Model Context Protocol', () => import('../mcp/command.js')],
    hooks: ['Install, remove and show git hooks', () => import('../hooks/command.js')],
    ci: ['Check commits, memory, secrets, features, checkpoints in CI', () => import('../ci/command.js')],
    trust: ['Show and approve what this repository may run here', () => import('../trust/command.js')],
    config: ['Read and change settings', () => import('../config/command.js')],
    schema: ['Print the JSON Schema of a file format', () => import('./command-schema.js')],
    complete: [
      'Complete commands, ids and files at TAB in your shell',
      () => import('./command-complete.js'),
    ],
  }),
];

interface ShortWay {
  /** The full command. */
  words: readonly string[];
  summary: string;
}

/** Aliases of the commands used every day. */
export const SHORT_WAYS: Readonly<Record<string, ShortWay>> = {
  start: {
    words: ['session', 'start'],
    summary: 'Start a session and print its task and briefing',
  },
  log: { words: ['progress', 'add'], summary: 'Write down what you just did' },
  done: { words: ['feature', 'verify'], summary: 'Run the tests of a feature; the only way to "passing"' },
  end: { words: ['session', 'end'], summary: 'End the session: archive it, commit .forge/' },
  ls: { words: ['feature', 'list'], summary: 'List the features' },
  completion: { words: ['complete'], summary: 'Complete commands, ids and files at TAB' },
};

/** The commands that `forge --help` lists. `forge help --all` lists all of them. */
export const FIRST_PAGE: readonly (readonly [heading: string, names: readonly string[]])[] = [
  ['Every day', ['init', 'start', 'log', 'feature', 'done', 'learn', 'end']],
  ['Look', ['status', 'kfr', 'memory']],
  ['Keep, and go back', ['checkpoint', 'undo', 'commit']],
  ['Set up', ['agent', 'doctor']],
];

export const summaryOf = (name: string): string =>
  SHORT_WAYS[name]?.summary ?? GROUPS.find((entry) => entry.name === name)?.summary ?? '';

/** The index of the command in argv, or -1. */
export function commandIndex(argv: readonly string[]): number {
  for (let i = 0; i < argv.length && argv[i] !== '--'; i++) {
    const word = argv[i] ?? '';
    if (['-C', '--cwd', '--color'].includes(word)) i++;
    else if (!word.startsWith('-')) return i;
  }
  return -1;
}

/** Expands an alias: `-C x start --json` → `-C x session start --json`, and `help start` likewise. */
export function inFull(argv: readonly string[]): readonly string[] {
  const first = commandIndex(argv);
  const at = argv[first] === 'help' ? first + 1 : first;
  const short = SHORT_WAYS[argv[at] ?? ''];
  return short && Object.hasOwn(SHORT_WAYS, argv[at] ?? '')
    ? [...argv.slice(0, at), ...short.words, ...argv.slice(at + 1)]
    : argv;
}

/** What `forge help TOPIC` explains, in the order of a first reading; the texts are in `templates/topics/`. */
export const TOPICS: readonly (readonly [name: string, summary: string])[] = [
  ['memory', 'What forge keeps, where, and who reads it'],
  ['kfr', 'Working memory: what must be right in the next few turns'],
  ['gate', 'Why a session may not end yet'],
  ['trust', 'What a repository may run on this machine'],
  ['promotion', 'How something seen becomes something known'],
  ['roles', 'Who may change memory'],
  ['checkpoints', 'Verified states to come back to'],
  ['recovery', 'Back to a state that worked, and back again'],
  ['guard', 'Secrets and personal data stay out'],
  ['hooks', 'What git asks forge at commits and pushes'],
  ['agents', 'Forge in the hooks of coding agents'],
  ['config', 'Settings, and what they are when nothing is said'],
  ['environment', 'The variables that forge reads and sets'],
  ['exit-codes', 'What the exit code of a command says'],
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
  ['FORGE_TRUST', 'in CI only: approves what has this sha256 ("forge trust --show", "forge ci --run")'],
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
