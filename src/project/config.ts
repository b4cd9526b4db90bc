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

/** Far more than all settings with their comments need. */
export const MAX_CONFIG_BYTES = 64 * 1024;

/** Never read from a repository: anyone who can commit could approve themselves (docs/architecture.md, "Trust"). */
const OUTSIDE_ONLY = /^(trust|role|override|supervisor|guard\.(off|enabled|disabled))(\.|$)/;

/** Every setting as `table.key`, in the order of the file that `init` writes. */
export const SETTINGS: readonly string[] = TABLE_NAMES.flatMap((name) =>
  Object.keys(DEFAULTS[name]).map((key) => `${name}.${key}`),
);

/** Reads the text of config.toml. Exit 4 names file, line, key, what was found and what is allowed. */
export function decodeConfig(text: string, file: string): { config: Config; warnings: string[] } {
  const raw = parseToml(text, file);
  const { schema_version: version } = raw;
  if (typeof version === 'number' && version > 1)
    throw refused(
      'file.newer',
      `${file} has format ${version}; this forge knows 1 and leaves it untouched.`,
      { file, hint: UPDATE_HINT },
    );
  const check = (name: string, schema: z.ZodMiniType): unknown => {
    const { data, error } = schema.safeParse(raw[name]);
    const issue = error?.issues[0];
    if (issue) throw badSetting({ ...issue, path: [name, ...issue.path] }, raw, text, file);
    return data;
  };
  if (version !== undefined && version !== 1) check('schema_version', SchemaVersion());
  const tables = TABLE_NAMES.map((name) => [
    name,
    raw[name] === undefined ? DEFAULTS[name] : check(name, tableSchema(name)),
  ]);
  const config = { ...raw, schema_version: 1, ...Object.fromEntries(tables) } as Config;
  return { config, warnings: unknownSettings(raw).map((name) => warnAbout(name, file)) };
}

/** Any TOML; exit 4 names the line of the first error. */
export function parseToml(text: string, file: string): Record<string, unknown> {
  try {
    return readToml(text);
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
    throw corrupted('config.toml', `${file}:${error.line}: ${error.message}.`, { file, line: error.line });
  }
}

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
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return known ? [] : [name];
    const keys = Object.keys(value).filter((key) => !known || !Object.hasOwn(known, key));
    return keys.map((key) => `${name}.${key}`);
  });
}

const warnAbout = (name: string, file: string): string =>
  OUTSIDE_ONLY.test(name)
    ? `${file}: ${oneLine(name, 60)} cannot be set from a repository; it is ignored.`
    : `${file}: ${oneLine(name, 60)} is not a setting of this version; it is kept and ignored.`;

/** The value of one setting; exit 2 for an unknown name. */
export function readSetting(config: Omit<Config, 'schema_version'>, name: string): unknown {
  requireSetting(name);
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
    if (!(error instanceof JsonProblem)) throw error;
  }
  throw usage('config.list', `${found}, allowed: a JSON list of texts.`, {
    field: name,
    hint: `forge config set ${name} '["ONE", "TWO"]'`,
  });
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
