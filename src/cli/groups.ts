import type { CommandSpec, Group } from './spec.js';

export interface GroupEntry {
  name: string;
  summary: string;
  /** The heading in help; null: not listed. */
  heading: 'Start' | 'Every day' | 'What is known' | 'Set-up' | null;
  load(): Promise<{ group: Group }>;
}

type Listed = Readonly<Record<string, readonly [summary: string, read: () => Promise<object>]>>;

/** A file exports its group as `group`, and every other group as `<name>Group`. */
const under = (heading: GroupEntry['heading'], groups: Listed): GroupEntry[] =>
  Object.entries(groups).map(([name, [summary, read]]) => ({
    ...{ name, heading, summary },
    load: async () => {
      const file = (await read()) as Record<string, Group>;
      return { group: (file[`${name}Group`] ?? file.group) as Group };
    },
  }));

/** Every command by its first word. A group's file is loaded when it is used. */
export const GROUPS: readonly GroupEntry[] = [
  ...under(null, {
    where: ['Show where you stand (forge without a command)', () => import('../status/command.js')],
    hook: ['Answer a hook of an agent (called by agents)', () => import('../hooks/command.js')],
  }),
  ...under('Start', {
    init: ['Create or repair the .forge/ folder', () => import('../init/command.js')],
    status: ['Show memory health, and how to fix it', () => import('../status/command.js')],
    session: ['Start, end, list and resume sessions', () => import('../session/command.js')],
    ui: ['Show memory as a page in a browser', () => import('../ui/command.js')],
    watch: ['Show where the work stands, live', () => import('../ui/command-watch.js')],
    briefing: [
      'Show where the work stands, within a token budget',
      () => import('../session/command-work.js'),
    ],
    prime: ['Print the workflow, for an agent with only a shell', () => import('../session/command-work.js')],
  }),
  ...under('Every day', {
    progress: ["Write the session's log", () => import('../session/command-work.js')],
    focus: ['Set the current task, files and blockers', () => import('../session/command-work.js')],
    kfr: [
      'Keep working memory: what must stay correct for the next turns',
      () => import('../kfr/command.js'),
    ],
    next: ['Show the next task, and why', () => import('../feature/command.js')],
    feature: ['Manage features, and verify them by their tests', () => import('../feature/command.js')],
    checkpoint: ['Mark verified states to go back to', () => import('../checkpoint/command.js')],
    recover: [
      'Re-run what the last checkpoint proved, and go on or roll back',
      () => import('../recover/command.js'),
    ],
    undo: [
      'Take back the last recover, feature remove or session discard',
      () => import('../recover/command.js'),
    ],
    cycle: ['Run a command as one governed cycle', () => import('../cycle/command.js')],
    loop: ['Run governed cycles, one after the other', () => import('../cycle/command.js')],
    claim: ['Take a task, so that nobody else works on it', () => import('../events/command-claim.js')],
    release: ['Give up a task that you claimed', () => import('../events/command-claim.js')],
    fleet: ['Show who works on what, on all machines', () => import('../events/command-claim.js')],
    commit: ['Commit in the protocol, and check messages', () => import('../commit/command.js')],
  }),
  ...under('What is known', {
    knowledge: ['Manage what was learned, and the invariants', () => import('../knowledge/command.js')],
    architecture: ['Show and edit the description of the system', () => import('../knowledge/command.js')],
    note: ['Manage durable notes', () => import('../knowledge/command.js')],
    learn: ['Record a lesson for later sessions', () => import('../knowledge/command.js')],
    memory: ['Record cycles; verify and repair the ledger', () => import('../ledger/command.js')],
    skill: ['Procedures for agents: list, show, match, import, export', () => import('../skill/command.js')],
    artifact: ['Keep outputs of the work, with their hashes', () => import('../artifact/command.js')],
    linear: ['Issues as units of memory, with Linear or offline', () => import('../linear/command.js')],
    export: ['Write the memory page, or a handoff, as a file', () => import('../ui/command.js')],
    events: ['Follow, list and send what agents do, by NATS', () => import('../events/command.js')],
    import: ['Import notes and tasks of other tools', () => import('../import/command.js')],
    recall: ['Search memory', () => import('../recall/command.js')],
    finding: ['Manage what agents found out with their tools', () => import('../finding/command.js')],
    guard: ['Scan for secrets and personal data', () => import('../guard/command.js')],
  }),
  ...under('Set-up', {
    agent: ['Set up forge in coding agents', () => import('../agent/command.js')],
    doctor: ['Diagnose problems and suggest fixes', () => import('../doctor/command.js')],
    mcp: ['Serve agents over the Model Context Protocol', () => import('../mcp/command.js')],
    hooks: ['Install, remove and show git hooks', () => import('../hooks/command.js')],
    ci: ['Check commits, memory, secrets, features, checkpoints in CI', () => import('../ci/command.js')],
    trust: ['Show and approve what this repository may run here', () => import('../trust/command.js')],
    config: ['Read and change settings', () => import('../config/command.js')],
    schema: ['Print the JSON Schema of a file format', () => import('./command.js')],
    complete: ['Set up completion in your shell', () => import('./command.js')],
  }),
];

interface ShortWay {
  /** The full command. */
  words: readonly string[];
  summary: string;
}

