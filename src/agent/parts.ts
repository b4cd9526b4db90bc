import { KFR, KNOWN, TOLD } from '../core/paths.js';
import { AGENTS, type Agent, type AgentName, type Moment, stringsIn } from './agents.js';

/** What forge writes into one file of an agent. Paths are relative to the project's top folder, or to the home folder. */
export type Part = { agent: AgentName; file: string } & (
  | JsonPart
  | TomlPart
  /** `file`: a whole file. `lines`: the first lines of an ignore file. */
  | { kind: 'file' | 'lines'; text: string }
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

/** What a file has of a part. `changed`: it is forge's, but this forge would write it differently, or some is missing. */
export type PartState = 'wired' | 'missing' | 'changed';

/** Why forge does not edit a file of an agent. The caller adds the name of the file. */
export class SettingsProblem extends Error {
  constructor(
    message: string,
    /** A 0-based UTF-16 offset. */
    readonly offset: number | null = null,
    readonly hint?: string,
  ) {
    super(message);
  }
}

export const foreignEntry = (name: string, offset: number): SettingsProblem =>
  new SettingsProblem(`"${name}" is there already and is not forge's`, offset, 'Give it another name.');

export const unsafeLayout = (hint: string): SettingsProblem =>
  new SettingsProblem('it is laid out in a way that forge cannot edit safely', null, hint);

/** How an agent is wired. `command` starts forge: hooks and the MCP server append words to it. */
export interface Wish {
  agent: AgentName;
  command: string;
  /** The agent uses forge's everyday tools without asking. */
  allow?: boolean | undefined;
}

/** The parts for an agent, file by file, in the order of display. `plugin` is the template for opencode. */
export function partsOf(wish: Wish, isUser: boolean, plugin: string): Part[] {
  const { agent, command } = wish;
  const { hooks, plugin: pluginFile, server, ignore, beginning = {} } = AGENTS[agent];
  const allow = wish.allow ? AGENTS[agent].allow : null;
  const at = isUser ? 'user' : 'project';
  const parts: Part[] = [];
  if (pluginFile) parts.push({ agent, file: pluginFile[at], kind: 'file', text: pluginFor(plugin, command) });
  const permissions = allow && 'items' in allow ? { allow } : {};
  const settings: JsonPart = {
    kind: 'json',
    hooks: hookItems(wish),
    server: null,
    ...permissions,
    beginning,
  };
  if (hooks) parts.push({ agent, file: hooks.file[at], ...settings });
  const file = server.file[at];
  const [program = 'forge', ...words] = command.split(' ');
  const value = {
    ...server.value(program, [...words, 'mcp']),
    ...(allow && 'server' in allow ? allow.server : {}),
  };
  const last = parts.at(-1);
  if (file && typeof server.at === 'string')
    parts.push({ agent, file, kind: 'toml', table: server.at, lines: tomlLines(value) });
  else if (file && typeof server.at !== 'string') {
    const entry = { path: server.at, value };
    if (last?.kind === 'json' && last.file === file) last.server = entry;
    else
      parts.push({ agent, file, kind: 'json', hooks: {}, server: entry, beginning: hooks ? {} : beginning });
  }
  if (ignore && !isUser) parts.push({ agent, file: ignore, kind: 'lines', text: IGNORED });
  return parts;
}

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

/** Sets `$d` to the nearest folder with a `.forge`. The loop ends for relative paths too. */
const FIND_FORGE = `d=\${CLAUDE_PROJECT_DIR:-$PWD}; until [ -z "$d" ] || [ -e "$d/.forge" ]; do case $d in */*) d=\${d%/*};; *) d=;; esac; done;`;

/** Notes the name of a file or the pattern of a search the first time. The second time forge is needed. */
const NOTE_CALL = `for n in file_path pattern; do case $p in *"\\"$n\\":\\""*) f=\${p#*"\\"$n\\":\\""}; f=\${f%%\\"*}; f=\${f##*/}; [ -d "\${k%/*}" ] && [ \${#f} -gt 3 ] && printf '%s\\n' "$f" >>"$k";; esac; done;`;

/**
 * Silent and successful without forge on the PATH. For tools the shell checks first: Node starts only if the call names a
 * path of memory, or if working memory is newer than what the agent was given.
 */
function shellLine({ takes, hasTranscript }: Agent, line: string, moment: Moment): string {
  const quiet = `${line} 2>/dev/null`;
  const send = `printf %s "$p" | ${quiet}`;
  if (moment === 'before-tool' && takes.includes(moment))
    return `p=$(cat); ${FIND_FORGE} k=$d/.forge/local/${KNOWN}; case $p in *.forge*memory*) ;; *) { printf %s "$p" | grep -qFf "$k"; } 2>/dev/null || { ${NOTE_CALL} exit 0; };; esac; ${send} || :`;
  if (moment === 'before-tool') return `p=$(cat); case $p in *.forge*memory*) ${send};; esac || :`;
  if (moment === 'after-tool') {
    const isNews = `[ -e "$d/${KFR}" ] && ! [ "$d/${TOLD}" -nt "$d/${KFR}" ]`;
    // Without a transcript, this hook alone sees the output of tools.
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
    const words = Array.isArray(inner) ? inner.map((word) => JSON.stringify(word)).join(', ') : null;
    return `${key} = ${words === null ? JSON.stringify(inner) : `[${words}]`}`;
  });

const IGNORED = '# forge: agents ask it for its memory\n.forge/\n';

/** The words that start an MCP server: `command` and `args`, or a list in `command`. */
function serverWords(value: unknown): string[] {
  const { command, args } = (value ?? {}) as { command?: unknown; args?: unknown };
  return [command, args].flatMap(stringsIn);
}

/** `forge`, `/opt/bin/forge.js`, `forge-memory@1`. Not a folder of that name, and no longer name. */
const isForge = (word: string): boolean =>
  /(^|[\\/\s"'])forge(-memory)?(@[^\\/\s"']+)?(\.(js|cmd|exe))?["']?$/.test(word);

/** An MCP server is forge's when it runs `forge … mcp`. */
export const isOwnServer = (value: unknown): boolean =>
  serverWords(value).at(-1) === 'mcp' && serverWords(value).slice(0, -1).some(isForge);

/** The words that start forge in its own MCP server entry. */
export const serverStart = (value: unknown): string | undefined =>
  isOwnServer(value) ? serverWords(value).slice(0, -1).join(' ') : undefined;

/** The line ending of a text, by its first line. */
export const lineEndOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n';
