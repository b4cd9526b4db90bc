import type { CommandSpec, Group } from './spec.js';

export interface GroupEntry {
  name: string;
  summary: string;
  /** The heading in help; null: not listed. */
  heading: 'Start' | 'Every day' | 'What is known' | 'Set-up' | null;
  load(): Promise<Group>;
}

type Listed = Readonly<Record<string, readonly [summary: string, read: () => Promise<object>]>>;

/** A file exports its group as `group`, and every other group as `<name>Group`. */
const under = (heading: GroupEntry['heading'], groups: Listed): GroupEntry[] =>
  Object.entries(groups).map(([name, [summary, read]]) => ({
    ...{ name, heading, summary },
    load: async () => {
      const file = (await read()) as Record<string, Group>;
      return (file[`${name}Group`] ?? file.group) as Group;
    },
  }));

/** Every command by its first word. A group's file is loaded when it is used. */
export const GROUPS: readonly GroupEntry[] = [
  ...under(null, {
    where: ['Show where you stand (forge without a command)', () => import('../status/command.js')],
    hook: ['Answer a hook of an agent (called by agents)', () => import('../agent/command-hook.js')],
  }),
  ...under('Start', {
    init: ['Create or repair the .forge/ folder', () => import('../init/command.js')],
    status: ['Show memory health, and how to fix it', () => import('../status/command.js')],
    session: ['Start, end, list and resume sessions', () => import('../session/command.js')],
    ui: ['Show memory as a page in a browser', () => import('../ui/command.js')],
    watch: ['Show where the work stands, live', () => import('../ui/command.js')],
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
    claim: ['Take a task, so that nobody else works on it', () => import('../events/command.js')],
    release: ['Give up a task that you claimed', () => import('../events/command.js')],
    fleet: ['Show who works on what, on all machines', () => import('../events/command.js')],
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
    complete: ['Print the completion script of your shell', () => import('./command.js')],
  }),
];

interface ShortWay {
  words: readonly string[];
  summary: string;
}

export const SHORT_WAYS: Readonly<Record<string, ShortWay>> = {
  start: { words: ['session', 'start'], summary: 'Start a session and print its task and briefing' },
  log: { words: ['progress', 'add'], summary: 'Write down what you just did' },
  done: { words: ['feature', 'verify'], summary: 'Run the tests of a feature: the way to "passing"' },
  end: { words: ['session', 'end'], summary: 'End the session: archive it, commit .forge/' },
  ls: { words: ['feature', 'list'], summary: 'List the features' },
  completion: { words: ['complete'], summary: 'Print the completion script of your shell' },
};

/** What the first word can be. */
export const groupNames = (): string[] => [
  ...GROUPS.filter(({ heading }) => heading !== null).map(({ name }) => name),
  ...Object.keys(SHORT_WAYS),
  'version',
];

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
  return ((await entry?.load()) ?? []) as unknown as readonly CommandSpec[];
}

export const summaryOf = (name: string): string =>
  SHORT_WAYS[name]?.summary ?? GROUPS.find((entry) => entry.name === name)?.summary ?? '';
