import * as z from 'zod/mini';
import { SECTIONS, STYLES } from '../commit/message.js';
import { DEFAULT_SETTINGS, RULES, WHO } from '../commit/rules.js';
import { corrupted, explainSyntax, refused, SyntaxProblem, UPDATE_HINT, usage } from '../core/error.js';
import { parseJson } from '../core/json.js';
import { patternProblem } from '../core/pattern.js';
import { describeIssue, fieldName } from '../core/schema.js';
import { isBranchName, isObject, namesLike, noSuch, oneLine } from '../core/text.js';
import { lineOfKey, readToml } from '../core/toml.js';

/** A setting with its default. Its schema is made when a file sets it: every command reads the settings. */
interface Setting<T> {
  schema: () => z.ZodMiniType<T>;
  value: T;
}

const setting = <T>(value: T, schema: () => z.ZodMiniType<T>): Setting<T> => ({ schema, value });
const text = (value: string): Setting<string> => setting(value, () => z.string());
const flag = (value: boolean): Setting<boolean> => setting(value, () => z.boolean());
const whole = (value: number, min: number, max: number): Setting<number> =>
  setting(value, () => z.int().check(z.gte(min), z.lte(max)));
const choice = <const T extends string>(value: NoInfer<T>, words: readonly T[]): Setting<T> =>
  setting<T>(value, () => z.enum(words));

/** `problemOf` returns what is wrong with a text, or null. A value that may hold a password is not shown. */
const checked =
  (problemOf: (text: string) => string | null, isShown = true) =>
  (): z.ZodMiniType<string> =>
    z.string().check(
      z.superRefine((text, context) => {
        const problem = problemOf(text);
        const shown = isShown ? `${oneLine(JSON.stringify(text), 60)} ` : '';
        if (problem !== null) context.addIssue({ code: 'custom', message: shown + problem });
      }),
    );
const pattern = checked((text) => {
  const problem = patternProblem(text);
  return problem && `cannot be matched: ${problem}`;
});
const address = checked((text) => {
  const addresses = text === '' ? [] : text.split(',').map((each) => each.trim());
  if (addresses.some((each) => each.includes('@')))
    return 'an address in the repository has no user or password: set NATS_USER and NATS_PASSWORD, NATS_TOKEN or NATS_CREDS in the environment';
  const isValid = (each: string): boolean =>
    /^(?:nats|tls):\/\/(?:[\w.-]+|\[[\da-fA-F:]+\])(?::\d{1,5})?$/.test(each);
  return addresses.every(isValid)
    ? null
    : 'allowed: nats://HOST:PORT or tls://HOST:PORT, several separated by commas';
}, false);
const subject = () => z.string().check(z.regex(/^[\w-]+(\.[\w-]+)*$/), z.maxLength(100));
const stream = () => z.string().check(z.regex(/^[\w-]{1,32}$/));
const branch = checked((name) => (name === '' || isBranchName(name) ? null : 'is not a branch name'));

/** The tables of `.forge/config.toml`. templates/forge/config.toml explains every setting. */
const TABLES = {
  project: { name: text('') },
  session: {
    commit: flag(true),
    record: choice('on', ['on', 'off']),
    reverify: whole(0, 0, 1000),
    /** Clients of MCP give up after a minute. */
    reverify_seconds: whole(45, 1, 3600),
  },
  briefing: { budget: whole(2000, 200, 100_000) },
  kfr: { entry_characters: whole(280, 40, 2000), tokens: whole(800, 100, 10_000) },
  commit: {
    enforce: choice('block', ['block', 'warn', 'off']),
    style: choice(DEFAULT_SETTINGS.style, STYLES),
    who: choice(DEFAULT_SETTINGS.who, WHO),
    id_pattern: setting(DEFAULT_SETTINGS.id_pattern, pattern),
    subject_length: whole(DEFAULT_SETTINGS.subject_length, 20, 500),
    sections: setting([...SECTIONS], () => z.array(z.enum(SECTIONS))),
    rules_off: setting([], () => z.array(z.enum(RULES))),
    exempt: setting<string[]>([], () => z.array(pattern()).check(z.maxLength(50))),
  },
  git: { default_branch: setting('', branch), sign: flag(false) },
  features: { test_command: text(''), timeout_seconds: whole(600, 1, 86_400) },
  findings: { mode: choice('notice', ['notice', 'ask', 'deny', 'off']) },
  cycle: { commit: flag(false), checkpoint: flag(false) },
  checkpoint: { verify: setting<string[]>([], () => z.array(z.string().check(z.minLength(1)))) },
  /** The key of the team that new issues go to; empty: the only one. */
  linear: { team: text('') },
  events: {
    /** Empty: off. NATS_URL goes before it. */
    url: setting('', address),
    prefix: setting('sx9.forge.memory', subject),
    stream: setting('FORGE_MEMORY', stream),
    /** How long a loop holds its task after its last sign of life. */
    lease_seconds: whole(120, 5, 86_400),
  },
  guard: {
    halt_on: choice('critical', ['critical', 'all']),
    rules: setting<Record<string, unknown>[]>([], () => z.array(z.looseObject({})).check(z.maxLength(500))),
    gitleaks: text(''),
  },
};
type Tables = typeof TABLES;
type TableName = keyof Tables;
type Values<T> = { [K in keyof T]: T[K] extends Setting<infer V> ? V : never };

/** `.forge/config.toml` with all defaults. Unknown settings are kept and named in a warning. */
export type Config = { [K in TableName]: Values<Tables[K]> } & { schema_version: 1 };

