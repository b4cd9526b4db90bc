import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** The agents that forge can be installed into (AGT-01). */
export const AGENT_NAMES = ['claude', 'codex', 'gemini', 'cursor', 'opencode', 'copilot'] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

/** When a hook is called, in the same words for all agents. */
const MOMENTS = ['start', 'prompt', 'before-tool', 'after-tool', 'compaction', 'stop', 'end'] as const;
export type Moment = (typeof MOMENTS)[number];

/** The payload on a hook's stdin, with the fields that the vendor documents. */
export type Payload = Record<string, unknown>;

/** A path relative to the project's top folder, and one relative to the home folder. Null: the agent has no such file. */
interface Paths<None = never> {
  project: string;
  user: string | None;
}

/** What differs between agents. Times are in seconds unless an agent wants milliseconds. */
export interface Agent {
  name: AgentName;
  title: string;
  /** Events by the word that `forge hook` takes: the moment, and the agent's own spelling. */
  events: Readonly<Record<string, { moment: Moment; name: string }>>;
  /** The moments at which the agent accepts context. At a compaction: for its summary. */
  takes: readonly Moment[];
  /** Hook payloads name a transcript, or the agent writes one. */
  hasTranscript: boolean;
  /** The JSON that adds context, and the JSON that blocks a stop or a compaction. */
  context(text: string, event: string): object;
  block(reason: string): object;
  /** The JSON that shows the person a message at a stop. */
  notify?(text: string): object;
  /** The JSON that refuses a tool call, and the one that asks the person first. */
  deny(reason: string, event: string): object;
  ask?(reason: string, event: string): object;
  /** A compaction that a person requested can be refused. */
  blocksCompaction: boolean;
  /** Where the hooks go, which events get none, and one entry. Null: the agent loads a plugin. */
  hooks: {
    file: Paths;
    unwired: readonly Moment[];
    entry(line: string, word: string, moment: Moment): object;
  } | null;
  plugin?: Paths;
  toolPrefix: string;
  /** Where the MCP servers are: a path of keys in JSON, or the name of a TOML table. */
  server: {
    file: Paths<null>;
    at: readonly string[] | string;
    value(program: string, args: readonly string[]): object;
  };
  /** An ignore file that keeps `.forge/` out of the agent's file listing. */
  ignore?: string;
  /** The initial content of a new hooks file (with a plugin: of its settings). */
  beginning?: object;
  /**
   * Lets the agent use forge's everyday tools without asking: entries of a list in the hooks file, or more settings of the
   * server. Null: the agent does not ask, or has no such setting in a file.
   */
  allow: { at: readonly string[]; items: readonly string[] } | { server: object } | null;
  /** Steps left for a person, such as a review or an approval. One line each, with the command to type. */
  wants(command: string, place: PlaceOption, isAllowed: boolean): string[];
}

/** The option of `forge agent` for a place: none for the top of the project. */
export type PlaceOption = '--user' | '--here' | null;

/** Names in the order of MOMENTS, by the word that `forge hook` takes. */
const eventsOf = (names: string): Agent['events'] =>
  Object.fromEntries(
    names.split(' ').map((name, at) => [eventWord(name), { name, moment: MOMENTS[at] as Moment }]),
  );

