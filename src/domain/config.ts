import * as z from 'zod/mini';
import { expressionProblem } from './commit/expression.js';
import { DEFAULT_SETTINGS, RULES, SECTIONS } from './commit/rules.js';
import { describeIssue, fieldName } from './document.js';
import { corrupted, refused, usage } from './error.js';
import { isPublicKey, PUBLIC_KEY } from './seal.js';
import { oneLine } from './text.js';
import { lineOfKey, readToml, TomlProblem } from './toml.js';

const minutes = (initial: number) => z._default(z.int().check(z.gte(1), z.lte(1440)), initial);
const PublicKey = z
  .string()
  .check(z.regex(PUBLIC_KEY), z.refine(isPublicKey, 'the base64 of a public key is not in its one form'));
/** Both are matched without regular expressions of the repository's own making. */
const Expression = z.string().check(
  z.superRefine((text, context) => {
    const problem = expressionProblem(text);
    if (problem !== null)
      context.addIssue({
        code: 'custom',
        message: `${oneLine(JSON.stringify(text), 60)} cannot be matched: ${problem}`,
      });
  }),
);
const table = <T extends z.core.$ZodLooseShape>(shape: T) => z.prefault(z.looseObject(shape), {} as never);

/** `.forge/config.toml`. Every setting has a default; unknown ones are kept and named in a warning. */
export const Config = z.looseObject({
  schema_version: z._default(z.literal(1), 1),
  project: table({ name: z._default(z.string(), '') }),
  session: table({
    /** Make the session-end commit. */
    commit: z._default(z.boolean(), true),
    /** Without a forge command, after which a session whose holder is gone counts as interrupted. */
    silence_minutes: minutes(10),
    /** The same for a holder on another host. */
    unknown_host_minutes: minutes(60),
    /** SES-11: of how many passing features a new session runs the tests again; 0: of none. */
    reverify: z._default(z.int().check(z.gte(0), z.lte(1000)), 0),
    /** All of them together. Less than the minute after which clients of MCP give up. */
    reverify_seconds: z._default(z.int().check(z.gte(1), z.lte(3600)), 45),
    /** Features at once. Tests of one repository often share ports and files. */
    reverify_at_once: z._default(z.int().check(z.gte(1), z.lte(32)), 1),
    /** Also from an agent's start hook, which waits for a few seconds only. */
    reverify_in_hooks: z._default(z.boolean(), false),
  }),
  briefing: table({
    /** Tokens. */
    budget: z._default(z.int().check(z.gte(200), z.lte(100_000)), 2000),
    commits: z._default(z.int().check(z.gte(0), z.lte(100)), 10),
  }),
  kfr: table({
    /** Characters of one entry. */
    entry_characters: z._default(z.int().check(z.gte(40), z.lte(2000)), 280),
    /** Tokens of all entries, the header left out. */
    tokens: z._default(z.int().check(z.gte(100), z.lte(10_000)), 800),
  }),
  commit: table({
    /** What git's hooks do with what does not follow the protocol: refuse it, say so, or nothing. */
    enforce: z._default(z.enum(['block', 'warn', 'off']), 'block'),
    /** Of issues; features' ids and FORGE are taken as well. */
    id_pattern: z._default(Expression, DEFAULT_SETTINGS.id_pattern),
    /** Characters. */
    subject_length: z._default(z.int().check(z.gte(20), z.lte(500)), DEFAULT_SETTINGS.subject_length),
    /** Which of the protocol's sections a message must have. */
    sections: z._default(z.array(z.enum(SECTIONS)), [...DEFAULT_SETTINGS.sections] as never),
    /** Rules that are not asked for. */
    rules_off: z._default(z.array(z.enum(RULES)), []),
    /** Patterns of whole subjects that need not follow the protocol. */
    exempt: z._default(z.array(Expression).check(z.maxLength(50)), []),
  }),
  git: table({
    /** The branch that the others are merged into; empty: forge asks git. */
    default_branch: z._default(z.string(), ''),
  }),
  features: table({
    /** Where each test is put in for `{}`; empty: a test is a command. */
    test_command: z._default(z.string(), ''),
    timeout_seconds: z._default(z.int().check(z.gte(1), z.lte(86_400)), 600),
  }),
  cycle: table({
    /** Commit what a cycle leaves whose checks pass. */
    commit: z._default(z.boolean(), false),
    /** Make a checkpoint when a feature came to pass. */
    checkpoint: z._default(z.boolean(), false),
  }),
  checkpoint: table({
    /** Commands that have to pass before a state counts as verified; none: the tests of passing features. */
    verify: z._default(z.array(z.string().check(z.minLength(1))), []),
  }),
  recover: table({
    /** Up to these numbers since the checkpoint it is worth going on; above one of them, rolling back. */
    files: z._default(z.int().check(z.gte(0), z.lte(1_000_000)), 20),
    commits: z._default(z.int().check(z.gte(0), z.lte(1_000_000)), 10),
    deleted_files: z._default(z.int().check(z.gte(0), z.lte(1_000_000)), 5),
  }),
  memory: table({
    /** When segments are folded into the fixed files: at session end on the default branch, or only when asked. */
    fold: z._default(z.enum(['auto', 'never']), 'auto'),
  }),
  guard: table({
    /** What halts besides being refused: secrets, cards, IBANs and national ids, or everything. Never less. */
    halt_on: z._default(z.enum(['critical', 'all']), 'critical'),
  }),
  supervisor: table({
    /** Public halves of the keys whose seals count; written by `forge supervisor init`. */
    keys: z._default(z.array(PublicKey), []),
  }),
});
export type Config = z.infer<typeof Config>;

