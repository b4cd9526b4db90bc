import { readOwners } from '../core/environment.js';
import { ForgeError, outside, REBUILD_HINT } from '../core/error.js';
import { configFile, sessionFile, shown } from '../core/paths.js';
import { gitIn } from '../git/client.js';
import { findRepository } from '../git/repository.js';
import { type Context, readConfig } from '../project/project.js';
import type { Field, Found } from './document.js';
import { type GuardClass, type Hit, isGrave, placeholderOf, type Rule } from './rule.js';
import { countRefusals, fingerprintOf, isMarked, markOf, rememberFindings } from './salt.js';

/** What the guard found: the place, never the value. */
export interface GuardFinding {
  rule: string;
  class: GuardClass;
  what: string;
  file: string;
  line: number;
  field: string;
  /** The same value has the same one in this repository, and says nothing of it elsewhere. */
  fingerprint: string;
  /** A credential known by its form, in memory that is stored already. */
  live?: boolean;
}

type Env = Record<string, string | undefined>;

/** The rules for one person and one repository. Copyright lines of the person's own are not foreign (`~/.config/forge/owners`). */
export interface Guard {
  scanBytes(name: string, bytes: Buffer): Found[];
  scanFields(fields: readonly Field[]): Found[];
  /** Secrets, cards and ids only: what a repository's own files must not hold, and no message may repeat. */
  scanGrave(text: string): Found[];
  scanText(text: string): Hit[];
}

