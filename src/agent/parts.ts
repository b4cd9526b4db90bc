import { KFR, KNOWN, PROMPTED, TOLD } from '../core/paths.js';
import { AGENTS, type Agent, type AgentName, isHookOf, type Moment, startOf, textsIn } from './agents.js';

/** What forge puts into one file of an agent. Paths are from the project's top folder, or from the home folder. */
export type Part = { agent: AgentName; file: string } & (
  | JsonPart
  | TomlPart
  /** A whole file that belongs to forge. */
  | { kind: 'file'; text: string }
  /** A marked block in a Markdown file. */
  | { kind: 'block'; text: string }
  /** Lines of a list of files, with a comment that tells them apart. */
  | { kind: 'lines'; text: string }
);

export interface JsonPart {
  kind: 'json';
  /** By event, an item at the end of the list `hooks.EVENT`. */
  hooks: Readonly<Record<string, object>>;
  server: { path: readonly string[]; value: object } | null;
  /** Permissions: entries of the list at that path. */
  allow?: { at: readonly string[]; items: readonly string[] };
  /** The content of a new file, before forge's entries. */
  beginning: object;
}

export interface TomlPart {
  kind: 'toml';
  table: string;
  lines: readonly string[];
}

/** What a file holds of an entry. `changed`: it belongs to forge, but this forge would write it differently. */
export interface Found {
  state: 'wired' | 'missing' | 'changed';
  isServer: boolean;
  /** The commands that start forge there. */
  commands: string[];
}

