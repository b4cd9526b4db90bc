import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { isStopReason } from '../kfr/rules.js';

/** The agents that forge can be installed into (AGT-01). */
export const AGENT_NAMES = ['claude', 'codex', 'gemini', 'cursor', 'opencode', 'copilot'] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

/** When a hook is called, in the same words for all agents. */
const MOMENTS = ['start', 'prompt', 'before-tool', 'after-tool', 'compaction', 'stop', 'end'] as const;
export type Moment = (typeof MOMENTS)[number];

/** The payload on a hook's stdin, with the fields that the vendor documents. */
export type Payload = Record<string, unknown>;

type Text = (field: string) => string;

/** A path from the project's top folder, and one from the home folder; null where the agent has no such file. */
interface Paths<None = never> {
  project: string;
  user: string | None;
}

/** What differs between agents. Times are in seconds unless an agent wants milliseconds. */
export interface Agent {
  name: AgentName;
  /** The name shown to people. */
  title: string;
  /** Events by the word that `forge hook` takes: the moment, and the agent's own spelling. */
  events: Readonly<Record<string, { moment: Moment; name: string }>>;
  /** The payload fields that name the conversation (the first that is set) and mark a sub-agent. */
  conversation: readonly string[];
  subagent: string;
  /** The payload has `workspace_roots` instead of `cwd`. */
  roots?: true;
  /** The agent runs only because a stop was blocked before; null when the payload does not say. */
  isContinuing(payload: Payload, moment: Moment, text: Text): boolean | null;
  /** The moments at which it takes context. At a compaction: for its summary. */
  takes: readonly Moment[];
  /** Its hooks name a transcript, or it writes one. */
  hasTranscript: boolean;
  /** The JSON that puts context before the agent, and the JSON that holds it back. */
  context(text: string, event: string): object;
  block(reason: string): object;
  /** The JSON that refuses a tool call, and the one that asks the person first. */
  deny(reason: string, event: string): object;
  ask?(reason: string, event: string): object;
  /** Blocked stops in a row after which the agent may stop: the vendor's limit, or 8 (opencode: 5) without one. */
  stopLimit: number;
  /** A compaction that a person asked for can be refused. */
  blocksCompaction: boolean;
  /** Where its hooks are, which events have none, and one entry. Null: the agent loads a plugin. */
  hooks: {
    file: Paths;
    unwired: readonly Moment[];
    entry(line: string, word: string, moment: Moment): object;
  } | null;
  plugin?: Paths;
  /** The prefix of forge's tools in this agent. */
  toolPrefix: string;
  /** Where its MCP servers are: a path of keys in JSON, or the name of a TOML table. */
  server: {
    file: Paths<null>;
    at: readonly string[] | string;
    value(program: string, args: readonly string[]): object;
  };
  /** The file of instructions that gets the marked block. */
  instructions: Paths<null>;
  /** Keeps files from its listing of the project, which .forge/ would fill. */
  ignore?: string;
  /** The JSON that its file of hooks (of a plugin: its settings) begins with when it is new. */
  beginning?: object;
  /**
   * Lets the agent use forge's everyday tools without asking each time: entries of a list in the file of hooks, or more
   * settings of the server. Null where the agent asks for nothing, or has no such setting in a file.
   */
  allow: { at: readonly string[]; items: readonly string[] } | { server: object } | null;
  /** It reads only the hooks of the folder it is started in. */
  readsOneFolder?: boolean;
  /** Steps that a person has to do, such as a review or an approval. One line each, with the command to type. */
  wants(command: string, isUser: boolean, isAllowed: boolean): string[];
}

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

const booleanOr = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);

/** Some agents pass the reason of a blocked stop to their prompt hook as if a person had typed it. */
const isOwnPrompt = (text: Text): boolean => isStopReason(text('prompt'));

/** Claude Code's JSON, which Codex and Gemini CLI took over. A key that an event does not define fails the reply. */
const hookOutput = (text: string, event: string) => ({
  hookSpecificOutput: { hookEventName: event, additionalContext: text },
});
const blockReason = (reason: string) => ({
  decision: 'block',
  reason,
  // The client shows the reason to the agent, and this to the person.
  systemMessage: summaryOf(reason),
});

