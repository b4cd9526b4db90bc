import type { Call, CommandSpec, OptionSpec } from './spec.js';

export const CONFIRMING: OptionSpec = { flags: '-y, --yes', help: 'do not ask' };

/** Every command takes these, before or after its name. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: '--json', help: 'print exactly the result, as JSON' },
  { flags: '-q, --quiet', help: 'no status lines' },
  { flags: '-C, --cwd <dir>', help: 'work in this folder' },
  { flags: '--no-input', help: 'never ask' },
  CONFIRMING,
  { flags: '--color <when>', help: 'auto, always or never', values: { words: ['auto', 'always', 'never'] } },
  { flags: '-v, --verbose', help: 'show where an error comes from' },
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

/** The parts of `-m, --message <text>`. */
interface Flag {
  names: string[];
  /** The text between the brackets; null for a switch. */
  value: string | null;
  /** `[value]` */
  optional: boolean;
}

export function flagOf({ flags }: OptionSpec): Flag {
  const [, bracket, value] = /([<[])([^>\]]+)[>\]]$/.exec(flags) ?? [];
  return {
    names: flags.match(/(?<!\S)-{1,2}[\w-]+/g) ?? [],
    value: value ?? null,
    optional: bracket === '[',
  };
}

/** For a decision that only a human makes (LTM-14). */
export const REASON: OptionSpec = { flags: '--reason <text>', help: 'why; kept in the audit ledger' };

export const reasonOf = ({ options }: Call): { reason?: string } =>
  options.reason === undefined ? {} : { reason: options.reason as string };
