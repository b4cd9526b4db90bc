import { readOwners } from '../core/environment.js';
import { ForgeError, outside, REBUILD_HINT } from '../core/error.js';
import { configFile } from '../core/paths.js';
import { escapeControls } from '../core/text.js';
import { gitIn } from '../git/client.js';
import { findRepository } from '../git/repository.js';
import type { Config } from '../project/config.js';
import { type Context, readConfig, warnOnce } from '../project/project.js';
import { readRunning } from '../session/running.js';
import type { Field, Found } from './document.js';
import { fingerprintOf, isMarked, markOf, rememberFindings } from './fingerprint.js';
import { type GuardClass, type Hit, isGrave, placeholderOf, type Rule } from './rule.js';

/** The place of a finding, never its value. */
export interface GuardFinding {
  rule: string;
  class: GuardClass;
  what: string;
  file: string;
  line: number;
  field: string;
  /** Equal for equal values in this repository, and meaningless elsewhere. */
  fingerprint: string;
  /** A credential recognized by its form, in stored memory. */
  live?: boolean;
}

type Env = Record<string, string | undefined>;

/** The rules for one person and one repository. The person's own copyright lines are allowed (`~/.config/forge/owners`). */
export interface Guard {
  scanBytes(name: string, bytes: Buffer): Found[];
  scanFields(fields: readonly Field[]): Found[];
  /** Secrets, cards, accounts and ids only: what no file of a repository and no message may contain. */
  scanGrave(text: string): Found[];
  scanText(text: string): Hit[];
}

/** Exit 6 `guard.unavailable` if the rules cannot be loaded: then nothing is written. */
export async function loadGuard(env: Env, context?: Context): Promise<Guard> {
  try {
    const { guardRules, scanBytes, scanFields, scanText } = await import('./document.js');
    const rules = guardRules(readOwners(env), context && (await addedRules(context)));
    const grave = rules.filter((rule) => isGrave(rule.class));
    const forbidden = (value: string): boolean => !isAllowed(context, value);
    return {
      scanBytes: (name, bytes) =>
        scanBytes(name, bytes, rules, grave).filter(({ value }) => forbidden(value)),
      scanFields: (fields) => scanFields(fields, rules).filter(({ value }) => forbidden(value)),
      scanGrave: (text) => scanFields([{ path: '', text }], grave).filter(({ value }) => forbidden(value)),
      scanText: (text) => scanText(text, rules).filter(({ start, end }) => forbidden(text.slice(start, end))),
    };
  } catch (cause) {
    if (cause instanceof ForgeError) throw cause;
    throw outside('guard.unavailable', 'The guard could not be loaded; nothing was written.', {
      hint: REBUILD_HINT,
      cause,
    });
  }
}

/** The repository's own rules. Unreadable settings stop only the commands that need them. */
async function addedRules(context: Context): Promise<readonly Rule[]> {
  const settings = guardSettings(context);
  if (!settings && context.disk.exists(configFile(context.layout)))
    warnOnce(context, '.forge/config.toml cannot be read, so its guard rules did not apply: forge doctor');
  if (!settings || (settings.rules.length === 0 && settings.gitleaks === '')) return [];
  return (await import('./added-rules.js')).readAddedRules(context, settings.rules, settings.gitleaks);
}

/** Null without readable settings, as while `init` runs. */
function guardSettings(context: Context): Config['guard'] | null {
  try {
    return context.disk.exists(configFile(context.layout)) ? readConfig(context).guard : null;
  } catch {
    return null;
  }
}

/** Whether a human allowed exactly this text. Reads the ledger, so only for findings. */
const isAllowed = (context: Context | undefined, value: string): boolean =>
  context?.allowedMarks?.().some((mark) => isMarked(mark, value)) ?? false;

/** LTM-13: scans every write to `.forge/` from now on. What the file already contained is no news. */
export async function installGuard(context: Context): Promise<void> {
  const guard = await loadGuard(context.world.env, context);
  context.disk.guard = (name, bytes, before) => {
    const found = guard.scanBytes(name, bytes);
    if (found.length === 0) return;
    const fresh = newHits(found, guard.scanBytes(name, before() ?? Buffer.alloc(0)));
    if (fresh.length > 0) refuseFound(context, name, fresh);
  };
}