/** The first line of a reason, without its list. */
const summaryOf = (reason: string): string => (reason.split('\n')[0] ?? '').replace(/:$/, '.');

const denyTool = (permissionDecisionReason: string, hookEventName: string) => ({
  hookSpecificOutput: { hookEventName, permissionDecision: 'deny', permissionDecisionReason },
});

const askTool = (permissionDecisionReason: string, hookEventName: string) => ({
  hookSpecificOutput: { hookEventName, permissionDecision: 'ask', permissionDecisionReason },
});

/** Longer than the hook itself may take. */
const timeoutAt = (moment: Moment): number => (moment === 'start' || moment === 'end' ? 10 : 5);

/** `matcher` names the tools that edit, and those that read: the agent calls the hook before those only. */
const commandGroup = (matcher: string) => (line: string, _word: string, moment: Moment) => ({
  ...(moment === 'before-tool' ? { matcher } : {}),
  hooks: [{ type: 'command', command: line, timeout: timeoutAt(moment) }],
});

const SERVERS = ['mcpServers', 'forge'];
const plainServer = (command: string, args: readonly string[]) => ({ command, args });

/** What a person can do about an agent's questions. */
const asks = (name: string, isUser: boolean): string =>
  `it asks before it uses one of forge's tools; to let it use the everyday ones: forge agent install ${name}${isUser ? ' --user' : ''} --allow`;

/** What an agent does all day. Each of them writes to the session alone, and none runs a command. */
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
  readsOneFolder: true,
  toolPrefix: 'mcp__forge__',
  title: 'Claude Code',
  events: eventsOf('SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact Stop SessionEnd'),
  conversation: ['session_id'],
  subagent: 'agent_id',
  isContinuing: (payload) => booleanOr(payload.stop_hook_active),
  takes: ['start', 'prompt', 'before-tool'],
  hasTranscript: true,
  context: hookOutput,
  block: blockReason,
  deny: denyTool,
  ask: askTool,
  stopLimit: 8,
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
  instructions: { project: 'CLAUDE.md', user: '.claude/CLAUDE.md' },
  allow: { at: ['permissions', 'allow'], items: EVERYDAY.map((tool) => `mcp__forge__${tool}`) },
  wants: (command, isUser, isAllowed) => [
    isUser
      ? `the MCP server, once: claude mcp add --scope user forge -- ${command} mcp`
      : 'at its next start here Claude Code asks whether you trust the folder and its MCP server; until then it runs no hook',
    ...(isAllowed ? [] : [asks('claude', isUser)]),
  ],
};

// Codex refuses a reply with a decision that it does not know.
const { ask: _ask, ...likeClaude } = claude;

/** OpenAI Codex CLI: developers.openai.com/codex/hooks, codex-rs/hooks/schema in openai/codex */
const codex: Agent = {
  ...likeClaude,
  name: 'codex',
  readsOneFolder: false,
  title: 'Codex CLI',
  // `continue: false` would end the turn without a reason for the agent.
  blocksCompaction: false,
  hooks: {
    file: same('.codex/hooks.json'),
    // Older versions know no SessionEnd, and may refuse a file that names it.
    unwired: ['after-tool', 'end'],
    entry: commandGroup('apply_patch|Edit|Write|Bash|shell|exec_command'),
  },
  server: { file: same('.codex/config.toml'), at: 'mcp_servers.forge', value: plainServer },
  instructions: { project: 'AGENTS.md', user: '.codex/AGENTS.md' },
  // It runs tools whose annotations say that they delete nothing and use no network.
  allow: null,
  wants: (_, isUser) => [
    'in Codex type /hooks, and trust the new ones: until then, and after each change, it skips them without a word',
    ...(isUser
      ? []
      : ['Codex reads .codex/ only in a project that it trusts: it asks when it is next started here']),
  ],
};