/** Aliases of the commands used every day. */
export const SHORT_WAYS: Readonly<Record<string, ShortWay>> = {
  start: { words: ['session', 'start'], summary: 'Start a session and print its task and briefing' },
  log: { words: ['progress', 'add'], summary: 'Write down what you just did' },
  done: { words: ['feature', 'verify'], summary: 'Run the tests of a feature: the way to "passing"' },
  end: { words: ['session', 'end'], summary: 'End the session: archive it, commit .forge/' },
  ls: { words: ['feature', 'list'], summary: 'List the features' },
  completion: { words: ['complete'], summary: 'Set up completion in your shell' },
};

/** The places of the words in argv that are not options or their values, up to `--`. */
function wordPlaces(argv: readonly string[]): number[] {
  const places: number[] = [];
  for (let i = 0; i < argv.length && argv[i] !== '--'; i++) {
    const word = argv[i] ?? '';
    if (['-C', '--cwd', '--color'].includes(word)) i++;
    else if (!word.startsWith('-')) places.push(i);
  }
  return places;
}

export const commandWords = (argv: readonly string[]): string[] =>
  wordPlaces(argv).map((place) => argv[place] ?? '');

/** Expands a short way: `-C x start --json` → `-C x session start --json`; also after `help`. */
export function inFull(argv: readonly string[]): readonly string[] {
  const [first = -1, second = -1] = wordPlaces(argv);
  const at = argv[first] === 'help' ? second : first;
  const word = argv[at] ?? '';
  const short = Object.hasOwn(SHORT_WAYS, word) ? SHORT_WAYS[word] : undefined;
  return short ? [...argv.slice(0, at), ...short.words, ...argv.slice(at + 1)] : argv;
}

/** The commands of a group; none for an unknown word. */
export async function specsOf(word: string | undefined): Promise<readonly CommandSpec[]> {
  const entry = GROUPS.find(({ name }) => name === word);
  return ((await entry?.load())?.group.commands ?? []) as unknown as readonly CommandSpec[];
}

/** The commands on the first page of help. `forge help --all` lists all of them. */
export const FIRST_PAGE: readonly (readonly [heading: string, names: readonly string[]])[] = [
  ['Every day', ['init', 'start', 'log', 'feature', 'done', 'learn', 'end']],
  ['Look', ['status', 'recall', 'ui', 'kfr', 'memory']],
  ['Keep, and go back', ['checkpoint', 'recover', 'undo', 'commit']],
  ['Set up', ['agent', 'doctor']],
];

export const summaryOf = (name: string): string =>
  SHORT_WAYS[name]?.summary ?? GROUPS.find((entry) => entry.name === name)?.summary ?? '';

/** The topics of `forge help TOPIC`, in reading order. The texts are in `templates/topics/`. */
export const TOPICS: readonly (readonly [name: string, summary: string])[] = [
  ['memory', 'What forge keeps, where, and who reads it'],
  ['kfr', 'Working memory: what must stay correct for the next turns'],
  ['gate', 'Why a session cannot end yet'],
  ['trust', 'What a repository may run on this machine'],
  ['promotion', 'How an observation becomes knowledge'],
  ['roles', 'Who may change memory'],
  ['checkpoints', 'Verified states to go back to'],
  ['recovery', 'Back to a state that worked, and back again'],
  ['guard', 'Keeping secrets and personal data out'],
  ['hooks', 'What git asks forge at commits and pushes'],
  ['agents', 'Forge in the hooks of coding agents'],
  ['config', 'Settings and their defaults'],
  ['environment', 'The variables that forge reads and sets'],
  ['exit-codes', 'What exit codes mean'],
];

export const EXIT_CODE_HELP = [
  ['0', 'done'],
  ['1', 'findings: a rule is broken (a failing feature)'],
  ['2', 'usage: invalid arguments or input'],
  ['3', 'refused by a gate, a lock, trust or a role'],
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
    '"builder": may work, but not change memory, knowledge, trust or settings; "supervisor" or unset: may',
  ],
  ['FORGE_TRUST', 'only with CI=1: approves what has this sha256 ("forge trust --show", "forge ci --run")'],
  ['FORGE_HOOKS', "0: forge's git hooks do nothing, this once"],
  ['FORGE_NODE', 'the Node that git hooks start, instead of the one that installed them'],
  ['XDG_STATE_HOME', 'where approvals are kept (default: ~/.local/state)'],
  ['XDG_CONFIG_HOME', 'where forge/owners lists the owners of your code (default: ~/.config)'],
  ['LINEAR_API_KEY', 'your key for Linear; never read from the repository'],
  ['LINEAR_API_KEY_COMMAND', "a command that prints the key, such as the system's keychain"],
  ['LINEAR_API_URL', 'another address of the API: https, or http on this machine'],
  ['NATS_URL', 'the NATS servers for events and claims; takes precedence over [events] url'],
  [
    'NATS_USER, NATS_PASSWORD, NATS_TOKEN, NATS_NKEY, NATS_CREDS',
    'your credentials for them; NKEY and CREDS may be files',
  ],
  ['NATS_CA, NATS_CERT, NATS_KEY', 'files for TLS: the authority, your certificate and its key'],
  ['NATS_CONTEXT', 'a context of the nats program that has all of these'],
  ['NO_COLOR, FORCE_COLOR', 'color off, on; TERM=dumb: off'],
  ['COLUMNS', 'the width of help in a pipe, at most 80'],
  ['SHELL', 'the shell that "forge complete" describes'],
  ['CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR', "where an agent's hook looks for the project"],
  ['GITHUB_*, CI_*, GITLAB_CI', 'where "forge ci" runs, and which commits it is about'],
] as const;
