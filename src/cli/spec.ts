import { existsSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { formatArgv } from '../core/argv.js';
import { usage } from '../core/error.js';
import { realPath } from '../core/files.js';
import { shownFrom } from '../core/paths.js';
import type { Forge, World } from '../index.js';
import type { ProgressBar, Style, Tail } from './style.js';

declare const FORGE_VERSION: string | undefined;

/** Set by the build; "dev" when run from the sources. */
export const version = (): string => (typeof FORGE_VERSION === 'string' ? FORGE_VERSION : 'dev');

export interface Output {
  readonly isTerminal: boolean;
  /** 0 if the terminal does not report it. */
  readonly columns?: number | undefined;
  /** False when the reader closed its end. */
  write(text: string): unknown;
}

/** What the command line uses of its process. Tests provide their own. */
export interface Io {
  argv: readonly string[];
  cwd: () => string;
  env: NodeJS.ProcessEnv;
  stdin: {
    readonly isTerminal: boolean;
    /** Reads to the end; with `isObject` to the end of a JSON object. */
    read(isObject?: boolean): Promise<Buffer>;
  };
  stdout: Output;
  stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Hands signals to the command. `now` is false for Ctrl-C, which can be repeated. */
  onStop?(handler: (now: boolean) => void): void;
  /** Ends this process with exit code 0 after so many ms, and writes `word` to stderr. */
  deadline?(ms: number, word?: string): void;
  /** For a protocol: stdin as a stream, and lines to stdout. `send` returns false if nobody reads them. */
  channel(): { input: Readable; send(line: string): boolean };
  /** For tests: another clock and other processes. */
  world?: World;
}

/** The folder to work in: -C, else FORGE_DIR, else the current one. */
export function folderOf(io: Io, dir: string | undefined): string {
  const wanted = dir ?? (io.env.FORGE_DIR || '.');
  const path = isAbsolute(wanted) ? wanted : resolve(currentFolder(io), wanted);
  const real = statSync(path, { throwIfNoEntry: false })?.isDirectory() ? realPath(path) : null;
  const hint = `mkdir -p ${formatArgv([wanted])}`;
  if (real === null) throw usage('folder.missing', `There is no folder ${path}.`, { hint });
  return basename(real) === '.forge' ? dirname(real) : real;
}

function currentFolder(io: Io): string {
  try {
    return io.cwd();
  } catch {
    const name = io.env.PWD ? ` (${io.env.PWD})` : '';
    const hint = 'cd to another folder';
    throw usage('folder.gone', `The current folder${name} no longer exists.`, { hint });
  }
}

export const MAX_INPUT_BYTES = 16 * 1024 * 1024;

/** What a command sees of the terminal, the streams and the project. */
export interface Call {
  /** Opens the `.forge/` of `cwd`. Throws `not_a_forge` (exit 2) if there is none. */
  forge(): Forge;
  /** The folder the command works in (`-C` applied). */
  cwd: string;
  /** Options by their long names in camelCase. */
  options: Record<string, unknown>;
  flags: GlobalFlags;
  /** A text argument; `-` reads stdin. */
  text(argument: string): Promise<string>;
  /** The unchecked bytes of a file, or of stdin for `-`. */
  bytes(argument: string): Promise<Buffer>;
  /** The text of a file, or of stdin for `-`. `unscanned`: the command scans the part that it stores. */
  file(argument: string, how?: { unscanned?: boolean }): Promise<string>;
  /** Writes a status line to stderr; silent with --json and --quiet. */
  say(line: string): void;
  /** Writes a running command's output to stderr; silent with --json and --quiet. */
  stream(chunk: string): void;
  /** Shows the last line of a running command's output, and its end if wanted; all of it with --verbose. */
  tail(): Tail;
  /** A bar on stderr for work that takes more than a second. */
  progress(label: string): ProgressBar;
  interactive: boolean;
  readonly signal: AbortSignal;
  /** For work that must end in order: the first Ctrl-C asks it to finish, the second to stop at once. */
  stops(note: (line: string) => void): { finish: AbortSignal; stop: AbortSignal };
  /** A view that writes to stderr, or nowhere (`write` is null) with --json and --quiet. */
  view<T>(make: (write: ((text: string) => void) | null, style: Style) => T): T;
  /** Writes a part of the answer to stdout before the rest is known. False when the reader closed its end. */
  print(line: string): boolean;
  /** Fits an answer to the terminal on stdout. */
  onScreen(text: string, isPanel?: boolean): string;
  channel: Io['channel'];
  world: World;
  style: Style;
}

export interface GlobalFlags {
  json: boolean;
  quiet: boolean;
  dryRun: boolean;
  yes: boolean;
  verbose: boolean;
  /** Replaces e-mail addresses, phone numbers and IPs in the input by placeholders. */
  redact: boolean;
}

/** Kinds of ids and names that completion can look up. */
export type LiveKind =
  | 'feature'
  | 'issue'
  | 'kfr'
  | 'session'
  | 'checkpoint'
  | 'knowledge'
  | 'note'
  | 'setting';

export interface Values {
  words?: readonly string[];
  live?: readonly LiveKind[];
  paths?: 'files' | 'folders';
}

export interface OptionSpec {
  /** As in commander: `--test <command>`. */
  flags: string;
  help: string;
  /** Needed if the value's name (`<file>`, `<tag>`, `<id>` of the group's subject) is not enough. */
  values?: Values;
  many?: boolean;
  /** A whole number in this range. */
  number?: [min: number, max: number];
}

/** One command: argv in, a plain value out, rendered for people or printed as JSON. */
export interface CommandSpec<T = unknown> {
  name: string;
  /** `<text>`, `[id]`, `<ids...>` */
  args?: readonly string[];
  /** Values of arguments by their names, if the name is not enough. */
  values?: Readonly<Record<string, Values>>;
  summary: string;
  /** A command line that works as written. */
  example: string;
  options?: readonly OptionSpec[];
  /** Takes -n/--dry-run and --redact. */
  writes?: boolean;
  /** Its arguments are a command to run, which is not stored. */
  runs?: boolean;
  /** Asks before it acts, unless `--yes` is given. */
  confirms?: boolean;
  run(call: Call, ...args: string[]): Promise<T>;
  render(value: T, style: Style, options: Record<string, unknown>): string;
  exit?(value: T, options: Record<string, unknown>): number;
}

/** The commands of one word. A group of one command with the same name is that command. */
export type Group = readonly CommandSpec<never>[];

/** Keeps each command's own value type and lets one list hold commands of different types. */
export function command<T>(spec: CommandSpec<T>): CommandSpec<never> {
  return spec as unknown as CommandSpec<never>;
}

export interface Invocation {
  /** `forge memory record` */
  name: string;
  spec: CommandSpec;
  args: string[];
  options: Record<string, unknown>;
  flags: GlobalFlags;
}

export const CONFIRMING: OptionSpec = { flags: '-y, --yes', help: 'do not ask' };

export const COLORS = ['auto', 'always', 'never'] as const;

/** Every command takes these, before or after its name. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: '--json', help: 'print exactly the result, as JSON' },
  { flags: '-q, --quiet', help: 'only the answer, no status lines' },
  { flags: '-C, --cwd <dir>', help: 'work in this folder' },
  { flags: '--no-input', help: 'never ask' },
  CONFIRMING,
  { flags: '--color <when>', help: 'auto, always or never', values: { words: COLORS } },
  { flags: '-v, --verbose', help: 'show all output of tests, and where an error comes from' },
];

const WRITING: readonly OptionSpec[] = [
  { flags: '-n, --dry-run', help: 'show what would happen, write nothing' },
  { flags: '--redact', help: 'replace e-mail addresses, phone numbers and IPs by placeholders' },
];

export const HELP_OPTION: OptionSpec = { flags: '-h, --help', help: 'show help' };

/** In the order in which help shows them. */
export const optionsOf = ({ options = [], writes }: CommandSpec): OptionSpec[] => [
  ...options,
  ...(writes ? WRITING : []),
];

export const helpOf = ({ help, many }: OptionSpec): string => (many ? `${help} (repeatable)` : help);

interface Flag {
  names: string[];
  /** The text between the brackets; null for a switch. */
  value: string | null;
}

export function flagOf({ flags }: OptionSpec): Flag {
  const [, value = null] = /[<[]([^>\]]+)[>\]]$/.exec(flags) ?? [];
  return { names: flags.match(/(?<!\S)-{1,2}[\w-]+/g) ?? [], value };
}

/** For a decision that only a human makes (LTM-14). */
export const REASON: OptionSpec = { flags: '--reason <text>', help: 'why; kept in the audit ledger' };

export const reasonOf = (call: Call): { reason?: string } => given<{ reason: string }>(call, 'reason');

/** The options of these names that were given, for an input with fields of the same names. */
export const given = <T>({ options }: Call, ...names: (keyof T & string)[]): Partial<T> =>
  Object.fromEntries(
    names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]),
  ) as Partial<T>;

/** A file that is there, as the project's top folder names it. */
export function fromTop(call: Call, name: string): string {
  const path = resolve(realPath(call.cwd) ?? call.cwd, name);
  return existsSync(path) ? shownFrom(call.forge().root, path) || '.' : name;
}