/** Far more than all settings with their comments take. */
export const MAX_CONFIG_BYTES = 64 * 1024;

/**
 * Never read from a repository: whoever could commit them could let themselves in (docs/architecture.md, "Trust"). Of
 * supervisors' keys only public halves are, and only those that this machine has pinned count (docs/governance.md).
 */
const OUTSIDE_ONLY = /^(trust|role|override|supervisor\.key|guard\.(off|enabled|disabled|rules))(\.|$)/;

export interface LoadedConfig {
  config: Config;
  /** Dotted names of settings this forge does not know. */
  unknown: string[];
  warnings: string[];
}

const KNOWN: Record<string, readonly string[]> = {
  schema_version: [],
  project: ['name'],
  session: [
    'commit',
    'silence_minutes',
    'unknown_host_minutes',
    'reverify',
    'reverify_seconds',
    'reverify_at_once',
    'reverify_in_hooks',
  ],
  briefing: ['budget', 'commits'],
  kfr: ['entry_characters', 'tokens'],
  commit: ['enforce', 'id_pattern', 'subject_length', 'sections', 'rules_off', 'exempt'],
  git: ['default_branch'],
  features: ['test_command', 'timeout_seconds'],
  cycle: ['commit', 'checkpoint'],
  checkpoint: ['verify'],
  recover: ['files', 'commits', 'deleted_files'],
  memory: ['fold'],
  guard: ['halt_on'],
  supervisor: ['keys'],
};

/** Every setting as `table.key`, in the order of the file that `init` writes. */
export const SETTINGS: readonly string[] = Object.entries(KNOWN).flatMap(([name, keys]) =>
  keys.map((key) => `${name}.${key}`),
);

/** Reads config.toml's text. Exit 4 naming file, line, key, what was found and what is allowed. */
export function decodeConfig(text: string, file: string): LoadedConfig {
  const raw = parseToml(text, file);
  if (typeof raw.schema_version === 'number' && raw.schema_version > 1)
    throw refused(
      'file.newer',
      `${file} has format ${raw.schema_version}; this forge knows 1 and leaves it untouched.`,
      {
        file,
        hint: 'Update forge: npm install -g forge-memory@latest',
      },
    );
  const result = Config.safeParse(raw);
  if (!result.success) throw badSetting(result.error.issues[0] as z.core.$ZodIssue, raw, text, file);
  const unknown = unknownSettings(raw);
  return { config: result.data, unknown, warnings: unknown.map((name) => warnAbout(name, file)) };
}

/** Any TOML; exit 4 with the line of what is none. */
export function parseToml(text: string, file: string): Record<string, unknown> {
  try {
    return readToml(text);
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
    throw corrupted('config.toml', `${file}:${error.line}: ${error.message}.`, { file, line: error.line });
  }
}

function badSetting(issue: z.core.$ZodIssue, raw: unknown, text: string, file: string): Error {
  // A list's items have no line of their own.
  const line = lineOfKey(
    text,
    issue.path.filter((part) => typeof part === 'string'),
  );
  const field = fieldName(issue.path);
  return corrupted('config.value', `${file}:${line}: ${field}: ${describeIssue(issue, raw)}.`, {
    file,
    line,
    field,
  });
}

function unknownSettings(raw: Record<string, unknown>): string[] {
  const names: string[] = [];
  for (const [name, value] of Object.entries(raw)) {
    const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
    if (!known) names.push(...dotted(name, value));
    else if (typeof value === 'object' && value !== null)
      names.push(
        ...Object.keys(value)
          .filter((key) => !known.includes(key))
          .map((key) => `${name}.${key}`),
      );
  }
  return names;
}

const dotted = (name: string, value: unknown): string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.keys(value).map((key) => `${name}.${key}`)
    : [name];

function warnAbout(name: string, file: string): string {
  const shown = oneLine(name, 60);
  if (OUTSIDE_ONLY.test(name)) return `${file}: ${shown} cannot be set from a repository; it is ignored.`;
  return `${file}: ${shown} is no setting of this forge; it is kept and ignored.`;
}

/** The value of one setting; exit 2 for a name that is none. */
export function readSetting(config: Config, name: string): unknown {
  requireSetting(name);
  return name.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], config);
}

/** Turns the words of `config set` into the setting's type. Exit 2 with what is allowed. */
export function parseSetting(name: string, text: string): string | number | boolean {
  requireSetting(name);
  const example = readSetting(Config.parse({}), name);
  if (Array.isArray(example))
    throw usage('config.list', `${name} is a list that "config set" does not change.`, {
      field: name,
      hint: name.startsWith('supervisor.')
        ? 'forge supervisor init  or  forge supervisor trust KEY --reason "…"'
        : `Write it into .forge/config.toml: ${name.split('.')[1]} = ["…"]`,
    });
  if (typeof example === 'string') return text;
  if (typeof example === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (typeof example === 'number' && /^\d{1,9}$/.test(text)) return Number(text);
  const allowed = typeof example === 'boolean' ? 'true | false' : 'a whole number';
  throw usage('config.value', `${name}: found ${JSON.stringify(oneLine(text, 60))}, allowed: ${allowed}.`, {
    field: name,
  });
}

function requireSetting(name: string): void {
  if (SETTINGS.includes(name)) return;
  if (OUTSIDE_ONLY.test(name))
    throw refused('config.outside', `${name} cannot be set from a repository.`, {
      hint: 'forge trust --help',
    });
  throw usage('config.unknown', `There is no setting ${JSON.stringify(oneLine(name, 60))}.`, {
    hint: `Settings: ${SETTINGS.join(', ')}`,
  });
}