/** Exit 6 `guard.unavailable` where the rules cannot be loaded: then nothing is written. */
export async function loadGuard(env: Env, context?: Context): Promise<Guard> {
  try {
    const [{ guardRules }, { scanBytes, scanFields }, { scanText }] = await Promise.all([
      import('./table.js'),
      import('./document.js'),
      import('./scan.js'),
    ]);
    const rules = guardRules(readOwners(env), context && (await addedRules(context)));
    const grave = rules.filter((rule) => isGrave(rule.class));
    const forbidden = (value: string): boolean => !isAllowed(context, value);
    return {
      scanBytes: (name, bytes) => scanBytes(name, bytes, rules).filter(({ value }) => forbidden(value)),
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

/** Rules of the repository, loaded only where it has some. */
async function addedRules(context: Context): Promise<readonly Rule[]> {
  const { disk, layout } = context;
  if (!disk.exists(configFile(layout))) return [];
  const added = readAdded(context);
  if (!added) return [];
  return (await import('./added-rules.js')).readAddedRules(context, added.rules, added.gitleaks);
}

/** Settings that cannot be read hold nobody up who does not need them. */
function readAdded(context: Context): { rules: Record<string, unknown>[]; gitleaks: string } | null {
  try {
    const { rules, gitleaks } = readConfig(context).guard;
    return rules.length === 0 && gitleaks === '' ? null : { rules, gitleaks };
  } catch {
    return null;
  }
}

/** Whether a human allowed exactly this text. The ledger is read where something was found, so hardly ever. */
const isAllowed = (context: Context | undefined, value: string): boolean =>
  context?.allowedMarks?.().some((mark) => isMarked(mark, value)) ?? false;

/** LTM-13: from here on every write into `.forge/` is scanned. */
export async function installGuard(context: Context): Promise<void> {
  const guard = await loadGuard(context.world.env, context);
  context.disk.guard = (name, bytes, before) => {
    const found = guard.scanBytes(name, bytes).filter(notOwnFolder(context, name));
    if (found.length === 0) return;
    const fresh = newHits(found, guard.scanBytes(name, before() ?? Buffer.alloc(0)));
    if (fresh.length > 0) throw refusal(context, name, fresh);
  };
}

/**
 * Leaves out where the running session works: a folder may have any name, an address too, and that file is this machine's
 * alone. `name` is as it is shown.
 */
export const notOwnFolder =
  ({ layout }: Context, name: string) =>
  ({ field, value }: Found): boolean =>
    field !== 'root' || name !== shown(layout, sessionFile(layout)) || !layout.root.includes(value);

/** What the guard finds in text that was given to forge, the gravest first. More is refused of what is to be stored. */
export async function inspectInput(
  fields: readonly Field[],
  { env, dir, writes }: { env: Env; dir: string; writes: boolean },
): Promise<Found[]> {
  const guard = await loadGuard(env);
  const found = guard.scanFields(fields).filter((hit) => writes || isGrave(hit.class));
  if (writes) {
    const { findForeignCode } = await import('./document.js');
    for (const code of findForeignCode(fields))
      if (!(await isOwnCode(code.value, dir, env))) found.push(code);
  }
  // Invalid input comes before what only must not be stored, and secrets come before both.
  const rank = ({ class: name }: Found): number => (isGrave(name) ? 0 : name === 'invisible' ? 1 : 2);
  return found.sort((a, b) => rank(a) - rank(b));
}

/** Whether one file of the repository has the longest lines of the code. */
async function isOwnCode(code: string, dir: string, env: Env): Promise<boolean> {
  const repository = findRepository(dir);
  if (!repository) return false;
  const lines = code.split('\n').map((line) => line.replace(/^[\s+>-]+|\s+$/g, ''));
  const longest = [...new Set(lines)].sort((a, b) => b.length - a.length).slice(0, 8);
  const args = ['grep', '-qIF', '--untracked', '--all-match', ...longest.flatMap((line) => ['-e', line])];
  return (await gitIn(repository.root, env)(args)).code === 0;
}

/** What of it no human has allowed. */
export const withoutAllowed = (context: Context, found: readonly Found[]): Found[] =>
  found.filter(({ value }) => !isAllowed(context, value));

/** Exit 5 for what inspectInput found. */
export const refuseInput = (context: Context, found: readonly Found[]): never =>
  refuseFound(context, '', found);

/** Exit 5 for what was found in a file; `name` is shown. A live credential that is stored already halts. */
export function refuseFound(
  context: Context,
  name: string,
  found: readonly Found[],
  isStored = false,
): never {
  throw refusal(context, name, found, isStored);
}

/** The same text with placeholders for what a program may leave out (`--redact`). */
export async function redactText(text: string): Promise<string> {
  const hits = (await loadGuard({})).scanText(text).filter((hit) => placeholderOf(hit.class) !== null);
  return maskHits(text, hits, (hit) => placeholderOf(hit.class) ?? '');
}

/** Text that is shown, not stored: what may stand in no message is taken out. */
export async function maskText(text: string): Promise<string> {
  const hits = (await loadGuard({})).scanText(text).filter((hit) => isGrave(hit.class));
  return maskHits(text, hits, (hit) => `<${hit.rule}>`);
}

function maskHits(text: string, hits: readonly Hit[], mask: (hit: Hit) => string): string {
  let masked = '';
  let at = 0;
  for (const hit of hits) {
    if (hit.start < at) continue;
    masked += text.slice(at, hit.start) + mask(hit);
    at = hit.end;
  }
  return masked + text.slice(at);
}

/** What stood there before is no news: `forge guard scan` names it. */
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
  return { rule, class: name, what, file, line, field, fingerprint: fingerprintOf(context.disk, value) };
}

/** Exit 5 `guard.<class>`: names the first finding, carries all. */
function refusal(context: Context, name: string, found: readonly Found[], isStored = false): ForgeError {
  const findings = found.map((hit) => ({
    ...toFinding(context, name, hit),
    ...(isStored && hit.isCertain && hit.class === 'secret' ? { live: true } : {}),
  }));
  remember(context, findings, found);
  const worst = findings.find((finding) => halts(context, finding)) ?? (findings[0] as GuardFinding);
  const more = findings.length > 1 ? ` and ${findings.length - 1} more` : '';
  const message = `${placeOf(worst)}: ${worst.what}${more} (rule ${worst.rule}); nothing was written.`;
  return new ForgeError('secret', `guard.${worst.class}`, message, {
    hint: adviceFor(worst, halts(context, worst)),
    ...(name === '' ? {} : { file: name }),
    ...(worst.field === '' ? {} : { field: worst.field }),
    data: { findings },
  });
}

/** So that a human can allow it, and a session that tries again and again is paused. */
function remember(context: Context, findings: readonly GuardFinding[], found: readonly Found[]): void {
  if (context.disk.dryRun) return;
  rememberFindings(
    context.disk,
    findings.map(({ fingerprint, rule, class: name }, i) => ({
      fingerprint,
      rule,
      class: name,
      mark: markOf(context.disk, found[i]?.value ?? ''),
    })),
  );
  countRefusals(context, new Set(findings.map(({ fingerprint }) => fingerprint)));
}

const placeOf = ({ file, line, field }: GuardFinding): string => {
  const place = [file === '' ? '' : line > 1 ? `${file}:${line}` : file, field].filter(Boolean).join(' ');
  return place === '' ? 'The text' : place;
};

/** Only a live credential in stored memory halts, unless the project asks for more. */
export const halts = (context: Context, { live }: Pick<GuardFinding, 'live'>): boolean =>
  live === true || haltOn(context) === 'all';

/** While `init` runs there are no settings yet. */
const haltOn = (context: Context): 'critical' | 'all' =>
  context.disk.exists(configFile(context.layout)) ? readConfig(context).guard.halt_on : 'critical';

function adviceFor({ class: name, what, fingerprint }: GuardFinding, halting: boolean): string {
  if (halting)
    return 'Leave it out. If it is real, revoke it. Memory is halted until a human runs: forge memory override acknowledge --reason "TEXT"';
  const falseAlarm = `A false alarm: a human runs forge guard allow ${fingerprint} --reason "TEXT"`;
  const placeholder = placeholderOf(name);
  if (placeholder !== null) return `Write ${placeholder} instead, or add --redact. ${falseAlarm}`;
  return name === 'proprietary'
    ? `Name the file instead of quoting it. Whose code is yours, one owner a line, is in ~/.config/forge/owners. ${falseAlarm}`
    : `Leave out ${isGrave(name) ? 'the value; if it is real, revoke it' : what}. ${falseAlarm}`;
}

/** What honest text brings along from a terminal, an editor, GitHub or git, and what is stored instead. */
const PARTS: readonly [name: string, pattern: RegExp, put: string][] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  ['terminal colours', /\u001b\[(?:[\d;:]*m|K)/g, ''],
  ['carriage returns', /\r+\n/g, '\n'],
  ['a byte order mark', /^\ufeff/, ''],
  // Dependabot writes it, so that nobody is notified.
  ['zero-width spaces', /(?<=[@#/])\u200b/g, ''],
];

const TRAILER =
  /^[ \t>]*(?:co-authored|signed-off|reviewed|acked|tested|reported|suggested|helped)-by:.*@.*$/gim;
const ADDRESS = /[\w.+-]{1,80}(?:\[bot\])?@[\w-]{1,80}(?:\.[\w-]{1,80}){1,8}/g;
const BRACKETED = new RegExp(`<${ADDRESS.source}>`, 'g');

/** The text as it is stored, and what was left out or masked. People in trailers stay named, without their addresses. */
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
