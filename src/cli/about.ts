/** What a command is for, by its words. Default: the first paragraph of the topic of that name. */
export const ABOUT: Readonly<Record<string, string>> = {
  where:
    'Shows the project, its branch and session, how many features pass, what stands in the way, and the three most useful next commands.',
  hook: 'Agents call it with an event as JSON on stdin. It never fails, so it never stops an agent.',
  init: 'It changes nothing outside .forge/ unless asked to, and overwrites no existing file, so it also repairs a folder that lost files.',
  status:
    'The components are long-term and short-term memory, features, git and issues. With --short it prints one line for a shell prompt.',
  ui: 'Listens on 127.0.0.1 only. The address opens the page once, in one browser; programs send the token of --json as a bearer. Nothing is written. docs/page.md has the views, docs/page-api.md the API.',
  watch:
    'At a terminal one panel that is redrawn after each change. In a pipe: a line when the health, the task, the count of features or the next step changes, or an object per change with --json. Nothing is written.',
  export:
    'html is the page of "forge ui" as one file that needs no server. markdown is a handoff for people, json the same for programs. The path of the project on this machine is left out.',
  session:
    'A session is one stretch of work. It starts with a briefing and ends with an archive and a commit of .forge/, so the next session knows where the work stands.',
  briefing:
    'The text that a session starts with: working memory, the task, the last NEXT line, features, what was learned, the last commits. Whatever the budget cuts is named, with the command that shows it.',
  prime:
    'Hooks and the MCP server tell an agent how to work with forge, using the names of its tools. Give these lines to an agent with only a shell.',
  progress: 'Short lines about what was done, each with its time. NEXT is what the next session starts with.',
  focus:
    'What the work is about now. Another task starts with empty files and blockers, and has to pass the gate.',
  skill:
    'A skill is a procedure for agents: when to use it, what to do, and the files it needs. A new task activates the skill that fits best. Skills of a clone have to be approved first.',
  artifact:
    'Copies an output of the work below .forge/memory/artifacts/, named by the hash of its content. An index line says which session, skill and issue it came from.',
  import:
    'Reads what other tools keep in the project: CLAUDE.md, AGENTS.md, GEMINI.md, the rules of Cursor, claude-progress.txt, feature_list.json, memory-bank folders, beads, Task Master and Backlog.md. It does not change their files. Each note and feature keeps the path of its file. Importing again adds what is new and replaces notes whose section changed.',
  linear:
    'An issue is a unit of memory: its text, acceptance criteria, state, branch and commits. It works offline. pull, push and sync talk to Linear with your own key; what cannot be sent is kept and sent later.',
  events:
    'Reports sessions, checkpoints, learnings and changes of focus to a NATS server, once [events] url or NATS_URL is set. Events that could not be sent are kept and sent later.',
  claim:
    'forge next skips tasks that others have claimed, and nobody else can claim them. With a NATS server this holds on all machines, without one in the worktrees of this repository.',
  release:
    'A claim also ends when its time is over, or with its worktree. One that came with the focus ends with the focus and the session.',
  fleet:
    'Each worktree with a session or a claim: health, host, session, branch, task, since when, its last event, and how long its claim holds.',
  finding:
    "An agent's hooks record what it reads and searches, and show it the result when it asks the same again and nothing has changed. Findings stay on this machine.",
  recall:
    'Searches notes, knowledge, features, issues, session logs, findings, skills, artifacts, cycles and commits, without a model or a network. Quoted words match exactly; tier:, session:, file: and since: filter. Each hit shows which words matched.',
  next: 'Tasks that can start come first. Then: work on an active issue, in progress, failing, not started; then priority and age. It shows why it chose this one.',
  feature:
    'A feature is something the project must do, with the tests that prove it. It passes only after forge has run its tests and seen them pass.',
  checkpoint: 'A tag and a manifest of a state that was shown to work.',
  recover:
    'Runs what the checkpoint proved and decides by what broke. It changes nothing before you confirm, and saves everything that a rollback changes to a backup ref first.',
  undo: 'forge saves what it is about to change to a backup ref. This command restores the last one, and saves the current state first. Run it again to redo.',
  cycle:
    'Verifies memory, briefs the command and runs it as a builder, judges its work by the tests that forge runs, and then records the cycle.',
  loop: 'Runs governed cycles until a limit is reached, too many fail in a row, or nothing is left to do. forge help roles says what a builder may not do and what happens after a failed cycle.',
  commit:
    'Writes the message from the task, the log, the verified features and what was learned. It is an ordinary commit, with your hooks and your signature.',
  architecture:
    'What the system is, in a file of the project. The list under its heading "Invariants" is part of every briefing.',
  knowledge:
    'What worked (success), what did not (failure), and what always holds (invariant). Every briefing has it. Ids are derived from the content.',
  learn:
    'Adds to knowledge or notes. Every briefing shows a success, a failure or an invariant (forge knowledge). A note can be looked up (forge note).',
  note: 'A note is a ledger record: it is permanent, and changing it is detected.',
  agent:
    "Adds hooks and the MCP server to the agent's own files, beside what is there, and removes them without a trace.",
  doctor:
    'Checks Node, git, the folder, hooks, agents and memory. For each problem it shows what was found, what was expected, and the command that fixes it. Without --fix it writes nothing.',
  mcp: 'Offers the same operations as tools, and the briefing and working memory as resources. It ends with its client.',
  ci: 'Runs all checks of a pipeline in one command and changes nothing. For a shallow clone that lacks commits it shows how to fetch them.',
  schema: 'The JSON Schema by which forge checks the files of .forge/, for editors and other programs.',
  complete:
    'Completes commands, options, ids, settings and files. The script asks forge at each TAB; forge reads .forge/ and writes nothing.',
};