export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

const mapSettings = <T>(name: TableName, map: (setting: Setting<unknown>) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(TABLES[name]).map(([key, each]) => [key, map(each)]));

export const DEFAULTS = Object.fromEntries(
  TABLE_NAMES.map((name) => [name, mapSettings(name, ({ value }) => value)]),
) as Omit<Config, 'schema_version'>;

const SchemaVersion = () => z._default(z.literal(1), 1);

/** One table, in which every setting has its default. */
const tableSchema = (name: TableName) =>
  z.looseObject(mapSettings(name, ({ schema, value }) => z._default(schema(), value as never)));

export const configSchema = () =>
  z.looseObject({
    schema_version: SchemaVersion(),
    ...Object.fromEntries(TABLE_NAMES.map((name) => [name, z.prefault(tableSchema(name), {})])),
  });

/** Far more than all settings with their comments need. */
export const MAX_CONFIG_BYTES = 64 * 1024;

/** Every setting as `table.key`, in the order of the file that `init` writes. */
export const SETTINGS: readonly string[] = TABLE_NAMES.flatMap((name) =>
  Object.keys(DEFAULTS[name]).map((key) => `${name}.${key}`),
);

/** Reads the text of config.toml. Exit 4 names file, line, key, what was found and what is allowed. */
export function decodeConfig(text: string, file: string): { config: Config; warnings: string[] } {
  const raw = parseToml(text, file);
  const { schema_version: version } = raw;
  const newer = `${file} has format ${version}; this forge knows 1 and leaves it untouched.`;
  if (typeof version === 'number' && version > 1)
    throw refused('file.newer', newer, { file, hint: UPDATE_HINT });
  const check = (name: string, schema: z.ZodMiniType): unknown => {
    const { data, error } = schema.safeParse(raw[name]);
    const issue = error?.issues[0];
    if (issue) throw badSetting({ ...issue, path: [name, ...issue.path] }, raw, text, file);
    return data;
  };
  if (version !== undefined && version !== 1) check('schema_version', SchemaVersion());
  // Most tables have comments only, and their schemas take time.
  const isEmpty = (table: unknown): boolean => table === undefined || JSON.stringify(table) === '{}';
  const tables = TABLE_NAMES.map((name) => [
    name,
    isEmpty(raw[name]) ? DEFAULTS[name] : check(name, tableSchema(name)),
  ]);
  const config = { ...raw, schema_version: 1, ...Object.fromEntries(tables) } as Config;
  const warnings = unknownSettings(raw).map(
    (name) => `${file}: ${oneLine(name, 60)} is not a setting of this version; it is kept and ignored.`,
  );
  return { config, warnings };
}

/** Any TOML; exit 4 names the line of the first error. */
export const parseToml = (text: string, file: string): Record<string, unknown> =>
  explainSyntax(readToml, text, ({ message, line }) =>
    corrupted('config.toml', `${file}:${line}: ${message}.`, { file, line }),
  );

function badSetting(issue: z.core.$ZodIssue, raw: unknown, text: string, file: string): Error {
  // The items of a list have no line of their own.
  const keys = issue.path.filter((part) => typeof part === 'string');
  const [line, field] = [lineOfKey(text, keys), fieldName(issue.path)];
  const message = `${file}:${line}: ${field}: ${describeIssue(issue, raw)}.`;
  return corrupted('config.value', message, { file, line, field });
}

/** Dotted names of settings that this forge does not know. */
function unknownSettings(raw: Record<string, unknown>): string[] {
  return Object.entries(raw).flatMap(([name, value]) => {
    if (name === 'schema_version') return [];
    const known = Object.hasOwn(DEFAULTS, name) ? DEFAULTS[name as TableName] : null;
    if (!isObject(value)) return known ? [] : [name];
    const keys = Object.keys(value).filter((key) => !known || !Object.hasOwn(known, key));
    return keys.map((key) => `${name}.${key}`);
  });
}

/** Exit 2 for an unknown name. */
export function readSetting(config: Omit<Config, 'schema_version'>, name: string): unknown {
  if (!SETTINGS.includes(name)) {
    const [near] = namesLike(name, SETTINGS);
    throw noSuch('setting', name, near ? `Did you mean ${near}?` : 'forge config list', 'config');
  }
  return name.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], config);
}

/** Converts the text of `config set` to the setting's type. A list is one item or JSON. Exit 2 says what is allowed. */
export function parseSetting(name: string, text: string): string | number | boolean | string[] {
  const example = readSetting(DEFAULTS, name);
  const found = `${name}: found ${JSON.stringify(oneLine(text, 60))}`;
  if (Array.isArray(example)) return parseList(name, text, found);
  if (typeof example === 'string') return text;
  if (typeof example === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (typeof example === 'number' && /^\d{1,9}$/.test(text)) return Number(text);
  const allowed = typeof example === 'boolean' ? 'true | false' : 'a whole number';
  throw usage('config.value', `${found}, allowed: ${allowed}.`, { field: name });
}

function parseList(name: string, text: string, found: string): string[] {
  if (!/^\s*\[/.test(text)) return text === '' ? [] : [text];
  try {
    const items = parseJson(text) as unknown[];
    if (items.every((item) => typeof item === 'string')) return items as string[];
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
  }
  const hint = `forge config set ${name} '["ONE", "TWO"]'`;
  throw usage('config.list', `${found}, allowed: a JSON list of texts.`, { field: name, hint });
}
