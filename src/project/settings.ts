import * as z from 'zod/mini';
import { SECTIONS } from '../commit/message.js';
import { DEFAULT_SETTINGS, RULES, WHO } from '../commit/rules.js';
import { patternProblem } from '../core/pattern.js';
import { isBranchName, oneLine } from '../core/text.js';

const minutes = () => z.int().check(z.gte(1), z.lte(1440));
const Pattern = () =>
  z.string().check(
    z.superRefine((text, context) => {
      const problem = patternProblem(text);
      if (problem !== null)
        context.addIssue({
          code: 'custom',
          message: `${oneLine(JSON.stringify(text), 60)} cannot be matched: ${problem}`,
        });
    }),
  );

const Branch = () =>
  z.string().check(
    z.superRefine((name, context) => {
      if (name !== '' && !isBranchName(name))
        context.addIssue({
          code: 'custom',
          message: `${oneLine(JSON.stringify(name), 60)} is not a branch name`,
        });
    }),
  );

/** The tables of `.forge/config.toml`. Every command reads it and few files set much: a table is made when it is needed. */
const TABLES = {
  project: () => ({ name: z.string() }),
  session: () => ({
    /** Make the session-end commit. */
    commit: z.boolean(),
    /** After this long without a forge command, a session that another host holds counts as interrupted. */
    unknown_host_minutes: minutes(),
    /** SES-12: files, commits and commands at the end of an agent's turn, in progress. */
    record: z.enum(['on', 'off']),
    /** SES-11: of how many passing features a new session runs the tests again; 0: of none. */
    reverify: z.int().check(z.gte(0), z.lte(1000)),
    /** All of them together. Less than the minute after which clients of MCP give up. */
    reverify_seconds: z.int().check(z.gte(1), z.lte(3600)),
    /** Features at once. Tests of one repository often share ports and files. */
    reverify_at_once: z.int().check(z.gte(1), z.lte(32)),
    /** Also from an agent's start hook, which waits for a few seconds only. */
    reverify_in_hooks: z.boolean(),
  }),
  briefing: () => ({
    /** Tokens. */
    budget: z.int().check(z.gte(200), z.lte(100_000)),
    commits: z.int().check(z.gte(0), z.lte(100)),
  }),
  kfr: () => ({
    /** Characters of one entry. */
    entry_characters: z.int().check(z.gte(40), z.lte(2000)),
    /** Tokens of all entries, the header left out. */
    tokens: z.int().check(z.gte(100), z.lte(10_000)),
  }),
  commit: () => ({
    /** What git's hooks and `forge ci` do with a message that breaks the protocol: refuse it, report it, or nothing. */
    enforce: z.enum(['block', 'warn', 'off']),
    /** GIT-08: whose commits. */
    who: z.enum(WHO),
    /** Of issues; features' ids and FORGE are taken as well. */
    id_pattern: Pattern(),
    /** Characters. */
    subject_length: z.int().check(z.gte(20), z.lte(500)),
    /** Which of the protocol's sections a message must have. */
    sections: z.array(z.enum(SECTIONS)),
    /** Rules that are not asked for. */
    rules_off: z.array(z.enum(RULES)),
    /** Patterns of whole subjects that need not follow the protocol. */
    exempt: z.array(Pattern()).check(z.maxLength(50)),
  }),
  git: () => ({
    /** The branch that the others are merged into; empty: forge asks git. */
    default_branch: Branch(),
    /** LTM-18: git signs the commits of `.forge/` and the tags of checkpoints, as git is set up. */
    sign: z.boolean(),
  }),
  features: () => ({
    /** Where each test is put in for `{}`; empty: a test is a command. */
    test_command: z.string(),
    timeout_seconds: z.int().check(z.gte(1), z.lte(86_400)),
  }),
  findings: () => ({
    /** What an agent is told that asks again: the fact, a question to its person, or a refusal; off: nothing is kept. */
    mode: z.enum(['notice', 'ask', 'deny', 'off']),
  }),
  cycle: () => ({
    /** Commit what a cycle leaves whose checks pass. */
    commit: z.boolean(),
    /** Make a checkpoint when a feature came to pass. */
    checkpoint: z.boolean(),
  }),
  checkpoint: () => ({
    /** Commands that have to pass before a state counts as verified; none: the tests of passing features. */
    verify: z.array(z.string().check(z.minLength(1))),
  }),
  guard: () => ({
    /** What halts memory: a live credential in stored memory, or everything that is refused. */
    halt_on: z.enum(['critical', 'all']),
    /** Rules that this repository adds, in the form of gitleaks: id, regex, keywords. */
    rules: z.array(z.looseObject({})).check(z.maxLength(500)),
    /** A file with rules of gitleaks, from the project's folder. */
    gitleaks: z.string(),
  }),
};
export type TableName = keyof typeof TABLES;
type Tables = { [K in TableName]: z.infer<z.ZodMiniObject<ReturnType<(typeof TABLES)[K]>>> };

/** `.forge/config.toml`. Every setting has a default; unknown ones are kept and named in a warning. */
export type Config = Tables & { schema_version: 1 };

export const DEFAULTS: Tables = {
  project: { name: '' },
  session: {
    commit: true,
    unknown_host_minutes: 60,
    record: 'on',
    reverify: 0,
    reverify_seconds: 45,
    reverify_at_once: 1,
    reverify_in_hooks: false,
  },
  briefing: { budget: 2000, commits: 10 },
  kfr: { entry_characters: 280, tokens: 800 },
  commit: {
    enforce: 'block',
    ...DEFAULT_SETTINGS,
    sections: [...SECTIONS],
    rules_off: [],
    exempt: [],
  },
  git: { default_branch: '', sign: false },
  features: { test_command: '', timeout_seconds: 600 },
  findings: { mode: 'notice' },
  cycle: { commit: false, checkpoint: false },
  checkpoint: { verify: [] },
  guard: { halt_on: 'critical', rules: [], gitleaks: '' },
};
export const TABLE_NAMES = Object.keys(DEFAULTS) as TableName[];

export const SchemaVersion = () => z._default(z.literal(1), 1);

/** One table, every key with its default. */
export function tableSchema(name: TableName) {
  const defaults: Record<string, unknown> = DEFAULTS[name];
  const shape = Object.entries(TABLES[name]()).map(([key, schema]) => [
    key,
    z._default(schema as z.ZodMiniType, defaults[key] as never),
  ]);
  return z.looseObject(Object.fromEntries(shape) as Record<string, z.ZodMiniType>);
}

/** The whole format, of which a JSON Schema can be made. */
export const configSchema = () =>
  z.looseObject({
    schema_version: SchemaVersion(),
    ...Object.fromEntries(TABLE_NAMES.map((name) => [name, z.prefault(tableSchema(name), {})])),
  });