const CLOSED_GATE = { '3': 'the gate is closed: an entry of working memory is open' };

/** Exit codes with a special meaning, by the words of a command. */
export const EXITS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  status: { '1': '--exit-code: a component is red, or yellow if that was given' },
  'session end': CLOSED_GATE,
  'session discard': CLOSED_GATE,
  'focus set': CLOSED_GATE,
  'focus clear': CLOSED_GATE,
  'skill check': { '1': 'a skill has a problem' },
  'artifact show': { '1': 'its content is not as it was added' },
  'artifact verify': { '1': 'an artifact is missing or changed' },
  import: { '1': 'a file could not be read; the others are imported' },
  events: { '6': 'the server cannot be reached, or refused' },
  claim: { '3': 'another holder has the task' },
  release: { '3': 'this worktree does not hold the task' },
  'linear pull': { '6': 'Linear cannot be reached' },
  'linear push': { '6': 'something could not be sent; it is kept' },
  'linear sync': { '6': 'something could not be sent; it is kept' },
  recall: { '1': 'nothing was found' },
  'finding has': { '1': 'it is unknown, or no longer fresh' },
  'kfr clear': { '3': 'not confirmed; nothing was cleared' },
  'kfr patch': { '3': 'refused by a rule; nothing was changed' },
  'feature verify': { '1': 'a feature fails', '6': 'a test cannot run' },
  'checkpoint create': { '1': 'a command failed, or changed files' },
  'checkpoint verify': { '1': 'a checkpoint was changed' },
  recover: { '1': 'not everything could be tested; nothing was done', '3': 'not confirmed, or git is busy' },
  undo: { '3': 'files were changed since; nothing was done' },
  cycle: { '1': 'the cycle failed, or broke a rule' },
  loop: { '1': 'too many cycles failed in a row', '4': 'memory was halted' },
  'commit check': { '1': 'a message does not follow the protocol', '5': 'a message has a secret' },
  'memory verify': {
    '1': 'not damaged, but not fully proven',
    '4': 'damaged or halted',
    '5': 'a secret (--scan)',
  },
  'memory promote': { '1': 'the named pattern fails a condition' },
  'guard scan': { '5': 'something was found' },
  doctor: { '1': 'something blocks work, or a fix failed' },
  ci: { '1': 'a rule is broken', '4': 'memory is damaged', '5': 'a secret' },
};

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
  ['FORGE_TRUST', 'where CI is set: approves what has this sha256 ("forge trust --show", "forge ci --run")'],
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
