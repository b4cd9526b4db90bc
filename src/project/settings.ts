import * as z from 'zod/mini';
import { SECTIONS, STYLES } from '../commit/message.js';
import { DEFAULT_SETTINGS, RULES, WHO } from '../commit/rules.js';
import { patternProblem } from '../core/pattern.js';
import { addressProblem, isBranchName, oneLine } from '../core/text.js';

interface Setting<T> {
  schema: () => z.ZodMiniType<T>;
  value: T;
}

/** A setting with its default. Its schema is made when a file sets it: every command reads the settings. */
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
const address = checked(addressProblem, false);
/** What subjects and streams of NATS are called. */
const subject = checked((text) =>
  /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(text) && text.length <= 100
    ? null
    : 'is not a subject: letters, digits, "-", "_", and dots between them',
);
const stream = checked((text) =>
  /^[A-Za-z0-9_-]{1,32}$/.test(text) ? null : 'is not a stream name: 1 to 32 letters, digits, "-" and "_"',
);
const branch = checked((name) => (name === '' || isBranchName(name) ? null : 'is not a branch name'));

/** The tables of `.forge/config.toml`. templates/forge/config.toml explains every setting. */
const TABLES = {
  project: { name: text('') },
  session: {
    commit: flag(true),
    unknown_host_minutes: whole(60, 1, 1440),
    record: choice('on', ['on', 'off']),
    reverify: whole(0, 0, 1000),
    /** Clients of MCP give up after a minute. */
    reverify_seconds: whole(45, 1, 3600),
  },
  briefing: { budget: whole(2000, 200, 100_000), commits: whole(10, 0, 100) },
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
export type TableName = keyof Tables;
type Values<T> = { [K in keyof T]: T[K] extends Setting<infer V> ? V : never };

/** `.forge/config.toml` with all defaults. Unknown settings are kept and named in a warning. */
export type Config = { [K in TableName]: Values<Tables[K]> } & { schema_version: 1 };

export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

const mapSettings = <T>(name: TableName, map: (setting: Setting<unknown>) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(TABLES[name]).map(([key, each]) => [key, map(each)]));

export const DEFAULTS = Object.fromEntries(
  TABLE_NAMES.map((name) => [name, mapSettings(name, ({ value }) => value)]),
) as Omit<Config, 'schema_version'>;

export const SchemaVersion = () => z._default(z.literal(1), 1);

/** One table, in which every setting has its default. */
export const tableSchema = (name: TableName) =>
  z.looseObject(mapSettings(name, ({ schema, value }) => z._default(schema(), value as never)));

/** The whole format, for its JSON Schema. */
export const configSchema = () =>
  z.looseObject({
    schema_version: SchemaVersion(),
    ...Object.fromEntries(TABLE_NAMES.map((name) => [name, z.prefault(tableSchema(name), {})])),
  });