/** Gemini CLI: docs/hooks/reference.md in google-gemini/gemini-cli. Timeouts are in milliseconds. */
const gemini: Agent = {
  name: 'gemini',
  readsOneFolder: true,
  toolPrefix: 'mcp_forge_',
  title: 'Gemini CLI',
  events: eventsOf('SessionStart BeforeAgent BeforeTool AfterTool PreCompress AfterAgent SessionEnd'),
  conversation: ['session_id'],
  subagent: 'agent_id',
  // stop_hook_active is false again after any tool call, so only true is a statement.
  isContinuing: ({ stop_hook_active: active }, moment, text) =>
    moment === 'prompt' ? isOwnPrompt(text) : active === true || null,
  // Not after a tool: PreCompress precedes every request, so each tool call would repeat the working memory.
  takes: ['start', 'prompt'],
  hasTranscript: true,
  context: hookOutput,
  block: (reason) => ({ decision: 'deny', reason, systemMessage: summaryOf(reason) }),
  deny: (reason) => ({ decision: 'deny', reason }),
  stopLimit: 8,
  blocksCompaction: false,
  hooks: {
    file: same('.gemini/settings.json'),
    unwired: ['after-tool'],
    // The same name and command in the extension run once.
    entry: (command, word, moment) => ({
      ...(moment === 'before-tool' ? { matcher: 'replace|write_file' } : {}),
      hooks: [
        { name: `forge-${word}`, type: 'command', command, timeout: moment === 'start' ? 10_000 : 5000 },
      ],
    }),
  },
  server: { file: same('.gemini/settings.json'), at: SERVERS, value: plainServer },
  instructions: { project: 'GEMINI.md', user: '.gemini/GEMINI.md' },
  ignore: '.geminiignore',
  allow: { server: { trust: true } },
  wants: (_, isUser, isAllowed) => [
    ...(isUser
      ? []
      : [
          'at the next start, and after each change, Gemini CLI warns of hooks of the project named forge-…: these are they, and they run',
        ]),
    'Gemini CLI runs hooks and MCP servers only in folders that it trusts: /permissions',
    ...(isAllowed ? [] : [asks('gemini', isUser)]),
  ],
};

/** Cursor: cursor.com/docs/hooks. A prompt takes no context, and a compaction cannot be refused. */
const cursor: Agent = {
  name: 'cursor',
  toolPrefix: '',
  title: 'Cursor',
  events: eventsOf('sessionStart beforeSubmitPrompt preToolUse postToolUse preCompact stop sessionEnd'),
  conversation: ['conversation_id', 'session_id'],
  // Hooks of sub-agents have events of their own.
  subagent: '',
  roots: true,
  isContinuing: ({ loop_count: loops }, moment, text) =>
    moment === 'prompt' ? isOwnPrompt(text) : typeof loops === 'number' ? loops > 0 : null,
  takes: ['start', 'after-tool'],
  hasTranscript: false,
  context: (text) => ({ additional_context: text }),
  block: (reason) => ({ followup_message: reason }),
  deny: (reason) => ({ permission: 'deny', agent_message: reason, user_message: summaryOf(reason) }),
  // Cursor's own limit for follow-ups where a hook names none.
  stopLimit: 5,
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
  // Instructions for every project are kept in Cursor's settings, not in a file.
  instructions: { project: 'AGENTS.md', user: null },
  allow: null,
  beginning: { version: 1 },
  wants: () => ['Cursor starts the MCP server once you have enabled it: Cursor Settings, Tools & MCP, forge'],
};

/** opencode has no hook commands: forge's plugin (templates/agent/opencode-plugin.js) calls `forge hook` and defines the payload. */
const opencode: Agent = {
  name: 'opencode',
  toolPrefix: 'forge_',
  title: 'opencode',
  events: eventsOf('session-start prompt before-tool after-tool compacting stop session-end'),
  conversation: ['session_id'],
  subagent: 'parent_id',
  isContinuing: (_, moment, text) => (moment === 'prompt' ? isOwnPrompt(text) : null),
  takes: ['start', 'prompt', 'after-tool', 'compaction'],
  hasTranscript: false,
  context: (context) => ({ context }),
  block: (block) => ({ block }),
  deny: (block) => ({ block }),
  stopLimit: 5,
  blocksCompaction: false,
  hooks: null,
  plugin: { project: '.opencode/plugins/forge.js', user: '.config/opencode/plugins/forge.js' },
  server: {
    file: { project: 'opencode.json', user: '.config/opencode/opencode.json' },
    at: ['mcp', 'forge'],
    value: (program, args) => ({ type: 'local', command: [program, ...args], enabled: true }),
  },
  instructions: { project: 'AGENTS.md', user: '.config/opencode/AGENTS.md' },
  allow: null,
  beginning: { $schema: 'https://opencode.ai/config.json' },
  wants: () => [
    'opencode that is running loads the plugin at its next start',
    '`opencode run` ends at the first stop, even with open questions',
  ],
};

