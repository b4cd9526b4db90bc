import type { CycleView } from '../cycle/render.js';
import type { Forge, World } from '../index.js';
import type { Io } from './io.js';
import type { ProgressBar, Tail } from './screen.js';
import type { Style } from './style.js';

declare const FORGE_VERSION: string | undefined;

/** Set by the build; "dev" when run from the sources. */
export const version = (): string => (typeof FORGE_VERSION === 'string' ? FORGE_VERSION : 'dev');

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
  /** Shows only the last line of a running command's output. */
  tail(): Tail;
  /** A bar on stderr for work that takes more than a second. */
  progress(label: string): ProgressBar;
  /** Whether a question can be asked. */
  interactive: boolean;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** For work that must end in order: the first Ctrl-C asks it to finish, the second to stop at once. */
  stops(note: (line: string) => void): { finish: AbortSignal; stop: AbortSignal };
  /** Shows the stages and the output of a cycle on stderr. */
  cycleView(): CycleView;
  /** Writes a part of the answer to stdout before the rest is known. False when the reader closed its end. */
  print(line: string): boolean;
  /** Fits an answer to the terminal on stdout. */
  onScreen(text: string): string;
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
  | 'interrupted'
  | 'checkpoint'
  | 'backup'
  | 'knowledge'
  | 'note'
  | 'record'
  | 'setting'
  | 'setting-value'
  | 'schema';

/** The values that completion offers. */
export interface Values {
  words?: readonly string[];
  live?: readonly LiveKind[];
  paths?: 'files' | 'folders';
  /** Follows the value without a space: `=` of `ID=TEXT`. */
  mark?: string;
}

export interface OptionSpec {
  /** As in commander: `--test <command>`. */
  flags: string;
  help: string;
  /** Needed if the value's name (`<file>`, `<tag>`, `<id>` of the group's subject) is not enough. */
  values?: Values;
  /** May be given several times. */
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
  /** The exit code of an answer that is not a success. */
  exit?(value: T, options: Record<string, unknown>): number;
}

/** The commands of one word. A group of one command with the same name is that command. */
export interface Group {
  commands: readonly CommandSpec<never>[];
}

/** Keeps each command's own value type and lets one list hold commands of different types. */
export function command<T>(spec: CommandSpec<T>): CommandSpec<never> {
  return spec as unknown as CommandSpec<never>;
}

/** A parsed command line. */
export interface Invocation {
  /** `forge memory record` */
  name: string;
  spec: CommandSpec;
  args: string[];
  options: Record<string, unknown>;
  flags: GlobalFlags;
}