/** Why a file of an agent is left as it is. The caller adds the name of the file. */
export class SettingsProblem extends Error {
  constructor(
    message: string,
    /** A 0-based UTF-16 offset. */
    readonly offset: number | null = null,
    /** What to type next. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** How an agent is, or is to be, wired. `command` starts forge: hooks and the MCP server are words after it. */
export interface Wish {
  agent: AgentName;
  command: string;
  instructions: boolean;
  /** The agent uses forge's everyday tools without asking. */
  allow?: boolean | undefined;
  /** A folder below the project's top folder in which the agent is started. */
  folder?: string | undefined;
}

/** The parts for an agent, file by file, in the order of display. `plugin` is the template for opencode. */
export function partsOf(wish: Wish, isUser: boolean, plugin: string): Part[] {
  const start = wish.folder ? `${wish.folder}/` : '';
  return partsAtTop(wish, isUser, plugin).map((part) => ({ ...part, file: start + part.file }));
}

function partsAtTop(wish: Wish, isUser: boolean, plugin: string): Part[] {
  const { agent, command, instructions } = wish;
  const { hooks, plugin: pluginFile, server, instructions: block, ignore, beginning = {} } = AGENTS[agent];
  const allow = wish.allow ? AGENTS[agent].allow : null;
  const at = isUser ? 'user' : 'project';
  const parts: Part[] = [];
  if (pluginFile) parts.push({ agent, file: pluginFile[at], kind: 'file', text: pluginFor(plugin, command) });
  if (hooks)
    parts.push({
      agent,
      file: hooks.file[at],
      ...JSON_PART,
      hooks: hookItems(wish),
      ...(allow && 'items' in allow ? { allow } : {}),
      beginning,
    });
  const file = server.file[at];
  const [program = 'forge', ...words] = command.split(' ');
  const value = {
    ...server.value(program, [...words, 'mcp']),
    ...(allow && 'server' in allow ? allow.server : {}),
  };
  const last = parts.at(-1);
  if (file && typeof server.at === 'string')
    parts.push({ agent, file, kind: 'toml', table: server.at, lines: tomlLines(value) });
  else if (last?.kind === 'json' && last.file === file) last.server = { path: server.at as string[], value };
  else if (file && typeof server.at !== 'string')
    parts.push({
      agent,
      file,
      ...JSON_PART,
      server: { path: server.at, value },
      beginning: hooks ? {} : beginning,
    });
  if (ignore && !isUser) parts.push({ agent, file: ignore, kind: 'lines', text: IGNORED });
  const markdown = block[at];
  if (instructions && markdown)
    parts.push({ agent, file: markdown, kind: 'block', text: instructionsText(command) });
  return parts;
}

const JSON_PART = { kind: 'json', hooks: {}, server: null } as const;

const hookItems = ({ agent, command }: Wish): JsonPart['hooks'] => {
  const { hooks, events } = AGENTS[agent];
  const wired = Object.entries(events).filter(([, { moment }]) => hooks && !hooks.unwired.includes(moment));
  return Object.fromEntries(
    wired.map(([word, { name, moment }]) => [
      name,
      hooks?.entry(shellLine(AGENTS[agent], `${command} hook ${agent} ${word}`, moment), word, moment) ?? {},
    ]),
  );
};

/** Sets `$d` to the nearest folder with a `.forge`. Ends for relative paths too. */
const FIND_FORGE = `d=\${CLAUDE_PROJECT_DIR:-$PWD}; until [ -z "$d" ] || [ -e "$d/.forge" ]; do case $d in */*) d=\${d%/*};; *) d=;; esac; done;`;

/** The name of a file that is read for the first time: the second time forge is needed. */
const NOTE_FILE = `case $p in *'"file_path":"'*) f=\${p#*'"file_path":"'}; f=\${f%%'"'*}; f=\${f##*/}; [ -d "\${k%/*}" ] && [ \${#f} -gt 3 ] && printf '%s\\n' "$f" >>"$k";; esac;`;

/**
 * Silent and successful without forge on the PATH. For prompts and tools the shell checks first: Node starts only if the
 * tool call names a path of memory, or if working memory is newer than what the agent was given.
 */
function shellLine({ takes, hasTranscript }: Agent, line: string, moment: Moment): string {
  const quiet = `${line} 2>/dev/null`;
  const send = `printf %s "$p" | ${quiet}`;
  if (moment === 'before-tool' && takes.includes(moment))
    return `p=$(cat); ${FIND_FORGE} k=$d/.forge/local/${KNOWN}; case $p in *.forge*memory*) ;; *) { printf %s "$p" | grep -qFf "$k"; } 2>/dev/null || { ${NOTE_FILE} exit 0; };; esac; ${send} || :`;
  if (moment === 'before-tool') return `p=$(cat); case $p in *.forge*memory*) ${send};; esac || :`;
  const told = { 'after-tool': TOLD, prompt: PROMPTED }[moment as string];
  if (told !== undefined) {
    const isNews = `[ -e "$d/${KFR}" ] && ! [ "$d/${told}" -nt "$d/${KFR}" ]`;
    if (moment === 'prompt') return `${FIND_FORGE} d=$d/.forge/local; ${isNews} && ${quiet} || :`;
    // Without a transcript, what a tool said is known from here alone.
    const isKnown = hasTranscript
      ? `printf %s "$p" | grep -qFf "$d/${KNOWN}"`
      : `case $p in *'"tool_name":"Read"'*|*'"tool_name":"Grep"'*|*'"tool_name":"Shell"'*);; *) false;; esac`;
    return `p=$(cat); ${FIND_FORGE} d=$d/.forge/local; { { ${isNews}; } || ${isKnown}; } 2>/dev/null && ${send} || :`;
  }
  return `${quiet} || :`;
}

/** The plugin with the words of another command. */
const pluginFor = (plugin: string, command: string): string =>
  plugin.replace("['forge']", () => `[${command.split(' ').map(quoteWord).join(', ')}]`);

const quoteWord = (word: string): string => `'${word.replace(/['\\]/g, '\\$&')}'`;

/** Strings and lists of strings are written alike in JSON and in TOML. */
const tomlLines = (value: object): string[] =>
  Object.entries(value).map(([key, inner]) => {
    const text = Array.isArray(inner)
      ? `[${inner.map((word) => JSON.stringify(word)).join(', ')}]`
      : JSON.stringify(inner);
    return `${key} = ${text}`;
  });

const IGNORED = '# forge: agents ask it for its memory\n.forge/\n';

/** Short: it is a part of every prompt. */
const instructionsText = (command: string): string =>
  [
    "Where a repository has a `.forge/` folder, it keeps an agent's memory. Never edit it by hand; use these commands:",
    '',
    `- \`${command} start\` when you begin, \`${command} briefing\` for where the work stands,`,
    `  \`${command} end\` when you are done.`,
    `- \`${command} log "…"\` for what you did, \`${command} progress next "…"\` for what comes next.`,
    `- \`${command} kfr patch --add "Constraint:…"\` for what must be right in the next few turns.`,
    `- A feature passes when \`${command} done ID\` ran its tests, never because someone says so.`,
  ].join('\n');

/** The words that start an MCP server: `command` and `args`, or a list in `command`. */
function serverWords(value: unknown): string[] {
  const { command, args } = (value ?? {}) as { command?: unknown; args?: unknown };
  return [command, args].flatMap(textsIn);
}

/** `forge`, `/opt/bin/forge.js`, `forge-memory@1`; not a folder of that name or a longer name. */
const isForge = (word: string): boolean =>
  /(^|[\\/\s"'])forge(-memory)?(@[^\\/\s"']+)?(\.(js|cmd|exe))?["']?$/.test(word);

/** An MCP server is forge's when it runs `forge … mcp`. */
export const isOwnServer = (value: unknown): boolean =>
  serverWords(value).at(-1) === 'mcp' && serverWords(value).slice(0, -1).some(isForge);

/** Forge's plugin names the command that wrote it. */
export const isOwnFile = (text: string): boolean => text.includes('forge agent install');

/** The commands that start forge in a value: what precedes ` hook …` (and follows the shell's test), and `mcp`. */
export function commandsIn(agent: AgentName, value: unknown): string[] {
  const hooks = textsIn(value).filter((text) => isHookOf(agent, text));
  const servers = isOwnServer(value) ? [serverWords(value).slice(0, -1).join(' ')] : [];
  return [...hooks.map(startOf), ...servers];
}

/** The same value, with its keys in the same order. */
export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** As people see a path of keys. */
export const quotePath = (path: readonly (string | number)[]): string => `"${path.join('.')}"`;

/** The line end of a text, by its first line. */
export const lineEndOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n';

/** Appends lines after an empty line. A text without a final line end stays without one. */
export function appendLines(text: string, lines: readonly string[]): string {
  const end = lineEndOf(text);
  const body = lines.join(end);
  if (text === '' || text === '\ufeff' || text.endsWith(end + end)) return text + body + end;
  return text.endsWith('\n') ? text + end + body + end : text + end + end + body;
}

/** Removes the lines from `start` (of the first) to `end` (before the line end of the last), and the empty line before. */
export function removeLines(text: string, start: number, end: number): string {
  const [all, first = '', second = ''] = /(\r?\n)?(\r?\n)?$/.exec(text.slice(0, start)) as RegExpExecArray;
  const behind = /^\r?\n/.exec(text.slice(end))?.[0] ?? '';
  const isBlankBefore = second !== '' || start === first.length;
  const from = behind === '' ? start - all.length : isBlankBefore ? start - (second || first).length : start;
  return text.slice(0, from) + text.slice(end + behind.length);
}
