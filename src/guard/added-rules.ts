import { join, relative } from 'node:path';
import { corrupted } from '../core/error.js';
import { readPlain } from '../core/files.js';
import { configFile, shown } from '../core/paths.js';
import { compileSearch, type Search } from '../core/pattern.js';
import { decodeUtf8 } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { parseToml } from '../project/config.js';
import type { Context } from '../project/project.js';
import { lazyRule, type Rule } from './rule.js';
import { entropyOf } from './value.js';

/** A rule as gitleaks writes it. Paths, commits and tags mean nothing here. */
interface GitleaksRule {
  id?: unknown;
  description?: unknown;
  regex?: unknown;
  keywords?: unknown;
  secretGroup?: unknown;
  entropy?: unknown;
  allowlist?: Allowlist;
  allowlists?: Allowlist[];
}

interface Allowlist {
  regexes?: string[];
  regexTarget?: string;
  stopwords?: string[];
}

/** Characters around a keyword in which a match may lie. */
const REACH = [120, 1000] as const;
const MAX_FILE_BYTES = 2 * 1024 * 1024;

const tables = new Map<string, readonly Rule[]>();
/** Patterns are compiled late: then the command that is running is warned. */
let warn: Report = () => {};

/**
 * The rules that a repository adds: `[[guard.rules]]`, and the file that `guard.gitleaks` names. A rule of the settings that
 * cannot be used is exit 4. One of the file, which may hold hundreds, is left out with a warning.
 */
export function readAddedRules(
  context: Context,
  own: readonly GitleaksRule[],
  gitleaks: string,
): readonly Rule[] {
  const { layout, warnings } = context;
  const file = shown(layout, configFile(layout));
  const isInside = gitleaks !== '' && !relative(layout.root, join(layout.root, gitleaks)).startsWith('..');
  const bytes = isInside ? readPlain(join(layout.root, gitleaks), MAX_FILE_BYTES) : null;
  const fail: Fail = (problem) => {
    throw corrupted('guard.rules', `${file}: ${problem}.`, { file });
  };
  if (gitleaks !== '' && !bytes)
    return fail(`guard.gitleaks names ${oneLine(gitleaks, 100)}, which is missing`);
  const text = bytes ? decodeUtf8(bytes, gitleaks) : '';
  const key = JSON.stringify([own, text]);
  warn = (problem) => {
    if (!warnings.includes(problem)) warnings.push(problem);
  };
  const rules = tables.get(key) ?? [
    ...own.flatMap((rule, i) => readRule(rule, [], (problem) => fail(`guard.rules[${i}] ${problem}`))),
    ...readGitleaks(text, gitleaks, (problem) => warn(problem)),
  ];
  tables.set(key, rules);
  // The few of the settings are compiled at once, so that a mistake is reported where it was made.
  for (const rule of rules.slice(0, own.length)) rule.pattern.lastIndex = 0;
  return rules;
}

type Fail = (problem: string) => never;
type Report = (problem: string) => void;

function readGitleaks(text: string, file: string, warn: Report): Rule[] {
  if (text === '') return [];
  const {
    rules = [],
    allowlist,
    allowlists = [],
  } = parseToml(text, file) as GitleaksRule & {
    rules?: GitleaksRule[];
  };
  const allowed = [...(allowlist ? [allowlist] : []), ...allowlists];
  // Rules without a pattern are about paths.
  return rules
    .filter(({ regex }) => regex !== undefined)
    .flatMap((rule) =>
      readRule(rule, allowed, (problem) =>
        warn(`${file}: the rule ${oneLine(String(rule.id), 60)} ${problem}.`),
      ),
    );
}

function readRule(raw: GitleaksRule, allowed: readonly Allowlist[], report: Report): Rule[] {
  const { id, description, regex, keywords, secretGroup = 0, entropy = 0, allowlist, allowlists = [] } = raw;
  const words = Array.isArray(keywords) ? keywords.filter((word) => String(word).length > 1).map(String) : [];
  if (typeof id !== 'string' || typeof regex !== 'string' || words.length === 0) {
    report('needs an id, a regex, and keywords of two characters or more, near which it is searched');
    return [];
  }
  const compile = (source: string, group?: number): Search => {
    try {
      return compileSearch(source, group);
    } catch (error) {
      report(`cannot be used: ${(error as Error).message}`);
      return /(?!)/g;
    }
  };
  const lists = [...allowed, ...allowlists, ...(allowlist ? [allowlist] : [])];
  let passes: Accept | undefined;
  const rule = lazyRule(
    {
      id: `added-${oneLine(id, 80)}`,
      class: 'secret',
      what: oneLine(typeof description === 'string' ? description : id, 120),
      source: '.forge/config.toml',
      keywords: [...new Set(words.map((word) => word.toLowerCase()))],
      reach: REACH,
      accept: (secret, match) => {
        passes ??= passesOf(lists, compile);
        return entropyOf(secret) > Number(entropy) && !passes(secret, match);
      },
      isLoose: true,
    },
    () => compile(regex, Number(secretGroup)),
  );
  return [rule];
}

type Accept = NonNullable<Rule['accept']>;

/** Whether the author of the rule lets a match pass. */
function passesOf(lists: readonly Allowlist[], compile: (source: string) => Search): Accept {
  const tests = lists.map(({ regexes = [], regexTarget = 'secret', stopwords = [] }): Accept => {
    const words = stopwords.map((word) => word.toLowerCase());
    const searches = regexes.map((regex) => compile(regex));
    return (secret, match) => {
      const target = { match: match[0], line: lineOf(match) }[regexTarget] ?? secret;
      return (
        searches.some((search) => isFound(search, target)) ||
        words.some((word) => secret.toLowerCase().includes(word))
      );
    };
  });
  return (secret, match) => tests.some((test) => test(secret, match));
}

function isFound(search: Search, text: string): boolean {
  search.lastIndex = 0;
  return search.exec(text) !== null;
}

function lineOf({ input, index }: RegExpExecArray): string {
  const end = input.indexOf('\n', index);
  return input.slice(input.lastIndexOf('\n', index) + 1, end < 0 ? undefined : end);
}