/** Findings in text that forge is to store, the most severe first. */
export async function inspectInput(
  fields: readonly Field[],
  { env, dir }: { env: Env; dir: string },
): Promise<Found[]> {
  const guard = await loadGuard(env);
  const found = guard.scanFields(fields);
  const { findForeignCode } = await import('./document.js');
  for (const code of findForeignCode(fields)) if (!(await isOwnCode(code.value, dir, env))) found.push(code);
  // Secrets come first, then invalid input, then what must not be stored.
  const rank = ({ class: name }: Found): number => (isGrave(name) ? 0 : name === 'invisible' ? 1 : 2);
  return found.sort((a, b) => rank(a) - rank(b));
}

/** Whether one file of the repository contains the longest lines of the code. */
async function isOwnCode(code: string, dir: string, env: Env): Promise<boolean> {
  const repository = findRepository(dir);
  if (!repository) return false;
  const lines = code.split('\n').map((line) => line.replace(/^[\s+>-]+|\s+$/g, ''));
  const longest = [...new Set(lines)].sort((a, b) => b.length - a.length).slice(0, 8);
  const args = ['grep', '-qIF', '--untracked', '--all-match', ...longest.flatMap((line) => ['-e', line])];
  return (await gitIn(repository.root, env)(args)).code === 0;
}

/** The findings that no human has allowed. */
export const withoutAllowed = (context: Context, found: readonly Found[]): Found[] =>
  found.filter(({ value }) => !isAllowed(context, value));

/** Exit 5 for findings of inspectInput. */
export const refuseInput = (context: Context, found: readonly Found[]): never =>
  refuseFound(context, '', found);

/** Replaces addresses and numbers by placeholders (`--redact`). */
export const redactText = async (text: string): Promise<string> =>
  replaceHits(await loadGuard({}), text, (hit) => placeholderOf(hit.class));

/** Masks what no message may contain, in text that is only shown. With a context, what a person allowed stays. */
export const maskText = async (text: string, context?: Context): Promise<string> =>
  replaceHits(await loadGuard(context?.world.env ?? {}, context), text, nameGrave);

const nameGrave = ({ rule, class: name }: Hit): string | null => (isGrave(name) ? `<${rule}>` : null);

/** Without characters that hide text. */
export const readable = (text: string): string => escapeControls(cleanText(text).text);

/** Texts from another tool, safe to store: without hidden characters, secrets and personal data. They are scanned as one. */
export async function cleanForeign(context: Context, texts: readonly string[]): Promise<string[]> {
  if (texts.length === 0) return [];
  const clean = texts.map(readable);
  const guard = await loadGuard(context.world.env, context);
  if (guard.scanFields(clean.map((text, i) => ({ path: `[${i}]`, text }))).length === 0) return clean;
  return clean.map((text) => replaceHits(guard, text, (hit) => placeholderOf(hit.class) ?? `<${hit.rule}>`));
}

/** Null keeps the hit. */
type Replacement = (hit: Hit) => string | null;

/** What looks like a secret only beside a mask is masked too. */
function replaceHits(guard: Guard, text: string, replacement: Replacement, passes = 4): string {
  let [replaced, at] = ['', 0];
  for (const hit of guard.scanText(text)) {
    const put = replacement(hit);
    if (put === null || hit.start < at) continue;
    replaced += text.slice(at, hit.start) + put;
    at = hit.end;
  }
  replaced += text.slice(at);
  return replaced === text || passes === 1 ? replaced : replaceHits(guard, replaced, replacement, passes - 1);
}

/** Findings that `before` does not contain. `forge guard scan` reports the old ones. */
export function newHits(found: readonly Found[], before: readonly Found[]): Found[] {
  const counts = new Map<string, number>();
  const key = ({ rule, value }: Found): string => `${rule} ${value}`;
  for (const hit of before) counts.set(key(hit), (counts.get(key(hit)) ?? 0) + 1);
  return found.filter((hit) => {
    const left = counts.get(key(hit)) ?? 0;
    counts.set(key(hit), left - 1);
    return left <= 0;
  });
}

export function toFinding(context: Context, file: string, hit: Found): GuardFinding {
  const { rule, class: name, what, field, line, value } = hit;
  const fingerprint = fingerprintOf(markOf(context.disk, value));
  return { rule, class: name, what, file, line, field, fingerprint };
}