/** GitHub Copilot CLI: docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference */
const copilot: Agent = {
  name: 'copilot',
  readsOneFolder: true,
  toolPrefix: 'forge-',
  title: 'GitHub Copilot CLI',
  events: eventsOf('sessionStart userPromptSubmitted preToolUse postToolUse preCompact agentStop sessionEnd'),
  // Hooks run for sub-agents as well, agentStop included. No documentation mentions it.
  conversation: ['sessionId'],
  subagent: 'parentAgentId',
  // 1.0.72 writes this one field in snake case; the types of the SDK write it like the others.
  isContinuing: ({ stop_hook_active: snake, stopHookActive: camel }, moment, text) =>
    moment === 'prompt' ? isOwnPrompt(text) : booleanOr(snake ?? camel),
  takes: ['start', 'prompt', 'after-tool'],
  hasTranscript: true,
  context: (text) => ({ additionalContext: text }),
  block: (reason) => ({ decision: 'block', reason }),
  deny: (permissionDecisionReason) => ({ permissionDecision: 'deny', permissionDecisionReason }),
  stopLimit: 8,
  blocksCompaction: false,
  hooks: {
    file: { project: '.github/hooks/forge.json', user: '.copilot/hooks/forge.json' },
    unwired: [],
    entry: (line, _, moment) => ({
      type: 'command',
      ...(moment === 'after-tool' ? { matcher: 'bash|powershell|create|edit|glob|grep|view' } : {}),
      ...(moment === 'before-tool' ? { matcher: 'create|edit' } : {}),
      bash: line,
      // Copilot CLI denies the tool if the hook fails, as it would without forge in a PowerShell.
      ...(moment === 'before-tool' ? {} : { powershell: plainLine(line) }),
      timeoutSec: timeoutAt(moment),
    }),
  },
  server: {
    file: { project: '.github/mcp.json', user: '.copilot/mcp-config.json' },
    at: SERVERS,
    // As `copilot mcp add` writes it. Without `tools` a server offers no tools.
    value: (command, args) => ({ type: 'local', command, args, tools: ['*'] }),
  },
  instructions: { project: 'AGENTS.md', user: '.copilot/copilot-instructions.md' },
  allow: null,
  beginning: { version: 1 },
  wants: (_, isUser) => [
    "copilot -p refuses forge's tools unless it is called with --allow-tool forge; on a screen Copilot asks",
    ...(isUser
      ? []
      : [
          'Copilot asks once whether you trust this folder, and runs no hook of it before',
          'copilot -p in a folder you have not trusted: --trust-folder (the hooks alone: GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true)',
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
  return AGENT_NAMES.filter((name) => existsSync(join(root, `.${name}`)) || hasProgram(name));
}

export const isAgent = (word: string): word is AgentName => Object.hasOwn(AGENTS, word);

/** A command line that calls forge's hook for this agent, by whatever path forge is started. */
export const isHookOf = (agent: AgentName, command: unknown): boolean =>
  typeof command === 'string' &&
  new RegExp(`(^|[\\\\/\\s"'])forge(\\.js|\\.cmd)?["']? hook ${agent} `).test(command);

/** How a hook starts forge: what precedes ` hook …`, behind a test of the shell. */
export const startOf = (line: string): string =>
  (/[^|&]*$/.exec(line.replace(/ hook .*/s, ''))?.[0] ?? '').trim();

/** The same line without a test of the shell. */
const plainLine = (line: string): string => `${startOf(line)}${/ hook \w+ [\w-]+/.exec(line)?.[0] ?? ''}`;

/** Every string in a value. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

export const runsHook = (agent: AgentName, value: unknown): boolean =>
  textsIn(value).some((text) => isHookOf(agent, text));

/** A conversation as a file name, whatever the agent calls it. */
export function conversationId(agent: AgentName, conversation: string): string {
  if (conversation === '') return `${agent}-unnamed`;
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(conversation)) return `${agent}-${conversation}`;
  return `${agent}-${createHash('sha256').update(conversation).digest('hex').slice(0, 32)}`;
}
