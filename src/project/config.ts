import type * as z from 'zod/mini';
import { corrupted, refused, UPDATE_HINT, usage } from '../core/error.js';
import { JsonProblem, parseJson } from '../core/json.js';
import { describeIssue, fieldName } from '../core/schema.js';
import { namesLike, oneLine } from '../core/text.js';
import { lineOfKey, readToml, TomlProblem } from '../core/toml.js';
import {
  type Config,
  DEFAULTS,
  SchemaVersion,
  TABLE_NAMES,
  type TableName,
  tableSchema,
} from './settings.js';

export type { Config } from './settings.js';

/** Far more than all settings with their comments take. */
export const MAX_CONFIG_BYTES = 64 * 1024;

/** Never read from a repository: anyone who can commit could approve themselves (docs/architecture.md, "Trust"). */
const OUTSIDE_ONLY = /^(trust|role|override|supervisor|guard\.(off|enabled|disabled))(\.|$)/;

interface LoadedConfig {
  config: Config;
  /** Dotted names of settings this forge does not know. */
  unknown: string[];
  warnings: string[];
}

/** Every setting as `table.key`, in the order of the file that `init` writes. */
export const SETTINGS: readonly string[] = TABLE_NAMES.flatMap((name) =>
  Object.keys(DEFAULTS[name]).map((key) => `${name}.${key}`),
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
        hint: UPDATE_HINT,
      },
    );
  const config = decodeTables(raw, (issue) => badSetting(issue, raw, text, file));
  const unknown = unknownSettings(raw);
  return { config, unknown, warnings: unknown.map((name) => warnAbout(name, file)) };
}

function decodeTables(raw: Record<string, unknown>, fault: (issue: z.core.$ZodIssue) => Error): Config {
  const check = (name: string, schema: z.ZodMiniType): unknown => {
    const { data, error } = schema.safeParse(raw[name]);
    const issue = error?.issues[0];
    if (issue) throw fault({ ...issue, path: [name, ...issue.path] } as z.core.$ZodIssue);
    return data;
  };
  if (![undefined, 1].includes(raw.schema_version as number)) check('schema_version', SchemaVersion());
  const tables = TABLE_NAMES.map((name) => [
    name,
    isUnset(raw[name]) ? DEFAULTS[name] : check(name, tableSchema(name)),
  ]);
  return { ...raw, schema_version: 1, ...Object.fromEntries(tables) } as Config;
}

/** An empty list or a date is no table, which is said. */
const isUnset = (value: unknown): boolean =>
  value === undefined ||
  (Object.prototype.toString.call(value) === '[object Object]' && Object.keys(value as object).length === 0);

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
  return Object.entries(raw).flatMap(([name, value]) => {
    const known = Object.hasOwn(DEFAULTS, name) ? Object.keys(DEFAULTS[name as TableName]) : null;
    if (name === 'schema_version') return [];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return known ? [] : [name];
    const keys = Object.keys(value).filter((key) => !known?.includes(key));
    return keys.map((key) => `${name}.${key}`);
  });
}

function warnAbout(name: string, file: string): string {
  const shown = oneLine(name, 60);
  if (OUTSIDE_ONLY.test(name)) return `${file}: ${shown} cannot be set from a repository; it is ignored.`;
  return `${file}: ${shown} is not a setting of this version; it is kept and ignored.`;
}

/** The value of one setting; exit 2 for a name that is none. */
export function readSetting(config: Config, name: string): unknown {
  requireSetting(name);
  return name.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], config);
}

/** Turns the words of `config set` into the setting's type: a list is one item, or JSON. Exit 2 with what is allowed. */
export function parseSetting(name: string, text: string): string | number | boolean | string[] {
  requireSetting(name);
  const example = readSetting({ ...DEFAULTS, schema_version: 1 }, name);
  if (Array.isArray(example)) return parseList(name, text);
  if (typeof example === 'string') return text;
  if (typeof example === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (typeof example === 'number' && /^\d{1,9}$/.test(text)) return Number(text);
  const allowed = typeof example === 'boolean' ? 'true | false' : 'a whole number';
  throw usage('config.value', `${name}: found ${JSON.stringify(oneLine(text, 60))}, allowed: ${allowed}.`, {
    field: name,
  });
}

function parseList(name: string, text: string): string[] {
  if (!/^\s*\[/.test(text)) return text === '' ? [] : [text];
  try {
    const items = parseJson(text) as unknown[];
    if (items.every((item) => typeof item === 'string')) return items as string[];
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
  }
  throw usage(
    'config.list',
    `${name}: found ${JSON.stringify(oneLine(text, 60))}, allowed: a JSON list of texts.`,
    {
      field: name,
      hint: `forge config set ${name} '["ONE", "TWO"]'`,
    },
  );
}

function requireSetting(name: string): void {
  if (SETTINGS.includes(name)) return;
  if (OUTSIDE_ONLY.test(name))
    throw refused('config.outside', `${name} cannot be set from a repository.`, {
      hint: 'forge trust --help',
    });
  const [near] = namesLike(name, SETTINGS);
  throw usage('config.unknown', `There is no setting ${JSON.stringify(oneLine(name, 60))}.`, {
    hint: near ? `Did you mean ${near}?` : 'forge config list',
  });
}