/** Exit 5 `guard.<class>` for findings in the file `name`. A live credential that is already stored halts memory. */
export function refuseFound(
  context: Context,
  name: string,
  found: readonly Found[],
  isStored = false,
): never {
  const findings = found.map((hit) => ({
    ...toFinding(context, name, hit),
    ...(isStored && hit.isCertain && hit.class === 'secret' ? { live: true } : {}),
  }));
  // A human can allow a remembered finding. A session that keeps trying is paused.
  const known = findings.map((one, i) => ({ ...one, mark: markOf(context.disk, found[i]?.value ?? '') }));
  rememberFindings(context.disk, known, readRunning(context)?.id);
  const worst = findings.find((finding) => halts(context, finding)) ?? (findings[0] as GuardFinding);
  const more = findings.length > 1 ? ` and ${findings.length - 1} more` : '';
  const message = `${placeOf(worst)}: ${worst.what}${more} (rule ${worst.rule}); nothing was written.`;
  throw new ForgeError('secret', `guard.${worst.class}`, message, {
    hint: adviceFor(context, worst),
    ...(name === '' ? {} : { file: name }),
    ...(worst.field === '' ? {} : { field: worst.field }),
    data: { findings },
  });
}

const placeOf = ({ file, line, field }: GuardFinding): string => {
  const place = [file === '' ? '' : line > 1 ? `${file}:${line}` : file, field].filter(Boolean).join(' ');
  return place === '' ? 'The text' : place;
};

/** Only a live credential in stored memory halts, unless the project wants every finding to. */
export const halts = (context: Context, { live }: Pick<GuardFinding, 'live'>): boolean =>
  live === true || guardSettings(context)?.halt_on === 'all';

function adviceFor(context: Context, finding: GuardFinding): string {
  const { class: name, what, fingerprint } = finding;
  if (halts(context, finding))
    return 'Remove it. If it is real, revoke it. Memory is halted until a human runs: forge memory override acknowledge --reason "TEXT"';
  const falseAlarm = `If it is a false alarm, a human can run: forge guard allow ${fingerprint} --reason "TEXT"`;
  const placeholder = placeholderOf(name);
  const flag = context.world.tool ? '' : ', or add --redact';
  if (placeholder !== null) return `Write ${placeholder} instead${flag}. ${falseAlarm}`;
  return name === 'proprietary'
    ? `Name the file instead of quoting it. List the owners of your code in ~/.config/forge/owners, one per line. ${falseAlarm}`
    : `Remove ${isGrave(name) ? 'the value; if it is real, revoke it' : what}. ${falseAlarm}`;
}

/** What honest text contains from a terminal, an editor, GitHub or git, and what is stored instead. */
const PARTS: readonly [name: string, pattern: RegExp, put: string][] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
  ['terminal colors', /\u001b\[(?:[\d;:]*m|K)/g, ''],
  ['carriage returns', /\r+\n/g, '\n'],
  ['a byte order mark', /^\ufeff/, ''],
  // Dependabot writes it to notify nobody.
  ['zero-width spaces', /(?<=[@#/])\u200b/g, ''],
];

const TRAILER =
  /^[ \t>]*(?:co-authored|signed-off|reviewed|acked|tested|reported|suggested|helped)-by:.*@.*$/gim;
const ADDRESS = /[\w.+-]{1,80}(?:\[bot\])?@[\w-]{1,80}(?:\.[\w-]{1,80}){1,8}/g;
const BRACKETED = new RegExp(`<${ADDRESS.source}>`, 'g');

/** The text as it is stored, and what was removed or masked. Trailers keep the names of people without their addresses. */
export function cleanText(text: string): { text: string; left: string[] } {
  let clean = text;
  const left: string[] = [];
  const put = (name: string, changed: string): void => {
    if (changed !== clean) left.push(name);
    clean = changed;
  };
  for (const [name, pattern, instead] of PARTS) put(name, clean.replace(pattern, instead));
  const mask = (line: string): string => line.replace(BRACKETED, '<email>').replace(ADDRESS, '<email>');
  put('addresses in trailers', clean.replace(TRAILER, mask));
  return { text: clean, left };
}
