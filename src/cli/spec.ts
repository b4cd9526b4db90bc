import type { Forge, LiveKind } from '../index.js';
import type { Style } from './style.js';

/** Terminal, streams and person, as one command sees them. */
export interface Call {
  /** Opens the .forge/ here; `not_a_forge` (exit 2) when there is none. */
  forge(): Forge;
  /** The folder the command works in (`-C` applied). */
  cwd: string;
  /** Options by their long names, in camelCase. */
  options: Record<string, unknown>;
  flags: GlobalFlags;
  /** A text argument: itself, or stdin for `-`. */
  text(argument: string): Promise<string>;
  /** The same as they are, whatever they are. */
  bytes(argument: string): Promise<Buffer>;
  /** The text of a file argument, or of stdin for `-`. `unscanned`: the command scans the part that it stores. */
  file(argument: string, how?: { unscanned?: boolean }): Promise<string>;
  /** Status for a person, on stderr; silent with --json and --quiet. */
  say(line: string): void;
  /** A running command's output, on stderr; silent with --json and --quiet. */
  stream(chunk: string): void;
  /** Shows only its last line while it runs. */
  tail(): import('./screen.js').Tail;
  /** A bar on stderr once something takes more than a second; silent where no person looks. */
  progress(label: string): import('./screen.js').ProgressBar;
  /** True when a question can be asked. */
  interactive: boolean;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** For what has to end in order: the first Ctrl-C asks it to finish, the second to stop at once. */
  stops(note: (line: string) => void): { finish: AbortSignal; stop: AbortSignal };
  /** Stages and output of a cycle, on stderr. */
  cycleView(): import('../cycle/render.js').CycleView;
  /** A part of the answer, before the whole is there. */
  print(line: string): void;
  /** The answer as the terminal can show it; as it is where there is none. */
  onScreen(text: string): string;
  /** Where a protocol is spoken. */
  channel: import('./io.js').Io['channel'];
  world: import('../index.js').World;
  style: Style;
}

export interface GlobalFlags {
  json: boolean;
  quiet: boolean;
  dryRun: boolean;
  yes: boolean;
  verbose: boolean;
  /** Placeholders for e-mail addresses, phone numbers and IPs in what is given. */
  redact: boolean;
}

/** What may stand for a value, as completion offers it. */
export interface Values {
  /** Any of these words. */
  words?: readonly string[];
  /** Ids and names of what is there. */
  live?: readonly LiveKind[];
  paths?: 'files' | 'folders';
  /** Follows the value at once, and something else follows that: `=` of `ID=TEXT`. */
  mark?: string;
}

export interface OptionSpec {
  /** As commander has it: `--test <command>`. */
  flags: string;
  help: string;
  /** Where the value's name (`<file>`, `<tag>`, `<id>` of what the group is about) does not say it. */
  values?: Values;
  /** May be given several times. */
  many?: boolean;
  /** A whole number between these. */
  number?: [min: number, max: number];
}

/** One command: argv in, plain value out, rendered for people or printed as JSON. */
export interface CommandSpec<T = unknown> {
  name: string;
  /** `<text>`, `[id]`, `<ids...>` */
  args?: readonly string[];
  /** What may stand for an argument, by its name, where that does not say it. */
  values?: Readonly<Record<string, Values>>;
  summary: string;
  /** A line that works as it stands. */
  example: string;
  options?: readonly OptionSpec[];
  /** Takes -n/--dry-run and --redact. */
  writes?: boolean;
  /** Its arguments are a command to run: what stands in them is kept nowhere. */
  runs?: boolean;
  /** Asks before it acts, unless `--yes` is given. */
  confirms?: boolean;
  run(call: Call, ...args: string[]): Promise<T>;
  render(value: T, style: Style, options: Record<string, unknown>): string;
  /** Exit code for a value that is an answer but no success. */
  exit?(value: T, options: Record<string, unknown>): number;
}

/** The commands of one word. A group of one command with the same name is that command. */
export interface Group {
  commands: readonly CommandSpec<never>[];
}

/** Keeps each command's own value type and lets commands of different types stand in one list. */
export function command<T>(spec: CommandSpec<T>): CommandSpec<never> {
  return spec as unknown as CommandSpec<never>;
}

/** What argv asks for. */
export interface Invocation {
  /** `forge memory record` */
  name: string;
  spec: CommandSpec;
  args: string[];
  options: Record<string, unknown>;
  flags: GlobalFlags;
}