/** An event's word from any spelling: `SessionStart`, `sessionStart` and `session-start` are the same. */
export function eventWord(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

const same = (path: string) => ({ project: path, user: path });

/** Claude Code's JSON, which Codex and Gemini CLI also use. They reject a reply with a key that the event does not define. */
const hookOutput = (text: string, event: string) => ({
  hookSpecificOutput: { hookEventName: event, additionalContext: text },
});
const blockReason = (reason: string) => ({
  decision: 'block',
  reason,
  // The client shows the reason to the agent, and this to the person.
  systemMessage: summaryOf(reason),
});

const notify = (systemMessage: string) => ({ systemMessage });

/** The first line of a reason, without its list. */
const summaryOf = (reason: string): string => (reason.split('\n')[0] ?? '').replace(/:$/, '.');

const decideTool =
  (permissionDecision: 'deny' | 'ask') => (permissionDecisionReason: string, hookEventName: string) => ({
    hookSpecificOutput: { hookEventName, permissionDecision, permissionDecisionReason },
  });

/** Longer than `forge hook` gives itself. */
const timeoutAt = (moment: Moment): number => (moment === 'start' || moment === 'end' ? 10 : 5);

/** `matcher` names the tools before which the agent calls the hook: those that edit, and those that read. */
const commandGroup = (matcher: string) => (line: string, _word: string, moment: Moment) => ({
  ...(moment === 'before-tool' ? { matcher } : {}),
  hooks: [{ type: 'command', command: line, timeout: timeoutAt(moment) }],
});

const SERVERS = ['mcpServers', 'forge'];
const plainServer = (command: string, args: readonly string[]) => ({ command, args });

/** How to stop the agent's permission prompts. */
function asks(name: string, place: PlaceOption): string {
  const command = ['forge agent install', name, ...(place ? [place] : []), '--allow'].join(' ');
  return `it asks before each use of a forge tool; to allow the everyday tools: ${command}`;
}

/** The everyday tools. They write to the session only and run no command. */
const EVERYDAY = [
  'briefing',
  'recall',
  'session_working_memory_update',
  'session_note_promote',
  'progress_add',
  'focus_set',
];

/** Claude Code: code.claude.com/docs/en/hooks */
const claude: Agent = {
  name: 'claude',
  toolPrefix: 'mcp__forge__',
  title: 'Claude Code',
  events: eventsOf('SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact Stop SessionEnd'),
  takes: ['start', 'prompt', 'before-tool'],
  hasTranscript: true,
  context: hookOutput,
  block: blockReason,
  notify,
  deny: decideTool('deny'),
  ask: decideTool('ask'),
  blocksCompaction: true,
  hooks: {
    file: same('.claude/settings.json'),
    // SessionStart runs again after a compaction and sends working memory.
    unwired: ['after-tool'],
    // The timeout of SessionEnd also extends the 1.5 s that all its hooks share.
    entry: commandGroup('Edit|MultiEdit|NotebookEdit|Write|Read|Grep|Glob|Bash'),
  },
  server: {
    // Claude Code itself keeps writing to ~/.claude.json.
    file: { project: '.mcp.json', user: null },
    at: SERVERS,
    // By default Claude Code shows a tool's description only after a search.
    value: (command, args) => ({ type: 'stdio', command, args, alwaysLoad: true }),
  },
  allow: { at: ['permissions', 'allow'], items: EVERYDAY.map((tool) => `mcp__forge__${tool}`) },
  wants: (command, place, isAllowed) => [
    place === '--user'
      ? `the MCP server, once: claude mcp add --scope user forge -- ${command} mcp`
      : 'Claude Code runs no hook until you trust this folder and its MCP server: it asks at its next start here',
    ...(isAllowed ? [] : [asks('claude', place)]),
  ],
};

// Codex rejects a reply with an unknown decision.
const { ask: _ask, ...likeClaude } = claude;

/** OpenAI Codex CLI: developers.openai.com/codex/hooks, codex-rs/hooks/schema in openai/codex */
const codex: Agent = {
  ...likeClaude,
  name: 'codex',
  title: 'Codex CLI',
  // `continue: false` would end the turn without giving the agent a reason.
  blocksCompaction: false,
  hooks: {
    file: same('.codex/hooks.json'),
    // Older versions have no SessionEnd and may reject a file that names it.
    unwired: ['after-tool', 'end'],
    entry: commandGroup('apply_patch|Edit|Write|Bash|shell|exec_command'),
  },
  server: { file: same('.codex/config.toml'), at: 'mcp_servers.forge', value: plainServer },
  // Codex runs tools without asking if their annotations say that they delete nothing and use no network.
  allow: null,
  wants: (_, place) => [
    'type /hooks in Codex and trust the new hooks: it skips new and changed hooks silently',
    ...(place === '--user'
      ? []
      : ['Codex reads .codex/ only in a trusted project: it asks at its next start here']),
  ],
};

/** Gemini CLI: docs/hooks/reference.md in google-gemini/gemini-cli. Timeouts are in milliseconds. */
const gemini: Agent = {
  name: 'gemini',
  toolPrefix: 'mcp_forge_',
  title: 'Gemini CLI',
  events: eventsOf('SessionStart BeforeAgent BeforeTool AfterTool PreCompress AfterAgent SessionEnd'),
  // Not after a tool: PreCompress comes before every request, so each tool call would repeat working memory.
  takes: ['start', 'prompt'],
  hasTranscript: true,
  context: hookOutput,
  block: (reason) => ({ decision: 'deny', reason, systemMessage: summaryOf(reason) }),
  notify,
  deny: (reason) => ({ decision: 'deny', reason }),
  blocksCompaction: false,
  hooks: {
    file: same('.gemini/settings.json'),
    unwired: ['after-tool'],
    // Gemini CLI runs a hook once that has the same name and command in the extension.
    entry: (command, word, moment) => ({
      ...(moment === 'before-tool' ? { matcher: 'replace|write_file' } : {}),
      hooks: [
        { name: `forge-${word}`, type: 'command', command, timeout: moment === 'start' ? 10_000 : 5000 },
      ],
    }),
  },
  server: { file: same('.gemini/settings.json'), at: SERVERS, value: plainServer },
  ignore: '.geminiignore',
  allow: { server: { trust: true } },
  wants: (_, place, isAllowed) => [
    ...(place === '--user'
      ? []
      : [
          'Gemini CLI warns about project hooks named forge-… at its next start and after each change; they run',
        ]),
    'Gemini CLI runs hooks and MCP servers only in trusted folders: /permissions',
    ...(isAllowed ? [] : [asks('gemini', place)]),
  ],
};

/** Cursor: cursor.com/docs/hooks. Prompts accept no context, and a compaction cannot be refused. */
const cursor: Agent = {
  name: 'cursor',
  toolPrefix: '',
  title: 'Cursor',
  events: eventsOf('sessionStart beforeSubmitPrompt preToolUse postToolUse preCompact stop sessionEnd'),
  takes: ['start', 'after-tool'],
  hasTranscript: false,
  context: (text) => ({ additional_context: text }),
  block: (reason) => ({ followup_message: reason }),
  deny: (reason) => ({ permission: 'deny', agent_message: reason, user_message: summaryOf(reason) }),
  blocksCompaction: false,
  hooks: {
    file: same('.cursor/hooks.json'),
    unwired: [],
    entry: (command, _, moment) => ({
      command,
      timeout: timeoutAt(moment),
      ...(moment === 'after-tool' ? { matcher: 'Shell|Read|Write|Grep' } : {}),
      ...(moment === 'before-tool' ? { matcher: 'Write|Edit|StrReplace' } : {}),
      ...(moment === 'stop' ? { loop_limit: 5 } : {}),
    }),
  },
  server: {
    file: same('.cursor/mcp.json'),
    at: SERVERS,
    value: (command, args) => ({ type: 'stdio', command, args }),
  },
  allow: null,
  beginning: { version: 1 },
  wants: () => ['enable the MCP server in Cursor: Cursor Settings, Tools & MCP, forge'],
};

/** opencode has no hook commands: forge's plugin (templates/agent/opencode-plugin.js) calls `forge hook` and defines the payload. */
const opencode: Agent = {
  name: 'opencode',
  toolPrefix: 'forge_',
  title: 'opencode',
  events: eventsOf('session-start prompt before-tool after-tool compacting stop session-end'),
  takes: ['start', 'prompt', 'after-tool', 'compaction'],
  hasTranscript: false,
  context: (context) => ({ context }),
  block: (block) => ({ block }),
  deny: (block) => ({ block }),
  blocksCompaction: false,
  hooks: null,
  plugin: { project: '.opencode/plugins/forge.js', user: '.config/opencode/plugins/forge.js' },
  server: {
    file: { project: 'opencode.json', user: '.config/opencode/opencode.json' },
    at: ['mcp', 'forge'],
    value: (program, args) => ({ type: 'local', command: [program, ...args], enabled: true }),
  },
  allow: null,
  beginning: { $schema: 'https://opencode.ai/config.json' },
  wants: () => [
    'a running opencode loads the plugin at its next start',
    '`opencode run` ends at the first stop, even with open questions',
  ],
};

/** GitHub Copilot CLI: docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference */
const copilot: Agent = {
  name: 'copilot',
  toolPrefix: 'forge-',
  title: 'GitHub Copilot CLI',
  events: eventsOf('sessionStart userPromptSubmitted preToolUse postToolUse preCompact agentStop sessionEnd'),
  takes: ['start', 'prompt', 'after-tool'],
  hasTranscript: true,
  context: (text) => ({ additionalContext: text }),
  block: (reason) => ({ decision: 'block', reason }),
  deny: (permissionDecisionReason) => ({ permissionDecision: 'deny', permissionDecisionReason }),
  blocksCompaction: false,
  hooks: {
    file: { project: '.github/hooks/forge.json', user: '.copilot/hooks/forge.json' },
    unwired: [],
    entry: (line, _, moment) => ({
      type: 'command',
      ...(moment === 'after-tool' ? { matcher: 'bash|powershell|create|edit|glob|grep|view' } : {}),
      ...(moment === 'before-tool' ? { matcher: 'create|edit' } : {}),
      bash: line,
      timeoutSec: timeoutAt(moment),
    }),
  },
  server: {
    file: { project: '.github/mcp.json', user: '.copilot/mcp-config.json' },
    at: SERVERS,
    // As `copilot mcp add` writes it. Without `tools` a server offers none.
    value: (command, args) => ({ type: 'local', command, args, tools: ['*'] }),
  },
  allow: null,
  beginning: { version: 1 },
  wants: (_, place) => [
    "copilot -p refuses forge's tools without --allow-tool forge; the interactive Copilot asks",
    ...(place === '--user'
      ? []
      : [
          'Copilot runs no hook until you trust this folder: it asks once',
          'copilot -p in an untrusted folder: --trust-folder (only the hooks: GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true)',
        ]),
  ],
};

export const AGENTS: Readonly<Record<AgentName, Agent>> = {
  claude,
  codex,
  gemini,
  cursor,
  opencode,
  copilot,
};

/** Programs whose name differs from the agent's. */
const PROGRAMS: Partial<Record<AgentName, readonly string[]>> = { cursor: ['cursor', 'cursor-agent'] };

/** Agents with a program on the PATH or a settings folder in the project. */
export function agentsHere(root: string, path = ''): AgentName[] {
  const folders = path.split(delimiter).filter(isAbsolute);
  const hasProgram = (name: AgentName): boolean =>
    (PROGRAMS[name] ?? [name]).some((program) => folders.some((folder) => existsSync(join(folder, program))));
  const isUsed = (name: AgentName): boolean =>
    existsSync(join(root, `.${name}`)) || (name === 'claude' && existsSync(join(root, 'CLAUDE.md')));
  return AGENT_NAMES.filter((name) => isUsed(name) || hasProgram(name));
}

export const isAgent = (word: string): word is AgentName => Object.hasOwn(AGENTS, word);

/** Recognizes a command line that calls forge's hook for this agent, whatever path starts forge. */
export const isHookOf = (agent: AgentName, command: unknown): boolean =>
  typeof command === 'string' &&
  new RegExp(`(^|[\\\\/\\s"'])forge(\\.js|\\.cmd)?["']? hook ${agent} `).test(command);

/** The words that start forge in a hook: what precedes ` hook …`, without the shell's checks. */
export const startOf = (line: string): string =>
  (/[^|&]*$/.exec(line.replace(/ hook .*/s, ''))?.[0] ?? '').trim();

export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

export const runsHook = (agent: AgentName, value: unknown): boolean =>
  stringsIn(value).some((text) => isHookOf(agent, text));
