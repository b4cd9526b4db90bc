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

/** A rule in the format of gitleaks. Its paths, commits and tags have no effect here. */
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
  stopwords?: string[];
}

/** How far a match may be from a keyword, in characters. */
const REACH = [120, 1000] as const;
const MAX_FILE_BYTES = 2 * 1024 * 1024;

type Report = (problem: string) => void;

const tables = new Map<string, readonly Rule[]>();
/** Patterns are compiled on use. The warning goes to the command that runs then. */
let warn: Report = () => {};

/**
 * The rules of a repository: `[[guard.rules]]`, and the file that `guard.gitleaks` names. An unusable rule of the settings
 * is exit 4. One of the file, which may have hundreds, is left out with a warning.
 */
export function readAddedRules(
  context: Context,
  own: readonly GitleaksRule[],
  gitleaks: string,
): readonly Rule[] {
  const { layout, warnings } = context;
  const file = shown(layout, configFile(layout));
  const fail = (problem: string): never => {
    throw corrupted('guard.rules', `${file}: ${problem}.`, { file });
  };
  const isInside = gitleaks !== '' && !relative(layout.root, join(layout.root, gitleaks)).startsWith('..');
  const bytes = isInside ? readPlain(join(layout.root, gitleaks), MAX_FILE_BYTES) : null;
  if (gitleaks !== '' && !bytes)
    return fail(`guard.gitleaks names ${oneLine(gitleaks, 100)}, which is missing`);
  const text = bytes ? decodeUtf8(bytes, gitleaks) : '';
  warn = (problem) => {
    if (!warnings.includes(problem)) warnings.push(problem);
  };
  const key = JSON.stringify([own, text]);
  const rules = tables.get(key) ?? [
    ...own.flatMap((rule, i) => readRule(rule, [], (problem) => fail(`guard.rules[${i}] ${problem}`))),
    ...(text === '' ? [] : readGitleaks(text, gitleaks)),
  ];
  tables.set(key, rules);
  // Compiles the rules of the settings now, so that a mistake in them is reported at once.
  for (const rule of rules.slice(0, own.length)) rule.pattern.lastIndex = 0;
  return rules;
}

function readGitleaks(text: string, file: string): Rule[] {
  const parsed = parseToml(text, file) as GitleaksRule & { rules?: GitleaksRule[] };
  const allowed = [parsed.allowlist ?? [], parsed.allowlists ?? []].flat();
  // Rules without a pattern are about paths.
  return (parsed.rules ?? [])
    .filter(({ regex }) => regex !== undefined)
    .flatMap((rule) =>
      readRule(rule, allowed, (problem) =>
        warn(`${file}: the rule ${oneLine(String(rule.id), 60)} ${problem}.`),
      ),
    );
}

function readRule(raw: GitleaksRule, allowed: readonly Allowlist[], report: Report): Rule[] {
  const { id, description, regex, keywords, secretGroup = 0, entropy = 0 } = raw;
  const words = [keywords ?? []]
    .flat()
    .map(String)
    .filter((word) => word.length > 1);
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
  const lists = [...allowed, raw.allowlists ?? [], raw.allowlist ?? []].flat();
  let isAllowed: ((secret: string) => boolean) | undefined;
  const rule = lazyRule(
    {
      id: `added-${oneLine(id, 80)}`,
      class: 'secret',
      what: oneLine(typeof description === 'string' ? description : id, 120),
      source: '.forge/config.toml',
      keywords: [...new Set(words.map((word) => word.toLowerCase()))],
      reach: REACH,
      accept: (secret) => {
        isAllowed ??= allowedBy(lists, compile);
        return entropyOf(secret) > Number(entropy) && !isAllowed(secret);
      },
      isLoose: true,
    },
    () => compile(regex, Number(secretGroup)),
  );
  return [rule];
}

/** Whether one of the allowlists contains a secret. */
function allowedBy(lists: readonly Allowlist[], compile: (source: string) => Search) {
  const searches = lists.flatMap(({ regexes = [] }) => regexes.map((regex) => compile(regex)));
  const words = lists.flatMap(({ stopwords = [] }) => stopwords.map((word) => word.toLowerCase()));
  return (secret: string): boolean =>
    searches.some((search) => isFound(search, secret)) ||
    words.some((word) => secret.toLowerCase().includes(word));
}

function isFound(search: Search, text: string): boolean {
  search.lastIndex = 0;
  return search.exec(text) !== null;
}
