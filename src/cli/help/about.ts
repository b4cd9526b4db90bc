/** What help says of a command besides what stands in its spec. */
export interface About {
  /** What it is for, and why. Without it the first words of the topic of that name, where there is one. */
  text?: string;
  /** Topics and commands to read next. */
  see?: readonly string[];
  /** Exit codes that are an answer of this very command. */
  exits?: Readonly<Record<string, string>>;
  examples?: readonly string[];
}

const CLOSED_GATE = { '3': 'the gate is closed: an entry of working memory is open' };

/** By the words of a command; that of a group counts for all commands in it, but for its text. */
export const ABOUT: Readonly<Record<string, About>> = {
  where: {
    text: 'The project, its branch and session, how many features pass, what stands in the way, and the three commands that help most now.',
    see: ['briefing', 'doctor'],
  },
  hook: {
    text: 'Agents call it with an event as JSON on stdin. It never fails: whatever goes wrong, the agent goes on.',
    see: ['agents'],
  },
  init: {
    text: 'Nothing outside .forge/ is touched, and no file that is there is overwritten, so it also repairs a folder that lost files.',
    see: ['memory', 'config', 'agents', 'hooks'],
    examples: ['forge init --dry-run'],
  },
  status: {
    text: 'The parts are long-term and short-term memory, features, git and issues. With --short it is a line for the prompt of a shell.',
    see: ['doctor', 'memory'],
    exits: { '1': '--exit-code: something is red, or yellow where that is asked for' },
  },
  session: {
    text: 'A session is one stretch of work. It starts with a briefing and ends with an archive and a commit of .forge/ alone, so that whoever comes next knows where the work stands.',
    see: ['gate', 'briefing', 'memory'],
  },
  'session end': { exits: CLOSED_GATE },
  'session discard': { exits: CLOSED_GATE },
  briefing: {
    text: 'The same text that a session starts with: working memory, the task, the last NEXT, features, what was learned, the last commits. What the budget cuts off is named with the command that shows it.',
    see: ['session', 'kfr', 'prime'],
  },
  prime: {
    text: 'Hooks and the MCP server tell an agent how to work with forge, by the names of its tools. One that has only a shell can be given these lines.',
    see: ['agents', 'briefing'],
  },
  progress: {
    text: 'Short lines about what was done, with their time. NEXT is what the session after this one is to begin with.',
    see: ['session', 'briefing'],
  },
  focus: {
    text: 'What the work is about right now. Another task starts with empty files and blockers, and has to pass the gate.',
    see: ['next', 'gate'],
  },
  'focus set': { exits: CLOSED_GATE },
  'focus clear': { exits: CLOSED_GATE },
  finding: {
    text: "An agent's hooks keep what it read and searched, and tell it when it is about to ask the same again and the answer still holds. Findings stay on this machine, with the session.",
    see: ['agents', 'session', 'config'],
  },
  recall: {
    text: 'It looks through notes, knowledge, features, issues, session logs, findings, skills, cycles and commits, without a model or a network. Quoted words must stand as they are; tier:, session:, file: and since: filter. Each hit says which words matched.',
    see: ['finding', 'knowledge', 'memory'],
    exits: { '1': 'nothing was found' },
    examples: ['forge recall tier:feature login', 'forge recall login file:src/login.ts'],
  },
  'finding has': { exits: { '1': 'it is not known, or not fresh' } },
  kfr: { see: ['kfr', 'gate', 'note'] },
  'kfr clear': { exits: { '3': 'nobody agreed; nothing was cleared' } },
  'kfr patch': { exits: { '3': 'a rule says no; nothing was changed' } },
  next: {
    text: 'What can start comes before what waits for something else. Then: work on an active issue, what is in progress, what fails, what is not begun; then priority and age. It says why it is this one.',
    see: ['focus', 'feature'],
  },
  feature: {
    text: 'What the project must do, with the tests that prove it. A feature passes only when forge has run its tests and seen them pass; nobody can write that by hand unnoticed.',
    see: ['trust', 'next'],
  },
  'feature verify': { exits: { '1': 'a feature fails' } },
  checkpoint: {
    text: 'A tag and a manifest of a state that was shown to work.',
    see: ['checkpoints', 'recovery', 'trust'],
  },
  'checkpoint create': { exits: { '1': 'a command failed, or changed files' } },
  'checkpoint verify': { exits: { '1': 'a checkpoint is not what it was' } },
  recover: {
    text: 'It runs what the checkpoint proved and decides by what broke. Nothing is done before somebody agrees, and what a rollback changes goes into a backup first.',
    see: ['recovery', 'checkpoints'],
    exits: { '1': 'not everything could be tested; nothing was done', '3': 'nobody agreed, or git is busy' },
  },
  undo: {
    text: 'What forge is about to change stands on a backup ref first. This brings the last one back, and keeps what stood until now, so that running it again takes it back.',
    see: ['recovery'],
    exits: { '3': 'work was done since; nothing was changed' },
  },
  cycle: {
    text: 'Memory is verified, the command is briefed and run as a builder, its work is judged by the tests that forge runs itself, and only then is the cycle recorded.',
    see: ['loop', 'roles', 'promotion', 'environment'],
    exits: { '1': 'the cycle failed, or broke a rule' },
  },
  loop: {
    text: 'One governed cycle after the other until a limit is reached, too many failed in a row, or nothing is left to do.',
    see: ['cycle', 'roles'],
    exits: { '1': 'too many cycles failed in a row', '4': 'memory was halted' },
  },
  commit: {
    text: 'Writes the message from what is known: the task, the log, features that were proven, what was learned. It is an ordinary commit, with your hooks and your signature.',
    see: ['hooks', 'session'],
  },
  'commit check': { exits: { '1': 'a message does not follow the protocol', '5': 'a message has a secret' } },
  architecture: {
    text: 'What the system is, in a file of the project. The list below its heading "Invariants" is part of every briefing.',
    see: ['knowledge', 'briefing'],
  },
  knowledge: {
    text: 'What worked (success), what did not (failure), and what always holds (invariant), in words. Each briefing has it. An id is the digest of the content.',
    see: ['memory', 'promotion'],
  },
  learn: {
    text: 'Adds to knowledge or notes. Every briefing shows a success, a failure or an invariant (forge knowledge). A note can be looked up (forge note).',
    see: ['knowledge', 'note', 'briefing'],
  },
  note: {
    text: 'A note is a record in a ledger: it stays, and cannot be changed unnoticed.',
    see: ['memory', 'kfr'],
  },
  memory: { see: ['memory', 'promotion', 'roles'] },
  'memory verify': {
    exits: {
      '1': 'not damaged, but not all of it proven',
      '4': 'damaged or halted',
      '5': 'a secret (--scan)',
    },
  },
  'memory promote': { exits: { '1': 'the pattern that was named fails a condition' } },
  guard: { see: ['guard'] },
  'guard scan': { exits: { '5': 'something was found' } },
  agent: {
    text: 'Hooks and the MCP server go into the files of the agent, beside what is there, and can be taken out without a trace.',
    see: ['agents', 'doctor', 'mcp'],
  },
  doctor: {
    text: 'Node, git, the folder, hooks, agents and memory: for each thing that is wrong what was seen, what was expected, and the command that puts it right. Without --fix it writes nothing but views of the ledger that are missing.',
    see: ['agents', 'hooks'],
    exits: { '1': 'something blocks work' },
  },
  mcp: {
    text: 'For agents that speak the protocol: the same operations as tools, the briefing and working memory as resources. It ends with its client.',
    see: ['agents'],
  },
  hooks: { see: ['hooks', 'commit'] },
  ci: {
    text: 'All checks of a pipeline in one command. It judges and changes nothing. A shallow clone that lacks commits is told how to get them.',
    see: ['trust', 'hooks', 'guard'],
    exits: { '1': 'a rule is broken', '4': 'memory is damaged', '5': 'a secret' },
  },
  trust: { see: ['trust'] },
  config: { see: ['config'] },
  schema: {
    text: 'The JSON Schema that the files of .forge/ are checked by, for editors and other programs.',
    see: ['memory'],
  },
  complete: {
    text: 'Commands, flags, and what they take: ids of features, sessions, checkpoints and entries, settings, files. The script asks forge at each TAB; forge reads .forge/ for it, writes nothing and starts no program. No file of yours is changed.',
    examples: ['forge complete'],
  },
};
